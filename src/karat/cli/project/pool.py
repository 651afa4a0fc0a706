"""``karat project pool``: the pairs that several runs suggest, and a project for them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=Command)
def pool(
    files: options.Files,
    benchmark: options.BenchmarkName = "coco",
    output: Annotated[str | None, options.output("a new project, a file or postgresql://…")] = None,
    force: options.Force = False,
    top: options.Top = 5,
    form: options.AskedForm = "pair",
    direction: options.Direction = None,
    queries: Annotated[
        str | None,
        options.option(
            "--queries",
            panel=options.SCORED,
            metavar="TRUTH",
            help="Only the queries that this truth covers.",
        ),
    ] = None,
    sample: Annotated[list[str] | None, options.sample("queries, 500 or i2t=1261,t2i=1333.")] = None,
    judged: Annotated[
        list[str] | None,
        options.option(
            "--judged",
            panel=options.SCORED,
            metavar="TRUTH",
            help="Leave out pairs that these truths judge; `original` is each caption with its own image.",
        ),
    ] = None,
    filter: Annotated[
        list[str] | None,
        options.option(
            "--filter",
            panel=options.SCORED,
            metavar="RULE",
            help="Keep only some pairs: 'bleu-pre>=0.25', 'score(a)>=0.3' or 'systems>=2'.",
        ),
    ] = None,
    task_size: options.TaskSize = None,
    gold: options.Gold = None,
    overlap: options.Overlap = 3,
    gold_truth: Annotated[
        str | None,
        options.option(
            "--gold-truth",
            panel=options.COST,
            metavar="TRUTH",
            help="The truth of gold positives; by default captions with their own images.",
        ),
    ] = None,
    gold_depth: Annotated[
        int,
        options.option(
            "--gold-depth",
            min=0,
            panel=options.COST,
            help="Gold negatives are not among the first N items of any run.",
        ),
    ] = 25,
    per_hour: options.PerHour = 15.0,
    fee: options.Fee = 0.2,
    dry_run: options.DryRun = False,
    seed: options.Seed = 0,
    name: options.Name = None,
    similarity: options.Similarity = "dot",
    setting: options.Setting = None,
) -> None:
    """Pool what several runs suggest, for annotators to judge.

    Takes the first items of each run, and prints what judging them costs. `karat project tasks` packs the
    pool into tasks. For masks of instances there is `karat detections pool`.
    """
    from karat.cli.show import show, working
    from karat.judging import Rates
    from karat.project import check_new
    from karat.project import pool as pooled
    from karat.runs import Loading

    # Before anything large is read.
    check_new(output, force, dry_run)
    with working("reading the benchmark"):
        done = pooled(
            files, benchmark, output, force=force, top=top, form=form, direction=direction, queries=queries,
            sample=parse_sample(sample), judged=judged or (), filter=filter or (),
            task_size=task_size, gold=gold, gold_truth=gold_truth, gold_depth=gold_depth, overlap=overlap,
            rates=Rates(None, per_hour, fee=fee), dry_run=dry_run, seed=seed,
            loading=Loading(name, similarity=similarity), setting=parse_settings(setting),
        )  # fmt: skip
    show(done)


def parse_sample(texts: list[str] | None) -> Any:
    """Return a number for all directions, or one for each.

    >>> parse_sample(["i2t=1261", "t2i=1333"]), parse_sample(["500"]), parse_sample(None)
    ({'i2t': 1261, 't2i': 1333}, 500, None)
    """
    from karat.benchmarks import is_direction

    if texts is None:
        return None
    if len(texts) == 1 and texts[0].isdecimal():
        if not int(texts[0]):
            raise InputError("--sample is 0", fix="give 1 or more")
        return int(texts[0])
    numbers = parse_settings(texts)
    for name, value in numbers.items():
        if not is_direction(name) or not value.isdecimal():
            raise InputError(
                f"{name}={value} is not a sample size", fix="write --sample 500, or i2t=1261,t2i=1333"
            )
    return {name: int(value) for name, value in numbers.items()}
