"""Conformal intervals: what single queries score, with a promise over all of them.

No label says what an open query scores, but the drawn queries say how far predictions are off. By split
conformal prediction (Vovk et al. 2005; conformal risk control, Angelopoulos et al. 2022, with the loss "not
in the interval") an interval that is as wide as the ⌈(n + 1) level⌉-th smallest of n errors holds for at
least that share of the queries: on average over queries, not for each kind of query. Errors are divided by
the spread that the model itself expects, so that sure queries get short intervals. Queries that were drawn
with unequal chances count inversely (Tibshirani et al. 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import Layout, Part, Result
from karat.errors import InputError
from karat.estimate.candidates import Candidates, VettedLabels
from karat.estimate.design import DrawnSample
from karat.estimate.drawn_units import DrawnUnits, query_units
from karat.estimate.estimation import DEFAULT_ESTIMATOR
from karat.estimate.estimator import ESTIMATORS, LabelEstimator
from karat.estimate.expectation import value_draws
from karat.estimate.proxies import cross_fitted, folds_of
from karat.estimate.relevance import without_grade
from karat.estimate.unit_values import FOLDS
from karat.estimate.vetting import values_per_query
from karat.measures import Measure, parse_name, show_value

NOISE_DRAWS = 64
"""How many versions of the labels are drawn for the spread of a query's value."""
SMALLEST_SPREAD = 0.02
"""Added to the spread that the model expects, which may be 0."""
SHOWN = 20
"""How many queries a table shows."""


@dataclass(frozen=True, eq=False)
class QueryIntervals(Result):
    """Intervals of the values of single queries; `query_intervals` makes it.

    Parameters
    ----------
    candidates, measure, level
        What was estimated, and how often intervals should hold.
    value, low, high
        [runs, queries].
    calibration
        How many drawn queries they rest on.
    notes
        What a reader should know.
    """

    candidates: Candidates
    measure: Measure
    level: float
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    calibration: int
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return one record per run and query; queries have their number in the benchmark."""
        numbers = ("value", "low", "high")
        return [
            {
                "run": run,
                "query": int(query),
                "measure": str(self.measure),
                "level": self.level,
                **{name: float(getattr(self, name)[r, q]) for name in numbers},
            }
            for r, run in enumerate(self.candidates.runs)
            for q, query in enumerate(self.candidates.queries)
        ]

    def parts(self) -> Sequence[Part]:
        """Return a sentence and the first queries."""
        head = (
            f"{self.measure} of {len(self.candidates.queries):,} queries with {100 * self.level:g}% "
            f"conformal intervals, from {self.calibration:,} drawn queries."
        )
        rows = [
            [record["run"], f"{record['query']}"]
            + [show_value(self.measure, record[name]) for name in ("value", "low", "high")]
            for record in self.records()[:SHOWN]
        ]
        return [head, Layout(["run", "query", "value", "low", "high"], rows, labels=2)]


def query_intervals(
    candidates: Candidates,
    labels: VettedLabels,
    batches: Sequence[DrawnSample],
    measure: Measure,
    *,
    estimator: str | LabelEstimator = DEFAULT_ESTIMATOR,
    level: float = 0.9,
    cluster: np.ndarray | None = None,
    seed: int = 0,
) -> QueryIntervals:
    """Predict what every query scores, with intervals that hold on average over queries.

    Parameters
    ----------
    candidates, labels, batches, estimator, cluster, seed
        As in `interval_estimates`; the batches must hold whole queries.
    measure
        With values from 0 to 1.
    level
        The share of the open queries whose interval should hold.

    Returns
    -------
    QueryIntervals
    """
    plain, chosen = without_grade(measure), parse_name(estimator, ESTIMATORS)
    whole = [batch for batch in batches if batch.unit == "query"]
    unit = query_units(candidates, candidates.matter(plain))
    none = np.zeros(len(candidates), np.int64)
    drawn = DrawnUnits(labels, whole, unit, True, none, np.zeros(len(labels), np.int64))
    _, made, notes = drawn.made
    if not made:
        raise InputError("no whole query was drawn and labelled", fix="draw them: --design whole-queries")
    at = np.concatenate([batch.units for batch in made])
    weight = 1 / np.concatenate([batch.probability for batch in made])
    known = drawn.known_from <= len(whole)
    own = np.arange(len(candidates.queries)) if cluster is None else np.asarray(cluster)
    fold = folds_of(own, FOLDS, seed)[candidates.query]
    # As one batch: no query is predicted from its own labels.
    p = cross_fitted(labels, np.ones(len(labels), np.int64), 0, chosen, plain, fold, seed)
    value = values_per_query(candidates, p, plain)
    spread = SMALLEST_SPREAD + np.stack(
        [
            value_draws(ranking.under(p), plain, NOISE_DRAWS, seed).std(axis=0)
            for ranking in candidates.rankings.values()
        ]
    )
    true = values_per_query(
        candidates, np.where(known[candidates.query], np.nan_to_num(labels.label), 0), plain
    )
    reach = [
        conformal_reach(np.abs(true[r, at] - value[r, at]) / spread[r, at], weight, level)
        for r in range(len(value))
    ]
    off = np.array(reach)[:, None] * spread
    off = np.where(np.isnan(off), np.inf, off)
    low, high = np.clip(value - off, 0.0, 1.0), np.clip(value + off, 0.0, 1.0)
    value, low, high = (np.where(known, true, numbers) for numbers in (value, low, high))
    if np.isinf(reach).any():
        notes = [*notes, f"{len(at)} drawn queries are too few for {100 * level:g}%: intervals say nothing"]
    return QueryIntervals(candidates, measure, level, value, low, high, len(at), tuple(notes))


def conformal_reach(error: np.ndarray, weight: np.ndarray, level: float) -> float:
    """Return what the error of a further query does not exceed, with a probability of at least `level`.

    >>> conformal_reach(np.arange(1.0, 10.0), np.ones(9), 0.9), conformal_reach(np.ones(5), np.ones(5), 0.9)
    (9.0, inf)
    """
    order = np.argsort(error)
    # The further query may be the worst of all.
    total = weight.sum() + weight.max()
    reached = np.cumsum(weight[order]) >= level * total * (1 - 1e-12)
    return float(error[order][np.argmax(reached)]) if reached.any() else np.inf
