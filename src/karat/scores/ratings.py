"""Ratings of images with captions by several people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from karat.stats.samples import divide
from karat.validation import plural


@dataclass(frozen=True, eq=False)
class Ratings:
    """Who rated which pair how.

    Parameters
    ----------
    image, caption
        The ids of each item, as text; no item stands twice.
    raters
        The names of the columns of `values`.
    values
        Items by raters, NaN where there is no rating.
    where
        The file, or what else names it.
    persons
        Whether a column holds one rater's answers throughout. Where it does not (counts of yes and no,
        Flickr8k's sorted ratings), alpha still stands but no two columns can be compared.
    notes
        What a reader should know.

    Examples
    --------
    >>> ratings = Ratings(["a", "b"], ["1", "1"], ("x", "y"), np.array([[1.0, 2], [3, np.nan]]))
    >>> ratings, ratings.rating.tolist()
    (Ratings(2 items, 2 raters, 3 ratings from 1 to 3), [1.5, 3.0])
    """

    image: Sequence[str] | np.ndarray
    caption: Sequence[str] | np.ndarray
    raters: tuple[str, ...]
    values: np.ndarray
    where: str | Path = "ratings"
    persons: bool = True
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        for name in ("image", "caption"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)).astype(str))
        object.__setattr__(self, "values", np.asarray(self.values, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        return f"Ratings({self.about})"

    @property
    def about(self) -> str:
        """One line on what the table holds."""
        known = self.values[~np.isnan(self.values)]
        span = f" from {known.min():g} to {known.max():g}" if len(known) else ""
        raters = f"{plural(len(self.raters), 'rater')}, " if self.persons and len(self.raters) > 1 else ""
        return f"{plural(len(self), 'item')}, {raters}{plural(len(known), 'rating')}{span}"

    @property
    def rating(self) -> np.ndarray:
        """The mean rating of each item; NaN where nobody rated it."""
        known = ~np.isnan(self.values)
        mean = divide(np.where(known, self.values, 0).sum(axis=1), known.sum(axis=1))
        # Equal means of different sums must stay equal: they are compared with thresholds.
        return np.round(mean, 12)

    def take(self, kept: np.ndarray) -> Ratings:
        """Return the ratings of some of the items."""
        ids = (np.asarray(side)[kept] for side in (self.image, self.caption))
        return replace(self, **dict(zip(("image", "caption"), ids)), values=self.values[kept])

    def pairs(self) -> list[tuple[str, str]]:
        """Return the image and caption of each item."""
        return list(zip(self.image.tolist(), self.caption.tolist()))  # type: ignore[union-attr]


def in_order(values: np.ndarray, fewest: int = 1) -> bool:
    """Whether the ratings of every item rise from column to column, and in some rows not all are equal.

    >>> in_order(np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 4.0]])), in_order(np.array([[1.0, 2.0], [2.0, 1.0]]))
    (True, False)
    """
    steps = np.diff(values[~np.isnan(values).any(axis=1)], axis=1)
    return bool((steps >= 0).all() and (steps > 0).any(axis=1).sum() >= fewest)
