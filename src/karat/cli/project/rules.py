"""``karat project rules``: what annotators mark together in failures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def rules(
    project: options.ProjectPlace,
    question: Annotated[
        str | None,
        options.option(
            "--question",
            panel=options.SCORED,
            help="The follow-up question; by default the first with several choices.",
            show_default=False,
        ),
    ] = None,
    slices: Annotated[
        bool, options.slices("search for rules from what captions mention to what is marked.")
    ] = False,
    share: Annotated[
        float,
        options.option(
            "--share",
            panel=options.SCORED,
            help="A pair has what at least this share of its answers marks.",
        ),
    ] = 0.5,
    min_support: Annotated[int, options.min_support("pairs")] = 3,
    aggregate: options.Aggregate = options.AGGREGATE,
    gold_share: options.GoldShare = options.GOLD_SHARE,
    only_if_certain: options.OnlyIfCertain = False,
    captions_wrong: options.CaptionsWrong = 0,
    exclude: options.Exclude = None,
    approved_only: options.ApprovedOnly = False,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    json: options.Json = None,
    output: Annotated[Path | None, options.result_file("{rule_files}.")] = None,
) -> None:
    """Find what annotators mark together in failures.

    Of a form that has a question with several choices, such as misread: how often each is marked, how many at
    once, the ratings, and rules between them, with intervals that hold for all rules together.
    """
    from karat.cli.show import keep, working
    from karat.explanations import RuleReport
    from karat.judging import AcceptanceRule
    from karat.project import rules as marked

    RuleReport.check_path(output)
    acceptance = AcceptanceRule(
        aggregate, gold_share=gold_share, only_if_certain=only_if_certain, captions_wrong=captions_wrong,
        exclude=exclude, approved_only=approved_only,
    )  # fmt: skip
    with working("searching for rules"):
        found = marked(
            project, question=question, slices=slices, share=share, min_support=min_support,
            acceptance=acceptance, level=level, seed=seed,
        )  # fmt: skip
    keep(found, json, output)
