"""Two pools merged as a whole: what adding a pool to a project must come to."""

import numpy as np

from karat.benchmarks import DIRECTIONS
from karat.forms import Pool

GOLD = ("gold_image", "gold_caption", "gold_right")


def merge_pools(old: Pool, new: Pool) -> Pool:
    """The pairs and places of both; a place that both have is the new one's."""
    systems = tuple(dict.fromkeys((*old.systems, *new.systems)))
    pairs, places = {}, {}
    for pool in (old, new):
        keys = list(zip(pool.image.tolist(), pool.caption.tolist(), strict=True))
        for key, why in zip(keys, pool.why.tolist(), strict=True):
            pairs[key] = min(why, pairs.get(key, why))
        for pair, system, direction, rank, score in zip(
            pool.place_pair, pool.place_system, pool.place_direction, pool.place_rank, pool.place_score,
            strict=True,
        ):  # fmt: skip
            place = keys[pair], systems.index(pool.systems[system]), int(direction)
            places[place] = int(rank), float(score)
    order = sorted(pairs)
    rows = sorted((order.index(key), *rest, *places[key, *rest]) for key, *rest in places)
    columns = [np.array(column) for column in zip(*rows, strict=True)] or [np.zeros(0)] * 5
    return Pool(
        *(np.array(column) for column in zip(*order, strict=True)), np.array([pairs[key] for key in order]),
        systems, *columns,
        {side: np.union1d(old.queries.get(side, ()), new.queries.get(side, ())) for side in DIRECTIONS},
        max(old.top, new.top), old.judged + new.judged, old.filtered + new.filtered,
        *(np.concatenate([getattr(old, name), getattr(new, name)]) for name in GOLD),
    )  # fmt: skip
