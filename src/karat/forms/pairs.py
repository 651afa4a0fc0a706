"""Pairs as numbers: tables of pairs are sorted, joined and searched by one integer key for each pair."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

from karat.benchmarks import Benchmark, Direction, Judgments, Pairs, Truth, pair_of, same_side
from karat.errors import InputError, unknown_name

BASE = 1 << 32
"""More than the largest possible number of captions."""
ORIGINAL = "original"
"""The pairing of captions with the images that they were written for, whatever a benchmark calls it."""


def key_of(image: np.ndarray, caption: np.ndarray) -> np.ndarray:
    """Return the key of each pair; keys sort by image, then caption.

    >>> split_key(key_of(np.array([3]), np.array([5])))
    (array([3]), array([5]))
    """
    return np.asarray(image, np.int64) * BASE + np.asarray(caption, np.int64)


def pair_key(direction: Direction, query: np.ndarray, item: np.ndarray) -> np.ndarray:
    """Return the key of each pair of a query and an item, whichever of the two asked.

    A pair of one collection begins with the smaller index, as in `Judgments`: the two that ask for each other
    are one pair.

    >>> [key.tolist() for key in split_key(pair_key("i2i", np.array([3, 5]), np.array([5, 3])))]
    [[3, 3], [5, 5]]
    """
    return key_of(*pair_of(direction, query, item))


def are_pairs(direction: Direction, key: np.ndarray) -> np.ndarray:
    """Return which keys are pairs: in one collection, not an item with itself, nor the larger index first."""
    first, second = split_key(key)
    return first < second if same_side(direction) else np.ones(len(key), bool)


def split_key(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the image and the caption of each key."""
    return key >> 32, key & (BASE - 1)


def distinct(key: np.ndarray) -> np.ndarray:
    """Return the distinct keys, sorted: for millions far faster than `np.unique`, which hashes.

    >>> distinct(np.array([5, 2, 5])).tolist()
    [2, 5]
    """
    ordered = np.sort(key)
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def find(keys: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return the index of each key in sorted `keys`, −1 where it is missing.

    >>> find(np.array([2, 5]), np.array([5, 4])).tolist()
    [1, -1]
    """
    if not len(keys):
        return np.full(len(key), -1)
    at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
    return np.where(keys[at] == key, at, -1)


def lookup(keys: np.ndarray, values: np.ndarray, key: np.ndarray, missing: float) -> np.ndarray:
    """Return the value of each key, `missing` where it is not among the sorted `keys`.

    >>> lookup(np.array([2, 5]), np.array([0.5, 1.0]), np.array([5, 4]), 0.0).tolist()
    [1.0, 0.0]
    """
    at = find(keys, key)
    result = np.full(len(key), missing)
    result[at >= 0] = values[at[at >= 0]]
    return result


def fingerprint(benchmark: Benchmark) -> str:
    """Return a hash of the ids of a benchmark's two sides, in their order.

    >>> from karat.world import make_world
    >>> len(fingerprint(make_world(images=3, captions=1, seed=1).benchmark()))
    64
    """
    digest = hashlib.sha256()
    for ids in benchmark.ids:
        digest.update(json.dumps([ids.size, ids.values.tolist()]).encode())
    return digest.hexdigest()


def keys_of_truth(truth: Truth, positives: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs that a truth lists, as sorted keys, and their grades; none for a rule.

    Parameters
    ----------
    truth
        The truth that lists them.
    positives
        Leave out pairs that are judged not relevant.
    """
    if truth.judgments is None:
        return np.zeros(0, np.int64), np.zeros(0)
    pairs = truth.judgments.pairs()
    rows = pairs.grade > 0 if positives else np.ones(len(pairs), bool)
    return key_of(pairs.image[rows], pairs.caption[rows]), pairs.grade[rows]


def positive_keys(benchmark: Benchmark) -> np.ndarray:
    """Return the sorted keys of all pairs that are relevant in any listed truth or the original pairing."""
    keys = [np.zeros(0, np.int64)]
    keys += [keys_of_truth(truth, positives=True)[0] for truth in benchmark.truths.values()]
    if benchmark.caption_image is not None:
        own = original_pairs(benchmark)
        keys.append(key_of(own.image, own.caption))
    return np.unique(np.concatenate(keys))


def judged_keys(benchmark: Benchmark, truths: Sequence[str]) -> np.ndarray:
    """Return the sorted keys of all pairs that any of these truths judges, relevant or not.

    >>> from karat.world import make_world
    >>> len(judged_keys(make_world(images=30, captions=2).benchmark(), ["original"]))
    60
    """
    keys = [np.zeros(0, np.int64)]
    for name in truths:
        check_judged(benchmark, name)
        pairs = listed_pairs(benchmark, name)
        keys.append(key_of(pairs.image, pairs.caption))
    return np.unique(np.concatenate(keys))


def check_judged(benchmark: Benchmark, truth: str) -> None:
    """Raise where a truth lists no pairs, or leaves none to judge."""
    if truth in benchmark.truths and benchmark.truths[truth].complete:
        raise InputError(
            f"the truth {truth!r} judges every pair, so that nothing is left to judge", fix="leave it out"
        )
    listed_judgments(benchmark, truth)


def listed_pairs(benchmark: Benchmark, truth: str) -> Pairs:
    """Return the judged pairs of a truth within the gallery, by its name or as the original pairing."""
    judgments = listed_judgments(benchmark, truth)
    if judgments is None:
        return original_pairs(benchmark)
    pairs = judgments.pairs()
    inside = (pairs.image < benchmark.images.size) & (pairs.caption < benchmark.captions.size)
    return Pairs(pairs.image[inside], pairs.caption[inside], pairs.grade[inside])


def listed_judgments(benchmark: Benchmark, truth: str) -> Judgments | None:
    """Return the judgments of a truth, None for the original pairing, or raise where it lists no pairs."""
    if truth == ORIGINAL and truth not in benchmark.truths:
        if benchmark.caption_image is None:
            raise unknown_name("truth", truth, benchmark.truths, owner=benchmark.name)
        return None
    judgments = benchmark.truth(truth).judgments
    if judgments is None:
        raise InputError(f"the truth {truth!r} is a rule, which lists no pairs", fix="choose another truth")
    return judgments


def original_pairs(benchmark: Benchmark) -> Pairs:
    """Return each caption with the image that it was written for, where that is known."""
    owner = np.asarray(benchmark.caption_image)
    caption = np.flatnonzero(owner >= 0)
    order = np.argsort(owner[caption], kind="stable")
    return Pairs(owner[caption][order], caption[order], np.ones(len(caption)))
