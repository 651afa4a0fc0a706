"""The figures of a publication: computed once, shown in the data card and written to the provenance file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import or_none
from karat.benchmarks import Benchmark, Direction, Truth, item_side
from karat.forms import MACHINE, NOT_GOLD, PERSON, Pool, distinct, find, key_of
from karat.judging.publication.correction import Correction
from karat.judging.publication.evidence import Evidence
from karat.judging.publication.label_quality import LabelQuality, as_truth, as_truths, label_quality
from karat.judging.publication.policies import Conflicts, find_conflicts
from karat.judging.publication.validity import Candidate, invalid_candidates
from karat.judging.quality import Aggregated, AnnotatorAgreement, annotator_agreement
from karat.stats import estimate_record


@dataclass(frozen=True, eq=False)
class Growth:
    """The positives of one truth over the queries of another, per direction.

    Parameters
    ----------
    truth
        Its name.
    positives
        Per direction, for each query, how many positives the truth lists.
    factor
        Per direction, their number as a multiple of the first truth's; NaN where that has none.

    Examples
    --------
    >>> import karat
    >>> first, last = growth(karat.load_benchmark("coco"), "eccv", ["coco-5k", "eccv"])
    >>> last
    Growth('eccv': positive captions 22,550 (×3.58), positive images 11,279 (×8.47))
    """

    truth: str
    positives: dict[Direction, np.ndarray]
    factor: dict[Direction, float]

    def __repr__(self) -> str:
        parts = [f"positive {item_side(way).many} {self.shown(way)}" for way in self.positives]
        return f"Growth({self.truth!r}: {', '.join(parts)})"

    def shown(self, direction: Direction) -> str:
        """Return the number of positives and the factor as text."""
        factor = self.factor[direction]
        return f"{self.total(direction):,}" + (f" (×{factor:.2f})" if factor == factor else "")

    def total(self, direction: Direction) -> int:
        """Return the number of positives of all queries together."""
        return int(self.positives[direction].sum())

    def histogram(self, direction: Direction) -> dict[int, int]:
        """Return how many queries have each number of positives."""
        number, queries = np.unique(self.positives[direction], return_counts=True)
        return dict(zip(number.tolist(), queries.tolist()))


def growth(benchmark: Benchmark, asked: str | Truth, truths: Iterable[str | Truth]) -> list[Growth]:
    """Return the positives of several truths over the queries of one of them (ECCV Caption, table 3).

    Parameters
    ----------
    benchmark
        The benchmark of the truths.
    asked
        The truth whose queries count.
    truths
        The others are compared with the first. A query that a truth does not cover has no positives.
    """
    base = as_truth(benchmark, asked)
    out: list[Growth] = []
    for truth in as_truths(benchmark, list(truths)):
        counts = {
            d: positives_of(truth, d, np.asarray(base.queries[d]))
            for d in benchmark.directions
            if d in base.queries
        }
        first = out[0].positives if out else counts
        factor = {d: ratio(int(counts[d].sum()), int(first[d].sum())) for d in counts}
        out.append(Growth(truth.name, counts, factor))
    return out


def ratio(part: int, whole: int) -> float:
    """Return part / whole, NaN where the whole is 0."""
    return part / whole if whole else float("nan")


def positives_of(truth: Truth, direction: Direction, queries: np.ndarray) -> np.ndarray:
    """Return how many positives a truth has for each query; 0 for queries that it does not cover."""
    covered = np.asarray(truth.queries.get(direction, np.zeros(0)), np.int64)
    known = np.isin(queries, covered)
    out = np.zeros(len(queries), np.int64)
    if truth.rule is not None:
        out[known] = truth.rule.positives(direction, queries[known])
        return out
    rows = truth.judged(direction)
    positive = rows.query_of_row[rows.grade > 0]
    out[known] = np.bincount(positive, minlength=int(covered.max(initial=-1)) + 1)[queries[known]]
    return out


@dataclass(frozen=True, eq=False)
class Facts:
    """Figures about a correction.

    Parameters
    ----------
    agreement
        Agreement of the annotators, over the answers that count.
    by_answers, by_truth
        Precision and recall of the older truths: against the answers alone, and against the corrected truth.
    growth
        Positives of every truth over the corrected one's queries; the original truth first.
    conflicts
        Where the annotators and other sets differ.
    candidates
        Items that may be invalid and are not marked so.
    counts
        How many answers, annotators and pairs there are.
    """

    agreement: AnnotatorAgreement
    by_answers: list[LabelQuality]
    by_truth: list[LabelQuality]
    growth: list[Growth]
    conflicts: Conflicts
    candidates: list[Candidate]
    counts: dict[str, Any]

    def __repr__(self) -> str:
        more = f"{len(self.conflicts):,} conflicts, {len(self.candidates):,} candidates"
        return f"Facts({self.growth[-1]}, {more})"


def find_facts(evidence: Evidence, correction: Correction) -> Facts:
    """Compute the figures."""
    benchmark, counted, original = evidence.benchmark, evidence.counted, correction.original
    others = {name: truth for name, truth in benchmark.truths.items() if name != original}
    older = [benchmark.truth(original), *others.values()]
    # A truth that a machine made is not a judged set.
    sets = [truth for truth in others.values() if not truth.machine]
    candidates = invalid_candidates(benchmark.truth(original), counted, evidence.form, sets)
    marked = {(kind, index) for kind, items in evidence.marked.items() for index in items}
    grown = growth(correction.benchmark, correction.truth, [*older, correction.truth])
    return Facts(
        annotator_agreement(counted, evidence.form),
        label_quality(benchmark, correction.answered, older),
        label_quality(benchmark, correction.truth, older),
        grown,
        find_conflicts(correction.merged),
        [candidate for candidate in candidates if (candidate.kind, candidate.index) not in marked],
        count(evidence, correction, grown[-1]),
    )


def count(evidence: Evidence, correction: Correction, grown: Growth) -> dict[str, Any]:
    """Count answers, annotators, pairs and queries."""
    answers, counted, pool, plan = evidence.answers, evidence.counted, evidence.pool, evidence.plan
    asked, verdicts = counted.asked, correction.verdicts
    by_annotator = np.bincount(counted.annotator, minlength=len(answers.annotators))
    active = np.flatnonzero(by_annotator).tolist()
    machines = [number for number in active if answers.kinds[number] == MACHINE]
    hidden = counted.gold != NOT_GOLD
    gold = distinct(key_of(counted.image[hidden], counted.caption[hidden]))
    return {
        "answers": len(answers),
        "answers_used": len(counted),
        "gold_answers": int((counted.gold != NOT_GOLD).sum()),
        "by_answer": {
            choice.code: int((asked.rating == choice.rating).sum()) for choice in evidence.form.answers
        },
        "people": sum(answers.kinds[number] == PERSON for number in active),
        "machines": sorted(answers.annotators[number] for number in machines),
        "machine_answers": int(by_annotator[machines].sum()),
        "pooled_pairs": len(pool),
        "judged_pairs": len(verdicts),
        "unanswered_pairs": unanswered(pool, verdicts),
        "relevant_pairs": int(verdicts.relevant.sum()),
        "adjudicated_pairs": int(verdicts.adjudicated.sum()),
        "judged_by": dict(zip(correction.who_names, np.bincount(correction.who).tolist())),
        "published_pairs": len(correction.merged),
        "published_relevant": int((correction.merged.grade > 0).sum()),
        "queries": {d: len(counts) for d, counts in grown.positives.items()},
        "queries_without_positive": {d: int((counts == 0).sum()) for d, counts in grown.positives.items()},
        "tasks": 0 if plan is None else plan.tasks,
        "gold_items": 0 if plan is None else int((plan.gold != NOT_GOLD).sum()),
        "gold_pairs": len(gold),
        "gold_overlap": int((find(distinct(key_of(asked.image, asked.caption)), gold) >= 0).sum()),
        "overlap": 0 if plan is None else plan.overlap,
        "hand_ins": dict(evidence.verdicts),
    }


def unanswered(pool: Pool, verdicts: Aggregated) -> int:
    """Return how many pairs of the pool have no verdict."""
    judged = key_of(verdicts.image, verdicts.caption)
    return int((find(judged, key_of(pool.image, pool.caption)) < 0).sum())


def quality_record(quality: LabelQuality) -> dict[str, Any]:
    """Return precision and recall of one truth as data."""
    return {
        "truth": quality.truth,
        "against": quality.against,
        "direction": quality.direction,
        "precision": estimate_record(quality.precision),
        "judged_precision": estimate_record(quality.judged_precision),
        "recall": estimate_record(quality.recall),
        "judged_share": or_none(quality.judged_share),
    }


def growth_record(growth: Growth) -> dict[str, Any]:
    """Return the positives of one truth as data."""
    histograms = {direction: growth.histogram(direction) for direction in growth.positives}
    return {
        "truth": growth.truth,
        "positives": {direction: growth.total(direction) for direction in growth.positives},
        "factor": {direction: or_none(factor) for direction, factor in growth.factor.items()},
        "histogram": {
            direction: {str(positives): queries for positives, queries in histogram.items()}
            for direction, histogram in histograms.items()
        },
    }
