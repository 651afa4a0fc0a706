"""The numbers that take longer: the quality of answers, disagreements, the pool, machine judges."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat._util import stage
from karat.errors import InputError
from karat.forms import ADJUDICATOR, FILLED, NOT_GOLD, AnswerTable, Pool, find, key_of, make_answers
from karat.judging import Aggregated, answer_quality
from karat.judging.machine_judges import calibrations
from karat.judging.quality import QualityReport, ReviewList, rows_of, summed
from karat.stats import estimate_record
from karat.store import Project

MOST_ANNOTATORS, MOST_REVIEWS = 500, 50
"""The most records that the page shows; `karat project quality` has all of them."""
MOST_PAIRS = 10_000
"""The most disagreements that are kept; when they are decided, the next ones follow."""


def no_answers() -> AnswerTable:
    """Return an empty table of answers."""
    empty = np.zeros(0, np.int64)
    return make_answers(empty, empty, empty, empty, ())


@dataclass(frozen=True, eq=False)
class Disagreements:
    """Pairs with different answers.

    Parameters
    ----------
    image, caption
        The pairs: undecided ones first, then those with the most disagreement; at equal disagreement, those
        whose verdict is closest to a half.
    share
        The share of pairs of answers that differ.
    relevance
        The aggregated relevance; from a half on, the pair is relevant.
    answers
        The answers about these pairs that count.
    total
        How many such pairs there are; at most `MOST_PAIRS` are kept.
    """

    image: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    caption: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    share: np.ndarray = field(default_factory=lambda: np.zeros(0))
    relevance: np.ndarray = field(default_factory=lambda: np.zeros(0))
    answers: AnswerTable = field(default_factory=no_answers)
    total: int = 0

    def __len__(self) -> int:
        return len(self.image)

    def row_of(self, image: int, caption: int) -> int | None:
        """Return the row of a pair; None if all its answers agree."""
        rows = np.flatnonzero((self.image == image) & (self.caption == caption))
        return int(rows[0]) if len(rows) else None

    def are_among(self, pairs: Iterable[tuple[int, int]]) -> np.ndarray:
        """Return of each pair whether it is among some pairs, (image, caption)."""
        among = np.array(list(pairs), np.int64).reshape(-1, 2)
        return find(np.sort(key_of(among[:, 0], among[:, 1])), key_of(self.image, self.caption)) >= 0


@dataclass(frozen=True, eq=False)
class Statistics:
    """The computed numbers: `data` for the page, and the disagreements."""

    data: dict[str, Any]
    disagreements: Disagreements


def compute(project: Project) -> Statistics:
    """Return the current statistics of a project, with the time and the duration of the computation."""
    start = time.perf_counter()
    data: dict[str, Any] = {"as_of": time.time(), "error": None}
    disagreements = Disagreements()
    with stage("machine judges", total=4) as part:
        data["machines"] = machines(project)
        part.at(1, "reading answers")
        answers, assignments, reviews = (
            project.answers.read(),
            project.queue.assignments(),
            project.reviews.read(),
        )
        try:
            pool = project.pools.read()
        except InputError:
            pool = None
        part.at(2, "the pool")
        data["pool"] = None if pool is None else describe_pool(pool, answers)
        part.at(3, "agreement and verdicts")
        try:
            report = answer_quality(
                answers, project.form, pool, assignments, reviews, benchmark=project.benchmark()
            )
        except InputError as error:
            data["error"] = error.what
        else:
            data |= describe_quality(report)
            disagreements = find_disagreements(report.verdicts[0], report.accepted.answers)
    data["disagreements"] = disagreements.total
    data["seconds"] = time.perf_counter() - start
    return Statistics(data, disagreements)


def describe_quality(report: QualityReport) -> dict[str, Any]:
    """Return what `karat project quality --json` writes, under the same names; long tables are cut."""
    records = sorted(
        report.annotators.records(), key=lambda record: (-len(record["flags"]), -record["answers"])
    )
    return {
        "answers": report.answers, "how": report.how, "notes": list(report.notes),
        "annotators": records[:MOST_ANNOTATORS],
        "agreement": report.agreement.records(), "agreement_pairs": report.agreement.pairs,
        "hand_ins": report.assignments.records(), "review": first_reviews(report.review),
        "review_all": len(report.review),
        "verdicts": [
            {"method": verdicts.method, "pairs": len(verdicts), "relevant": int(verdicts.relevant.sum()),
             "adjudicated": int(verdicts.adjudicated.sum())}
            for verdicts in report.verdicts
        ],
    }  # fmt: skip


def first_reviews(review: ReviewList) -> list[dict[str, Any]]:
    """Return the assignments with the most gold wrong, and their wrong answers."""
    chosen = review.assignment[:MOST_REVIEWS]
    end = int(np.isin(review.answers.assignment, chosen).sum())
    wrong: dict[int, list[dict[str, Any]]] = {}
    for row in review.rows(slice(0, end)):
        if row["wrong"]:
            wrong.setdefault(row["slot"], []).append(
                {key: row[key] for key in ("image", "text", "known", "answer")}
            )
    return [
        {"assignment": assignment, "annotator": review.annotator[row], "items": int(review.items[row]),
         "right": int(review.right[row]), "wrong": wrong.get(assignment, [])}
        for row, assignment in enumerate(chosen.tolist())
    ]  # fmt: skip


def describe_pool(pool: Pool, answers: AnswerTable) -> dict[str, Any]:
    """Return the pool's pairs by system and rank, and how many of them are judged.

    A pair that several systems rank, or one system in both directions, counts for each of these ranks.
    """
    to_judge = answers.gold == NOT_GOLD
    rows = rows_of(pool, answers.image[to_judge], answers.caption[to_judge])
    judged = np.zeros(len(pool), np.int64)
    judged[rows[rows >= 0]] = 1
    ranks = int(pool.place_rank.max(initial=0))
    both = np.stack([np.ones(len(pool.place_pair), np.int64), judged[pool.place_pair]], axis=1)
    places = summed(pool.place_system * ranks + pool.place_rank - 1, both, len(pool.systems) * ranks)
    by_system = [pool.suggested_by(number) for number in range(len(pool.systems))]
    return {
        "pairs": len(pool), "judged": int(judged.sum()), "top": pool.top,
        "filled": int((pool.why == FILLED).sum()), "known_before": pool.judged, "filtered": pool.filtered,
        "systems": [
            {"system": name, "pairs": int(own.sum()), "judged": int(judged[own].sum()),
             "ranks": [{"rank": rank + 1, "places": int(row[0]), "judged": int(row[1])}
                       for rank, row in enumerate(places[number * ranks : (number + 1) * ranks].tolist())]}
            for number, (name, own) in enumerate(zip(pool.systems, by_system))
        ],
    }  # fmt: skip


def machines(project: Project) -> list[dict[str, Any]]:
    """Return how far each machine judge agrees with the annotators."""
    return [
        {"judge": record.judge, "model": record.model, "kappa": estimate_record(record.kappa),
         "asked": record.asked, "answered": record.answered,
         "people": None if record.people is None else estimate_record(record.people),
         "cost": record.cost, "objections": record.objections(), "summary": record.sentence()}
        for record in calibrations(project)
    ]  # fmt: skip


def find_disagreements(verdicts: Aggregated, answers: AnswerTable) -> Disagreements:
    """Return the pairs whose answers differ.

    Parameters
    ----------
    verdicts
        The verdict of each pair, with its disagreement.
    answers
        The answers that count.
    """
    differ = np.flatnonzero(verdicts.disagreement > 0)
    distance = np.abs(verdicts.relevance[differ] - 0.5)
    by = (distance.round(6), -verdicts.disagreement[differ].round(6), verdicts.adjudicated[differ])
    order = differ[np.lexsort(by)][:MOST_PAIRS]
    keys = np.sort(key_of(verdicts.image[order], verdicts.caption[order]))
    kept = answers.where(find(keys, key_of(answers.image, answers.caption)) >= 0)
    return Disagreements(
        verdicts.image[order],
        verdicts.caption[order],
        verdicts.disagreement[order],
        verdicts.relevance[order],
        kept,
        len(differ),
    )


def answers_about(
    disagreements: Disagreements, image: int, caption: int, project: Project
) -> list[dict[str, Any]]:
    """Return each annotator's answer about a pair, without adjudicators."""
    table, form = disagreements.answers, project.form
    rows = np.flatnonzero((table.image == image) & (table.caption == caption))
    texts = {
        f"{question.code}.{choice.code}": choice.text
        for question in form.follow_ups
        for choice in question.choices
    }
    details: dict[int, list[str]] = {}
    for row, name in table.details:
        details.setdefault(row, []).append(texts.get(name, name))
    return [
        {"annotator": table.annotators[table.annotator[row]], "kind": table.kinds[table.annotator[row]],
         "code": (code := form.code_of(table.rating[row])), "text": form.choice(code).text,
         "details": details.get(row, []),
         "seconds": None if np.isnan(table.seconds[row]) else float(table.seconds[row])}
        for row in rows.tolist() if table.kinds[table.annotator[row]] != ADJUDICATOR
    ]  # fmt: skip
