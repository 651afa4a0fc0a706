"""What the answers of a project come to: their quality, marks, bias, and a corrected benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat._util import check_extension, check_writable, plural
from karat.benchmarks import Pairs
from karat.errors import InputError
from karat.explanations import MarkSummary, check_share, summarise_marks
from karat.forms import ORIGINAL
from karat.judging import (
    AcceptanceRule,
    BiasReport,
    JudgedPool,
    answer_marks,
    answer_quality,
    measure_bias,
    project_verdicts,
)
from karat.judging import publish as publish_labels
from karat.judging.publication import both_sides
from karat.judging.quality import (
    QualityReport,
    accepted_in,
    approve_passing,
    login_name,
    marked_question,
    review_assignments,
)
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
        How intervals are made; by default 95%, percentile, 1,000 resamples of the first side of the pairs.

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
    try:
        pool = project.pools.read()
    except InputError:
        # A project may have answers from elsewhere and no pool.
        pool = None
    report = answer_quality(
        project.answers.read(), project.form, pool, project.queue.assignments(), project.reviews.read(),
        benchmark=project.benchmark(), wrong=wrong, acceptance=rule, intervals=intervals,
    )  # fmt: skip
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
    # A form without such a question shows before a large project is read.
    code = marked_question(project.form, question).code
    accepted = accepted_in(project, acceptance)
    marks = answer_marks(
        accepted.answers, project.form, project.benchmark(), question=code, notes=accepted.notes
    )
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
    default = ["R@1"] if run is None else ["R@1", "RP"]
    measures: Any = default if measure is None else parse_measures(measure)
    ways = [direction] if isinstance(direction, str) else direction
    bench = project.benchmark()
    directions = None if ways is None else [bench.direction(way) for way in ways]
    for truth in (original, complete):
        if truth not in (None, ORIGINAL):
            bench.truth(truth)
    runs = None if run is None else load_runs(run, bench, loading, compute)
    accepted, verdicts = project_verdicts(project, acceptance)
    invalid = project.reviews.invalid()
    judged = Pairs(verdicts.image, verdicts.caption, verdicts.grade)
    report = measure_bias(
        JudgedPool(project.pools.read(), judged, bench, invalid), runs, measure=measures,
        direction=directions, original=original, complete=complete, depth=depth, drop_empty=drop_empty,
        intervals=intervals, per_size=per_size, compute=compute,
    )  # fmt: skip
    labels = (
        f"Labels: {plural(len(verdicts), 'verdict')} by {verdicts.method}, {int(verdicts.relevant.sum()):,} "
        "relevant, as karat project publish publishes them with the same options."
    )
    items = sum(map(len, invalid.values()))
    removed = [f"invalid {both_sides(bench)} that are left out: {items:,}"] if items else []
    notes = [*accepted.notes, *removed, *report.notes]
    return replace(report, notes=notes, labels=labels).with_notes(notes_on_loading(runs or []))


publish = takes_place(publish_labels)
