"""One ranking out of several: each run gives the items of a query points, by one of the `FUSIONS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import Param, Registry, parse_params, plural, track, whole
from karat.benchmarks import Benchmark, Direction, Ids, as_benchmark, same_side
from karat.errors import InputError
from karat.runs import (
    EmbeddingRun,
    Fingerprint,
    Lists,
    RankingsRun,
    Run,
    TableRun,
    load_runs,
    merge_fingerprints,
)

BLOCK_BYTES = 64 << 20


@dataclass(frozen=True, eq=False)
class Ballot:
    """What one run says about all items of some queries, queries by items.

    Parameters
    ----------
    ranks
        Places from 0; items that score the same share the mean of their places, and so do, behind
        all others, the items that a cut-off list does not name.
    scores
        The scores; only methods that need them may look, since ranked lists have none.
    listed
        Whether the run names the item at all.
    """

    ranks: np.ndarray
    scores: np.ndarray
    listed: np.ndarray


@dataclass(frozen=True)
class FusionMethod:
    """A way to fuse: items are ranked by the weighted sum of the points that each run gives them.

    Parameters
    ----------
    about
        A line on what it does.
    points
        From a ballot and the method's parameters to points, queries by items.
    needs_scores
        Whether it looks at scores, not places alone.
    params
        Its parameters, as data.
    """

    about: str
    points: Callable[..., np.ndarray]
    needs_scores: bool = False
    params: tuple[Param, ...] = ()


FUSIONS: Registry[FusionMethod] = Registry("fusion method", group="karat.fusions")
"""By name: the ways to fuse."""


def fuse(
    runs: Sequence[Run | Any] | Mapping[str, Any],
    benchmark: Benchmark | str | Path | None = None,
    method: str = "borda",
    *,
    weight: Sequence[float] | None = None,
    top: int | None = None,
    direction: Sequence[str] | None = None,
    name: str = "fused",
    **params: Any,
) -> RankingsRun:
    """Fuse runs of one benchmark into one run of ranked lists.

    Each run gives each item points, query by query; items are ranked by the weighted sum. Equal
    sums are ordered by the median of the items' places over the runs (Hodosh et al. 2013, §4.1.3),
    then as the benchmark lists them. Since places are counted per query, the two directions of the
    result are two separate rankings, so it is lists and not one table.

    Items that a run scores the same share the mean of their places. A list that is cut off says
    that the items it does not name come after those it names, no more: they share the mean of the
    places that are left; by reciprocal ranks they get nothing. What no run lists is not in the result.
    Where a collection is searched with its own items, a query is not among its items.

    Parameters
    ----------
    runs
        Score tables, embeddings or ranked lists: runs, or what `karat.load_run` takes.
    benchmark
        What they answer, its name or its folder; by default the one that the runs are aligned with.
    method
        One of `karat.baselines.FUSIONS`. Those that need scores do not take ranked lists.
    weight
        One number per run, not negative; equal by default.
    top
        How many items of each query to keep; all by default.
    direction
        Those that all runs have by default.
    name
        Of the result.
    **params
        Parameters of the method.

    Examples
    --------
    >>> from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
    >>> from karat.runs import MatrixRun
    >>> own = Judgments([0, 1], [0, 1], sources=[Provenance("original")])
    >>> truth = Truth("own", own, {"i2t": np.arange(2), "t2i": np.arange(2)})
    >>> ids = Ids(["a", "b"], kind="image"), Ids([1, 2], kind="caption")
    >>> bench = Benchmark("tiny", *ids, {"own": truth})
    >>> tables = [[0.9, 0.1], [0.4, 0.6]], [[0.7, 0.2], [0.8, 0.1]], [[0.3, 0.5], [0.2, 0.9]]
    >>> fused = fuse([MatrixRun(np.array(table)) for table in tables], bench)
    >>> fused.raw["i2t"]["a"].tolist(), fused.raw["i2t"]["b"].tolist()
    ([1, 2], [2, 1])
    """
    if not len(runs):
        raise InputError("there is no run to fuse", fix="give two or more")
    settings = check_fusion(method, weight, top, params)
    chosen = FUSIONS[method]
    bench = as_benchmark(benchmark or common_benchmark(runs))
    runs = load_runs(runs if isinstance(runs, Mapping) else list(runs), bench)
    bench = runs[0].benchmark or bench
    share = weights_of(weight, len(runs))
    # A run without weight has no say in ties either.
    voting = [(ready(run.align(bench)), w) for run, w in zip(runs, share) if w > 0]
    shared = common_directions([run for run, _ in voting], bench, direction)
    if chosen.needs_scores:
        by_ranks = [known for known in FUSIONS if not FUSIONS[known].needs_scores]
        for run, _ in voting:
            if isinstance(run, RankingsRun):
                raise InputError(
                    f"ranked lists have no scores, which {method!r} needs",
                    where=run.where or run.name,
                    fix=f"choose {' or '.join(by_ranks)}",
                )
    lists = {way: fuse_direction(voting, bench, way, chosen, settings, top) for way in shared}
    raw: dict[str, Any] = {
        way: IdLists(bench.queries(way), bench.items(way), own) for way, own in lists.items()
    }
    fused = RankingsRun(raw, name)
    fused.benchmark = bench
    fused.lists = dict(lists)
    fused.made_with = facts_of_fusion(runs, share, {"method": method, "top": top, **settings})
    return fused


def check_fusion(
    method: str, weight: Sequence[float] | None, top: int | None, params: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters of a method, or raise for a choice that is wrong whatever the runs are."""
    settings = parse_params(FUSIONS[method].params, method, params)
    if weight is not None:
        check_weights(weight)
    if top is not None and top < 1:
        raise InputError(f"the first {top} items were requested", fix="give 1 or more")
    return settings


def facts_of_fusion(
    runs: Sequence[Run], weights: Sequence[float], choices: Mapping[str, Any]
) -> Fingerprint | None:
    """Return how runs were fused, and what each was made with; None where no run says that."""
    numbers = [f"run{number}" for number in range(1, len(runs) + 1)]
    parts = merge_fingerprints({number: run.made_with for number, run in zip(numbers, runs)})
    facts = {f"fusion.{name}": value for name, value in choices.items()}
    for number, run, weight in zip(numbers, runs, weights):
        facts |= {f"fusion.{number}.name": run.name, f"fusion.{number}.weight": weight}
    return None if parts is None else parts.with_facts(facts)


def common_benchmark(runs: Any) -> Benchmark:
    """Return the benchmark that the first of some runs is aligned with, or raise."""
    first = next(iter(runs.values() if isinstance(runs, Mapping) else runs))
    if getattr(first, "benchmark", None) is None:
        raise InputError("the runs are not aligned with a benchmark", fix="give the benchmark")
    return first.benchmark


def fuse_direction(
    voting: Sequence[tuple[Run, float]],
    bench: Benchmark,
    direction: Direction,
    method: FusionMethod,
    settings: Mapping[str, Any],
    depth: int | None,
) -> Lists:
    """Return the fused lists of one direction, made in blocks of queries."""
    n_queries, n_items = bench.queries(direction).size, bench.items(direction).size
    step = max(1, BLOCK_BYTES // (8 * n_items * (2 * len(voting) + 6)))
    items, lengths = [], []
    for begin in track(range(0, n_queries, step), f"fusing blocks of queries, {direction}"):
        queries = np.arange(begin, min(begin + step, n_queries))
        ballots = (ballot(run, direction, queries, n_items) for run, _ in voting)
        order, known = fused_order(ballots, [w for _, w in voting], method, settings)
        length = known.sum(axis=1) if depth is None else np.minimum(known.sum(axis=1), depth)
        chosen = np.arange(order.shape[1]) < length[:, None]
        if same_side(direction):
            order = order + (order >= queries[:, None])
        items.append(order[chosen].astype(np.int32))
        lengths.append(length)
    return Lists(np.r_[0, np.cumsum(np.concatenate(lengths))], np.concatenate(items), n_items)


def fused_order(
    ballots: Iterator[Ballot], weights: Sequence[float], method: FusionMethod, settings: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the items of each query in fused order, and whether any run lists them (by item)."""
    points, ranks = [], []
    known: Any = False
    for vote, weight in zip(ballots, weights):
        points.append(weight * method.points(vote, **settings))
        ranks.append(vote.ranks)
        known = known | vote.listed
    # Summed from the smallest: items with the same points from other runs are then exactly equal.
    total = np.sort(np.stack(points), axis=0).sum(axis=0)
    median = np.median(np.stack(ranks), axis=0, overwrite_input=True)
    return np.lexsort((median, -total, ~known), axis=-1), known


def ready(run: Run) -> Run:
    """Return a run whose scores do not depend on how queries are grouped into blocks."""
    if isinstance(run, EmbeddingRun):
        run = copy(run)
        run.use(np.float64)
    return run


def ballot(run: Run, direction: Direction, queries: np.ndarray, n_items: int) -> Ballot:
    """Return what an aligned run says about all items of some queries, the query itself left out."""
    if isinstance(run, TableRun):
        query_of, item_of = run.maps(direction)
        scores = run.query_scores(direction, query_of[queries])[:, item_of].astype(np.float64)
    else:
        top = run.top(direction, n_items, queries)
        row = np.repeat(np.arange(len(queries)), np.diff(top.ptr))
        scores = np.full((len(queries), n_items), -np.inf)
        scores[row, top.item] = top.score
    if same_side(direction):
        scores = scores[np.arange(n_items) != queries[:, None]].reshape(len(queries), n_items - 1)
    listed = np.ones(scores.shape, bool) if isinstance(run, TableRun) else np.isfinite(scores)
    return Ballot(average_ranks(scores), scores, listed)


def average_ranks(scores: np.ndarray) -> np.ndarray:
    """Return the place of every item from 0, best first; equal scores share the mean of their places.

    >>> average_ranks(np.array([[0.5, 0.9, 0.5, 0.1]]))
    array([[1.5, 0. , 1.5, 3. ]])
    """
    n_items = scores.shape[1]
    order = np.argsort(-scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1)
    place = np.arange(n_items)
    starts = np.ones(scores.shape, bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    ends = np.ones(scores.shape, bool)
    ends[:, :-1] = starts[:, 1:]
    # From behind: the nearest end at or after each place.
    last = np.minimum.accumulate(np.where(ends, place, n_items - 1)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(scores.shape)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=1)
    return ranks


class IdLists(Mapping[Any, np.ndarray]):
    """Ranked lists by query id, each turned into item ids on demand.

    Queries without a list are left out.

    >>> lists = Lists(np.array([0, 2, 2]), np.array([1, 0]), 2)
    >>> {query: listed.tolist() for query, listed in IdLists(Ids(["a", "b"]), Ids([7, 8]), lists).items()}
    {'a': [8, 7]}
    """

    def __init__(self, queries: Ids, items: Ids, lists: Lists) -> None:
        self.queries, self.items_, self.lists = queries, items, lists
        listed = np.flatnonzero(np.diff(lists.ptr))
        self.row = dict(zip(queries.values[listed].tolist(), listed.tolist()))

    def __getitem__(self, query: Any) -> np.ndarray:
        row = self.row[query]
        return self.items_.values[self.lists.item[self.lists.ptr[row] : self.lists.ptr[row + 1]]]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.row)

    def __len__(self) -> int:
        return len(self.row)


def weights_of(weights: Sequence[float] | None, number: int) -> list[float]:
    """Return a weight per run, or raise."""
    if weights is None:
        return [1.0] * number
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (number,):
        raise InputError(
            f"{plural(values.size, 'weight')} for {plural(number, 'run')}", fix="give one per run"
        )
    return values.tolist()


def check_weights(weights: Sequence[float]) -> None:
    """Raise for weights that no number of runs can have."""
    values = np.asarray(weights, dtype=np.float64)
    if not np.isfinite(values).all() or values.min() < 0 or values.max() == 0:
        raise InputError(
            f"the weights are {values.tolist()}", fix="give numbers of 0 or more, and one above 0"
        )


def common_directions(
    runs: Sequence[Run], benchmark: Benchmark, directions: Sequence[str] | None
) -> list[Direction]:
    """Return the directions to fuse, or raise where a run lacks one."""
    shared = [way for way in benchmark.directions if all(way in run.directions for run in runs)]
    wanted = None if directions is None else [benchmark.direction(name) for name in directions]
    for way in wanted or ():
        if way not in shared:
            lacking = next((run for run in runs if way not in run.directions), runs[0])
            raise InputError(f"has no {way} ranking", where=lacking.where or lacking.name, fix="leave it out")
    if not shared:
        raise InputError("the runs have no direction in common", fix="give runs that answer the same queries")
    return shared if wanted is None else wanted


def borda(ballot: Ballot) -> np.ndarray:
    """Return N − r for the item in place r of N, counted from 0 (Hodosh et al. 2013, §4.1.3)."""
    return ballot.ranks.shape[1] - ballot.ranks


def reciprocal_rank(ballot: Ballot, k: int = 60) -> np.ndarray:
    """Return 1 / (k + r + 1) for place r from 0, 0 for items not listed (Cormack et al. 2009)."""
    return np.where(ballot.listed, 1.0 / (k + 1.0 + ballot.ranks), 0.0)


def scores_themselves(ballot: Ballot) -> np.ndarray:
    """Return the scores: fit for runs of one scale, such as cosines of one model."""
    return ballot.scores


def standard_scores(ballot: Ballot) -> np.ndarray:
    """Return scores less their mean over the query's items, in standard deviations; 0 where all are equal."""
    centred = ballot.scores - ballot.scores.mean(axis=1, keepdims=True)
    return divided(centred, ballot.scores.std(axis=1, keepdims=True), ballot.scores)


def unit_range(ballot: Ballot) -> np.ndarray:
    """Return scores stretched to 0 … 1 over the query's items; 0 where all are equal."""
    low, high = (f(axis=1, keepdims=True) for f in (ballot.scores.min, ballot.scores.max))
    return divided(ballot.scores - low, high - low, ballot.scores)


def divided(values: np.ndarray, by: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return values by their spread; 0 where the spread is no more than the rounding of the scores."""
    noise = 8 * np.finfo(scores.dtype).eps * np.abs(scores).max(axis=1, keepdims=True)
    return np.divide(values, by, out=np.zeros_like(values), where=by > noise)


K = Param("k", whole, "how flat the weights of the first places are", default=60)
FUSIONS.add("borda", FusionMethod("N − place, summed", borda))
FUSIONS.add("rrf", FusionMethod("1 / (k + place), summed", reciprocal_rank, params=(K,)), ["reciprocal-rank"])
FUSIONS.add("mean", FusionMethod("mean of the scores", scores_themselves, True), ["scores"])
FUSIONS.add("zscore", FusionMethod("mean of standardised scores", standard_scores, True), ["z"])
FUSIONS.add("minmax", FusionMethod("mean of scores stretched to 0 … 1", unit_range, True), ["min-max"])
