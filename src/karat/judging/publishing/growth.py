"""How many positives each truth has, how far they grew, and how they spread over the queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark, Direction, Truth
from karat.judging.publishing.label_quality import as_truth, as_truths


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
        Per direction, all of them as a multiple of the first truth's; NaN where that has none.

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
        names = {"i2t": "captions", "t2i": "images"}
        parts = [f"positive {names[direction]} {self.shown(direction)}" for direction in self.positives]
        return f"Growth({self.truth!r}: {', '.join(parts)})"

    def shown(self, direction: Direction) -> str:
        """Return the number of positives and the factor as people read them."""
        factor = self.factor[direction]
        return f"{self.total(direction):,}" + (f" (×{factor:.2f})" if factor == factor else "")

    def total(self, direction: Direction) -> int:
        """Return how many positives all queries have together."""
        return int(self.positives[direction].sum())

    def histogram(self, direction: Direction) -> dict[int, int]:
        """Return how many queries have each number of positives."""
        number, queries = np.unique(self.positives[direction], return_counts=True)
        return dict(zip(number.tolist(), queries.tolist()))


def growth(benchmark: Benchmark, asked: str | Truth, truths: Iterable[str | Truth]) -> list[Growth]:
    """Return the positives of truths over the queries of one of them: ECCV Caption's table 3.

    Parameters
    ----------
    benchmark
        Whose truths they are.
    asked
        The truth whose queries count.
    truths
        The first is what the others are compared with. A query that a truth does not cover has none.
    """
    base = as_truth(benchmark, asked)
    out: list[Growth] = []
    for truth in as_truths(benchmark, list(truths)):
        counts = {
            d: positives_of(truth, d, np.asarray(base.queries[d])) for d in DIRECTIONS if d in base.queries
        }
        first = out[0].positives if out else counts
        factor = {d: ratio(int(counts[d].sum()), int(first[d].sum())) for d in counts}
        out.append(Growth(truth.name, counts, factor))
    return out


def ratio(part: int, whole: int) -> float:
    """Return part / whole, NaN where the whole is nothing."""
    return part / whole if whole else float("nan")


def positives_of(truth: Truth, direction: Direction, queries: np.ndarray) -> np.ndarray:
    """Return how many positives a truth has for each query; none for those that it does not cover."""
    covered = np.asarray(truth.queries.get(direction, np.zeros(0)), np.int64)
    known = np.isin(queries, covered)
    found = np.zeros(len(queries), np.int64)
    if truth.rule is not None:
        found[known] = truth.rule.positives(direction, queries[known])
        return found
    rows = truth.judged(direction)
    positive = rows.query_of_row[rows.grade > 0]
    found[known] = np.bincount(positive, minlength=int(covered.max(initial=-1)) + 1)[queries[known]]
    return found
