"""Two tables of ratings side by side: which pairs both know, and where each scale is cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from karat.scores.cutting import usual_thresholds
from karat.scores.ratings import Ratings
from karat.validation import InputError, plural


def name_of(ratings: Ratings) -> str:
    """Return a short name of a table: that of its file."""
    return Path(ratings.where).stem


def names_of(one: Ratings, two: Ratings) -> tuple[str, str]:
    """Return names that tell two tables apart: of a/r.csv and b/r.csv the folders do.

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
        if way(one) != way(two):
            return way(one), way(two)
    return f"{name_of(one)} (1)", f"{name_of(two)} (2)"


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


def join(one: Ratings, two: Ratings, missing: str, names: tuple[str, str]) -> Join:
    """Join two tables on (image, caption).

    A pair that stands in a table without a rating is unjudged there and always left out. A pair that the
    second table does not list at all is what `missing` is about: "left_out", or a "no" of the second side.
    """
    place = {pair: number for number, pair in enumerate(two.pairs())}
    at = np.array([place.get(pair, -1) for pair in one.pairs()])
    listed, rated = at >= 0, ~np.isnan(one.rating)
    rating = np.where(listed, two.rating[at], np.nan)
    blank = listed & np.isnan(rating)
    if not listed.any():
        example = f"{one.pairs()[0]} and {two.pairs()[0]}"
        raise InputError(
            f"{names[0]} and {names[1]} have no pair in common",
            fix=f"name images and captions alike in both, not {example}",
        )
    if not (listed & rated & ~blank).any():
        what = f"{names[0]} and {names[1]} have no pair in common that has a rating in both"
        raise InputError(what, fix="fill in ratings of the same pairs")
    fate = "{count} as no there" if missing == "no" else "{are} left out"
    found = (
        (rated & ~listed, "of {first} {are} not in {second} and " + fate),
        (~rated, "{have} no rating in {first} and {are} left out"),
        (blank, "{have} no rating in {second} and {are} left out"),
        (~np.isin(np.arange(len(two)), at), "of {second} {are} not in {first} and {are} left out"),
    )
    notes = tuple(pair_note(int(which.sum()), text, names) for which, text in found if which.any())
    if missing == "no":
        rating[~listed] = -np.inf
    used = rated & ~np.isnan(rating)
    return Join(used, rating[used], notes)


def pair_note(number: int, text: str, names: tuple[str, str]) -> str:
    """Return a note on so many pairs, in the singular or plural.

    >>> pair_note(1, "{have} no rating in {first} and {are} left out", ("expert", "crowd"))
    '1 pair has no rating in expert and is left out'
    """
    are, have, count = ("is", "has", "counts") if number == 1 else ("are", "have", "count")
    words = text.format(are=are, have=have, count=count, first=names[0], second=names[1])
    return f"{plural(number, 'pair')} {words}"


def cuts(where: str | Path, values: np.ndarray, given: Sequence[float] | None) -> Sequence[float]:
    """Return a side's thresholds, checked against the ratings or scores that take part."""
    if given is None:
        try:
            return usual_thresholds(values).tolist()
        except InputError as error:
            raise InputError(error.what, where=where, fix=error.fix) from None
    rising = sorted(set(given))
    for cut in rising:
        if not values.min() < cut <= values.max() + 1e-6:
            fix = f"its values lie between {values.min():g} and {values.max():g}"
            raise InputError(f"the threshold {cut:g} parts nothing", where=where, fix=fix)
    return rising
