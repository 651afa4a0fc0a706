"""``karat project bias``: how the pool's models bias the labels of a project."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def bias(
    project: options.ProjectPlace,
    run: options.RunFile = None,
    name: options.Name = None,
    measure: options.Measure = None,
    direction: options.Direction = None,
    original: Annotated[
        str, options.original("they belong to every subset; none: judged pairs only.")
    ] = "original",
    complete: Annotated[
        str | None,
        options.option(
            "--complete",
            panel=options.SCORED,
            metavar="TRUTH",
            help="A complete truth to compare with, if there is one.",
        ),
    ] = None,
    aggregate: options.Aggregate = options.AGGREGATE,
    aggregate_set: options.AggregateSetting = None,
    gold_share: options.GoldShare = options.GOLD_SHARE,
    only_if_certain: options.OnlyIfCertain = False,
    captions_wrong: options.CaptionsWrong = 0,
    exclude: options.Exclude = None,
    approved_only: options.ApprovedOnly = False,
    depth: Annotated[
        int,
        options.option(
            "--depth",
            min=1,
            panel=options.SCORED,
            help="How many items of each ranking to compare for diversity.",
        ),
    ] = 25,
    drop_empty: Annotated[
        bool,
        options.option(
            "--drop-empty",
            panel=options.SCORED,
            help="Leave out queries for which a subset found nothing; by default they count as 0.",
        ),
    ] = False,
    per_size: Annotated[
        int,
        options.option(
            "--per-size",
            min=1,
            panel=options.SCORED,
            help="With more than ten models: how many subsets of each size to draw.",
        ),
    ] = 50,
    level: options.Level = 0.95,
    resamples: options.Resamples = 1000,
    seed: options.Seed = 0,
    similarity: options.Similarity = "dot",
    json: options.Json = None,
) -> None:
    """Measure how the pool's models bias the labels.

    Every model is scored on the labels that each subset of the models would have produced (ECCV Caption §5,
    appendix E). The report also shows whether a model that does not contribute is treated fairly, and how
    similar the models are. The labels are those that `karat project publish` publishes with the same options.
    Without --run, only R@1 can be computed, and diversity as deep as the pool.
    """
    from karat.cli.show import keep, working
    from karat.judging import AcceptanceRule
    from karat.project import bias as measured
    from karat.runs import Loading
    from karat.stats import Intervals

    acceptance = AcceptanceRule(
        aggregate, parse_settings(aggregate_set), gold_share, only_if_certain, captions_wrong, exclude,
        approved_only,
    )  # fmt: skip
    intervals = Intervals(level=level, resamples=resamples, seed=seed)
    with working("scoring every model on the labels of every subset"):
        report = measured(
            project, run, measure=measure, direction=direction,
            original=None if original == "none" else original, complete=complete, acceptance=acceptance,
            depth=depth, drop_empty=drop_empty, per_size=per_size, intervals=intervals,
            loading=Loading(name, similarity=similarity),
        )  # fmt: skip
    keep(report, json)
