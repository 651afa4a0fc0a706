"""A pool: the pairs that several models suggest for judging, and where each model ranked them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from karat._util import plural
from karat.benchmarks import Benchmark, Direction, asks_first, same_side, sides_of
from karat.errors import InputError
from karat.runs import RankingsRun

POOLED, FILLED, DRAWN = 0, 1, 2
"""Why a pair is in the pool: a model ranked it high, it fills up a grid and audits the filter, or it was
drawn for an estimate. Of several reasons the first counts."""
NOT_GOLD, GOLD_NO, GOLD_YES = -1, 0, 1
"""Whether the right answer about a pair is known beforehand: not, or, for gold, which one it is."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Pairs to be judged, each once, and every model's place for them.

    Parameters
    ----------
    image, caption
        The pairs, as indices into the benchmark, sorted by image, then caption.
    why
        POOLED, FILLED or DRAWN, for each pair.
    systems
        The names of the runs.
    place_pair, place_system, place_direction, place_rank, place_score
        One row for each time that a run ranks a pair among the first `top`: which pair, which run,
        0 where the first of the pair asks, as in i2t, and 1 where the second does, the rank from 1, the score
        (NaN where the run has none).
    queries
        Per direction, the queries whose rankings were pooled.
    top
        How many items of each ranking were pooled.
    judged
        How many pairs were left out because they are already judged.
    filtered
        How many pairs were left out by the filters.
    gold_image, gold_caption, gold_right
        A stock of gold pairs for `make_tasks` to hide among the others, in the order of their use, with the
        right answer, GOLD_YES or GOLD_NO. Gold negatives must not be among the first items of any run, which
        only the runs can tell, so the stock is drawn when the pool is made and kept with it.

    Examples
    --------
    >>> from karat.judging import make_pool
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=40, captions=2, seed=1)
    >>> make_pool(simulate_systems(world), world.benchmark(), top=3)
    Pool(671 pairs from the top 3 of 6 runs)
    """

    image: np.ndarray
    caption: np.ndarray
    why: np.ndarray
    systems: tuple[str, ...]
    place_pair: np.ndarray
    place_system: np.ndarray
    place_direction: np.ndarray
    place_rank: np.ndarray
    place_score: np.ndarray
    queries: Mapping[Direction, np.ndarray] = field(default_factory=dict)
    top: int = 0
    judged: int = 0
    filtered: int = 0
    gold_image: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    gold_caption: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    gold_right: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int8))

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        return (
            f"Pool({plural(len(self), 'pair')} from the top {self.top} of {plural(len(self.systems), 'run')})"
        )

    def suggested_by(self, system: int) -> np.ndarray:
        """Return which pairs a run ranks high enough, as booleans."""
        suggested = np.zeros(len(self), dtype=bool)
        suggested[self.place_pair[self.place_system == system]] = True
        return suggested

    def asked(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return query and item of some places."""
        image, caption = (side[self.place_pair[places]] for side in (self.image, self.caption))
        first = self.place_direction[places] == 0
        return np.where(first, image, caption), np.where(first, caption, image)

    @property
    def suggestions(self) -> int:
        """The number of suggested pairs before duplicates were merged."""
        return len(self.place_pair)


def without(pool: Pool, kept: np.ndarray) -> Pool:
    """Return a pool with only the pairs that `kept` marks, and only their places."""
    renumber = np.cumsum(kept) - 1
    rows = kept[pool.place_pair]
    return replace(
        pool,
        image=pool.image[kept],
        caption=pool.caption[kept],
        why=pool.why[kept],
        place_pair=renumber[pool.place_pair[rows]],
        place_system=pool.place_system[rows],
        place_direction=pool.place_direction[rows],
        place_rank=pool.place_rank[rows],
        place_score=pool.place_score[rows],
    )


def pool_sentences(pool: Pool) -> list[str]:
    """Return sentences that describe a pool: what was pooled and what was left out.

    >>> from karat.judging import make_pool
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> pool_sentences(make_pool(simulate_systems(world), world.benchmark(), top=2))
    ['The first 2 items of 6 runs for 60 i2t and 120 t2i queries: 2,160 suggestions, 695 pairs.']
    """
    queries = " and ".join(f"{len(numbers):,} {direction}" for direction, numbers in pool.queries.items())
    items = "item" if pool.top == 1 else f"{pool.top:,} items"
    filled, drawn = (int((pool.why == reason).sum()) for reason in (FILLED, DRAWN))
    # Suggestions of pairs that were left out are not kept, and so cannot be counted.
    complete = not (pool.judged or pool.filtered or filled)
    pairs = plural(len(pool) - filled - drawn, "pair")
    sentences = []
    if not pool.top and (pool.why == POOLED).any():
        left_out = f", and {pool.filtered:,} others that no detection overlaps" if pool.filtered else ""
        sentences.append(f"Instances with masks to vet: {len(pool):,}{left_out}.")
        return [*sentences, *([f"Already answered: {pool.judged:,}."] if pool.judged else [])]
    if pool.systems:
        sentences.append(
            f"The first {items} of {plural(len(pool.systems), 'run')} for {queries} queries: "
            f"{f'{pool.suggestions:,} suggestions, ' if complete else ''}{pairs}."
        )
    if pool.judged:
        sentences.append(f"Left out because they are already judged: {plural(pool.judged, 'pair')}.")
    if pool.filtered or filled:
        first, second = (side.many for side in sides_of(next(iter(pool.queries), "i2t")))
        audit = f" Added to fill up the {first}' {second}: {plural(filled, 'pair')}." if filled else ""
        sentences.append(f"Filtered out: {plural(pool.filtered, 'pair')}.{audit}")
    if drawn:
        sentences.append(f"Drawn for estimates: {plural(drawn, 'further pair')}.")
    return sentences


def runs_of_pool(pool: Pool, benchmark: Benchmark) -> list[RankingsRun]:
    """Return the pooled part of each run: its first items for every query.

    This is enough for R@1 and for how similar the first items of the runs are. Measures that look deeper
    (RP, mAP@R) need the runs. So does a pool without the pairs that were already judged or filtered out:
    its rankings have gaps, and nothing says which item is missing.

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
            direction: first_items(pool, benchmark, number, direction)
            for direction in benchmark.directions
            if len(pool.queries.get(direction, ())) and places_in(pool, number, direction).any()
        }
        runs.append(RankingsRun(lists, name))
    return runs


def places_in(pool: Pool, system: int, direction: Direction) -> np.ndarray:
    """Return which places belong to one run and direction, as booleans; some runs have only one direction."""
    asked = same_side(direction) | (pool.place_direction == (not asks_first(direction)))
    return (pool.place_system == system) & asked


def first_items(
    pool: Pool, benchmark: Benchmark, system: int, direction: Direction
) -> dict[object, list[object]]:
    """Return the pooled lists of one run by the queries' ids, best first."""
    places = places_in(pool, system, direction)
    rank, (query, item) = pool.place_rank[places], pool.asked(places)
    order = np.lexsort((rank, query))
    query, item, rank = query[order], item[order], rank[order]
    new = np.r_[True, np.diff(query) != 0] if len(query) else np.zeros(0, bool)
    begin = np.flatnonzero(new)
    expected = np.arange(len(query)) - np.repeat(begin, np.diff(np.r_[begin, len(query)])) + 1
    if len(begin) < len(np.unique(pool.queries[direction])) or (rank != expected).any():
        raise InputError(
            f"the pool does not contain all first items of {pool.systems[system]!r} ({direction}): some "
            "pairs were already judged or filtered out",
            fix="give the runs that were pooled: --run a.npy,b.npy",
        )
    names, items = (ids.values.tolist() for ids in (benchmark.queries(direction), benchmark.items(direction)))
    ends = np.r_[begin[1:], len(query)]
    listed = [items[number] for number in item.tolist()]
    return {names[query[b]]: listed[b:e] for b, e in zip(begin.tolist(), ends.tolist())}
