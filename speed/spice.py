"""SPICE of all pairs from raw captions, against the same matching in plain Python.

The original tool needs Java and a download, so that it cannot be the peer. The peer gets karat's scene
graphs for nothing and only matches tuples, with the synonyms of every word in a dictionary; it scores a
sample of the pairs, and its time is scaled to the whole. With KARAT_DATA set, the captions are COCO's test
split; without it those of a known-truth world of the same size.
"""

import time
from functools import partial
from typing import Any

import numpy as np
from _stopwatch import in_own_process, main, peak_mb, record, sized

from captions import references_and_candidates
from karat.captions.graphs import scene_graphs
from karat.captions.metrics.spice import MEANINGS, Spice
from karat.lexicon import wordnet

GROWTH = sized((250, 500, 1_000, 2_000, 5_000), (5, 10))
COMPARED = sized(1_000, 10)
SAMPLE = sized(20_000, 50)


def chosen(images: int) -> tuple[list[list[str]], list[str]]:
    """Return the references of the first images, and their captions as candidates."""
    references, _ = references_and_candidates()
    return references[:images], [text for group in references[:images] for text in group]


def all_pairs(images: int) -> dict[str, float]:
    """Time the whole table, and how much of it went into reading the captions."""
    references, candidates = chosen(images)
    Spice().matrix([["a dog on a sofa"]], ["a dog"])
    begin = time.perf_counter()
    prepared = Spice().prepare(references, candidates)
    read = time.perf_counter() - begin
    for first in range(0, images, 500):
        prepared.block(first, min(first + 500, images))
    return {"s": time.perf_counter() - begin, "read": read, "mb": peak_mb()}


def plain(images: int) -> dict[str, float]:
    """Time plain Python on a sample of the pairs, scaled to all of them."""
    references, candidates = chosen(images)
    texts = list(dict.fromkeys(candidates))
    tuples = {text: graph.tuples for text, graph in zip(texts, scene_graphs(texts))}
    words = {(word, k) for parts in tuples.values() for tup in parts for k, word in enumerate(tup)}
    roles = list(MEANINGS.values())
    keys = {
        (word, k): wordnet().synset_keys(word, roles[0] if k in (0, 2) else roles[1]) for word, k in words
    }

    def match(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
        return len(a) == len(b) and all(
            x == y or not keys[x, k].isdisjoint(keys[y, k]) for k, (x, y) in enumerate(zip(a, b))
        )

    merged: list[list[tuple[str, ...]]] = []
    begin = time.perf_counter()
    for group in references:
        merged.append([])
        for tup in (tup for text in group for tup in tuples[text]):
            if not any(match(tup, other) for other in merged[-1]):
                merged[-1].append(tup)
    once = time.perf_counter() - begin
    rng = np.random.default_rng(0)
    image, caption = rng.integers(0, images, SAMPLE), rng.integers(0, len(candidates), SAMPLE)
    begin = time.perf_counter()
    for i, j in zip(image.tolist(), caption.tolist()):
        own, others = tuples[candidates[j]], merged[i]
        hits = sum(any(match(tup, other) for other in others) for tup in own)
        _ = 2 * hits / max(1, len(own) + len(others))
    share = (time.perf_counter() - begin) / SAMPLE
    return {"s": once + share * images * len(candidates), "mb": peak_mb()}


SIDES: dict[str, Any] = {
    **{f"karat-{images}": partial(all_pairs, images) for images in GROWTH},
    "plain": partial(plain, COMPARED),
}


def measure():
    for images in GROWTH:
        found = in_own_process(__file__, f"karat-{images}")
        what = (
            f"parsing and matching, {found['read']:.1f} s of it parsing and numbering the tuples; new process"
        )
        compared: dict[str, Any] = {}
        if images == COMPARED:
            compared = {"peer": "plain Python", "theirs": in_own_process(__file__, "plain")}
            what += f"; the peer only matches tuples, {SAMPLE:,} pairs scaled to all"
        yield record("spice, all pairs", f"{images}x{5 * images}", found, what, **compared)


if __name__ == "__main__":
    main(measure, SIDES)
