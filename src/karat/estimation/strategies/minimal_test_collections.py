"""Minimal test collections: the items that matter most for the difference between systems."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from karat.errors import InputError
from karat.estimation.candidates import Candidates, Ranking, VettedLabels
from karat.estimation.relevance import cut_of
from karat.estimation.strategy import VettingStrategy, guessed, highest, register_strategy, sum_before
from karat.measures import Measure


@register_strategy
class MinimalTestCollections(VettingStrategy):
    """Takes the items that could move the difference between two runs most.

    With c_ij = 1 / max(place of i, place of j) in the one run minus the same in the other, the difference
    of AP is Σ_{i ≤ j} c_ij z_i z_j / R. Vetting i as relevant settles c_ii + Σ c_ij over the vetted
    relevant j; vetting it as not relevant removes c_ii + Σ c_ij over all j that are not vetted as not
    relevant. The weight of i is the larger of the two, as an absolute value. R is the expected number of
    relevant items of the query. With a measure of the first K places alone, such as P@K, the weight is 1
    for an item that one run has there and the other has not. With more than two runs, the weights of all
    pairs are added.
    """

    name = "minimal-test-collections"
    aliases = ("mtc",)
    formula = "max(|w_i^R|, |w_i^N|), w_i^S = c_ii + Σ_{j ∈ S} c_ij, over R"
    source = "Carterette, Allan and Sitaraman, SIGIR 2006"

    def choose(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the rows of the highest weights."""
        if len(labels.candidates.rankings) < 2:
            raise InputError(
                f"{self.name} compares systems, and there is one run",
                fix="give another run, or choose another strategy, such as meec",
            )
        return open_rows[highest(self.weights(labels, probability, measure)[open_rows], n, rng)]

    def weights(self, labels: VettedLabels, probability: np.ndarray, measure: Measure) -> np.ndarray:
        """Return the weight of each candidate."""
        candidates = labels.candidates
        cut = cut_of(measure)
        if cut is not None:
            inside = [
                by_candidate(ranking, ranking.ranked.within(cut)) for ranking in candidates.rankings.values()
            ]
            return np.sum([np.abs(a - b) for a, b in combinations(inside, 2)], axis=0)
        sums = [
            [
                by_candidate(ranking, inverse_places(ranking, others))
                for others in (labels.label == 1, labels.label != 0)
            ]
            for ranking in candidates.rankings.values()
        ]
        weight = np.sum(
            [np.maximum(np.abs(a[0] - b[0]), np.abs(a[1] - b[1])) for a, b in combinations(sums, 2)],
            axis=0,
        )
        return weight / np.maximum(relevant_items(candidates, labels.filled(guessed(probability))), 1)


def by_candidate(ranking: Ranking, per_row: np.ndarray) -> np.ndarray:
    """Return values in the order of a run as values of the candidates."""
    out = np.empty(len(per_row))
    out[ranking.row] = per_row
    return out


def inverse_places(ranking: Ranking, others: np.ndarray) -> np.ndarray:
    """Return a_ii + Σ a_ij over other candidates j of the query, in the order of the run.

    a_ij is one over the lower of the places of i and j, 0 where one of them has none. Tied items share the
    middle of their places.
    """
    ranked, counted = ranking.ranked, others[ranking.row].astype(np.float64)
    inverse = 1 / (ranked.start + (ranked.width + 1) / 2)
    before = sum_before(counted * inverse, ranked.ptr)
    after = ranked.spread(ranked.sum(counted * inverse)) - before - counted * inverse
    return inverse * (1 + sum_before(counted, ranked.ptr)) + after * ranked.placed


def relevant_items(candidates: Candidates, relevant: np.ndarray) -> np.ndarray:
    """Return, per candidate, the expected number of relevant items of its query."""
    return np.bincount(candidates.query, relevant, len(candidates.queries))[candidates.query]
