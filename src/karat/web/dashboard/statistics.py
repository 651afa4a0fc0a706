"""The numbers that take a while: quality as `karat quality` has it, the pool's make-up, machine judges."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.errors import InputError
from karat.judging import AnswerTable, Pool, Project, quality
from karat.judging.checking import QualityReport, ReviewList, rows_of, summed
from karat.judging.judges import calibrations
from karat.judging.pools import FILLED
from karat.judging.tasks import UNKNOWN
from karat.scores import estimate_record
from karat.web.dashboard.disagreements import Disagreements, find_disagreements

MOST_PEOPLE, MOST_REVIEWS = 500, 50
"""What the page shows at most; `karat quality` has them all."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """What was computed: `data` for the page, and the pairs on which people disagree."""

    data: dict[str, Any]
    disagreements: Disagreements


def compute(project: Project) -> Statistics:
    """Return the statistics of a project as it stands, with their time and what they took."""
    start = time.perf_counter()
    data: dict[str, Any] = {"as_of": time.time(), "said": None, "machines": machines(project)}
    answers, slots, reviews = project.answers.read(), project.queue.slots(), project.reviews.read()
    try:
        pool = project.pools.read()
    except InputError:
        pool = None
    data["pool"] = None if pool is None else make_up(pool, answers)
    found = Disagreements()
    try:
        report = quality(answers, project.form, pool, slots, reviews, benchmark=project.benchmark())
    except InputError as error:
        data["said"] = error.what
    else:
        data |= described(report)
        found = find_disagreements(report.verdicts[0], report.accepted.answers)
    data["disagreements"] = found.total
    data["seconds"] = time.perf_counter() - start
    return Statistics(data, found)


def described(report: QualityReport) -> dict[str, Any]:
    """Return what `karat quality` says, under the same names; long tables are cut."""
    most = sorted(report.workers.records(), key=lambda one: (-len(one["flags"]), -one["answers"]))[
        :MOST_PEOPLE
    ]
    return {
        "answers": report.answers, "how": report.how, "notes": list(report.notes), "workers": most,
        "agreement": report.agreement.records(), "agreement_pairs": report.agreement.pairs,
        "hand_ins": report.hand_ins.records(), "review": first_reviews(report.review),
        "review_all": len(report.review),
        "verdicts": [
            {"method": one.method, "pairs": len(one), "relevant": int(one.relevant.sum()),
             "adjudicated": int(one.adjudicated.sum())}
            for one in report.verdicts
        ],
    }  # fmt: skip


def first_reviews(review: ReviewList) -> list[dict[str, Any]]:
    """Return the hand-ins with most known pairs wrong, and what was answered to these."""
    chosen = review.slot[:MOST_REVIEWS]
    end = int(np.isin(review.answers.slot, chosen).sum())
    wrong: dict[int, list[dict[str, Any]]] = {}
    for row in review.rows(slice(0, end)):
        if row["wrong"]:
            wrong.setdefault(row["slot"], []).append(
                {key: row[key] for key in ("image", "text", "known", "answer")}
            )
    return [
        {"slot": slot, "worker": review.worker[k], "items": int(review.items[k]),
         "right": int(review.right[k]), "wrong": wrong.get(slot, [])}
        for k, slot in enumerate(chosen.tolist())
    ]  # fmt: skip


def make_up(pool: Pool, answers: AnswerTable) -> dict[str, Any]:
    """Return how many places of each system and rank the pool has, and how many of these are judged.

    A pair that several systems rank, or one in both directions, counts for each of these places.
    """
    asked = answers.gold == UNKNOWN
    at = rows_of(pool, answers.image[asked], answers.caption[asked])
    judged = np.zeros(len(pool), np.int64)
    judged[at[at >= 0]] = 1
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
    """Return how each machine judge compared with people."""
    return [
        {"judge": one.judge, "model": one.model, "kappa": estimate_record(one.kappa), "asked": one.asked,
         "answered": one.answered, "people": None if one.people is None else estimate_record(one.people),
         "cost": one.cost, "objections": one.objections(), "said": one.sentence()}
        for one in calibrations(project)
    ]  # fmt: skip
