"""``karat project publish``: a benchmark with a corrected truth, from a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def publish(
    project: options.ProjectPlace,
    output: Annotated[Path, options.output("a new folder, or an unchanged one that karat published.")],
    force: options.Force = False,
    truth_name: Annotated[
        str,
        options.option(
            "--truth-name", panel=options.OUTPUT, metavar="NAME", help="The name of the new truth."
        ),
    ] = "corrected",
    aggregate: options.Aggregate = options.AGGREGATE,
    aggregate_set: options.AggregateSetting = None,
    original: Annotated[str | None, options.original("the benchmark's first by default.")] = None,
    keep_original: Annotated[
        str,
        options.option(
            "--keep-original",
            panel=options.ANSWERS,
            choices="policies",
            help="Which original positives stay: {policies}; only the first keeps all of them.",
        ),
    ] = "union",
    merge: Annotated[
        list[str] | None,
        options.option(
            "--merge",
            panel=options.ANSWERS,
            metavar="TRUTH",
            help="Further truths of the benchmark to merge, such as cxc.",
        ),
    ] = None,
    policy: Annotated[
        str,
        options.option(
            "--policy",
            panel=options.ANSWERS,
            choices="policies",
            help="What counts where merged truths and annotators differ: {policies}.",
        ),
    ] = "union",
    gold_share: options.GoldShare = options.GOLD_SHARE,
    only_if_certain: options.OnlyIfCertain = False,
    captions_wrong: options.CaptionsWrong = 0,
    exclude: options.Exclude = None,
    approved_only: options.ApprovedOnly = False,
    invalid: Annotated[
        Path | None,
        options.option(
            "--invalid",
            panel=options.ANSWERS,
            help="First apply the decisions in this copy of invalid.csv: status remove or keep.",
        ),
    ] = None,
    reviewer: options.Reviewer = "",
    real_names: Annotated[
        bool,
        options.option(
            "--real-names",
            panel=options.OUTPUT,
            help="Publish annotators' own names instead of w001, w002, …",
        ),
    ] = False,
    licence: Annotated[
        str,
        options.option(
            "--licence",
            panel=options.OUTPUT,
            show_default=False,
            metavar="TEXT",
            help="For the data card: the licence of the judgments.",
        ),
    ] = "",
    made: Annotated[
        str,
        options.option(
            "--made",
            panel=options.OUTPUT,
            show_default=False,
            metavar="TEXT",
            help="For the data card: when or by whom it was made.",
        ),
    ] = "",
    json: options.Json = None,
) -> None:
    """Publish a benchmark with the corrected truth.

    The folder contains the truth, every answer and a data card. --force replaces a folder that was changed
    since it was published; a folder that karat did not publish is never replaced.
    """
    from karat.cli.show import keep, working
    from karat.judging import AcceptanceRule
    from karat.project import publish as published

    acceptance = AcceptanceRule(
        aggregate, parse_settings(aggregate_set), gold_share, only_if_certain, captions_wrong, exclude,
        approved_only,
    )  # fmt: skip
    with working("publishing"):
        done = published(
            project, output, force=force, truth_name=truth_name, acceptance=acceptance, original=original,
            keep_original=keep_original, merge=merge or (), policy=policy, invalid=invalid, reviewer=reviewer,
            real_names=real_names, licence=licence, made=made,
        )  # fmt: skip
    keep(done, json)
