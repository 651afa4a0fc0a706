"""The quality of a project's answers in one report: people, known pairs, agreement, kinds of errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import plural, renamed_keywords
from karat.benchmarks import Benchmark
from karat.errors import InputError
from karat.judging.checking.accepting import accepted_answers
from karat.judging.checking.agreement import RESAMPLES, people_agreement
from karat.judging.checking.answer_tables import answers_by_rank, details_by_system
from karat.judging.checking.answers import AnswerTable, split_adjudicated
from karat.judging.checking.gold_check import CONTROL, check_gold
from karat.judging.checking.grouped import number_pairs
from karat.judging.checking.hand_ins import hand_ins
from karat.judging.checking.quality_report import QualityReport
from karat.judging.checking.review_list import review_list
from karat.judging.checking.verdicts import AGGREGATIONS, Aggregated
from karat.judging.checking.verdicts import aggregate as aggregated
from karat.judging.checking.worker_table import WorkerTable
from karat.judging.checking.workers import worker_table
from karat.judging.forms import Form
from karat.judging.pools import Pool
from karat.judging.tasks import UNKNOWN
from karat.stats import Intervals, how_intervals

if TYPE_CHECKING:
    from karat.judging.store import Project


@renamed_keywords(aggregation="aggregate", settings="aggregate_set", surely="only_if_certain")
def quality(
    answers: AnswerTable,
    form: Form,
    pool: Pool | None = None,
    slots: Any = None,
    reviews: Mapping[int, Any] | None = None,
    *,
    benchmark: Benchmark | None = None,
    aggregate: str = "dawid-skene",
    aggregate_set: Mapping[str, Any] | None = None,
    wrong: int = 0,
    control: float = CONTROL,
    only_if_certain: bool = False,
    captions_wrong: int = 0,
    exclude: bool | None = None,
    approved_only: bool = False,
    intervals: Intervals | None = None,
) -> QualityReport:
    """Return everything that the answers say about their quality.

    People, hand-ins and known pairs are described over all finished hand-ins; agreement, verdicts and the
    tables by system over the answers that count (`accepted_answers`).

    Parameters
    ----------
    answers, form
        What was answered, and what was asked.
    pool
        Where the systems ranked the pairs, for the tables by system.
    slots, reviews
        The project's slots, and per slot its latest review.
    benchmark
        Whose ids and captions the hand-ins to look at are shown with; indices without one.
    aggregate, aggregate_set
        How answers become verdicts: the method and its settings, as `karat.judging.aggregate` takes them.
    wrong, control, only_if_certain, captions_wrong
        The rules for known pairs, as `check_gold` takes them.
    exclude
        Whether answers of people who fail the control rule are left out; by default, unless the aggregation
        weighs people itself.
    approved_only
        Whether only approved hand-ins count.
    intervals
        How intervals are made; by default 95%, percentile, 1,000 resamples of images.
    """
    if not len(answers):
        raise InputError("the project has no answers", fix="import some: karat answers import")
    made = intervals or Intervals(resamples=RESAMPLES)
    # Who decides where people disagree is none of them.
    voted = split_adjudicated(answers)[0]
    finished = accepted_answers(voted, form, slots=slots, control=None).answers
    rules: dict[str, Any] = {"surely": only_if_certain, "captions_wrong": captions_wrong}
    gold = check_gold(finished, form, wrong=wrong, control=control, **rules)
    exclude = not AGGREGATIONS[aggregate].weighs_people if exclude is None else exclude
    accepted = accepted_answers(
        answers, form, slots=slots, reviews=reviews, control=control if exclude else None,
        approved_only=approved_only, **rules,
    )  # fmt: skip
    counted = accepted.answers
    counted_votes = split_adjudicated(counted)[0]
    if not (counted.gold == UNKNOWN).any():
        raise InputError(
            f"no answer counts ({'; '.join(accepted.notes) or 'all are about known pairs'})",
            fix="approve hand-ins, or lower the control rule",
        )
    plain = AGGREGATIONS[aggregate] is AGGREGATIONS["majority"]
    asked = number_pairs(*(column[answers.gold == UNKNOWN] for column in (answers.image, answers.caption)))
    verdicts = [aggregated(counted, form, aggregate, **(aggregate_set or {})).asked]
    verdicts += [] if plain else [aggregated(counted, form, "majority").asked]
    people = len(np.unique(voted.worker))
    who = "1 person" if people == 1 else f"{people:,} people"
    about = f"{plural(len(voted), 'answer')} of {who}, {plural(len(asked[1]), 'pair')} to judge"
    return QualityReport(
        about,
        len(asked[1]),
        gold,
        hand_ins(gold, reviews),
        review_list(finished, form, gold, reviews, benchmark),
        with_expected(worker_table(finished, form, gold), verdicts[0]),
        people_agreement(counted, form, made),
        tuple(verdicts),
        None if pool is None else answers_by_rank(counted_votes, form, pool),
        details_by_system(counted_votes, form, pool),
        accepted,
        how_intervals(made, "images"),
    )


def project_quality(project: Project, **options: Any) -> QualityReport:
    """Return everything that a project's answers say about their quality; `karat quality` prints it.

    Parameters
    ----------
    project
        As `karat.judging.open_project` returns it.
    **options
        What `quality` takes by name.
    """
    try:
        pool = project.pools.read()
    except InputError:
        # Answers may come from elsewhere.
        pool = None
    return quality(
        project.answers.read(), project.form, pool, project.queue.slots(), project.reviews.read(),
        benchmark=project.benchmark(), **options,
    )  # fmt: skip


def with_expected(workers: WorkerTable, verdicts: Aggregated) -> WorkerTable:
    """Return the worker table with what Dawid–Skene expects of each, where it was asked."""
    if verdicts.fit is None:
        return workers
    right = np.where(verdicts.fit.answers > 0, verdicts.fit.right, np.nan)
    return replace(workers, expected=right[workers.number])
