"""The score of every system on the labels that subsets of systems would have produced: s_Θ(φ)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from karat.benchmarks import Benchmark, Direction, Fold, Judgments, Provenance, Share, Truth
from karat.errors import InputError
from karat.judging.bias.bias_inputs import in_order
from karat.judging.bias.subsets import SuggestedLabels
from karat.measures import Measure
from karat.runs import Run
from karat.scores import place_labels, version_blocks

Key = tuple[Direction, str]


class SubsetScorer:
    """Scores systems under many versions of the labels, from one pass over each run.

    Pairs without a label count as misses, and equal scores stay in the benchmark's order, as pools take
    them: a system's first item is then always one that it suggested.

    Parameters
    ----------
    labels
        What `suggested_labels` returned.
    runs
        The pool's systems by their names, in any order.
    benchmark
        What they were asked.
    queries
        Per direction, the queries to score. Those for which even all systems together found nothing are
        left out.
    fixed
        Whether a query for which a subset found nothing counts as 0 under it, as in ECCV Caption's eq. E.2
        where N is fixed. Otherwise it is left out under this subset, as `karat.evaluate` leaves it out.
    fold
        The part of the benchmark that is ranked; all by default. Labels and queries lie in it.
    threads
        How many; all by default.
    """

    def __init__(
        self,
        labels: SuggestedLabels,
        runs: Sequence[Run],
        benchmark: Benchmark,
        queries: Mapping[Direction, np.ndarray],
        fixed: bool = True,
        fold: Fold | None = None,
        threads: int | None = None,
    ) -> None:
        self.labels, self.benchmark = labels, benchmark
        self.runs = in_order(runs, labels.systems)
        everything = labels.under(np.ones((1, len(labels.systems)), bool))[0]
        self._counted_under = everything if fixed else None
        scored = {
            direction: good
            for direction, asked in queries.items()
            if len(good := np.intersect1d(asked, relevant_queries(labels, everything, direction)))
        }
        if not scored:
            raise InputError("no pooled query has a relevant item", fix="judge the pool first")
        found = Judgments(
            labels.image,
            labels.caption,
            rating=everything,
            sources=[Provenance("pool", "0 to 1", Share(top=1))],
        )
        truth = Truth("pool", found, scored, folds=() if fold is None else (fold,))
        self._placed = place_labels(
            self.runs, benchmark, [truth], directions=tuple(scored), ties="stable", threads=threads
        )["pool"]

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions that have queries with a relevant item."""
        return self._placed.directions

    def queries(self, direction: Direction) -> np.ndarray:
        """Return the queries that are scored, as indices."""
        return self._placed.queries(direction)

    def values(self, inside: np.ndarray, system: int, direction: Direction, measure: Measure) -> np.ndarray:
        """Return the values per query of one system under a few subsets [S, systems]: [S, Q]."""
        run = self.labels.systems[system]
        return self._placed.values(self._grades(inside), run, direction, measure, self._counted_under)

    def scores(self, inside: np.ndarray, measures: Sequence[Measure]) -> dict[Key, np.ndarray]:
        """Return the score of every system under every subset, [S, systems], by direction and measure.

        NaN where nothing is defined.
        """
        scores = self._placed.aggregates(self._grades(inside), measures, self._counted_under)
        return {(key.direction, str(key.measure)): table for key, table in scores.items()}

    def _grades(self, inside: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the grades of all labelled pairs under some subsets at a time."""
        return (self.labels.under(inside[part]) for part in version_blocks(len(inside), len(self.labels)))


def relevant_queries(labels: SuggestedLabels, grade: np.ndarray, direction: Direction) -> np.ndarray:
    """Return the query of each labelled pair that has a grade above 0."""
    query = labels.image if direction == "i2t" else labels.caption
    return query[grade > 0].astype(np.int64)
