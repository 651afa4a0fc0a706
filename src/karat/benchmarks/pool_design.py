"""How the judged pairs of a pool were sampled: by strata, or with known probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from karat._util import check_choice
from karat.benchmarks.sides import Direction, letters_of
from karat.errors import InputError

DesignKind = Literal["stratum", "inclusion"]
KINDS: tuple[DesignKind, ...] = ("stratum", "inclusion")


@dataclass(frozen=True, eq=False)
class PoolDesign:
    """How pairs of a pool were chosen for judging, for the queries of one direction.

    A sample is drawn for each query from the items of its pool. So a design belongs to one direction: the
    pairs have none, but that an image's captions were sampled says nothing of the pool of a caption.

    Parameters
    ----------
    direction
        Which queries the pools belong to.
    by
        "stratum": the pool of a query has strata, and the judged pairs of each are a random sample of it.
        "inclusion": every pair was chosen with a probability of its own.
    image, caption
        The pairs of the pool, judged or not, as indices into the benchmark's ids; each once.
    value
        Per pair, the number of its stratum, or the probability with which it was chosen.

    Examples
    --------
    >>> design = PoolDesign("i2t", "inclusion", [0, 0], [4, 2], [0.5, 1.0])
    >>> design.caption.tolist(), design.lookup(np.array([0, 0]), np.array([4, 9])).tolist()
    ([2, 4], [0.5, nan])
    """

    direction: Direction
    by: DesignKind
    image: np.ndarray | Sequence[int]
    caption: np.ndarray | Sequence[int]
    value: np.ndarray | Sequence[float]

    def __post_init__(self) -> None:
        check_choice(self.by, KINDS, "by")
        letters_of(self.direction)
        image, caption = (np.asarray(column, dtype=np.int64) for column in (self.image, self.caption))
        value = np.asarray(self.value, dtype=np.float64)
        if not len(image) == len(caption) == len(value):
            raise InputError(
                f"the design has {len(image):,} images, {len(caption):,} captions and {len(value):,} values",
                fix="give one of each per pair",
            )
        if self.by == "inclusion":
            wrong, fix = ~((value > 0) & (value <= 1)), "give probabilities above 0 and up to 1"
        else:
            wrong, fix = ~(value == np.round(value)), "give whole numbers"
        for bad in value[wrong]:
            raise InputError(f"a {self.by} of the design is {bad:g}", fix=fix)
        order = np.lexsort((caption, image))
        for name, column in (("image", image), ("caption", caption), ("value", value)):
            column = column[order]
            column.setflags(write=False)
            object.__setattr__(self, name, column)
        for row in np.flatnonzero(np.diff(self.key) == 0).tolist():
            raise InputError(f"the design has {pair_named(self, row)} twice", fix="give it once")

    @property
    def key(self) -> np.ndarray:
        """One number per pair, in order."""
        return pair_key(self.image, self.caption)

    def lookup(self, image: np.ndarray, caption: np.ndarray) -> np.ndarray:
        """Return the value of each pair; NaN where it is not in the design."""
        if not len(self.key):
            return np.full(len(image), np.nan)
        key = pair_key(image, caption)
        at = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where(self.key[at] == key, np.asarray(self.value)[at], np.nan)

    def merge(self, other: PoolDesign) -> PoolDesign:
        """Return the design of both pools; where they overlap they must say the same."""
        if (self.direction, self.by) != (other.direction, other.by):
            raise InputError(
                f"one pool was sampled by {self.by} for {self.direction}, the other by {other.by} for "
                f"{other.direction}",
                fix="keep them as two truths",
            )
        known = self.lookup(np.asarray(other.image), np.asarray(other.caption))
        new = np.isnan(known)
        for row in np.flatnonzero(~new & (known != other.value)).tolist():
            what = f"{pair_named(other, row)} has the {self.by} {known[row]:g} in one pool"
            raise InputError(f"{what} and {other.value[row]:g} in the other", fix="keep them as two truths")
        columns = ((self.image, other.image), (self.caption, other.caption), (self.value, other.value))
        joined = (np.r_[mine, np.asarray(theirs)[new]] for mine, theirs in columns)
        return PoolDesign(self.direction, self.by, *joined)


def pair_key(image: np.ndarray | Sequence[int], caption: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return one number per pair, which sorts by image, then caption."""
    return np.asarray(image, dtype=np.int64) << 32 | np.asarray(caption, dtype=np.int64)


def pairs_of(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the images and captions of pairs from their numbers.

    >>> [side.tolist() for side in pairs_of(pair_key([3, 5], [0, 4]))]
    [[3, 5], [0, 4]]
    """
    return key >> 32, key & 0xFFFFFFFF


def pair_named(table: Any, row: int) -> str:
    """Return what messages call the pair in a row of judgments or of a design."""
    return f"the pair (image {table.image[row]}, caption {table.caption[row]})"
