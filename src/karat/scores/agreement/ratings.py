"""Ratings of images with captions by several people, and two tables of them joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from karat._util import plural
from karat.errors import InputError
from karat.stats import divide


@dataclass(frozen=True, eq=False)
class Ratings:
    """Who rated which pair how.

    Parameters
    ----------
    image, caption
        The ids of each item, as text; no item is listed twice.
    raters
        The names of the columns of `values`.
    values
        Items by raters, NaN where there is no rating.
    where
        The file, or what else names it.
    persons
        Whether a column holds one rater's answers throughout. Where it does not (counts of yes and no,
        Flickr8k's sorted ratings), alpha is still valid but no two columns can be compared.
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
        """The mean rating of each item; NaN where it is unrated."""
        known = ~np.isnan(self.values)
        mean = divide(np.where(known, self.values, 0).sum(axis=1), known.sum(axis=1))
        # Equal means of different sums must stay equal: they are compared with thresholds.
        return np.round(mean, 12)

    def take(self, rows: np.ndarray) -> Ratings:
        """Return the ratings of some of the items."""
        ids = (np.asarray(side)[rows] for side in (self.image, self.caption))
        return replace(self, **dict(zip(("image", "caption"), ids)), values=self.values[rows])

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


def name_of(ratings: Ratings) -> str:
    """Return a short name of a table: that of its file."""
    return Path(ratings.where).stem


def names_of(first: Ratings, second: Ratings) -> tuple[str, str]:
    """Return names that distinguish two tables: with their folders for a/r.csv and b/r.csv.

    >>> tables = [Ratings([], [], (), np.empty((0, 0)), where) for where in ("a/r.csv", "b/r.csv", "b/s.csv")]
    >>> names_of(*tables[:2]), names_of(*tables[1:]), names_of(tables[0], tables[0])
    (('a/r', 'b/r'), ('r', 's'), ('r (1)', 'r (2)'))
    """
    ways: tuple[Callable[[Ratings], str], ...] = (
        name_of,
        lambda ratings: str(Path(ratings.where).with_suffix("")),
        lambda ratings: str(ratings.where),
    )
    for way in ways:
        if way(first) != way(second):
            return way(first), way(second)
    return f"{name_of(first)} (1)", f"{name_of(second)} (2)"


@dataclass(frozen=True, eq=False)
class Join:
    """What two tables have in common.

    Parameters
    ----------
    used
        Which items of the first table take part.
    rating
        The second side's rating of each of them; −∞ is a "no" on any scale.
    notes
        What happened to the others.
    """

    used: np.ndarray
    rating: np.ndarray
    notes: tuple[str, ...]


def join(first: Ratings, second: Ratings, missing: str, names: tuple[str, str]) -> Join:
    """Join two tables on (image, caption).

    A pair that a table lists without a rating is unjudged there and always left out. A pair that the
    second table does not list at all is what `missing` is about: "left_out", or a "no" of the second side.
    """
    place = {pair: number for number, pair in enumerate(second.pairs())}
    at = np.array([place.get(pair, -1) for pair in first.pairs()])
    listed, rated = at >= 0, ~np.isnan(first.rating)
    rating = np.where(listed, second.rating[at], np.nan)
    blank = listed & np.isnan(rating)
    if not listed.any():
        example = f"{first.pairs()[0]} and {second.pairs()[0]}"
        raise InputError(
            f"{names[0]} and {names[1]} have no pair in common",
            fix=f"use the same ids in both, not {example}",
        )
    if not (listed & rated & ~blank).any():
        what = f"{names[0]} and {names[1]} have no pair in common that has a rating in both"
        raise InputError(what, fix="fill in ratings of the same pairs")
    fate = "{count} as no there" if missing == "no" else "{are} left out"
    groups = (
        (rated & ~listed, "of {first} {are} not in {second} and " + fate),
        (~rated, "{have} no rating in {first} and {are} left out"),
        (blank, "{have} no rating in {second} and {are} left out"),
        (~np.isin(np.arange(len(second)), at), "of {second} {are} not in {first} and {are} left out"),
    )
    notes = tuple(pair_note(int(which.sum()), text, names) for which, text in groups if which.any())
    if missing == "no":
        rating[~listed] = -np.inf
    used = rated & ~np.isnan(rating)
    return Join(used, rating[used], notes)


def pair_note(number: int, text: str, names: tuple[str, str]) -> str:
    """Return a note on a number of pairs, in the singular or plural.

    >>> pair_note(1, "{have} no rating in {first} and {are} left out", ("expert", "crowd"))
    '1 pair has no rating in expert and is left out'
    """
    are, have, count = ("is", "has", "counts") if number == 1 else ("are", "have", "count")
    words = text.format(are=are, have=have, count=count, first=names[0], second=names[1])
    return f"{plural(number, 'pair')} {words}"
