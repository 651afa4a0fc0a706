"""Counts from a run's first items, where no list of labels says which items matter.

A truth that is a rule judges the first items of each query; a measure of meaning looks at them through a
similarity φ of every pair, whose own first items are the ideal ranking.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from karat.benchmarks import Direction, JudgedItems, Rule, Truth
from karat.errors import InputError
from karat.measures import Measure, Ranked, equal_neighbours
from karat.runs import RankingsRun, Run, TableRun, Top, TopRequest, with_whole_ties
from karat.scores.evaluation.shared_pairs import KEY_BASE, pair_keys

MOST_ROWS = 1 << 22
"""Items that are processed at once."""
MOST_LISTED = 1 << 24
"""First items that one pass lists for one request at most."""
SHALLOW = 4
"""The gallery has at least so many times as many items: deeper lists are made query by query."""


class KnownTops:
    """First items of a run's queries that its one pass has listed; others are read when they are asked for.

    Parameters
    ----------
    run
        Whose they are.
    requests, tops
        What was asked in the pass, without whole ties and one deeper than needed; and the answers.
    """

    def __init__(self, run: Run, requests: Sequence[TopRequest] = (), tops: Sequence[Top] = ()) -> None:
        self.run = run
        self._known = list(zip(requests, tops))

    def top(
        self, direction: Direction, k: int, queries: np.ndarray, gallery: np.ndarray | None, whole_ties: bool
    ) -> Top:
        """Return what `Run.top` returns."""

        def read(some: np.ndarray) -> Top:
            return self.run.top(direction, k, queries[some], gallery, whole_ties)

        for request, top in self._known:
            if request.direction == direction and request.gallery is gallery and k < request.k:
                assert request.queries is not None
                place = np.minimum(np.searchsorted(request.queries, queries), len(request.queries) - 1)
                if (request.queries[place] == queries).all():
                    part = top.of(place).cut(k + 1)
                    return with_whole_ties(part, k, read) if whole_ties else part.cut(k)
        return read(np.arange(len(queries)))


def request_of(asked: JudgedItems, k: int) -> list[TopRequest]:
    """Return what a run's one pass lists for the first `k` of each query; nothing where that is too much."""
    size = int(asked.size.max(initial=0))
    if not len(asked.queries) or len(asked.queries) * k > MOST_LISTED or SHALLOW * k > size:
        return []
    return [TopRequest(asked.direction, k + 1, asked.queries, asked.gallery)]


def positives(truth: Truth, asked: JudgedItems) -> np.ndarray:
    """Return how many positives of a rule each query has."""
    rule = truth.rule
    assert rule is not None
    if asked.gallery is None:
        return rule.positives(asked.direction, asked.queries)
    # In a fold the rule cannot count its positives: the fold's items are asked about one by one.
    return fold_positives(rule, asked)


def implicit_depth(asked: JudgedItems, measures: Sequence[Measure], total: np.ndarray) -> int:
    """Return how many first items the measures of a rule look at."""
    return max(1, look_ahead(measures, total, asked.size))


def implicit_counts(
    run: KnownTops, truth: Truth, asked: JudgedItems, measures: Sequence[Measure], total: np.ndarray
) -> Iterator[JudgedItems]:
    """Yield batches of queries with the items that the measures look at: a rule judges every one."""
    rule = truth.rule
    assert rule is not None
    k = implicit_depth(asked, measures, total)
    # Lists are in memory as they are; and cut off, their ranks have to be compared all together.
    parts = [slice(None)] if isinstance(run.run, RankingsRun) else query_batches(asked)
    for part in parts:
        queries = asked.queries[part]
        top = run.top(asked.direction, k, queries, asked.gallery, True)
        query = np.repeat(np.arange(len(queries)), np.diff(top.ptr))
        first, width = equal_neighbours(query, top.score)
        yield JudgedItems(
            asked.direction,
            queries,
            top.ptr,
            top.item,
            np.asarray(rule.relevant(asked.direction, queries[query], top.item), dtype=np.float64),
            asked.gallery,
            asked.size[part],
            np.zeros(len(query), bool),
            above=first - top.ptr[query],
            tied=width - 1,
            earlier=np.arange(len(query)) - first,
            depth=np.diff(top.ptr),
            total=total[part].astype(np.float64),
        )


def query_batches(asked: JudgedItems) -> Iterator[slice]:
    """Yield the queries that are processed at once: few enough even if all scores are equal."""
    step = max(1, MOST_ROWS // max(1, int(asked.size.max(initial=1))))
    for begin in range(0, max(1, len(asked.queries)), step):
        yield slice(begin, begin + step)


def look_ahead(measures: Sequence[Measure], total: np.ndarray, size: np.ndarray) -> int:
    """Return how many places the measures look at, at most."""
    nothing = np.zeros(0)
    ptr = np.zeros(len(total) + 1, np.int64)
    stub = Ranked(ptr, nothing, nothing, nothing, nothing, size, size, nothing, total)
    depths = [
        np.minimum(np.maximum(measure.depth(stub), rank_depth(measure, size)), size) for measure in measures
    ]
    return int(max((depth.max(initial=0) for depth in depths), default=0))


def rank_depth(measure: Measure, size: np.ndarray) -> np.ndarray:
    """Measures of ranks accept any depth, but a complete ranking always answers them."""
    return size if measure.unit == "rank" else np.zeros_like(size)


def fold_positives(rule: Rule, asked: JudgedItems) -> np.ndarray:
    """Count the positives of a rule inside a fold's gallery."""
    assert asked.gallery is not None
    counts = np.zeros(len(asked.queries))
    for number, query in enumerate(asked.queries):
        repeated = np.full(len(asked.gallery), query)
        counts[number] = rule.relevant(asked.direction, repeated, asked.gallery).sum()
    return counts


@dataclass(frozen=True, eq=False)
class FirstItems:
    """The first items of some queries, what was taken out left out; `query` counts from 0."""

    query: np.ndarray
    item: np.ndarray
    score: np.ndarray
    ptr: np.ndarray

    @property
    def place(self) -> np.ndarray:
        """Per row, its place among the query's items, from 0."""
        return np.arange(len(self.query)) - self.ptr[self.query]


def semantic_counts(
    run: KnownTops,
    similarity: TableRun,
    truth: Truth,
    fold: int,
    judged: JudgedItems,
    gt: bool,
    k: int,
    several_m: Sequence[int | None],
    known: dict[Hashable, FirstItems],
) -> Iterator[dict[int | None, JudgedItems]]:
    """Yield batches of queries with their first `k` items, for each m.

    Parameters
    ----------
    similarity
        φ of every pair.
    truth, fold, judged
        What the truth lists in one of its folds.
    gt
        Whether what the truth lists as relevant takes part.
    several_m
        How many of the most similar items count as relevant; None for φ itself.
    known
        The ideal rankings of earlier runs, which this one adds to: they are the same for every run.
    """
    out, taken, most = left_out(truth, judged, gt)
    # Nothing lies deeper than the gallery.
    size = int(judged.size.max(initial=0))
    k, ideal_deep = (min(deep, size) for deep in (k, max(k, *(m or 0 for m in several_m))))
    for part in query_batches(judged):
        queries = judged.queries[part]
        where = (judged.direction, queries, judged.gallery, out)
        first = first_items(run, k + most, *where, whole_ties=True)
        key = (similarity.name, truth.name, judged.direction, fold, gt, ideal_deep, part.start, part.stop)
        if key not in known:
            known[key] = first_items(KnownTops(similarity), ideal_deep + most, *where)
        ideal = known[key]
        phi = similarity.pairs(judged.direction, queries[first.query], first.item)
        check_similarity(similarity, phi, ideal.score)
        some = replace(judged, queries=queries, size=judged.size[part] - taken[part])
        yield {m: counts_for(m, k, first, phi, ideal, some) for m in several_m}


def left_out(truth: Truth, judged: JudgedItems, gt: bool) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the pairs that are left out, how many of each query, and how many of a query at most."""
    out = np.zeros(0, np.int64) if gt else listed(truth, judged)
    taken = np.diff(np.searchsorted(out, np.c_[judged.queries, judged.queries + 1] * KEY_BASE), axis=1)[:, 0]
    return out, taken, int(taken.max(initial=0))


def semantic_depth(truth: Truth, judged: JudgedItems, gt: bool, k: int) -> int:
    """Return how many first items a measure of meaning looks at."""
    return min(k, int(judged.size.max(initial=0))) + left_out(truth, judged, gt)[2]


def listed(truth: Truth, judged: JudgedItems) -> np.ndarray:
    """Return the pairs that the truth lists as relevant, as sorted numbers."""
    if truth.implicit:
        raise InputError(
            f"gt=no on {truth.name}, a rule that lists no pairs", fix="choose a truth with a list"
        )
    return np.sort(pair_keys(judged)[(judged.grade > 0) & ~judged.outside])


def first_items(
    run: KnownTops,
    k: int,
    direction: Direction,
    queries: np.ndarray,
    gallery: np.ndarray | None,
    out: np.ndarray,
    whole_ties: bool = False,
) -> FirstItems:
    """Return the first `k` items of each query, less those in `out`."""
    top = run.top(direction, k, queries, gallery, whole_ties)
    query = np.repeat(np.arange(len(queries)), np.diff(top.ptr))
    keep = slice(None)
    if len(out):
        keys = queries[query] * KEY_BASE + top.item
        keep = out[np.minimum(np.searchsorted(out, keys), len(out) - 1)] != keys
    query = query[keep]
    ptr = np.searchsorted(query, np.arange(len(queries) + 1))
    return FirstItems(query, top.item[keep], top.score[keep], ptr)


def check_similarity(similarity: TableRun, *values: np.ndarray) -> None:
    """Raise where φ is below 0: sums of it would mean nothing."""
    lowest = min((part.min() for part in values if len(part)), default=0.0)
    if lowest < 0:
        raise InputError(
            f"the similarity {similarity.name!r} has the value {lowest:g}", fix="give values of 0 or more"
        )


def counts_for(
    m: int | None, k: int, first: FirstItems, phi: np.ndarray, ideal: FirstItems, asked: JudgedItems
) -> JudgedItems:
    """Return what measures see: φ of items and its ideal sums, or which of the m most similar they are."""
    n_queries = len(asked.queries)
    start, width = equal_neighbours(first.query, first.score)
    if m is None:
        best = np.zeros((n_queries, k))
        inside = ideal.place < k
        best[ideal.query[inside], ideal.place[inside]] = ideal.score[inside]
        best = np.cumsum(best, axis=1)
        grade, total = phi.astype(np.float64), (best[:, -1] > 0).astype(np.float64)
    else:
        best = None
        chosen = (ideal.place < m) & (ideal.score > 0)
        keys = ideal.query[chosen] * KEY_BASE + ideal.item[chosen]
        grade = np.isin(first.query * KEY_BASE + first.item, keys).astype(np.float64)
        total = np.bincount(ideal.query[chosen], minlength=n_queries).astype(np.float64)
    # Items that add nothing need no row: their places are known from the others'.
    row = np.flatnonzero(grade)
    query, start = first.query[row], start[row]
    return JudgedItems(
        asked.direction,
        asked.queries,
        np.searchsorted(query, np.arange(n_queries + 1)),
        first.item[row],
        grade[row],
        asked.gallery,
        asked.size,
        np.zeros(len(row), bool),
        above=start - first.ptr[query],
        tied=width[row] - 1,
        earlier=row - start,
        depth=np.diff(first.ptr),
        total=total,
        ideal=best,
    )
