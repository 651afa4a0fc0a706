"""What the answers of a project come to: their quality, marks, bias, and a corrected benchmark."""

from __future__ import annotations

import getpass
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat._util import check_choice, check_extension, check_writable, plural
from karat.benchmarks import DIRECTIONS, Truth
from karat.errors import InputError
from karat.explanations import MarkSummary, check_share, summarise_marks
from karat.forms import ORIGINAL
from karat.judging import AcceptanceRule, BiasReport, Published, project_bias, project_marks, project_quality
from karat.judging import publish as publish_labels
from karat.judging.publication import mark
from karat.judging.quality import QualityReport, approve_passing, review_assignments
from karat.measures import parse_measures
from karat.project.place import takes_place
from karat.runs import Compute, Loading, load_runs, notes_on_loading
from karat.stats import Intervals, check_level

if TYPE_CHECKING:
    from karat.store import Project


@takes_place
def quality(
    project: Project,
    *,
    acceptance: AcceptanceRule | None = None,
    wrong: int = 0,
    approve_passed: bool = False,
    approve: Sequence[int] = (),
    reject: Sequence[int] = (),
    why: str = "",
    ask_again: bool = False,
    reviewer: str = "",
    export_review: str | Path | None = None,
    intervals: Intervals | None = None,
) -> QualityReport:
    """Describe the quality of a project's answers, after reviews of assignments, if there are any to add.

    Parameters
    ----------
    project
        An open project, or its file or address.
    acceptance
        Which answers count, and how they become verdicts.
    wrong
        How many gold pairs of an assignment may be wrong.
    approve_passed
        Approve every unreviewed assignment whose gold pairs are right.
    approve, reject
        The numbers of assignments to approve and to reject; the latest review of an assignment counts.
    why, ask_again
        The reason of rejections, and whether each task is offered to one more annotator.
    reviewer
        Who reviews; the login name by default.
    export_review
        Write every answer of assignments to review, as .csv or .json.
    intervals
        How intervals are made; by default 95%, percentile, 1,000 resamples of images.

    Returns
    -------
    QualityReport
        Its notes begin with what was reviewed.
    """
    if export_review is not None:
        check_writable(Path(export_review))
        check_extension(Path(export_review), (".csv", ".json"))
    rule = acceptance or AcceptanceRule()
    both = set(approve) & set(reject)
    if both:
        raise InputError(f"assignment {min(both)} is both approved and rejected", fix="list it once")
    if reject and not why:
        raise InputError("--reject without a reason", fix="give one: --why 'always yes'")
    if ask_again and not reject:
        raise InputError("--ask-again without --reject", fix="name the rejected assignments")
    done: list[str] = []
    if approve_passed or approve or reject:
        who = reviewer or login_name()
        done = review_assignments(project, who, approve=approve, reject=reject, why=why, ask_again=ask_again)
        if approve_passed:
            answers = project.answers.read()
            done += approve_passing(
                project, who, answers, wrong=wrong, captions_wrong=rule.captions_wrong
            )  # fmt: skip
    report = project_quality(project, acceptance=rule, wrong=wrong, intervals=intervals)
    if export_review is not None:
        report.review.save(Path(export_review))
    return replace(report, reviewed=tuple(done))


@takes_place
def rules(
    project: Project,
    *,
    question: str | None = None,
    slices: bool | Iterable[str] = False,
    share: float = 0.5,
    min_support: int = 3,
    acceptance: AcceptanceRule | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> MarkSummary:
    """Find what annotators mark together in failures.

    How often each choice of a question is marked, how many at once, the ratings, and rules between choices.

    Parameters
    ----------
    project
        An open project, or its file or address; its form has a question with several choices, as misread.
    question
        The question, by its code; by default the first with several choices.
    slices, share, min_support
        As for `karat.explanations.summarise_marks`.
    acceptance
        Which answers count.
    level, seed
        Of the intervals, which hold for all rules together, and of the search.
    """
    check_level(level)
    check_share(share)
    marks = project_marks(project, acceptance, question=question)
    return summarise_marks(
        marks, slices=slices, share=share, min_support=min_support, level=level, seed=seed
    )  # fmt: skip


@takes_place
def bias(
    project: Project,
    run: Any = None,
    *,
    measure: Iterable[Any] | str | None = None,
    direction: Iterable[str] | str | None = None,
    original: str | None = ORIGINAL,
    complete: str | None = None,
    acceptance: AcceptanceRule | None = None,
    depth: int = 25,
    drop_empty: bool = False,
    per_size: int = 50,
    intervals: Intervals | None = None,
    loading: Loading | None = None,
    compute: Compute | None = None,
) -> BiasReport:
    """Measure how the pool's models bias the labels (ECCV Caption §5, appendices A.2 and E.3).

    The labels are those that `karat.project.publish` publishes with the same options.

    Parameters
    ----------
    project
        An open project, or its file or address.
    run
        The runs that were pooled, as `karat.evaluate` takes them. Without them only R@1 can be computed, and
        diversity as deep as the pool.
    measure, direction
        Shares such as R@1, RP or mAP@R, by default R@1 and, with runs, RP; by default what was pooled.
    original
        The truth whose positives belong to every subset; None: judged pairs only.
    complete
        A complete truth to compare with, if there is one.
    acceptance
        Which answers count, and how they become verdicts.
    depth
        How many items of each ranking are compared for diversity.
    drop_empty
        Leave out queries for which a subset found nothing; by default they count as 0.
    per_size
        How many subsets of each size are drawn, for more than ten models.
    intervals
        How intervals are made; their seed is that of the sample of subsets, too.
    loading, compute
        How runs are read, and what the work is done with.
    """
    # Wrong choices show before runs are read.
    chosen = {} if measure is None else {"measure": parse_measures(measure)}
    ways = [direction] if isinstance(direction, str) else direction
    directions: Any = None if ways is None else [check_choice(way, DIRECTIONS, "direction") for way in ways]
    bench = project.benchmark()
    for truth in (original, complete):
        if truth not in (None, ORIGINAL):
            bench.truth(truth)
    runs = None if run is None else load_runs(run, bench, loading, compute)
    report = project_bias(
        project, runs, acceptance=acceptance, direction=directions, original=original, complete=complete,
        depth=depth, drop_empty=drop_empty, intervals=intervals, per_size=per_size, compute=compute, **chosen,
    )  # fmt: skip
    return report.with_notes(notes_on_loading(runs or []))


@takes_place
def publish(
    project: Project,
    output: str | Path,
    *,
    force: bool = False,
    truth_name: str = "corrected",
    acceptance: AcceptanceRule | None = None,
    original: str | None = None,
    keep_original: str = "union",
    merge: Iterable[str | Truth] = (),
    policy: str = "union",
    invalid: str | Path | None = None,
    reviewer: str = "",
    real_names: bool = False,
    licence: str = "",
    made: str = "",
) -> Published:
    """Publish a benchmark with the corrected truth: the truth, every answer, and a data card.

    Parameters
    ----------
    project
        An open project, or its file or address.
    invalid
        First apply the decisions in this copy of the file invalid.csv that publishing writes.
    reviewer
        Who decided them; the login name by default.
    output, force, truth_name, acceptance, original, keep_original, merge, policy, real_names, licence, made
        See `karat.judging.publish`.

    Returns
    -------
    Published
    """
    marks: list[str] = []
    if invalid is not None:
        changed = mark(project, invalid, reviewer or login_name())
        marks = [f"changed {plural(changed, 'mark')}"]
    merged = [merge] if isinstance(merge, str | Truth) else list(merge)
    published = publish_labels(
        project, output, acceptance=acceptance, truth_name=truth_name, original=original,
        keep_original=keep_original, merge=merged, policy=policy, real_names=real_names, licence=licence,
        made=made, force=force,
    )  # fmt: skip
    return published.with_notes(marks)


def login_name() -> str:
    """Return who is logged in, or ask for a name."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise InputError("your login name is unknown", fix="name the reviewer: --reviewer NAME") from None
