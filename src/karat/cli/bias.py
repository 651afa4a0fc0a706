"""``karat bias``: what the choice of systems did to the labels of a project."""

from __future__ import annotations

import json as js
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._util import check_writable, plural, write_file
from karat.cli import judging_options, scoring
from karat.cli.options import ListCommand, split_names
from karat.errors import InputError

if TYPE_CHECKING:
    from karat._util import Layout
    from karat.benchmarks import Pairs

app = typer.Typer()
BAR = 24
"""How long the longest bar of a curve is."""


@app.command(cls=ListCommand)
def bias(
    project: judging_options.ProjectPlace,
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUNS]…", help="The same as --runs.", show_default=False)
    ] = None,
    runs: Annotated[
        list[Path] | None,
        typer.Option(
            help="The runs that were pooled: --runs a.npy b.npy. Without them only R@1 can be told, and "
            "diversity as deep as the pool.",
        ),
    ] = None,
    names: Annotated[
        list[str] | None, typer.Option(help="The runs' names in the pool; by default the files' names.")
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measures", "--measure", "-m", help="R@1 and, with runs, RP; or others such as mAP@R."
        ),
    ] = None,
    directions: scoring.Directions = None,
    original: Annotated[
        str,
        typer.Option(
            help="The truth whose positives were known before and belong to every subset; none for none."
        ),
    ] = "original",
    truth: Annotated[
        str | None, typer.Option(help="A complete truth to compare with, if there is one.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="How answers become grades: majority, mean or dawid-skene.")
    ] = "majority",
    depth: Annotated[int, typer.Option(min=1, help="How many items of each list diversity compares.")] = 25,
    drop_empty: Annotated[
        bool,
        typer.Option("--drop-empty", help="Leave out queries for which a subset found nothing; else 0."),
    ] = False,
    per_size: Annotated[
        int, typer.Option(min=1, help="With more than ten systems: how many subsets of each size.")
    ] = 50,
    level: scoring.Level = 0.95,
    resamples: scoring.Resamples = 1000,
    seed: scoring.Seed = 0,
    ids: scoring.IdsFile = None,
    similarity: scoring.Similarity = "dot",
    transpose: scoring.Transpose = False,
    json: Annotated[Path | None, typer.Option(help="Write every number here as json.")] = None,
    threads: scoring.Threads = None,
) -> None:
    """Show how far the labels depend on which systems suggested them.

    Every system is scored on the labels that each subset of systems would have produced (ECCV Caption §5,
    appendix E). Then: would a system that did not contribute be treated fairly? How alike are the systems?
    """
    from rich.markup import escape

    from karat.cli.show import console, print_notes, print_table, waiting
    from karat.judging import measure_bias, open_project
    from karat.judging.bias import bias_layouts, bias_sentences
    from karat.stats import Intervals

    check_writable(json)
    intervals = Intervals(level=level, resamples=resamples, seed=seed)
    files = [*(runs or []), *(more or [])]
    with open_project(project) as opened:
        benchmark, pool = opened.benchmark(), opened.pool()
        judged, notes = judged_pairs(opened, method)
        invalid = opened.invalid()
    loading: dict[str, Any] = {"ids": ids, "similarity": similarity, "transpose": transpose}
    given = scoring.load_runs(files, benchmark, split_names(names), **loading) if files else None
    with waiting("scoring every system on the labels of every subset"):
        report = measure_bias(
            pool, judged, benchmark, given,
            measures=split_names(measures) or (["R@1", "RP"] if given else ["R@1"]),
            directions=as_directions(directions), original=None if original == "none" else original,
            truth=truth, depth=depth, fixed=not drop_empty, invalid=invalid, intervals=intervals,
            per_size=per_size, seed=seed, threads=threads,
        )  # fmt: skip
    left = sum(map(len, invalid.values()))
    notes += [f"{plural(left, 'invalid item')} neither ask nor count"] if left else []
    notes += report.notes
    if json is not None:
        found = report.as_dict() | {"notes": notes}
        text = js.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
        write_file(json, lambda path: path.write_text(f"{text}\n", encoding="utf-8"))
    screen = console()
    print("\n".join([*bias_sentences(report), ""]))
    for title, layout in bias_layouts(report):
        screen.print(f"[bold]{escape(title)}[/]")
        print_table(with_bars(layout), screen)
        print()
    print(
        "Scores in percent, bias in points. An outsider's place falls in the given share of resamples.\n"
        f"{100 * level:g}% {intervals.shown} intervals from {resamples:,} resamples of images "
        "with their captions."
    )
    print_notes(notes)


def judged_pairs(project: Any, method: str) -> tuple[Pairs, list[str]]:
    """Return what people said of each pair, hidden known ones left out, and what does not count."""
    from karat.benchmarks import Pairs
    from karat.judging import accepted_answers, aggregate

    form = project.form
    accepted = accepted_answers(project.answers(), form, reviews=project.reviews(), slots=project.slots())
    if not len(accepted.answers):
        raise InputError(
            "the project has no answers that count", where=project.where, fix="judge the pool first"
        )
    found = aggregate(accepted.answers, form, method).asked
    return Pairs(found.image, found.caption, found.grade), list(accepted.notes)


def as_directions(given: list[str] | None) -> list[Any] | None:
    """Return the directions that were asked for; None for all."""
    from karat._util import check_choice
    from karat.benchmarks import DIRECTIONS

    asked = split_names(given)
    return None if asked is None else [check_choice(one, DIRECTIONS, "--directions") for one in asked]


def with_bars(layout: Layout) -> Layout:
    """Add a bar for the bias to each row of a curve; other tables stay as they are.

    >>> from karat._util import Layout
    >>> head = ["systems", "bias", "least bias"]
    >>> with_bars(Layout(head, [["1", "8.00", "a"], ["2", "4.00", "b"]], set(), 1, set())).rows[1][2].strip()
    '████████████'
    """
    from dataclasses import replace

    from karat._util import MISSING
    from karat.cli.show import bar

    if "bias" not in layout.head or "least bias" not in layout.head:
        return layout
    at = layout.head.index("bias")
    biases = [0.0 if row[at] == MISSING else float(row[at]) for row in layout.rows]
    most = max(biases) or 1.0
    rows = [
        [*row[: at + 1], bar(value / most, BAR), *row[at + 1 :]] for row, value in zip(layout.rows, biases)
    ]
    return replace(layout, head=[*layout.head[: at + 1], "", *layout.head[at + 1 :]], rows=rows)
