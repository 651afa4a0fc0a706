"""Pooling: the pairs that several systems rank high, each once, for people to judge.

ECCV Caption (§3.2) pools the first five of five models for 1,261 images and 1,333 captions: 64,850
suggestions. Nothing is left out by default, not even the pairs of the original labels. ECCV Caption judged
them too, which is how its wrong captions were found (appendix C.1); and a pool without gaps can say how
biased it is. Pairs that somebody judged already need no second judgment when their judgments are merged
afterwards: name these truths in `judged`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from karat._util import renamed_keywords
from karat.benchmarks import DIRECTIONS, Benchmark, Direction
from karat.errors import InputError
from karat.judging.forms import Form
from karat.judging.pools.filling import fill_up
from karat.judging.pools.gold import GOLD_DEPTH, draw_gold
from karat.judging.pools.known_pairs import judged_keys
from karat.judging.pools.pair_keys import find, key_of, split_key
from karat.judging.pools.pool import POOLED, Pool
from karat.judging.pools.pool_filters import Keep, kept_by, parse_filter
from karat.judging.pools.pool_queries import Queries, Sample, choose_queries
from karat.runs import RankingsRun, Run


@renamed_keywords(directions="direction", filters="filter")
def make_pool(
    runs: Sequence[Run],
    benchmark: Benchmark,
    *,
    top: int = 5,
    direction: Sequence[Direction] | None = None,
    queries: Queries = None,
    sample: Sample = None,
    judged: Sequence[str] = (),
    filter: Sequence[str | Keep] = (),
    form: Form | None = None,
    fill: int | None = None,
    gold: int | None = None,
    gold_truth: str | None = None,
    gold_depth: int = GOLD_DEPTH,
    seed: int = 0,
) -> Pool:
    """Return the pairs that at least one system ranks within its first `top`, with every system's places.

    Memory grows with runs × queries × top; no run is ever sorted as a whole.

    Parameters
    ----------
    runs
        The systems, each with a name of its own.
    benchmark
        What they were asked.
    top
        How deep each ranking is read.
    direction
        i2t, t2i; by default those that any run answers.
    queries, sample
        See `karat.judging.pools.pool_queries.choose_queries`.
    judged
        Truths whose judged pairs, relevant or not, are left out; "original" is the pairing of captions with
        the images that they were written for. A form that shows the caption's own image leaves these out
        in any case: there is nothing to compare.
    filter
        Such as ``bleu-pre>=0.25`` (see `pool_filters`), or functions of their own. A pair is kept
        when all of them keep it.
    form
        What people will be asked; it decides `fill` and the shape of the gold stock. "pair" by default.
    fill
        Each image's pairs are filled up to a multiple of this, first with pairs that a filter dropped, at
        random, then with random captions; the form's columns by default.
    gold
        How many known pairs are drawn; by default as many as the form's tasks need.
    gold_truth, gold_depth
        See `karat.judging.pools.gold.draw_gold`.
    seed
        Of every draw.

    Examples
    --------
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> pool = make_pool(simulate_systems(world), world.benchmark(), top=2)
    >>> pool, pool.suggestions == 6 * (60 + 120) * 2
    (Pool(695 pairs from the top 2 of 6 systems), True)
    >>> make_pool(simulate_systems(world), world.benchmark(), top=2, judged=["original"]).judged
    120
    """
    names = [run.name for run in runs]
    if not names or len(set(names)) < len(names):
        raise InputError("there is no run, or two have the same name", fix="name them apart: --name A,B")
    if top < 1:
        raise InputError(f"top is {top}", fix="pool the first 1 or more")
    aligned = [run.align(benchmark) for run in runs]
    able = [one for one in DIRECTIONS if any(one in run.directions for run in aligned)]
    for one in direction or ():
        if one in DIRECTIONS and one not in able:
            raise InputError(f"no run answers {one}", fix=f"ask for {' or '.join(able)}")
    asked = choose_queries(benchmark, direction or able, queries, sample, seed)
    chosen = [parse_filter(one) if isinstance(one, str) else one for one in filter]
    skipped = [*judged, *(["original"] if form is not None and form.own_image else [])]
    known = judged_keys(benchmark, skipped)
    columns = (form.columns if form is not None else 1) if fill is None else fill
    if columns < 1:
        raise InputError(f"fill is {columns}", fix="give 1 to fill nothing up")
    everything = collect(aligned, asked, top)
    draft = without(everything, find(known, key_of(everything.image, everything.caption)) < 0)
    kept = kept_by(chosen, draft, benchmark)
    pool = fill_up(draft, kept, columns, known, benchmark, np.random.default_rng([seed, 2]))
    pool = replace(pool, judged=len(everything) - len(draft))
    stock = draw_gold(
        aligned, benchmark, pool, form, number=gold, truth=gold_truth, depth=gold_depth, seed=seed
    )  # fmt: skip
    return replace(pool, gold_image=stock[0], gold_caption=stock[1], gold_right=stock[2])


def collect(runs: Sequence[Run], queries: dict[Direction, np.ndarray], top: int) -> Pool:
    """Return every suggestion, pairs named several times merged."""
    keys, places = [], []
    for number, run in enumerate(runs):
        for direction in (one for one in queries if one in run.directions):
            key, rank, score = suggestions(run, direction, queries[direction], top)
            keys.append(key)
            same = (number, np.int16), (DIRECTIONS.index(direction), np.int8)
            places.append((*(np.full(len(key), value, kind) for value, kind in same), rank, score))
    pair, at = np.unique(np.concatenate(keys), return_inverse=True)
    system, side, rank, score = (np.concatenate(column) for column in zip(*places))
    image, caption = split_key(pair)
    return Pool(
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


def suggestions(
    run: Run, direction: Direction, queries: np.ndarray, top: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs' keys, ranks and scores of one system in one direction."""
    found = run.top(direction, top, queries)
    lengths = np.diff(found.ptr)
    query = np.repeat(queries, lengths)
    rank = np.arange(len(query)) - np.repeat(found.ptr[:-1], lengths) + 1
    key = key_of(query, found.item) if direction == "i2t" else key_of(found.item, query)
    # The score of a ranked list is made from the place: the run itself has none.
    score = np.full(len(key), np.nan) if isinstance(run, RankingsRun) else found.score.astype(np.float64)
    return key, rank.astype(np.int32), score


def without(pool: Pool, kept: np.ndarray) -> Pool:
    """Return a pool with only some of its pairs, and only their places."""
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
