"""``karat evaluate``: score runs on a benchmark."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat.cli.options import ListCommand, parse_settings, split_names
from karat.validation import InputError, check_writable, plural, write_file

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark
    from karat.runs import Run

app = typer.Typer()


@app.command(cls=ListCommand)
def evaluate(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Score tables (images by captions), pairs of embedding tables (images and captions), or "
            "ranked lists: npy, npz, safetensors, Parquet, csv, json, TREC, clip-retrieval folders.",
            show_default=False,
        ),
    ],
    benchmark: Annotated[str, typer.Option("--benchmark", "-b", help="See `karat benchmarks`.")] = "coco",
    names: Annotated[list[str] | None, typer.Option(help="A name for each run: --names A B.")] = None,
    measures: Annotated[
        list[str] | None, typer.Option("--measures", "-m", help="Such as R@1 mAP@R; see `karat measures`.")
    ] = None,
    truths: Annotated[list[str] | None, typer.Option(help="Which of the benchmark's truths.")] = None,
    directions: Annotated[list[str] | None, typer.Option(help="i2t, t2i; both by default.")] = None,
    ties: Annotated[
        str, typer.Option(help="Equal scores: pessimistic, optimistic, expected or stable.")
    ] = "pessimistic",
    unjudged: Annotated[
        str, typer.Option(help="Unjudged pairs: misses, left-out, or bounds (misses, with bounds).")
    ] = "misses",
    ids: Annotated[
        Path | None, typer.Option(help="Order of rows and columns; by default NAME.ids.json beside NAME.npy.")
    ] = None,
    similarity: Annotated[str, typer.Option(help="For embeddings: dot or cosine.")] = "dot",
    transpose: Annotated[
        bool, typer.Option("--transpose", help="Score tables are captions by images.")
    ] = False,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the benchmark: --set cxc_ratings=sits_test.csv."),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the records here as json.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the table: .json, .csv, .parquet, .md or .tex."),
    ] = None,
    per_query: Annotated[Path | None, typer.Option(help="Write a value per query: .csv or .parquet.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="How many; all by default.")] = None,
) -> None:
    """Score one or several runs, in both directions, on every truth of a benchmark.

    A bare table is read in the benchmark's own order of ids (`karat benchmarks coco --ids FILE`).
    """
    from karat.benchmarks import DIRECTIONS, load_benchmark
    from karat.cli.show import print_scorecard, progress
    from karat.scores.evaluate import evaluate as score
    from karat.scores.plan import make_plan
    from karat.scores.sanity import misread, runs_at_chance
    from karat.scores.tables import WRITERS

    for path in (json, output, per_query):
        check_writable(path)
    for chosen, known in ((output, tuple(WRITERS)), (per_query, (".csv", ".parquet"))):
        if chosen is not None and chosen.suffix not in known:
            raise InputError(
                f"has the extension {chosen.suffix!r}", where=chosen, fix=f"use one of {', '.join(known)}"
            )
    bench = load_benchmark(benchmark, **parse_settings(setting))
    asked: dict[str, Any] = {
        "measures": split_names(measures),
        "truths": split_names(truths),
        "directions": split_names(directions) or DIRECTIONS,
        "ties": ties,
        "unjudged": unjudged,
    }
    make_plan(bench, **asked)  # mistakes in these show before large files are read
    runs = load_runs(files, bench, split_names(names), ids=ids, similarity=similarity, transpose=transpose)
    with progress(len(runs)) as step:
        card = score(runs, bench, progress=step, threads=threads, **asked)
    if all(column.value is None for column in card):
        raise InputError(f"nothing could be computed: {card.notes[0]}", fix="karat inspect says more")
    suspicions = []
    for name, note in runs_at_chance(card).items():
        run = next(run for run in runs if run.name == name)
        for kind, text in misread(run, bench):
            if kind == "order":
                raise InputError(f"{note}, but {text}", where=run.where)
            note = f"{note}; {text}"
        suspicions.append(note)
    if json is not None:
        write_file(json, lambda path: path.write_text(card.to_json(), encoding="utf-8"))
    if output is not None:
        card.save(output)
    if per_query is not None:
        card.save(per_query, per_query=True)
    print_scorecard(card)
    for note in suspicions:
        print(f"note: {note}", file=sys.stderr)


def load_runs(files: list[Path], benchmark: Benchmark, names: list[str] | None, **options: Any) -> list[Run]:
    """Load every run, two embedding tables together, and name them."""
    from karat.runs import RankingsRun, group_sources, load_run

    groups = group_sources(files, benchmark)
    if names is not None and len(names) != len(groups):
        given = f"{plural(len(groups), 'run')} but {plural(len(names), 'name')}"
        raise InputError(given, fix="give as many names as runs")
    default = [group[0].stem for group in groups]
    if len(set(default)) < len(default):
        # a/sims.npy and b/sims.npy: the folders tell them apart.
        default = [str(group[0].with_suffix("")) for group in groups]
    runs = [
        load_run(*group, benchmark=benchmark, name=name, **options)
        for group, name in zip(groups, names or default)
    ]
    if all(isinstance(run, RankingsRun) for run in runs) and (options["ids"] or options["transpose"]):
        raise InputError(
            "ranked lists carry their own ids and directions", fix="leave out --ids and --transpose"
        )
    for run in runs:
        if options["similarity"] == "dot" and not getattr(run, "unit_length", True):
            print(
                f"note: {run.name}: the embeddings are not of length 1 and scores are plain products; "
                "--similarity cosine scales them",
                file=sys.stderr,
            )
    return runs
