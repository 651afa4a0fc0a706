"""Pairs of items that are the same or nearly so, and the groups that they form."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Side = Literal["images", "captions"]
MOST_PAIRS = 10_000_000
"""More near-duplicates than this are a threshold that is too low, or a model that has collapsed."""


@dataclass(frozen=True, eq=False)
class DuplicatePairs:
    """Duplicates of one kind: in one gallery, or of a gallery in another collection.

    Items that are exactly the same are linked to the first of them alone, so that n equal items have n − 1
    links. In one gallery `first` is less than `second`.

    Parameters
    ----------
    side
        "images" or "captions".
    kind
        In what they are the same: "same file", "near picture", …
    first, second
        Indices: of the gallery, and of the gallery or the other collection.
    similarity
        1 where exactly the same.
    exact
        Whether they are the same in every byte.
    relevant
        Whether what is relevant to one is relevant to the other: not of vectors, which are a model's own
        view, nor of pictures and captions that only come near.
    """

    side: Side
    kind: str
    first: np.ndarray
    second: np.ndarray
    similarity: np.ndarray
    relevant: bool = False
    exact: bool = False

    def __len__(self) -> int:
        return len(self.first)


def equal_items(
    keys: Iterable[Hashable], others: Iterable[Hashable] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the links between equal keys: with the first in the same list, or in another; None is skipped.

    >>> [links.tolist() for links in equal_items(["a", "b", "a", "a"])]
    [[0, 0], [2, 3]]
    >>> [links.tolist() for links in equal_items(["a", "b"], ["c", "b", "b"])]
    [[1], [1]]
    """
    seen: dict[Hashable, int] = {}
    links: list[tuple[int, int]] = []
    if others is not None:
        for index, key in enumerate(others):
            seen.setdefault(key, index)
    for index, key in enumerate(keys):
        if key is None:
            continue
        if others is not None:
            if key in seen:
                links.append((index, seen[key]))
        elif seen.setdefault(key, index) != index:
            links.append((seen[key], index))
    first, second = np.array(links, np.int64).reshape(-1, 2).T
    return first, second


def group_items(pairs: Sequence[DuplicatePairs], size: int) -> np.ndarray:
    """Return the group of each item: those that pairs connect, directly or over others, share a number.

    >>> links = DuplicatePairs("images", "same file", np.array([0, 2]), np.array([2, 3]), np.ones(2))
    >>> group_items([links], 5).tolist()
    [0, 1, 0, 0, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first = np.concatenate([np.zeros(0, int), *(part.first for part in pairs)])
    second = np.concatenate([np.zeros(0, int), *(part.second for part in pairs)])
    links = coo_array((np.ones(len(first)), (first, second)), shape=(size, size))
    return connected_components(links, directed=False)[1].astype(np.int64)
