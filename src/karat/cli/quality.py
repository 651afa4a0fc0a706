"""``karat quality``: what a project's answers are worth, and reviewing hand-ins."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from karat._util import check_extension, check_writable, write_file
from karat.cli import judging_options, scoring
from karat.cli.options import ListCommand, parse_settings, split_names
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=ListCommand)
def quality(
    project: judging_options.ProjectPlace,
    aggregation: judging_options.Aggregate = "dawid-skene",
    setting: judging_options.Setting = None,
    wrong: Annotated[int, typer.Option(min=0, help="Control items that may be wrong in a hand-in.")] = 0,
    control: judging_options.Control = 0.7,
    surely: judging_options.Surely = False,
    captions_wrong: judging_options.CaptionsWrong = 0,
    exclude: judging_options.Exclude = None,
    approved_only: judging_options.ApprovedOnly = False,
    approve_passed: Annotated[
        bool,
        typer.Option(
            "--approve-passed", help="Approve every unreviewed hand-in whose control items are right."
        ),
    ] = False,
    approve: Annotated[list[str] | None, typer.Option(help="Approve these hand-ins.", metavar="SLOT")] = None,
    reject: Annotated[list[str] | None, typer.Option(help="Reject these hand-ins.", metavar="SLOT")] = None,
    why: Annotated[str, typer.Option(help="With --reject: the reason.")] = "",
    ask_again: Annotated[
        bool, typer.Option("--ask-again", help="With --reject: offer each task to one more person.")
    ] = False,
    reviewer: Annotated[str, typer.Option(help="Who reviews; your login name by default.")] = "",
    export_review: Annotated[
        Path | None, typer.Option(help="Write every answer of hand-ins to look at: .csv or .json.")
    ] = None,
    level: scoring.Level = 0.95,
    resamples: scoring.Resamples = 1000,
    seed: scoring.Seed = 0,
    json: Annotated[Path | None, typer.Option(help="Write every number here as json.")] = None,
) -> None:
    """Show what the answers are worth: hand-ins, people, agreement, verdicts, answers by system and rank.

    Hand-ins with a wrong control item are listed for review. Reviews are added before the report is made;
    the latest of a hand-in counts.
    """
    from karat.cli.show import console, print_notes, print_table, waiting
    from karat.judging import open_project
    from karat.judging import quality as compute
    from karat.judging.checking import AGGREGATIONS, approve_passing, review_hand_ins
    from karat.stats import Intervals

    for path in (json, export_review):
        check_writable(path)
    check_extension(export_review, (".csv", ".json"))
    # Wrong choices show before a large project is read.
    AGGREGATIONS[aggregation]
    intervals = Intervals("percentile", level, resamples, seed)
    asked = {"approve": numbers(approve, "--approve"), "reject": numbers(reject, "--reject")}
    both = set(asked["approve"]) & set(asked["reject"])
    if both:
        raise InputError(f"hand-in {min(both)} is approved and rejected", fix="give it once")
    if asked["reject"] and not why:
        raise InputError("--reject without a reason", fix="say it: --why 'always yes'")
    if ask_again and not asked["reject"]:
        raise InputError("--ask-again without --reject", fix="name the hand-ins that were rejected")
    reviewing = approve_passed or any(asked.values())
    who = reviewer or (login_name() if reviewing else "")
    with open_project(project) as opened:
        with waiting("reading the answers"):
            answers, slots = opened.answers(), opened.slots()
        if reviewing:
            done = review_hand_ins(
                opened, who, approve=asked["approve"], reject=asked["reject"], why=why, ask_again=ask_again
            )
            if approve_passed:
                done += approve_passing(opened, who, answers, wrong=wrong, captions_wrong=captions_wrong)
            print_notes(done)
        with waiting("describing the answers"):
            found = compute(
                answers, opened.form, pool_of(opened), slots, opened.reviews(), aggregation=aggregation,
                settings=parse_settings(setting), wrong=wrong, control=control, surely=surely,
                captions_wrong=captions_wrong, exclude=exclude, approved_only=approved_only,
                intervals=intervals, benchmark=opened.benchmark(),
            )  # fmt: skip
        if export_review is not None:
            found.review.save(export_review)
    if json is not None:
        write_file(json, lambda path: path.write_text(found.to_json(), encoding="utf-8"))
    screen = console()
    for part in found.parts():
        if isinstance(part, str):
            print(part)
        else:
            print_table(part, screen)
    print_notes(found.notes)


def pool_of(project: Any) -> Any:
    """Return a project's pool, None where it has none: answers may come from elsewhere."""
    try:
        return project.pool()
    except InputError:
        return None


def numbers(given: list[str] | None, option: str) -> list[int]:
    """Return hand-ins given one by one or separated by commas.

    >>> numbers(["3", "4,5"], "--reject")
    [3, 4, 5]
    """
    texts = split_names(given) or []
    if not all(text.isascii() and text.isdigit() for text in texts):
        raise InputError(f"{option} is {' '.join(texts)!r}", fix="give the numbers of hand-ins, such as 3 4")
    return sorted({int(text) for text in texts})


def login_name() -> str:
    """Return who is logged in, or ask for a name."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise InputError("nobody is logged in by name", fix="say who reviews: --reviewer NAME") from None
