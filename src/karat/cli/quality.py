"""``karat quality``: the quality of a project's answers, and reviews of assignments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_extension, check_writable
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
    from karat.cli.show import opening, print_notes, show, waiting, write_json
    from karat.judging import AcceptanceRule, project_quality
    from karat.judging.quality import approve_passing, review_assignments
    from karat.stats import Intervals

    for path in (json, export_review):
        check_writable(path)
    check_extension(export_review, (".csv", ".json"))
    # Wrong choices show before a large project is read.
    acceptance = AcceptanceRule(
        aggregate, parse_settings(aggregate_set), gold_share, only_if_certain, captions_wrong, exclude,
        approved_only,
    )  # fmt: skip
    intervals = Intervals("percentile", level, resamples, seed)
    approved, rejected = numbers(approve, "--approve"), numbers(reject, "--reject")
    both = set(approved) & set(rejected)
    if both:
        raise InputError(f"assignment {min(both)} is both approved and rejected", fix="list it once")
    if rejected and not why:
        raise InputError("--reject without a reason", fix="give one: --why 'always yes'")
    if ask_again and not rejected:
        raise InputError("--ask-again without --reject", fix="name the rejected assignments")
    reviewing = approve_passed or approved or rejected
    who = reviewer or (login_name() if reviewing else "")
    with opening(project) as opened:
        if reviewing:
            done = review_assignments(
                opened, who, approve=approved, reject=rejected, why=why, ask_again=ask_again
            )
            if approve_passed:
                done += approve_passing(
                    opened, who, opened.answers.read(), wrong=wrong, captions_wrong=captions_wrong
                )
            print_notes(done)
        with waiting("describing the answers"):
            report = project_quality(opened, acceptance=acceptance, wrong=wrong, intervals=intervals)
        if export_review is not None:
            report.review.save(export_review)
    show(report, quiet=write_json(report, json))


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


def login_name() -> str:
    """Return who is logged in, or ask for a name."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise InputError("your login name is unknown", fix="name the reviewer: --reviewer NAME") from None
