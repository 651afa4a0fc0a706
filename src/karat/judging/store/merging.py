"""Two pools as one."""

from __future__ import annotations

import numpy as np

from karat.benchmarks import DIRECTIONS
from karat.judging.pools import Pool

GOLD = ("gold_image", "gold_caption", "gold_right")


def merge_pools(old: Pool, new: Pool) -> Pool:
    """Return the pairs and places of both; a place that both have is the new one's.

    >>> def one(image, rank):
    ...     pair, zero = np.array([image]), np.array([0])
    ...     places = (zero, zero, zero, np.array([rank]), np.array([1.0]))
    ...     return Pool(pair, zero, zero, ("a",), *places, top=rank)
    >>> merge_pools(merge_pools(one(3, 1), one(2, 5)), one(3, 2)).place_rank.tolist()
    [5, 2]
    """
    systems = tuple(dict.fromkeys((*old.systems, *new.systems)))
    image, caption = both(old.image, new.image), both(old.caption, new.caption)
    width = int(caption.max(initial=0)) + 1
    key, first, which = np.unique(image * width + caption, return_index=True, return_inverse=True)
    why = np.full(len(key), np.iinfo(np.int64).max)
    # A pair that a system suggests is pooled, also where it filled a grid before.
    np.minimum.at(why, which, both(old.why, new.why))
    number = {name: at for at, name in enumerate(systems)}
    ours = [np.array([number[name] for name in pool.systems], np.int64) for pool in (old, new)]
    pair = both(which[old.place_pair], which[len(old) + new.place_pair])
    system = both(ours[0][old.place_system], ours[1][new.place_system])
    direction = both(old.place_direction, new.place_direction)
    place = (pair * len(systems) + system) * 2 + direction
    # The last of equal places: the new pool's.
    _, back = np.unique(place[::-1], return_index=True)
    kept = len(place) - 1 - back
    queries = {
        side: np.union1d(old.queries.get(side, ()), new.queries.get(side, ())).astype(np.int64)
        for side in DIRECTIONS
    }
    return Pool(
        image[first], caption[first], why, systems, pair[kept], system[kept], direction[kept],
        both(old.place_rank, new.place_rank)[kept], both(old.place_score, new.place_score)[kept], queries,
        max(old.top, new.top), old.judged + new.judged, old.filtered + new.filtered,
        *(both(getattr(old, name), getattr(new, name)) for name in GOLD),
    )  # fmt: skip


def both(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return two columns as one."""
    return np.concatenate([one, other])
