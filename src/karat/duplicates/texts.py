"""Captions that are the same text, the same words, or nearly the same words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from karat._util import track
from karat.captions import tokenise
from karat.duplicates.pairs import MOST_PAIRS, DuplicatePairs, equal_items
from karat.errors import InputError

NEAR_WORDS = 0.8
"""Captions that share at least this much of their words and pairs of words are nearly the same: one word is
added to seven or more, or one of fourteen or more is another."""
CHUNK = 2_000_000
"""Pairs that are compared at a time."""


def caption_duplicates(
    texts: Sequence[str], others: Sequence[str] | None = None, least: float = NEAR_WORDS
) -> list[DuplicatePairs]:
    """Return captions that are the same text, the same words, or nearly the same words.

    Words are those of `karat.captions.tokenise`. Near captions are found exactly, by their Jaccard
    similarity: the words and pairs of neighbouring words that both have, as a share of those that either
    has. They may differ in the word that matters ("a black dog", "a white dog"), so they do not make anything
    relevant.

    >>> same, words, near = caption_duplicates(["A dog runs.", "a dog runs", "A dog runs."])
    >>> same.second.tolist(), words.second.tolist(), len(near)
    ([2], [1], 0)
    """
    words = [tokenise(text) for text in texts]
    other_words = None if others is None else [tokenise(text) for text in others]
    first, second = equal_items(texts, others)
    same = DuplicatePairs("captions", "same text", first, second, np.ones(len(first)), True, True)
    first, second = equal_items(
        (row or None for row in words), None if other_words is None else (row or None for row in other_words)
    )
    reference = texts if others is None else others
    new = np.array([texts[i] != reference[j] for i, j in zip(first, second)], bool)
    if others is not None:
        new &= ~np.isin(first, same.first)
    return [
        same,
        DuplicatePairs("captions", "same words", first[new], second[new], np.ones(int(new.sum())), True),
        near_captions(words, other_words, least),
    ]


def near_captions(
    words: Sequence[tuple[str, ...]], others: Sequence[tuple[str, ...]] | None, least: float
) -> DuplicatePairs:
    """Return captions of different words whose Jaccard similarity is `least` or more.

    Only the first of captions with the same words is compared. Two sets of which the smaller has n features
    can only be so similar if they share one of the rarest n − ⌈least · n⌉ + 1 features of either (Bayardo,
    Ma and Srikant 2007): pairs that do are compared, and no others.
    """
    own, theirs = first_places(words), first_places(others or ())
    captions = [*own, *theirs]
    index = np.array([*own.values(), *theirs.values()], np.int64)
    table, lengths = feature_table(captions)
    split = len(own) if others is not None else None
    found = []
    total = 0
    for first, second in candidates(table, lengths, least, split):
        shared = np.asarray(table[first].multiply(table[second]).sum(axis=1)).ravel()
        similarity = shared / (lengths[first] + lengths[second] - shared)
        keep = similarity >= least - 1e-12
        for row in np.flatnonzero(similarity == 1):
            keep[row] &= captions[first[row]] != captions[second[row]]
        if (total := total + int(keep.sum())) > MOST_PAIRS:
            raise InputError(
                f"more than {MOST_PAIRS:,} pairs of captions are as similar as {least:g}",
                fix="give a higher threshold",
            )
        found.append((first[keep], second[keep], similarity[keep]))
    empty = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    first, second, similarity = (np.concatenate(parts) for parts in zip(empty, *found))
    pairs, kept = np.unique(first * len(captions) + second, return_index=True)
    first, second = index[pairs // max(1, len(captions))], index[pairs % max(1, len(captions))]
    if split is None:
        first, second = np.minimum(first, second), np.maximum(first, second)
    return DuplicatePairs("captions", "near words", first, second, similarity[kept])


def first_places(captions: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    """Return where each caption is first, without empty ones."""
    places: dict[tuple[str, ...], int] = {}
    for place, caption in enumerate(captions):
        if caption:
            places.setdefault(caption, place)
    return places


def features(words: Sequence[str]) -> list[Any]:
    """Return the words and the pairs of neighbouring words; the second time one occurs is another feature.

    >>> features(["a", "dog", "a"])
    ['a', 'dog', ('a', 1), ('a', 'dog'), ('dog', 'a')]
    """
    seen: Counter[Any] = Counter()
    listed = []
    for feature in (*words, *pairwise(words)):
        number = seen[feature]
        listed.append((feature, number) if number else feature)
        seen[feature] += 1
    return listed


def feature_table(captions: Sequence[Sequence[str]]) -> tuple[Any, np.ndarray]:
    """Return captions by features, the rarest feature first, and how many features each caption has."""
    from scipy.sparse import csr_array

    lists = [features(caption) for caption in captions]
    number: dict[Any, int] = {}
    columns = np.array([number.setdefault(f, len(number)) for listed in lists for f in listed], np.int64)
    lengths = np.array([len(listed) for listed in lists], np.int64)
    rarity = np.empty(len(number), np.int64)
    rarity[np.argsort(np.bincount(columns, minlength=len(number)), kind="stable")] = np.arange(len(number))
    table = csr_array(
        (np.ones(len(columns), np.float32), rarity[columns], np.r_[0, np.cumsum(lengths)]),
        shape=(len(captions), max(1, len(number))),
    )
    table.sort_indices()
    return table, lengths


def candidates(
    table: Any, lengths: np.ndarray, least: float, split: int | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield pairs of rows that share a rare feature and have similar lengths, a part at a time.

    With `split`, pairs of a row before it and a row from it on; each pair may be yielded several times.
    """
    prefix = lengths - np.ceil(least * lengths - 1e-9).astype(np.int64) + 1
    row = np.repeat(np.arange(len(lengths)), prefix)
    place = np.arange(len(row)) - np.repeat(np.cumsum(prefix) - prefix, prefix)
    feature = table.indices[table.indptr[row] + place]
    # Sorted by feature, then length: partners of a row follow it until they are too long.
    order = np.lexsort((row, lengths[row], feature))
    row, feature = row[order], feature[order]
    width = np.int64(lengths.max(initial=0)) + 2
    key = feature.astype(np.int64) * width + lengths[row]
    longest = np.floor(lengths[row] / least + 1e-9).astype(np.int64)
    end = np.searchsorted(
        key, feature.astype(np.int64) * width + np.minimum(longest, width - 1), side="right"
    )
    count = np.maximum(end - np.arange(len(row)) - 1, 0)
    # Parts of at most CHUNK pairs, of whole rows.
    parts = np.searchsorted(np.cumsum(count), np.arange(CHUNK, count.sum() + CHUNK, CHUNK), side="left") + 1
    begin = 0
    for stop in track(np.unique(np.minimum(parts, len(row))), "comparing captions"):
        part = count[begin:stop]
        left = np.repeat(np.arange(begin, stop), part)
        right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(part) - part, part)
        first, second = np.minimum(row[left], row[right]), np.maximum(row[left], row[right])
        keep = np.ones(len(first), bool) if split is None else (first < split) & (second >= split)
        if keep.any():
            yield first[keep], second[keep]
        begin = stop
