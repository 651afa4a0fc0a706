"""Subsets of the systems behind a pool, and the labels that each of them would have produced."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from karat.benchmarks import Pairs
from karat.errors import InputError
from karat.judging.pools import Pool, key_of, split_key
from karat.stats import check_count, check_seed

MOST = 10
"""Up to so many systems all subsets are taken: 1,023 of ten."""


@dataclass(frozen=True, eq=False)
class Subsets:
    """Subsets of systems, small ones first.

    Parameters
    ----------
    inside
        Which systems are in each subset, as booleans [subsets, systems]. The last one is all systems.
    complete
        Whether these are all subsets, or a random sample of each size.
    """

    inside: np.ndarray
    complete: bool

    def __len__(self) -> int:
        return len(self.inside)

    @property
    def size(self) -> np.ndarray:
        """How many systems each has."""
        return self.inside.sum(axis=1)


def choose_subsets(systems: int, *, empty: bool = False, per_size: int = 50, seed: int = 0) -> Subsets:
    """Return all subsets of up to ten systems, and a sample of those of more.

    With more than ten systems, sizes with more than `per_size` subsets are sampled: different ones,
    uniformly. Single systems, all systems but one, and all systems are always there in full.

    Parameters
    ----------
    systems
        How many there are.
    empty
        Whether to begin with the subset of none, which leaves the original labels.
    per_size, seed
        How many subsets of each size a sample has, and its seed.

    Examples
    --------
    >>> choose_subsets(3).inside.astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]]
    >>> len(choose_subsets(5)), len(choose_subsets(12)), choose_subsets(12).complete
    (31, 475, False)
    """
    check_count("per_size", per_size, usual=50)
    check_seed(seed)
    if systems < 1:
        raise InputError("there are no systems", fix="give a pool of at least one")
    rng = np.random.default_rng(seed)
    rows: list[tuple[int, ...]] = [()] if empty else []
    complete = True
    for size in range(1, systems + 1):
        few = comb(systems, size) <= max(per_size, systems)
        if systems <= MOST or few:
            rows += combinations(range(systems), size)
            continue
        complete = False
        drawn: set[tuple[int, ...]] = set()
        while len(drawn) < per_size:
            drawn.add(tuple(np.sort(rng.permutation(systems)[:size]).tolist()))
        rows += sorted(drawn)
    inside = np.zeros((len(rows), systems), bool)
    for number, row in enumerate(rows):
        inside[number, list(row)] = True
    return Subsets(inside, complete)


@dataclass(frozen=True, eq=False)
class SuggestedLabels:
    """Judged pairs with the systems that suggested them, and the pairs that were known beforehand.

    Parameters
    ----------
    image, caption
        The pairs, each once, sorted by image, then caption.
    original
        The grade that was known before anything was pooled; 0 where none was.
    found
        The grade that people gave; 0 where they were not asked.
    by
        Which systems suggested each pair, as booleans [pairs, systems]. Nobody suggested what was not asked.
    systems
        Their names.
    """

    image: np.ndarray
    caption: np.ndarray
    original: np.ndarray
    found: np.ndarray
    by: np.ndarray
    systems: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.image)

    def under(self, inside: np.ndarray) -> np.ndarray:
        """Return the grades of all pairs under each subset, [subsets, pairs]; 0 where it has no label."""
        # A float product is much quicker than one of booleans.
        suggested = inside.astype(np.float32) @ self.by.T.astype(np.float32) > 0
        return np.maximum(self.original, np.where(suggested, self.found, 0.0))

    def unique(self, system: int) -> tuple[int, int]:
        """Return how many judged pairs only this system suggested, and how many of them are new positives."""
        alone = self.by[:, system] & (self.by.sum(axis=1) == 1)
        return int(alone.sum()), int((alone & (self.found > 0) & (self.original == 0)).sum())


def suggested_labels(pool: Pool, judged: Pairs, original: Pairs | None = None) -> SuggestedLabels:
    """Join what was pooled with what people said of it.

    A system's labels are the judged pairs that it ranked within the pool's depth, in either direction: pairs
    have no direction. Judged pairs that no system suggested (hidden gold, pairs that fill up a grid) belong
    to no subset.

    Parameters
    ----------
    pool
        Who suggested what.
    judged
        The judged pairs with one grade each, 0 for not relevant.
    original
        What was known beforehand, such as the images that captions were written for. It belongs to every
        subset, and where people graded such a pair too the higher grade counts: it can then not be the
        cause of a difference. None: only what was judged counts.

    Examples
    --------
    >>> places = [np.array(column) for column in ([0, 1, 1], [0, 0, 1], [1, 1, 1], [1, 2, 1])]
    >>> pool = Pool(np.array([0, 1]), np.array([0, 0]), np.zeros(2), ("a", "b"), *places, np.zeros(3))
    >>> labels = suggested_labels(pool, Pairs(np.array([0, 1]), np.array([0, 0]), np.array([1.0, 0.5])))
    >>> labels.under(np.array([[True, False], [False, True]])).tolist()
    [[1.0, 0.5], [0.0, 0.5]]
    """
    known = Pairs(*(np.zeros(0),) * 3) if original is None else original
    pooled, asked, before = (key_of(part.image, part.caption) for part in (pool, judged, known))
    for keys, what in ((asked, "judged"), (before, "original")):
        if len(np.unique(keys)) < len(keys):
            raise InputError(f"a pair stands twice among the {what} ones", fix="give one grade for each pair")
    suggested = np.zeros((len(pool), len(pool.systems)), bool)
    suggested[pool.place_pair, pool.place_system] = True
    labelled = np.isin(pooled, asked) & suggested.any(axis=1)
    positive = known.grade > 0
    keys = np.union1d(pooled[labelled], before[positive])
    by = np.zeros((len(keys), len(pool.systems)), bool)
    by[np.searchsorted(keys, pooled[labelled])] = suggested[labelled]
    was, found = np.zeros(len(keys)), np.zeros(len(keys))
    was[np.searchsorted(keys, before[positive])] = known.grade[positive]
    kept = np.isin(asked, pooled[labelled])
    found[np.searchsorted(keys, asked[kept])] = judged.grade[kept]
    return SuggestedLabels(*split_key(keys), was, found, by, pool.systems)
