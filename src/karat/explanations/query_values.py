"""Values per query of a run: what a search for slices needs of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from karat.benchmarks import Benchmark, Direction, Side, as_benchmark, in_order
from karat.errors import InputError
from karat.measures import MEAN, Named, parse_measure
from karat.runs import EmbeddingRun, Run, load_runs
from karat.scores import Column, Scorecard, check_chance, check_options, score_runs


@dataclass(frozen=True, eq=False)
class QueryValues:
    """Values of a run per query, as one pass over its scores or a scorecard gives them.

    Parameters
    ----------
    values, query, cluster
        Per query, the index of the query in its benchmark, and the number of its group, as of an image.
    run, truth, direction, measure
        Whose values they are, and what was scored.
    benchmark
        With the texts of the queries.
    embeddings
        Per query of the benchmark, for clusters; None without.
    """

    values: np.ndarray
    query: np.ndarray
    cluster: np.ndarray
    run: str
    truth: str
    direction: Direction
    measure: Named
    benchmark: Benchmark
    embeddings: np.ndarray | None = None

    @classmethod
    def of(cls, card: Scorecard, column: Column, embeddings: np.ndarray | None = None) -> QueryValues:
        """Return the values of a scorecard's column that are known."""
        if column.values is None or column.query is None or column.cluster is None:
            raise InputError(
                f"{column.measure} has no values per query", fix=column.note or "choose another measure"
            )
        known = ~np.isnan(column.values)
        query = column.query[known]
        if len(np.unique(query)) != len(query):
            raise InputError(
                f"truth {column.truth!r} scores a query in several folds",
                fix="choose a truth without repeats",
            )
        return cls(
            column.values[known], query, column.cluster[known], column.run, column.truth,
            column.direction, column.measure, card.benchmark, embeddings,
        )  # fmt: skip

    @property
    def group(self) -> Side:
        """The words for what clusters are: groups of the benchmark, or its queries."""
        return self.benchmark.unit([self.direction])

    def at(self, query: np.ndarray) -> np.ndarray:
        """Return the places of queries, which must be there."""
        order = np.argsort(self.query, kind="stable")
        return order[np.searchsorted(self.query[order], query)]


def check_measure(measure: str | Named) -> Named:
    """Return a measure whose aggregate is a mean, or raise."""
    named = parse_measure(measure) if isinstance(measure, str) else measure
    if getattr(named, "aggregate", None) is not MEAN:
        raise InputError(
            f"{named} is not a mean over queries", fix="choose one that is, such as R@1, MRR@10 or MeanR"
        )
    return named


class RunScorer:
    """Scores single runs by one measure in one direction; choices are checked once, before any is read."""

    def __init__(
        self, benchmark: Benchmark | str | Path, measure: Named, truth: str | None, direction: Direction
    ) -> None:
        bench = as_benchmark(benchmark)
        self.measure, self.truth, self.direction = measure, truth or next(iter(bench.truths)), direction
        self.options = check_options(bench, [measure], truth=self.truth, direction=direction)

    def values(self, source: Any) -> QueryValues:
        """Return the values of a run per query, from one pass over its scores."""
        runs = load_runs(source, self.options.benchmark)
        if len(runs) != 1:
            raise InputError(f"{len(runs)} runs were given", fix="give one, and another as `against`")
        options = replace(self.options, benchmark=runs[0].benchmark or self.options.benchmark)
        card = score_runs(runs, options)
        check_chance(card, runs)
        return values_of_card(
            card, self.measure, self.truth, self.direction, query_vectors(runs[0], self.direction)
        )


def query_vectors(run: Run, direction: Direction) -> np.ndarray | None:
    """Return the embeddings of a run's queries, None where it has none."""
    if not isinstance(run, EmbeddingRun):
        return None
    return in_order(direction, run.images, run.captions)[0]


def values_of_card(
    card: Scorecard,
    measure: Named,
    truth: str | None,
    direction: Direction,
    embeddings: np.ndarray | None = None,
) -> QueryValues:
    """Return the values of a scorecard with one run."""
    if len(card.runs) != 1:
        raise InputError(f"{len(card.runs)} runs were given", fix="give one, and another as `against`")
    if truth is None:
        truth = card.columns[0].truth
    return QueryValues.of(card, card.column(str(measure), truth=truth, direction=direction), embeddings)
