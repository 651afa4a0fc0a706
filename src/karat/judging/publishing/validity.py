"""Leaving invalid images and captions out: they do not ask, are not ranked, and their pairs do not count.

ECCV Caption's package keeps its 32 invalid captions in the gallery: none of them asks, nine original pairs
with them are gone, five positives with them are still there. A system that ranks "I am unable to see an
image above" first has missed there; here nobody ranks it. The gallery of the benchmark stays as it is, so
that runs made for it fit: one fold restricts what is ranked.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark, Direction, Fold
from karat.errors import InputError
from karat.judging.pools import distinct, split_key
from karat.judging.publishing.evidence import Evidence, Marked

SIDES: dict[Direction, str] = {"i2t": "image", "t2i": "caption"}
"""What asks."""
FOLD = "valid"


def valid_items(benchmark: Benchmark, marked: Marked) -> dict[str, np.ndarray]:
    """Return, of every image and caption, off-gallery ones too, whether nobody marked it invalid."""
    valid = {
        kind: np.ones(len(ids), bool)
        for kind, ids in zip(SIDES.values(), (benchmark.images, benchmark.captions))
    }
    for kind, items in marked.items():
        if kind not in valid:
            raise InputError(f"{kind!r} is marked invalid", fix="only an image or a caption can be")
        index = np.array(list(items), np.int64)
        if ((index < 0) | (index >= len(valid[kind]))).any():
            raise InputError(
                f"the {kind} {index.max()} is marked invalid, but there is none", fix="mark it valid"
            )
        valid[kind][index] = False
    return valid


def valid_queries(evidence: Evidence, valid: Mapping[str, np.ndarray]) -> dict[Direction, np.ndarray]:
    """Return the valid queries that were pooled; of a pool that does not name them, those of its pairs."""
    pool, benchmark = evidence.pool, evidence.benchmark
    asked = {d: np.asarray(pool.queries.get(d, np.zeros(0)), np.int64) for d in DIRECTIONS}
    if not any(map(len, asked.values())):
        source = pool if len(pool) else evidence.counted.asked
        asked = {"i2t": source.image, "t2i": source.caption}
    out: dict[Direction, np.ndarray] = {}
    for direction, queries in asked.items():
        known = distinct(np.asarray(queries, np.int64))
        known = known[known < benchmark.queries(direction).size]
        out[direction] = known[valid[SIDES[direction]][known]]
    if not any(map(len, out.values())):
        raise InputError("no valid query is left", fix="mark some images or captions valid again")
    return out


def pairs_inside(key: np.ndarray, valid: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return whether both sides of each pair are valid."""
    image, caption = split_key(key)
    return valid["image"][image] & valid["caption"][caption]


def touching(
    key: np.ndarray, queries: Mapping[Direction, np.ndarray], valid: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Return whether each pair has one of the queries on either side: others could never be scored."""
    found = np.zeros(len(key), bool)
    for direction, side in zip(DIRECTIONS, split_key(key)):
        asks = np.zeros(len(valid[SIDES[direction]]), bool)
        asks[queries[direction]] = True
        found |= asks[side]
    return found


def valid_fold(benchmark: Benchmark, valid: Mapping[str, np.ndarray]) -> tuple[Fold, ...]:
    """Return one fold of everything valid; none where everything is."""
    if all(rows.all() for rows in valid.values()):
        return ()
    sizes = {"image": benchmark.images.size, "caption": benchmark.captions.size}
    images, captions = (np.flatnonzero(valid[kind][: sizes[kind]]) for kind in SIDES.values())
    return (Fold(FOLD, images, captions),)
