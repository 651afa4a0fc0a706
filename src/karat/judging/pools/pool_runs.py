"""What a pool alone says of its systems' rankings: their first items."""

from __future__ import annotations

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark, Direction
from karat.errors import InputError
from karat.judging.pools.pool import Pool
from karat.runs import RankingsRun


def runs_of_pool(pool: Pool, benchmark: Benchmark) -> list[RankingsRun]:
    """Return the systems' rankings as deep as they were pooled.

    Enough for R@1 and for how alike their first items are. What looks deeper (RP, mAP@R) needs the runs. So
    does a pool that left out pairs which were judged already, or filtered: its places have gaps, and
    nothing says which item a gap was.

    Examples
    --------
    >>> from karat.world import make_world
    >>> places = [np.array(column) for column in ([0, 1, 1], [0, 0, 1], [1, 1, 1], [1, 2, 1])]
    >>> pool = Pool(np.array([0, 1]), np.array([0, 0]), np.zeros(2), ("a", "b"), *places, np.zeros(3),
    ...     queries={"t2i": np.array([0])}, top=2)
    >>> [run.raw for run in runs_of_pool(pool, make_world(images=2, captions=1).benchmark())]
    [{'t2i': {'000000.png#0': ['000000.png', '000001.png']}}, {'t2i': {'000000.png#0': ['000001.png']}}]
    """
    runs = []
    for number, name in enumerate(pool.systems):
        lists: dict[str, dict[object, list[object]]] = {
            direction: first_places(pool, benchmark, number, direction)
            for direction in DIRECTIONS
            if len(pool.queries.get(direction, ())) and answers(pool, number, direction).any()
        }
        runs.append(RankingsRun(lists, name))
    return runs


def answers(pool: Pool, system: int, direction: Direction) -> np.ndarray:
    """Return which places a system gave in one direction, as booleans; some systems answer only one."""
    return (pool.place_system == system) & (pool.place_direction == DIRECTIONS.index(direction))


def first_places(
    pool: Pool, benchmark: Benchmark, system: int, direction: Direction
) -> dict[object, list[object]]:
    """Return the pooled lists of one system by the queries' ids, best first."""
    mine = answers(pool, system, direction)
    pair, rank = pool.place_pair[mine], pool.place_rank[mine]
    query, item = (pool.image, pool.caption) if direction == "i2t" else (pool.caption, pool.image)
    order = np.lexsort((rank, query[pair]))
    query, item, rank = query[pair][order], item[pair][order], rank[order]
    asked = np.unique(pool.queries[direction])
    new = np.r_[True, np.diff(query) != 0] if len(query) else np.zeros(0, bool)
    begin = np.flatnonzero(new)
    due = np.arange(len(query)) - np.repeat(begin, np.diff(np.r_[begin, len(query)])) + 1
    if len(begin) < len(asked) or (rank != due).any():
        raise InputError(
            f"the pool does not hold all first places of {pool.systems[system]!r} ({direction}): some pairs "
            "were judged already or filtered",
            fix="give the runs that were pooled: --run a.npy,b.npy",
        )
    names, items = (ids.values.tolist() for ids in (benchmark.queries(direction), benchmark.items(direction)))
    ends = np.r_[begin[1:], len(query)]
    listed = [items[one] for one in item.tolist()]
    return {names[query[b]]: listed[b:e] for b, e in zip(begin.tolist(), ends.tolist())}
