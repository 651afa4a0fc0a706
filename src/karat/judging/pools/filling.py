"""Filling up: each image gets a multiple of so many captions, which audits what filters dropped.

Hodosh et al. (2013, §4.3.2) showed ten captions at a time. They filled up 30,781 pairs that had passed their
filter with 10,374 that had not, and so could say that it had lost next to nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karat.benchmarks import Benchmark
from karat.judging.pools.pair_keys import find, key_of, split_key
from karat.judging.pools.pool import FILLED, Pool


def fill_up(
    pool: Pool,
    kept: np.ndarray,
    columns: int,
    known: np.ndarray,
    benchmark: Benchmark,
    rng: np.random.Generator,
) -> Pool:
    """Return the kept pairs, each image's filled up to a multiple of `columns`.

    Parameters
    ----------
    pool
        All suggested pairs.
    kept
        Which of them the filters keep.
    columns
        1 fills nothing up. An image without a kept pair stays out.
    known
        Keys of pairs that are judged already; sorted.
    benchmark
        Says how many images and captions there are.
    rng
        Draws what is filled in: dropped pairs first, and captions that nobody suggested when these run out.
    """
    counts = np.bincount(pool.image[kept], minlength=benchmark.images.size)
    missing = -counts % columns
    luck = rng.random(len(pool))
    order = np.lexsort((luck, pool.image))
    dropped = order[~kept[order]]
    first = np.searchsorted(pool.image[dropped], np.arange(benchmark.images.size))
    place = np.arange(len(dropped)) - first[pool.image[dropped]]
    back = dropped[place < missing[pool.image[dropped]]]
    missing -= np.bincount(pool.image[back], minlength=benchmark.images.size)
    taken = np.union1d(key_of(pool.image, pool.caption), known)
    fresh = random_captions(missing, taken, benchmark.captions.size, rng)
    chosen = kept.copy()
    chosen[back] = True
    why = pool.why.copy()
    why[back] = FILLED
    return joined(replace(pool, why=why), chosen, fresh)


def random_captions(
    missing: np.ndarray, taken: np.ndarray, captions: int, rng: np.random.Generator
) -> np.ndarray:
    """Return keys of captions that nobody suggested for the images that still miss some; sorted."""
    found = [np.zeros(0, np.int64)]
    for image in np.flatnonzero(missing).tolist():
        # A few more than needed: some are taken. Only a tiny gallery needs to be looked through.
        tries = rng.choice(captions, min(captions, 4 * int(missing[image]) + 64), replace=False)
        keys = key_of(np.full(len(tries), image), tries)
        free = keys[find(taken, keys) < 0]
        if len(free) < missing[image]:
            everything = key_of(np.full(captions, image), rng.permutation(captions))
            free = everything[find(taken, everything) < 0]
        found.append(free[: missing[image]])
    return np.sort(np.concatenate(found))


def joined(pool: Pool, chosen: np.ndarray, fresh: np.ndarray) -> Pool:
    """Return a pool of chosen pairs and fresh ones, sorted, with the places of those that have any."""
    keys = key_of(pool.image, pool.caption)
    final = np.sort(np.concatenate([keys[chosen], fresh]))
    image, caption = split_key(final)
    why = np.full(len(final), FILLED, np.int8)
    why[find(final, keys[chosen])] = pool.why[chosen]
    rows = chosen[pool.place_pair]
    return replace(
        pool,
        image=image,
        caption=caption,
        why=why,
        place_pair=find(final, keys[pool.place_pair[rows]]),
        place_system=pool.place_system[rows],
        place_direction=pool.place_direction[rows],
        place_rank=pool.place_rank[rows],
        place_score=pool.place_score[rows],
        filtered=int((~chosen).sum()),
    )
