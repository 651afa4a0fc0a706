"""What a data card and a provenance file tell: computed once, written twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import or_none
from karat.judging.checking import MACHINE, PERSON, PeopleAgreement, people_agreement
from karat.judging.pools import find, key_of
from karat.judging.publishing.conflicts import Conflicts, find_conflicts
from karat.judging.publishing.correction import Correction
from karat.judging.publishing.evidence import Evidence
from karat.judging.publishing.growth import Growth, growth
from karat.judging.publishing.invalid import Candidate, invalid_candidates
from karat.judging.publishing.label_quality import LabelQuality, label_quality
from karat.judging.tasks import UNKNOWN
from karat.scores import estimate_record


@dataclass(frozen=True, eq=False)
class Facts:
    """Figures about a correction.

    Parameters
    ----------
    agreement
        Of people, over the answers that count.
    by_answers, by_truth
        Precision and recall of the older truths: against what was answered alone, and against the corrected
        truth.
    growth
        Positives of every truth over the corrected one's queries; the first is the original.
    conflicts
        Where people and other sets differ.
    candidates
        What may be invalid and is not marked so.
    counts
        Answers, people and pairs.
    """

    agreement: PeopleAgreement
    by_answers: list[LabelQuality]
    by_truth: list[LabelQuality]
    growth: list[Growth]
    conflicts: Conflicts
    candidates: list[Candidate]
    counts: dict[str, Any]

    def __repr__(self) -> str:
        more = f"{len(self.conflicts):,} conflicts, {len(self.candidates):,} candidates"
        return f"Facts({self.growth[-1]}, {more})"


def find_facts(evidence: Evidence, found: Correction) -> Facts:
    """Compute the figures."""
    benchmark, counted = evidence.benchmark, evidence.counted
    older = [found.original, *(name for name in benchmark.truths if name != found.original)]
    # What a machine made is no judged set.
    sets = [one for name, one in benchmark.truths.items() if name != found.original and not one.machine]
    candidates = invalid_candidates(benchmark.truth(found.original), counted, evidence.form, sets)
    marked = {(kind, index) for kind, items in evidence.marked.items() for index in items}
    grown = growth(found.benchmark, found.truth, [*(benchmark.truth(name) for name in older), found.truth])
    return Facts(
        people_agreement(counted, evidence.form),
        label_quality(benchmark, found.answered, older),
        label_quality(benchmark, found.truth, older),
        grown,
        find_conflicts(found.merged),
        [one for one in candidates if (one.kind, one.index) not in marked],
        count(evidence, found, grown[-1]),
    )


def count(evidence: Evidence, found: Correction, grown: Growth) -> dict[str, Any]:
    """Count answers, people, pairs and queries."""
    said, counted, pool, plan = evidence.answers, evidence.counted, evidence.pool, evidence.plan
    asked = counted.asked
    each = np.bincount(counted.worker, minlength=len(said.workers))
    machines = [k for k in np.flatnonzero(each).tolist() if said.kinds[k] == MACHINE]
    return {
        "answers": len(said),
        "answers_used": len(counted),
        "gold_answers": int((counted.gold != UNKNOWN).sum()),
        "by_answer": {one.code: int((asked.rating == one.rating).sum()) for one in evidence.form.answers},
        "people": sum(said.kinds[k] == PERSON for k in np.flatnonzero(each).tolist()),
        "machines": sorted(said.workers[k] for k in machines),
        "machine_answers": int(each[machines].sum()),
        "pooled_pairs": len(pool),
        "judged_pairs": len(found.verdicts),
        "unanswered_pairs": unanswered(evidence, found),
        "relevant_pairs": int(found.verdicts.relevant.sum()),
        "adjudicated_pairs": int(found.verdicts.adjudicated.sum()),
        "judged_by": dict(zip(found.who_names, np.bincount(found.who).tolist())),
        "published_pairs": len(found.merged),
        "published_relevant": int((found.merged.grade > 0).sum()),
        "queries": {d: len(each) for d, each in grown.positives.items()},
        "queries_without_positive": {d: int((each == 0).sum()) for d, each in grown.positives.items()},
        "tasks": 0 if plan is None else plan.tasks,
        "gold_items": 0 if plan is None else int((plan.gold != UNKNOWN).sum()),
        "overlap": 0 if plan is None else plan.overlap,
        "hand_ins": dict(evidence.verdicts),
    }


def unanswered(evidence: Evidence, found: Correction) -> int:
    """Return how many pooled pairs have no verdict."""
    pooled, verdicts = (key_of(one.image, one.caption) for one in (evidence.pool, found.verdicts))
    return int((find(verdicts, pooled) < 0).sum())


def quality_record(one: LabelQuality) -> dict[str, Any]:
    """Return precision and recall of one truth as data."""
    return {
        "truth": one.truth,
        "against": one.against,
        "direction": one.direction,
        "precision": estimate_record(one.precision),
        "judged_precision": estimate_record(one.judged_precision),
        "recall": estimate_record(one.recall),
        "judged_share": or_none(one.judged_share),
    }


def growth_record(one: Growth) -> dict[str, Any]:
    """Return the positives of one truth as data."""
    return {
        "truth": one.truth,
        "positives": {d: one.total(d) for d in one.positives},
        "factor": {d: or_none(one.factor[d]) for d in one.factor},
        "histogram": {d: {str(k): n for k, n in one.histogram(d).items()} for d in one.positives},
    }
