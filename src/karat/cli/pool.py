"""``karat pool``: the pairs that several systems suggest, what judging them costs, and a project for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._util import plural
from karat.cli import scoring
from karat.cli.options import ListCommand, parse_settings, split_names
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.judging import Form

app = typer.Typer()

FormName = Annotated[
    str, typer.Option(help="What people are asked: pair, grid, expert, misread, or a .toml file.")
]
Pairs = Annotated[
    int | None, typer.Option(min=1, help="Pairs to judge in a task; as the form says by default.")
]
Gold = Annotated[
    int | None, typer.Option(min=0, help="Known pairs hidden in a task; as the form says by default.")
]
Overlap = Annotated[int, typer.Option(min=1, help="How many people answer each task.")]
PerHour = Annotated[float, typer.Option(min=0, help="Pay for an hour, in any currency.")]
PerTask = Annotated[float | None, typer.Option(min=0, help="Pay for a task, instead.")]
Fee = Annotated[float, typer.Option(min=0, help="The platform's share on top of the pay.")]


@app.command(cls=ListCommand)
def pool(
    files: scoring.Files,
    benchmark: scoring.BenchmarkName = "coco",
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="The project: a file, or postgresql://…")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How deep each ranking is read.")] = 5,
    form: FormName = "pair",
    directions: scoring.Directions = None,
    queries: Annotated[str | None, typer.Option(help="Only the queries that this truth covers.")] = None,
    sample: Annotated[
        list[str] | None, typer.Option(help="Only so many at random: --sample 500, or i2t=1261 t2i=1333.")
    ] = None,
    judged: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave out what these truths judge; `original` is each caption with its own image."
        ),
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", help="Such as 'bleu-pre>=0.25', 'score(a)>=0.3' or 'systems>=2'."),
    ] = None,
    fill: Annotated[
        int | None,
        typer.Option(min=1, help="Fill up each image's captions to a multiple of this; a grid's by default."),
    ] = None,
    pairs: Pairs = None,
    gold: Gold = None,
    overlap: Overlap = 3,
    gold_truth: Annotated[
        str | None,
        typer.Option(help="Known positives are this truth's; by default captions with own images."),
    ] = None,
    gold_depth: Annotated[
        int, typer.Option(min=0, help="Known negatives are in no system's first so many.")
    ] = 25,
    per_hour: PerHour = 15.0,
    per_task: PerTask = None,
    fee: Fee = 0.2,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would cost.")] = False,
    seed: scoring.Seed = 0,
    names: scoring.Names = None,
    ids: scoring.IdsFile = None,
    similarity: scoring.Similarity = "dot",
    transpose: scoring.Transpose = False,
    setting: scoring.Setting = None,
) -> None:
    """Pool the first items of several runs for people to judge; first it says what that costs.

    `karat tasks` packs the pool into tasks.
    """
    from karat.benchmarks import load_benchmark
    from karat.cli.show import print_notes, waiting
    from karat.judging import estimate_cost, make_pool
    from karat.judging.pools import gold_notes, parse_filter, pool_sentences

    # Mistakes in these show before anything large is read.
    if output is None and not dry_run:
        raise InputError("there is no place for the project", fix="give one with -o project.db, or --dry-run")
    if output is not None and not dry_run:
        check_new(output)
    asked = sized_form(form, pairs, gold)
    rules = split_names(filters) or []
    for rule in rules:
        parse_filter(rule)
    settings = parse_settings(setting)
    bench = load_benchmark(benchmark, **settings)
    left_out = split_names(judged) or []
    sides: Any = split_names(directions)
    options = {"ids": ids, "similarity": similarity, "transpose": transpose}
    runs = scoring.load_runs(files, bench, split_names(names), **options)
    with waiting(f"pooling {plural(len(runs), 'run')}"):
        found = make_pool(
            runs,
            bench,
            top=top,
            directions=sides,
            queries=queries,
            sample=parse_sample(split_names(sample)),
            judged=left_out,
            filters=rules,
            form=asked,
            fill=fill,
            gold_truth=gold_truth,
            gold_depth=gold_depth,
            seed=seed,
        )
    price = {"overlap": overlap, "per_hour": per_hour, "per_task": per_task, "fee": fee}
    cost = estimate_cost(len(found), asked, **price)  # type: ignore[arg-type]
    print("\n".join(pool_sentences(found)))
    if not len(found):
        raise InputError("nothing is left to judge", fix="pool deeper, filter less, or leave out fewer pairs")
    print("\n".join(cost.sentences()))
    print_notes(gold_notes(found, asked, cost))
    if dry_run or output is None:
        return
    from karat.judging import create_project

    said = {
        "runs": [str(file) for file in files], "systems": list(found.systems), "top": top, "queries": queries,
        "sample": sample, "judged": left_out, "filters": rules, "gold_truth": gold_truth,
        "gold_depth": gold_depth, "seed": seed, "pairs": len(found), "suggestions": found.suggestions,
    }  # fmt: skip
    with create_project(output, bench, asked, source=lasting(benchmark), settings=settings) as project:
        project.set_pool(found)
        project.log("pool", said)
    print(f"wrote {output}; next: karat tasks {output}")


def sized_form(name: str, pairs: int | None, gold: int | None) -> Form:
    """Return a form with other sizes, which are then the project's own."""
    from karat.judging import load_form
    from karat.judging.forms import form_from_data, form_to_data

    data = form_to_data(load_form(name))
    sizes = {"pairs": pairs, "gold": gold}
    return form_from_data(data | {what: one for what, one in sizes.items() if one is not None}, name)


def check_new(output: str) -> None:
    """Raise when the project's file is there already, or its folder is not: before hours of reading runs."""
    from karat._util import check_writable

    if "://" in output:
        return
    check_writable(Path(output))
    if Path(output).exists():
        raise InputError("is there already", where=output, fix="choose another name, or remove it")


def lasting(benchmark: str) -> str:
    """Return a benchmark's name, or its folder from the root: the project is opened from anywhere."""
    from karat.benchmarks import SOURCES, registered

    known = benchmark in SOURCES or benchmark in registered()
    return benchmark if known else str(Path(benchmark).resolve())


def parse_sample(given: list[str] | None) -> Any:
    """Return a number for both directions, or one for each.

    >>> parse_sample(["i2t=1261", "t2i=1333"]), parse_sample(["500"]), parse_sample(None)
    ({'i2t': 1261, 't2i': 1333}, 500, None)
    """
    if given is None:
        return None
    if len(given) == 1 and given[0].isdecimal():
        return int(given[0])
    numbers = parse_settings(given)
    for name, value in numbers.items():
        if name not in ("i2t", "t2i") or not value.isdecimal():
            raise InputError(f"{name}={value} is no sample", fix="write --sample 500, or i2t=1261 t2i=1333")
    return {name: int(value) for name, value in numbers.items()}
