"""The score of every system on the labels that subsets of systems would have produced: s_Θ(φ)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from karat.benchmarks import Benchmark, Direction, Fold
from karat.benchmarks.truth import Judged, compress
from karat.judging.bias.bias_inputs import in_order
from karat.judging.bias.subsets import SuggestedLabels
from karat.measures import Measure
from karat.measures.ranked import Ranked
from karat.measures.ties import Counts, resolve
from karat.runs import Question, Run
from karat.validation import InputError

Key = tuple[Direction, str]
BLOCK = 1 << 22
"""How many grades are held at a time: 32 MB."""


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
        self.labels, self.benchmark, self.fixed, self.fold = labels, benchmark, fixed, fold
        self.runs = in_order(runs, labels.systems)
        self._everything = labels.under(np.ones((1, len(labels.systems)), bool))[0]
        self._rows = {
            direction: rows
            for direction, asked in queries.items()
            if len((rows := rows_of(labels, self._everything, direction, np.unique(asked))).queries)
        }
        if not self._rows:
            raise InputError("no pooled query has a relevant item", fix="judge the pool first")
        self._ranked: dict[tuple[int, Direction], tuple[Ranked, np.ndarray]] = {}
        for number, run in enumerate(self.runs):
            self._place(number, run.align(benchmark), threads)

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions that have queries with a relevant item."""
        return tuple(self._rows)

    def queries(self, direction: Direction) -> np.ndarray:
        """Return the queries that are scored, as indices."""
        return self._rows[direction].queries

    def _place(self, number: int, run: Run, threads: int | None) -> None:
        """Ask a run once where all labelled pairs of both directions are."""
        missing = [direction for direction in self._rows if direction not in run.directions]
        if missing:
            fix = "give a run of both directions, or ask for the other direction alone"
            raise InputError(f"has no {missing[0]} rankings", where=run.where or run.name, fix=fix)
        inside, questions = {}, []
        for direction, rows in self._rows.items():
            inside[direction] = rows.item < self.benchmark.items(direction).size
            kept = inside[direction]
            gallery = None if self.fold is None else np.sort(self.fold.items(direction))
            questions.append(Question(direction, rows.query_of_row[kept], rows.item[kept], gallery))
        for question, answer in zip(questions, run.place(questions, threads)):
            rows, kept = self._rows[question.direction], inside[question.direction]
            above, tied, earlier = (
                spread(getattr(answer, name), kept, missed)
                for name, missed in (("above", -1), ("tied", 0), ("earlier", 0))
            )
            everything = self.benchmark.items(question.direction).size
            ranked_items = everything if question.gallery is None else len(question.gallery)
            size = np.full(len(rows.queries), ranked_items)
            depth = size if answer.depth is None else answer.depth[rows.queries]
            # In the benchmark's order places do not depend on grades. Row numbers in their stead come
            # back sorted by place, and then every version of the labels is put in that order.
            counts = Counts(
                rows.ptr, np.arange(len(rows.item), dtype=np.float64), above, tied, earlier,
                outside=~kept, size=size, depth=depth,
            )  # fmt: skip
            ranked = resolve(counts, "stable")
            order = rows.grade[ranked.grade.astype(np.int64)].astype(np.int64)
            self._ranked[number, question.direction] = ranked, order

    def values(self, inside: np.ndarray, system: int, direction: Direction, measure: Measure) -> np.ndarray:
        """Return the values per query of one system under a few subsets [S, systems]: [S, Q]."""
        blocks = (self._values(grades, system, direction, measure) for grades in self._blocks(inside))
        return np.concatenate(list(blocks))

    def scores(self, inside: np.ndarray, measures: Sequence[Measure]) -> dict[Key, np.ndarray]:
        """Return the score of every system under every subset, [S, systems], by direction and measure.

        NaN where nothing is defined.
        """
        out: dict[Key, list[np.ndarray]] = {}
        for grades in self._blocks(inside):
            for direction in self.directions:
                for measure in measures:
                    columns = [
                        means(self._values(grades, system, direction, measure))
                        for system in range(len(self.runs))
                    ]
                    out.setdefault((direction, str(measure)), []).append(np.stack(columns, axis=1))
        return {key: np.concatenate(parts) for key, parts in out.items()}

    def _blocks(self, inside: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the grades of all labelled pairs under some subsets at a time."""
        step = max(1, BLOCK // max(1, len(self.labels)))
        for begin in range(0, len(inside), step):
            yield self.labels.under(inside[begin : begin + step])

    def _values(self, grades: np.ndarray, system: int, direction: Direction, measure: Measure) -> np.ndarray:
        ranked, order = self._ranked[system, direction]
        here = replace(ranked, grade=grades[:, order])
        early = np.asarray(measure.unanswered(here)).any(axis=0)
        if early.any():
            raise InputError(
                f"{measure} needs more places than are known, for {int(early.sum()):,} of "
                f"{ranked.n_queries:,} queries ({direction})",
                where=self.runs[system].name,
                fix="give the whole runs (--runs), or ask for a measure of the first places such as R@1",
            )
        values = measure(here)
        if not self.fixed:
            return values
        # A measure that asks for grade 1 has no value for queries with part grades alone, whoever annotated.
        defined = ~np.isnan(measure(replace(ranked, grade=self._everything[order])))
        return np.where(np.isnan(values) & defined, 0.0, values)


def means(values: np.ndarray) -> np.ndarray:
    """Return the mean of what is defined in each row; NaN where nothing is.

    >>> means(np.array([[1.0, np.nan], [0.5, 0.0]])).tolist()
    [1.0, 0.25]
    """
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def spread(column: np.ndarray, kept: np.ndarray, missed: int) -> np.ndarray:
    """Return a column with a row for every labelled pair, also those that a run was not asked about.

    >>> spread(np.array([4, 9]), np.array([True, False, True]), -1).tolist()
    [4, -1, 9]
    """
    out = np.full(len(kept), missed, np.int64)
    out[kept] = column
    return out


def rows_of(labels: SuggestedLabels, grade: np.ndarray, direction: Direction, asked: np.ndarray) -> Judged:
    """Return the labelled items of the queries that have a relevant one; `grade` holds the pairs' numbers."""
    pair = np.stack([labels.image, labels.caption])
    query, item = pair if direction == "i2t" else pair[::-1]
    good = np.intersect1d(asked, query[grade > 0])
    return compress(good.astype(np.int64), query, item, np.arange(len(labels), dtype=np.float64))
