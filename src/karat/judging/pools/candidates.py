"""Candidates for judging: the pairs that several models rank high, each once.

ECCV Caption (§3.2) pools the first five of five models for 1,261 images and 1,333 captions: 64,850
suggestions. Nothing is left out by default, not even the pairs of the original labels. ECCV Caption judged
these too, which is how its wrong captions were found (appendix C.1), and only a pool without gaps can say
how biased it is. Pairs that are already judged need no second judgment if their judgments are merged
afterwards: name these truths in `judged`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from karat._util import connected, track
from karat.benchmarks import Benchmark, Direction, asks_first, same_side
from karat.errors import InputError
from karat.forms import (
    FILLED,
    ORIGINAL,
    POOLED,
    Form,
    Pool,
    are_pairs,
    find,
    judged_keys,
    key_of,
    listed_judgments,
    pair_key,
    split_key,
    without,
)
from karat.judging.pools.filters import Keep, kept_by, parse_filter
from karat.judging.pools.gold import GoldChoice, KnownFirst, draw_gold
from karat.runs import Compute, PassOptions, RankingsRun, Run, TableRun, Top, TopRequest

T = TypeVar("T")
Queries = str | Mapping[Direction, np.ndarray | Sequence[int]] | None
"""A truth's name, for the queries that it covers; or indices for each direction; or all."""


@dataclass(frozen=True)
class QuerySample:
    """Queries that are drawn at random; the draw of one direction does not depend on the other.

    Parameters
    ----------
    sample
        How many: one number for all directions, or one for each.
    queries
        What they are drawn from: a truth's name, or indices for each direction. All by default.

    Examples
    --------
    >>> QuerySample({"i2t": 4}).size("i2t"), QuerySample({"i2t": 4}).size("t2i"), QuerySample(500).size("t2i")
    (4, None, 500)
    """

    sample: int | Mapping[Direction, int]
    queries: Queries = None

    def size(self, direction: Direction) -> int | None:
        """How many queries of a direction are drawn; None for all."""
        return self.sample.get(direction) if isinstance(self.sample, Mapping) else self.sample


def make_pool(
    runs: Sequence[Run],
    benchmark: Benchmark,
    *,
    top: int = 5,
    direction: Sequence[Direction] | None = None,
    queries: Queries | QuerySample = None,
    judged: Sequence[str] = (),
    filter: Sequence[str | Keep] = (),
    form: Form | None = None,
    fill: int | None = None,
    gold: GoldChoice | None = None,
    seed: int = 0,
    compute: Compute | None = None,
) -> Pool:
    """Return the pairs that at least one run ranks among its first `top`, with the places in every run.

    Memory grows with runs × queries × top; no run is ever sorted as a whole.

    Parameters
    ----------
    runs
        What the models returned; the names of the runs must differ.
    benchmark
        The benchmark of the runs.
    top
        How many items of each ranking are pooled.
    direction
        Of the benchmark's directions; by default those that any run has.
    queries
        Which queries are pooled: a truth's name, for those that it covers; indices for each direction; or a
        `QuerySample`, for some that are drawn at random. All by default.
    judged
        Truths whose judged pairs, relevant or not, are left out; "original" is the pairing of captions with
        the images that they were written for. A form that shows the caption's own image leaves these out
        in any case: there is nothing to compare.
    filter
        Rules such as ``bleu-pre>=0.25`` (see `karat.judging.pools.filters`), or functions. A pair is kept
        when all of them keep it.
    form
        What annotators will be asked; it decides `fill` and how many gold pairs are drawn. "pair" by default.
    fill
        Each image's pairs are filled up to a multiple of this, first with pairs that a filter dropped, at
        random, then with random captions; the form's columns by default.
    gold
        Which gold pairs are drawn, and how many; by default four times as many as the form's tasks need.
    seed
        The seed of all random draws.
    compute
        What lists the first items, and how much it may take.

    Examples
    --------
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> pool = make_pool(simulate_systems(world), world.benchmark(), top=2)
    >>> pool, pool.suggestions == 6 * (60 + 120) * 2
    (Pool(695 pairs from the top 2 of 6 runs), True)
    >>> make_pool(simulate_systems(world), world.benchmark(), top=2, judged=["original"]).judged
    120
    """
    check_runs(runs)
    if top < 1:
        raise InputError(f"top is {top}", fix="give a whole number from 1")
    gold, compute = gold or GoldChoice(), compute or Compute()
    aligned = [run.align(benchmark) for run in runs]
    directions = pooled_directions(aligned, benchmark, direction)
    chosen = choose_queries(benchmark, directions, queries, seed)
    filters = [parse_filter(rule) if isinstance(rule, str) else rule for rule in filter]
    columns = grid_columns(form, fill)
    known = judged_keys(benchmark, [*judged, *([ORIGINAL] if form is not None and form.own_image else [])])
    if gold.truth is not None:
        listed_judgments(benchmark, gold.truth)
    # Gold is drawn from all queries: what it needs is listed in the same pass.
    deep = max(top, gold.depth) if gold.number != 0 else 0
    with connected(compute.scheduler) as workers:
        suggested, first = collect(aligned, chosen, top, deep, compute.passing(aligned, workers))
    unjudged = without(suggested, find(known, key_of(suggested.image, suggested.caption)) < 0)
    kept = kept_by(filters, unjudged, benchmark)
    pool = fill_up(unjudged, kept, columns, known, benchmark, np.random.default_rng([seed, 2]))
    pool = replace(pool, judged=len(suggested) - len(unjudged))
    stock = draw_gold(aligned, benchmark, pool, form, gold, seed=seed, known=first)
    return replace(pool, gold_image=stock[0], gold_caption=stock[1], gold_right=stock[2])


def check_runs(runs: Sequence[Run]) -> None:
    """Raise unless there are runs, and their names differ."""
    names = [run.name for run in runs]
    if not names:
        raise InputError("there is no run to pool", fix="give at least one run")
    if len(set(names)) < len(names):
        raise InputError("two runs have the same name", fix="give them different names: --name A,B")


def pooled_directions(
    runs: Sequence[Run], benchmark: Benchmark, named: Sequence[Direction] | None
) -> Sequence[Direction]:
    """Return the directions that are named, by default all that any run has; one that none has raises."""
    available = [way for way in benchmark.directions if any(way in run.directions for run in runs)]
    directions = [benchmark.direction(name) for name in named or available]
    for direction in directions:
        if direction not in available:
            raise InputError(f"no run has the direction {direction}", fix=f"use {' or '.join(available)}")
    return directions


def grid_columns(form: Form | None, fill: int | None) -> int:
    """Return the multiple that each image's pairs are filled up to: as given, or the form's columns."""
    columns = (form.columns if form is not None else 1) if fill is None else fill
    if columns < 1:
        raise InputError(f"fill is {columns}", fix="give a whole number from 1; 1 adds nothing")
    return columns


def choose_queries(
    benchmark: Benchmark,
    directions: Sequence[Direction] | None = None,
    queries: Queries | QuerySample = None,
    seed: int = 0,
) -> dict[Direction, np.ndarray]:
    """Return the queries of each direction, as sorted indices; see `make_pool`.

    Examples
    --------
    >>> from karat.world import make_world
    >>> bench = make_world(images=100, captions=5, seed=1).benchmark()
    >>> queries = choose_queries(bench, queries=QuerySample({"i2t": 4}), seed=2)
    >>> queries["i2t"].tolist(), len(queries["t2i"])
    ([10, 25, 29, 81], 500)
    """
    every = benchmark.directions
    names = [benchmark.direction(name) for name in (every if directions is None else directions)]
    if not names or len(set(names)) < len(names):
        fix = f"give {', '.join(every)} or both" if len(every) > 1 else f"give {every[0]}"
        raise InputError("directions is empty or has a duplicate", fix=fix)
    sample, everything = (queries, queries.queries) if isinstance(queries, QuerySample) else (None, queries)
    chosen: dict[Direction, np.ndarray] = {}
    if sample is not None and isinstance(sample.sample, Mapping):
        sample = QuerySample(own_names(benchmark, sample.sample))
    if isinstance(everything, Mapping):
        everything = own_names(benchmark, everything)
    for direction in (direction for direction in every if direction in names):
        numbers = covered_queries(benchmark, direction, everything)
        size = None if sample is None else sample.size(direction)
        if size is not None:
            if not 1 <= size <= len(numbers):
                raise InputError(
                    f"the sample size is {size:,}, but {direction} has {len(numbers):,} queries",
                    fix=f"give a number from 1 to {len(numbers):,}",
                )
            rng = np.random.default_rng([seed, every.index(direction)])
            numbers = np.sort(rng.choice(numbers, size, replace=False))
        if len(numbers):
            chosen[direction] = numbers
    if not chosen:
        raise InputError("there are no queries to pool", fix="choose a truth or queries that exist")
    return chosen


def own_names(benchmark: Benchmark, values: Mapping[Direction, T]) -> dict[Direction, T]:
    """Return values by the names that the benchmark has for its directions, or raise for one of none."""
    return {benchmark.direction(name): value for name, value in values.items()}


def covered_queries(benchmark: Benchmark, direction: Direction, queries: Queries) -> np.ndarray:
    """Return the queries of one direction before any draw."""
    size = benchmark.queries(direction).size
    if queries is None:
        return np.arange(size)
    by_direction = benchmark.truth(queries).queries if isinstance(queries, str) else queries
    numbers = np.unique(np.asarray(by_direction.get(direction, ()), dtype=np.int64))
    if isinstance(queries, str):
        # A truth may cover captions outside the gallery, which no run ranks.
        return numbers[numbers < size]
    if len(numbers) and (numbers[0] < 0 or numbers[-1] >= size):
        raise InputError(
            f"the {direction} query {numbers[0] if numbers[0] < 0 else numbers[-1]} is outside the gallery",
            fix=f"give indices from 0 to {size - 1}",
        )
    return numbers


def collect(
    runs: Sequence[Run],
    queries: dict[Direction, np.ndarray],
    top: int,
    deep: int = 0,
    options: PassOptions | None = None,
) -> tuple[Pool, KnownFirst]:
    """Return every suggestion, duplicates merged; and of score tables the first `deep` of all queries."""
    keys, places = [], []
    known: dict[Run, dict[Direction, Top]] = {}
    for number, run in enumerate(track(runs, lambda run: f"listing the first of {run.name}")):
        everywhere = bool(deep) and isinstance(run, TableRun)
        asked = run.directions if everywhere else [d for d in queries if d in run.directions]
        requests = [TopRequest(d, deep) if everywhere else TopRequest(d, top, queries[d]) for d in asked]
        lists = dict(zip(asked, run.scan(tops=requests, options=options).tops))
        if everywhere:
            known[run] = lists
        for direction in (direction for direction in queries if direction in run.directions):
            ranked = lists[direction]
            if everywhere:
                ranked = ranked.of(queries[direction]).cut(top)
            key, side, rank, score = suggestions(run, direction, queries[direction], ranked)
            keys.append(key)
            places.append((np.full(len(key), number, np.int16), side, rank, score))
    pair, at = np.unique(np.concatenate(keys), return_inverse=True)
    system, side, rank, score = (np.concatenate(column) for column in zip(*places))
    image, caption = split_key(pair)
    pool = Pool(
        image,
        caption,
        np.full(len(pair), POOLED, np.int8),
        tuple(run.name for run in runs),
        at.astype(np.int64),
        system,
        side,
        rank,
        score,
        queries,
        top,
    )
    return pool, known


def suggestions(
    run: Run, direction: Direction, queries: np.ndarray, ranked: Top
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs' keys, which side asked, ranks and scores of one run, from its first items."""
    lengths = np.diff(ranked.ptr)
    query = np.repeat(queries, lengths)
    rank = np.arange(len(query)) - np.repeat(ranked.ptr[:-1], lengths) + 1
    key = pair_key(direction, query, ranked.item)
    first = query < ranked.item if same_side(direction) else np.full(len(key), asks_first(direction))
    # The score of a ranked list is made from the place: the run itself has none.
    score = np.full(len(key), np.nan) if isinstance(run, RankingsRun) else ranked.score.astype(np.float64)
    return key, (~first).astype(np.int8), rank.astype(np.int32), score


def fill_up(
    pool: Pool,
    kept: np.ndarray,
    columns: int,
    judged: np.ndarray,
    benchmark: Benchmark,
    rng: np.random.Generator,
) -> Pool:
    """Return the kept pairs, each image's filled up to a multiple of `columns`, which audits the filters.

    Hodosh et al. (2013, §4.3.2) showed ten captions at a time. They filled up 30,781 pairs that had passed
    their filter with 10,374 that had not, and so could say that it had lost next to nothing.

    Parameters
    ----------
    pool
        All suggested pairs.
    kept
        Which of them the filters keep.
    columns
        1 adds nothing. An image without a kept pair stays out.
    judged
        Sorted keys of pairs that are already judged.
    benchmark
        Says how many items each side has.
    rng
        Draws what is added: dropped pairs first, then captions that no run suggests.
    """
    counts = np.bincount(pool.image[kept], minlength=benchmark.images.size)
    missing = -counts % columns
    order = np.lexsort((rng.random(len(pool)), pool.image))
    dropped = order[~kept[order]]
    first = np.searchsorted(pool.image[dropped], np.arange(benchmark.images.size))
    place = np.arange(len(dropped)) - first[pool.image[dropped]]
    restored = dropped[place < missing[pool.image[dropped]]]
    missing -= np.bincount(pool.image[restored], minlength=benchmark.images.size)
    taken = np.union1d(key_of(pool.image, pool.caption), judged)
    random = random_captions(missing, taken, benchmark, rng)
    chosen = kept.copy()
    chosen[restored] = True
    why = pool.why.copy()
    why[restored] = FILLED
    return joined(replace(pool, why=why), chosen, random)


def random_captions(
    missing: np.ndarray, taken: np.ndarray, benchmark: Benchmark, rng: np.random.Generator
) -> np.ndarray:
    """Return sorted keys of captions that no run suggests, for the images that still need some."""
    captions = benchmark.captions.size
    chosen = [np.zeros(0, np.int64)]
    for image in np.flatnonzero(missing).tolist():
        # A few more than needed: some are taken. Only a tiny gallery needs to be searched completely.
        tries = rng.choice(captions, min(captions, 4 * int(missing[image]) + 64), replace=False)
        keys = key_of(np.full(len(tries), image), tries)
        free = keys[(find(taken, keys) < 0) & are_pairs(benchmark.directions[0], keys)]
        if len(free) < missing[image]:
            everything = key_of(np.full(captions, image), rng.permutation(captions))
            free = everything[(find(taken, everything) < 0) & are_pairs(benchmark.directions[0], everything)]
        chosen.append(free[: missing[image]])
    return np.sort(np.concatenate(chosen))


def joined(pool: Pool, chosen: np.ndarray, random: np.ndarray) -> Pool:
    """Return a pool of chosen pairs and random ones, sorted, with the places of those that have any."""
    keys = key_of(pool.image, pool.caption)
    final = np.sort(np.concatenate([keys[chosen], random]))
    image, caption = split_key(final)
    why = np.full(len(final), FILLED, np.int8)
    why[find(final, keys[chosen])] = pool.why[chosen]
    part = without(pool, chosen)
    # The places of the chosen pairs, whose rows move apart where random pairs come between.
    place_pair = find(final, keys[chosen][part.place_pair])
    return replace(
        part, image=image, caption=caption, why=why, place_pair=place_pair, filtered=int((~chosen).sum())
    )
