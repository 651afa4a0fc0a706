"""The quality of a project's answers in one report: assignments, annotators, gold, agreement, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._util import Layout, Part, Result, flat, json_text, plural, word_for
from karat.benchmarks import Benchmark
from karat.forms import NOT_GOLD, AnswerTable, Form, Pool, number_pairs, split_adjudicated
from karat.judging.quality.acceptance import AcceptanceRule
from karat.judging.quality.agreement import RESAMPLES, AnnotatorAgreement, annotator_agreement
from karat.judging.quality.annotators import AnnotatorTable, annotator_table
from karat.judging.quality.assignments import (
    Accepted,
    AssignmentCounts,
    accepted_answers,
    count_assignments,
)
from karat.judging.quality.gold import GoldCheck, check_gold
from karat.judging.quality.reviews import ReviewList, review_list
from karat.judging.quality.system_tables import Shares, answers_by_rank, details_by_system
from karat.judging.quality.verdicts import AGGREGATIONS, Aggregated
from karat.stats import Intervals, how_intervals

BASELINE = "majority"
"""The aggregation that the chosen one is compared with."""


@dataclass(frozen=True, eq=False)
class QualityReport(Result):
    """What `answer_quality` returns.

    Parameters
    ----------
    answers, asked
        How many answers there are, by how many annotators, as a sentence; and about how many pairs.
    gold, assignments, review, annotators
        The gold check, table B.1, the assignments to review, and a row per annotator.
    agreement
        The agreement of the answers that count.
    verdicts
        The verdicts from the answers that count, by the chosen aggregation, and by majority for comparison.
    by_rank, details
        Tables B.2 and B.3, where there is a pool and follow-up questions.
    accepted
        The answers that count.
    how
        How intervals were made, as a sentence.
    reviewed
        What was approved and rejected just before.
    """

    answers: str
    asked: int
    gold: GoldCheck
    assignments: AssignmentCounts
    review: ReviewList
    annotators: AnnotatorTable
    agreement: AnnotatorAgreement
    verdicts: tuple[Aggregated, ...]
    by_rank: Shares | None
    details: tuple[Shares, ...]
    accepted: Accepted
    how: str
    reviewed: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        fits = [verdicts.fit for verdicts in self.verdicts if verdicts.fit is not None]
        of_fits = [note for fit in fits for note in fit.notes]
        lost = self.asked - len(self.verdicts[0])
        empty = [f"{plural(lost, 'pair')} {word_for(lost, 'has', 'have')} no answer left"] if lost else []
        return (*self.reviewed, *self.accepted.notes, *empty, *of_fits)

    def to_records(self) -> dict[str, list[dict[str, Any]]]:
        """Return all numbers, as records by table."""
        tables = {
            "hand_ins": self.assignments.records(),
            "workers": self.annotators.records(),
            "agreement": self.agreement.records(),
            "verdicts": [summary(verdicts, self.verdicts[-1]) for verdicts in self.verdicts],
            "review": self.review.records(),
        }
        if self.by_rank is not None:
            tables["answers_by_rank"] = self.by_rank.records()
        for table in self.details:
            tables[table.title.replace(" ", "_")] = table.records()
        return tables

    def records(self) -> list[dict[str, Any]]:
        """Return the same in one list; `table` names the table of each record."""
        tables = self.to_records()
        # Bins such as "2–5" do not go into one column with the number of assignments of each annotator.
        tables["hand_ins"] = [
            {"bin": record["hand_ins"], **{key: value for key, value in record.items() if key != "hand_ins"}}
            for record in tables["hand_ins"]
        ]
        return [{"table": name, **flat(record)} for name, records in tables.items() for record in records]

    def to_json(self) -> str:
        """Return `to_records` as json."""
        return json_text(self.to_records())

    def parts(self) -> list[Part]:
        """Return assignments, annotators, agreement, verdicts, and answers by system and rank."""
        out: list[Part] = [self.answers, replace(self.assignments.lay_out(), title="Submitted assignments")]
        if self.assignments.submitted[-1] > self.assignments.reviewed:
            out.append("An unreviewed assignment counts as approved when its gold pairs are right.")
        out.append(shortened("Annotators", self.annotators.lay_out(), len(self.annotators)))
        if len(self.review):
            out.append(shortened("Assignments to review", self.review.lay_out(), len(self.review)))
        agreement = f"Agreement on {plural(self.agreement.pairs, 'pair')}"
        out.append("\n".join([agreement, *self.agreement.lines(), self.how]))
        out.append(verdict_layout(self.verdicts))
        for shares in (*([] if self.by_rank is None else [self.by_rank]), *self.details):
            out.append(replace(shares.lay_out(), title=shares.title))
            if shares.heads == ("system",) and len(shares.labels) > 2:
                out.append(shares.association_sentence())
        return out

    def __repr__(self) -> str:
        return f"QualityReport({self.answers})"


def shortened(title: str, layout: Layout, rows: int) -> Layout:
    """Return a table with its title, and with how many rows there are where not all are shown."""
    of = f", {len(layout.rows)} of {rows:,}" if len(layout.rows) < rows else ""
    return replace(layout, title=f"{title}{of}")


def summary(verdicts: Aggregated, other: Aggregated) -> dict[str, Any]:
    """Return what one aggregation gives, compared with another on the same pairs."""
    return {
        "aggregation": verdicts.method,
        "settings": dict(verdicts.settings),
        "pairs": len(verdicts),
        "relevant": int(verdicts.relevant.sum()),
        "mean_grade": float(verdicts.grade.mean()),
        "unlike": int((verdicts.relevant != other.relevant).sum()),
        "other": other.method,
    }


def verdict_layout(verdicts: tuple[Aggregated, ...]) -> Layout:
    """Return the aggregations side by side; the last is what the others are compared with."""
    records = [summary(aggregated, verdicts[-1]) for aggregated in verdicts]
    rows = [
        [record["aggregation"], f"{record['pairs']:,}", f"{record['relevant']:,}",
         f"{record['mean_grade']:.3f}", f"{record['unlike']:,}"] for record in records
    ]  # fmt: skip
    head = ["aggregation", "pairs", "relevant", "mean grade", f"differ from {verdicts[-1].method}"]
    return Layout(head, rows, title="Verdicts")


def answer_quality(
    answers: AnswerTable,
    form: Form,
    pool: Pool | None = None,
    assignments: Any = None,
    reviews: Mapping[int, Any] | None = None,
    *,
    benchmark: Benchmark | None = None,
    wrong: int = 0,
    acceptance: AcceptanceRule | None = None,
    intervals: Intervals | None = None,
) -> QualityReport:
    """Return a report on the quality of answers.

    Annotators, assignments and gold are described over all submitted assignments; agreement, verdicts and
    the tables by system over the answers that count (`AcceptanceRule`).

    Parameters
    ----------
    answers, form
        What was answered, and what was asked.
    pool
        Where the systems ranked the pairs, for the tables by system.
    assignments, reviews
        The project's assignments, and per assignment its latest review.
    benchmark
        The benchmark whose ids and captions are shown for assignments to review; indices without one.
    wrong
        How many gold items of an assignment may be wrong, as in `check_gold`.
    acceptance
        Which answers count, and how they become verdicts.
    intervals
        How intervals are made; by default 95%, percentile, 1,000 resamples of the first side of the pairs.
    """
    rule = acceptance or AcceptanceRule()
    accepted = rule.accept(answers, form, reviews=reviews, assignments=assignments)
    intervals = intervals or Intervals(resamples=RESAMPLES)
    # An adjudicator's answers are not votes: the annotator table leaves them out.
    voted = split_adjudicated(answers)[0]
    submitted = accepted_answers(voted, form, assignments=assignments, gold_share=None).answers
    gold = check_gold(
        submitted, form, wrong=wrong, gold_share=rule.gold_share, only_if_certain=rule.only_if_certain,
        captions_wrong=rule.captions_wrong,
    )  # fmt: skip
    counted = accepted.answers
    counted_votes = split_adjudicated(counted)[0]
    verdicts = [rule.verdicts(counted, form, accepted.notes)]
    if AGGREGATIONS[rule.aggregate] is not AGGREGATIONS[BASELINE]:
        verdicts.append(replace(rule, aggregate=BASELINE, aggregate_set=None).verdicts(counted, form))
    judged = answers.gold == NOT_GOLD
    pairs = len(number_pairs(answers.image[judged], answers.caption[judged])[1])
    annotators = plural(len(np.unique(voted.annotator)), "annotator")
    return QualityReport(
        f"{plural(len(voted), 'answer')} by {annotators}, {plural(pairs, 'pair')} to judge",
        pairs,
        gold,
        count_assignments(gold, reviews),
        review_list(submitted, form, gold, reviews, benchmark),
        with_expected(annotator_table(submitted, form, gold), verdicts[0]),
        annotator_agreement(counted, form, intervals),
        tuple(verdicts),
        answers_by_rank(counted_votes, form, pool) if pool is not None and pool.suggestions else None,
        details_by_system(counted_votes, form, pool),
        accepted,
        how_intervals(intervals, "images" if benchmark is None else benchmark.sides[0].many),
    )


def with_expected(annotators: AnnotatorTable, verdicts: Aggregated) -> AnnotatorTable:
    """Return the annotator table with how often each is expected to be right, if the verdicts have a fit."""
    if verdicts.fit is None:
        return annotators
    right = np.where(verdicts.fit.answers > 0, verdicts.fit.right, np.nan)
    return replace(annotators, expected=right[annotators.number])
