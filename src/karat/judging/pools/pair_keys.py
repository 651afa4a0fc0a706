"""One number for a pair, so that tables of pairs are sorted, joined and searched as plain numbers."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from karat.benchmarks import Benchmark, Truth

BASE = 1 << 32
"""More than there can be captions."""


def key_of(image: np.ndarray, caption: np.ndarray) -> np.ndarray:
    """Return a number per pair that sorts by image, then caption.

    >>> split_key(key_of(np.array([3]), np.array([5])))
    (array([3]), array([5]))
    """
    return np.asarray(image, np.int64) * BASE + np.asarray(caption, np.int64)


def split_key(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the image and the caption of each number."""
    return key >> 32, key & (BASE - 1)


def distinct(key: np.ndarray) -> np.ndarray:
    """Return the different numbers, sorted: on millions far faster than `np.unique`, which hashes.

    >>> distinct(np.array([5, 2, 5])).tolist()
    [2, 5]
    """
    ordered = np.sort(key)
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def find(keys: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return the place of each number in sorted ones, −1 where it is not there.

    >>> find(np.array([2, 5]), np.array([5, 4])).tolist()
    [1, -1]
    """
    if not len(keys):
        return np.full(len(key), -1)
    at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
    return np.where(keys[at] == key, at, -1)


def lookup(keys: np.ndarray, values: np.ndarray, key: np.ndarray, missing: float) -> np.ndarray:
    """Return the value of each number, `missing` where it is not among the sorted ones.

    >>> lookup(np.array([2, 5]), np.array([0.5, 1.0]), np.array([5, 4]), 0.0).tolist()
    [1.0, 0.0]
    """
    at = find(keys, key)
    found = np.full(len(key), missing)
    found[at >= 0] = values[at[at >= 0]]
    return found


def keys_of_truth(truth: Truth, positives: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs that a truth lists, as sorted numbers, and their grades; none for a rule.

    Parameters
    ----------
    truth
        Whose pairs.
    positives
        Leave out those that are judged not relevant.
    """
    if truth.judgments is None:
        return np.zeros(0, np.int64), np.zeros(0)
    pairs = truth.judgments.pairs()
    rows = pairs.grade > 0 if positives else np.ones(len(pairs), bool)
    return key_of(pairs.image[rows], pairs.caption[rows]), pairs.grade[rows]


def fingerprint(benchmark: Benchmark) -> str:
    """Return a hash of the ids of a benchmark's images and captions, in their order.

    >>> from karat.world import make_world
    >>> len(fingerprint(make_world(images=3, captions=1, seed=1).benchmark()))
    64
    """
    made = hashlib.sha256()
    for ids in (benchmark.images, benchmark.captions):
        made.update(json.dumps([ids.size, ids.values.tolist()]).encode())
    return made.hexdigest()
