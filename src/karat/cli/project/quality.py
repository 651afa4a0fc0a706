"""``karat project quality``: the quality of a project's answers, and reviews of assignments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_extension
from karat.cli import options
from karat.cli.command import REVIEW, Command
from karat.cli.options import parse_settings
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=Command)
def quality(
    project: options.ProjectPlace,
    aggregate: options.Aggregate = options.AGGREGATE,
    aggregate_set: options.AggregateSetting = None,
    wrong: Annotated[
        int,
        options.option(
            "--wrong", min=0, panel=options.ANSWERS, help="Gold pairs that may be wrong in an assignment."
        ),
    ] = 0,
    gold_share: options.GoldShare = options.GOLD_SHARE,
    only_if_certain: options.OnlyIfCertain = False,
    captions_wrong: options.CaptionsWrong = 0,
    exclude: options.Exclude = None,
    approved_only: options.ApprovedOnly = False,
    approve_passed: Annotated[
        bool,
        options.option(
            "--approve-passed",
            panel=REVIEW,
            help="Approve every unreviewed assignment whose gold pairs are right.",
        ),
    ] = False,
    approve: Annotated[
        list[str] | None,
        options.option("--approve", panel=REVIEW, metavar="N", help="Approve these assignments: 3,4."),
    ] = None,
    reject: Annotated[
        list[str] | None,
        options.option("--reject", panel=REVIEW, metavar="N", help="Reject these assignments: 5,6."),
    ] = None,
    why: Annotated[
        str,
        options.option(
            "--why", panel=REVIEW, metavar="TEXT", show_default=False, help="With --reject: the reason."
        ),
    ] = "",
    ask_again: Annotated[
        bool,
        options.option(
            "--ask-again", panel=REVIEW, help="With --reject: offer each task to one more annotator."
        ),
    ] = False,
    reviewer: options.Reviewer = "",
    export_review: Annotated[
        Path | None,
        options.option(
            "--export-review",
            panel=options.OUTPUT,
            callback=options.check_file,
            help="Write every answer of assignments to review: .csv or .json.",
        ),
    ] = None,
    level: options.Level = 0.95,
    resamples: options.Resamples = 1000,
    seed: options.Seed = 0,
    json: options.Json = None,
) -> None:
    """Show the quality of answers, and review assignments.

    Assignments, annotators, agreement, verdicts, answers by system and rank. Assignments with a wrong gold
    pair are listed for review. Reviews are added before the report is made; the latest review of an
    assignment counts.
    """
    from karat.cli.show import keep, working
    from karat.judging import AcceptanceRule
    from karat.project import quality as described
    from karat.stats import Intervals

    check_extension(export_review, (".csv", ".json"))
    # Wrong choices show before a large project is read.
    acceptance = AcceptanceRule(
        aggregate, parse_settings(aggregate_set), gold_share, only_if_certain, captions_wrong, exclude,
        approved_only,
    )  # fmt: skip
    intervals = Intervals("percentile", level, resamples, seed)
    approved, rejected = numbers(approve, "--approve"), numbers(reject, "--reject")
    with working("describing the answers"):
        report = described(
            project, acceptance=acceptance, wrong=wrong, approve_passed=approve_passed, approve=approved,
            reject=rejected, why=why, ask_again=ask_again, reviewer=reviewer, export_review=export_review,
            intervals=intervals,
        )  # fmt: skip
    keep(report, json)


def numbers(texts: list[str] | None, option: str) -> list[int]:
    """Return the numbers of assignments, each once.

    >>> numbers(["4", "3"], "--reject")
    [3, 4]
    """
    texts = texts or []
    if not all(text.isascii() and text.isdigit() for text in texts):
        raise InputError(
            f"{option} is {','.join(texts)!r}", fix="give the numbers of assignments, such as 3,4"
        )
    return sorted({int(text) for text in texts})
