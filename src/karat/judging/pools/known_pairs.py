"""Pairs about which a benchmark knows something already."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.benchmarks import Benchmark, Pairs
from karat.errors import InputError, unknown_name
from karat.judging.pools.pair_keys import key_of

ORIGINAL = "original"
"""The pairing of captions with the images that they were written for, whatever a benchmark calls it."""


def judged_keys(benchmark: Benchmark, truths: Sequence[str]) -> np.ndarray:
    """Return the keys of all pairs that any of some truths judges, relevant or not; sorted.

    >>> from karat.world import make_world
    >>> len(judged_keys(make_world(images=30, captions=2).benchmark(), ["original"]))
    60
    """
    keys = [np.zeros(0, np.int64)]
    for name in truths:
        if name in benchmark.truths and benchmark.truths[name].complete:
            raise InputError(
                f"the truth {name!r} judges every pair, so that nothing is left to judge", fix="leave it out"
            )
        pairs = listed_pairs(benchmark, name)
        keys.append(key_of(pairs.image, pairs.caption))
    return np.unique(np.concatenate(keys))


def positive_keys(benchmark: Benchmark) -> np.ndarray:
    """Return the keys of all pairs that any listed truth, or the original pairing, calls relevant; sorted."""
    keys = [np.zeros(0, np.int64)]
    for truth in benchmark.truths.values():
        if truth.judgments is not None:
            pairs = truth.judgments.pairs()
            keys.append(key_of(pairs.image, pairs.caption)[pairs.grade > 0])
    if benchmark.caption_image is not None:
        own = original_pairs(benchmark)
        keys.append(key_of(own.image, own.caption))
    return np.unique(np.concatenate(keys))


def relevant_by_rule(benchmark: Benchmark, image: np.ndarray, caption: np.ndarray) -> np.ndarray:
    """Return which pairs any truth that is a rule calls relevant."""
    found = np.zeros(len(image), bool)
    for truth in benchmark.truths.values():
        if truth.rule is not None and len(image):
            found |= truth.rule.relevant("i2t", image, caption)
    return found


def listed_pairs(benchmark: Benchmark, truth: str) -> Pairs:
    """Return the judged pairs of a truth within the gallery, by its name or as the original pairing."""
    if truth == ORIGINAL and truth not in benchmark.truths:
        if benchmark.caption_image is None:
            raise unknown_name("truth", truth, benchmark.truths, owner=benchmark.name)
        return original_pairs(benchmark)
    judgments = benchmark.truth(truth).judgments
    if judgments is None:
        raise InputError(f"the truth {truth!r} is a rule, which lists no pairs", fix="name another")
    pairs = judgments.pairs()
    inside = (pairs.image < benchmark.images.size) & (pairs.caption < benchmark.captions.size)
    return Pairs(pairs.image[inside], pairs.caption[inside], pairs.grade[inside])


def original_pairs(benchmark: Benchmark) -> Pairs:
    """Return captions with the images that they were written for."""
    owner = np.asarray(benchmark.caption_image)
    known = np.flatnonzero(owner >= 0)
    order = np.argsort(owner[known], kind="stable")
    return Pairs(owner[known][order], known[order], np.ones(len(known)))


def sure_positives(benchmark: Benchmark, truth: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs that are relevant beyond doubt: grade 1 in a truth, by default the original pairing.

    A benchmark that does not say which image a caption was written for gives those of its first truth that
    people made and that lists its pairs.
    """
    if truth is None and benchmark.caption_image is None:
        lists = [
            one.name for one in benchmark.truths.values() if one.judgments is not None and not one.machine
        ]
        truth = lists[0] if lists else None
    if truth is None:
        if benchmark.caption_image is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        pairs = original_pairs(benchmark)
    else:
        pairs = listed_pairs(benchmark, truth)
    good = pairs.grade >= 1
    return pairs.image[good].astype(np.int64), pairs.caption[good].astype(np.int64)
