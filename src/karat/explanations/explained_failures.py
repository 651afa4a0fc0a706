"""Explained failures: one run's failures with their concept metrics, and what they sum up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.explanations.concept_metrics import ConceptMetrics
from karat.explanations.failures import RunFailures
from karat.explanations.fault import Faults

METRIC_HEADS = {"agreement": "CA %", "similarity": "NCS", "enumeration": "CE", "size_binary": "SD %"}
"""The paper's four metrics, as its table 3 heads them."""
ALL, INFORMED = "all", "query-informed"
"""Whether all concepts count, or those that the query mentions."""


@dataclass(frozen=True, eq=False)
class ExplainedFailures:
    """The failures of one run under one truth in one direction, with their concept metrics.

    Parameters
    ----------
    failures
        Those whose images are known.
    metrics
        By what counts, `ALL` and where asked for `INFORMED`: one value per failure.
    faults
        Which failures may not be the model's fault; None where that was not asked.
    without
        The marks of failures that do not count in `summary` and `confusions`.
    """

    failures: RunFailures
    metrics: Mapping[str, ConceptMetrics]
    faults: Faults | None = None
    without: tuple[str, ...] = ()

    def rows(self, rank: int) -> np.ndarray:
        """Return the failures at a rank that count, as numbers."""
        rows = self.failures.at(rank)
        if self.faults is None or not self.without:
            return rows
        return rows[~self.faults.any_of(self.without)[rows]]

    def fault_counts(self, rank: int) -> dict[str, Any]:
        """Return how many failures at a rank have each mark that was looked for."""
        if self.faults is None:
            return {}
        found, rows = self.faults, self.failures.at(rank)
        counts: dict[str, Any] = {"all_failures": len(rows)}
        if found.better is not None:
            counts |= {
                "better": found.better,
                "covered_by_better": int(found.covered[rows].sum()),
                "alternatives": int(found.alternative[rows].sum()),
            }
        if found.keywords is not None:
            counts |= {"few_keywords": int(found.few_keywords[rows].sum())}
        return counts | {"left_out": len(rows) - len(self.rows(rank))}

    def summary(self, rank: int, counted: str = ALL) -> dict[str, Any]:
        """Return the global row of one rank: every column of the paper's table 3, and what stands beside
        it."""
        rows, metrics = self.rows(rank), self.metrics[counted]
        n = len(rows)
        common, only_g, only_r = (
            int(column[rows].sum())
            for column in (metrics.common, metrics.ground_only, metrics.retrieved_only)
        )
        weights, sizes = stretches(metrics.pair_ptr, rows), stretches(metrics.size_ptr, rows)
        over = metrics.size_difference[sizes] >= metrics.threshold
        counts_known = metrics.concepts.counted
        differing = int(metrics.differing[rows].sum())
        values = {name: column[rows] for name, column in metrics.values().items()}
        enumeration = values["enumeration"][~np.isnan(values["enumeration"])]
        return {
            "run": self.failures.run,
            "truth": self.failures.truth,
            "direction": self.failures.direction,
            "rank": rank,
            "concepts": counted,
            "queries": self.failures.n_queries,
            "failures": n,
            "failure_share": ratio(n, self.failures.n_queries),
            **{name: mean_of(column) for name, column in values.items()},
            "agreement_per_concept": ratio(common, common + only_g),
            "similarity_per_pair": mean_of(metrics.pair_similarity[weights]),
            "enumeration_per_concept": (
                ratio(int(metrics.differences[rows].sum()), common) if counts_known else None
            ),
            "size_per_box": mean_of(metrics.size_difference[sizes]),
            "size_binary_per_box": mean_of(over.astype(float)),
            "enumeration_mode": mode_of(enumeration),
            "hit": common,
            "miss": only_g + only_r,
            "miss_ground_truth": only_g,
            "miss_retrieved": only_r,
            "matched": len(weights),
            "matched_share": ratio(len(weights), only_g + only_r),
            "differing": differing if counts_known else None,
            "differing_per_failure": ratio(differing, n) if counts_known else None,
            "differing_share": ratio(differing, common) if counts_known else None,
            "boxes": len(sizes),
            **{f"{name}_defined": int((~np.isnan(column)).sum()) for name, column in values.items()},
            **self.fault_counts(rank),
        }

    def confusions(self, rank: int, counted: str = ALL) -> list[tuple[str, str, int, float]]:
        """Return which concept came instead of which in the matchings, the most frequent first.

        Returns
        -------
        list of tuple
            Ground truth's concept, retrieved concept, number of failures, path similarity.
        """
        metrics = self.metrics[counted]
        places = stretches(metrics.pair_ptr, self.rows(rank))
        synsets = metrics.concepts.synsets
        first, second = metrics.pair_concepts[:, places].astype(np.int64)
        codes, place, times = np.unique(
            first * max(len(synsets), 1) + second, return_index=True, return_counts=True
        )
        order = np.lexsort((codes, -times))
        return [
            (
                synsets[codes[k] // len(synsets)], synsets[codes[k] % len(synsets)], int(times[k]),
                float(metrics.pair_similarity[places[place[k]]]),
            )
            for k in order.tolist()
        ]  # fmt: skip


def stretches(ptr: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the places of some rows of a compressed table.

    >>> stretches(np.array([0, 2, 2, 5]), np.array([0, 2])).tolist()
    [0, 1, 2, 3, 4]
    """
    length = ptr[rows + 1] - ptr[rows]
    return np.repeat(ptr[rows] - (np.cumsum(length) - length), length) + np.arange(length.sum())


def ratio(part: float, whole: float) -> float | None:
    """Return part / whole, None where there is no whole."""
    return part / whole if whole else None


def mean_of(values: np.ndarray) -> float | None:
    """Return the mean of what is defined, None where nothing is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def mode_of(values: np.ndarray) -> int | None:
    """Return the most frequent whole number, the smallest of several; None where there is none."""
    return int(np.bincount(values.astype(np.int64)).argmax()) if len(values) else None
