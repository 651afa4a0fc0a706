"""What measures of sampled pools share: they see the whole pool, and how the judged pairs were chosen."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from karat._util import plural
from karat.benchmarks import Direction, Truth
from karat.errors import InputError
from karat.measures.measure import Measure
from karat.measures.ranked import Ranked

Array = np.ndarray

NAMES = {"stratum": "stratum", "inclusion": "inclusion probability"}
LINES = {
    "stratum": "`query 0 item stratum relevance`",
    "inclusion": "`query 0 item relevance probability`",
}
"""Lines of qrels that say how a pair was sampled."""


class PoolMeasure(Measure):
    """A measure that takes the judged items of a query for a sample of its pool.

    Its rows are the whole pool: items that were pooled and not judged have the grade NaN. It reads unjudged
    items in its own way, whatever the reading of the other measures. Where every item is judged it is
    `when_all_judged`.
    """

    of_pool = True
    needs: ClassVar[tuple[str, ...]] = ()
    """What it must know of every pooled pair, one of these: "stratum", "inclusion"."""
    when_all_judged: ClassVar[type[Measure]]

    def depth(self, ranked: Ranked) -> float:
        """The whole ranking."""
        return np.inf

    def values(self, ranked: Ranked) -> Array:
        """Return one value per query."""
        if ranked.complete or ranked.total is not None:
            return self.when_all_judged().values(ranked)
        return self.estimates(ranked)

    @abstractmethod
    def estimates(self, ranked: Ranked) -> Array:
        """Return one value per query, from the sample."""

    def check_truth(self, truth: Truth, direction: Direction) -> None:
        """Raise where the truth does not say how its pool was sampled, unless all of it is judged."""
        judgments = truth.judgments
        if judgments is None or not self.needs:
            return
        design = judgments.design if judgments.design and judgments.design.direction == direction else None
        unjudged = len(truth.pooled(direction)[0])
        if design is None and not unjudged:
            return
        needed = " or ".join(NAMES[need] for need in self.needs)
        if design is None or design.by not in self.needs:
            fix = f"give qrels of five columns, {' or '.join(LINES[need] for need in self.needs)}"
            if judgments.design is not None and design is None:
                fix = f"choose --direction {judgments.design.direction}, whose queries have the sample"
            why = (
                f"its pool has the {NAMES[design.by]}" if design else f"{plural(unjudged, 'pair')} not judged"
            )
            raise InputError(
                f"{self} on {truth.name} ({direction}) needs the {needed} of every pooled pair: {why}",
                fix=fix,
            )
        rows = truth.pool(direction)
        missing = int((np.isnan(rows.sampled[design.by]) & ~np.isnan(rows.grade)).sum())
        if missing:
            raise InputError(
                f"{self} on {truth.name} ({direction}): {plural(missing, 'judged pair')} without the "
                f"{design.by} by which the pool was sampled",
                fix="score the sampled judgments alone, as a truth of their own",
            )


def strata(ranked: Ranked) -> Iterator[Array]:
    """Yield, for every stratum, which rows are in it; all rows where there are no strata."""
    if ranked.stratum is None:
        yield np.ones(ranked.start.shape[-1], bool)
        return
    for number in np.unique(ranked.stratum[~np.isnan(ranked.stratum)]):
        yield ranked.stratum == number


def weights(ranked: Ranked) -> Array:
    """Return, per judged row, how many items of the pool it stands for: 1 / its chance of being judged.

    Without probabilities, the judged items of a stratum are a random sample: they stand for the pooled ones.

    >>> from dataclasses import replace
    >>> ranked = Ranked.from_places([[1, 2, 3]], [[1, np.nan, 0]], size=5)
    >>> weights(ranked).tolist(), weights(replace(ranked, stratum=np.array([1.0, 2, 2]))).tolist()
    ([1.5, 0.0, 1.5], [1.0, 0.0, 2.0])
    """
    judged = ~np.isnan(ranked.grade)
    if ranked.inclusion is not None:
        return np.where(judged, 1 / ranked.inclusion, 0.0)
    return rates(ranked, np.ones(1, bool))


def rates(ranked: Ranked, among: Array) -> Array:
    """Return, per judged row, how many items of its stratum there are for each judged one, `among` some."""
    judged = ~np.isnan(ranked.grade)
    out = np.zeros(ranked.grade.shape)
    for inside in strata(ranked):
        inside = inside & among
        pooled, sampled = (
            ranked.sum(1.0 * np.broadcast_to(rows, out.shape)) for rows in (inside, inside & judged)
        )
        rate = ranked.spread(pooled / np.maximum(sampled, 1))
        out = np.where(inside & judged, rate, out)
    return out
