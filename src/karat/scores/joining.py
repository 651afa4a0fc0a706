"""Two tables of ratings side by side: which pairs both know, and where each scale is cut."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from karat.scores.ratings import Ratings
from karat.scores.thresholds import usual_thresholds
from karat.validation import InputError


def name_of(ratings: Ratings) -> str:
    """Return a short name of a table: that of its file."""
    return Path(ratings.where).stem


def join(one: Ratings, two: Ratings, missing: str) -> tuple[np.ndarray, np.ndarray]:
    """Return which items of the first table take part, and the second side's rating of each."""
    place = {pair: number for number, pair in enumerate(two.pairs())}
    at = np.array([place.get(pair, -1) for pair in one.pairs()])
    rating = np.where(at >= 0, two.rating[at], np.nan)
    known = ~np.isnan(one.rating)
    if not (known & ~np.isnan(rating)).any():
        example = f"{one.pairs()[0]} and {two.pairs()[0]}"
        raise InputError(
            f"{name_of(one)} and {name_of(two)} have no pair in common",
            fix=f"name images and captions alike in both, not {example}",
        )
    if missing == "no":
        return known, np.where(np.isnan(rating), -np.inf, rating)[known]
    both = known & ~np.isnan(rating)
    return both, rating[both]


def cuts(ratings: Ratings, values: np.ndarray, given: Sequence[float] | None) -> Sequence[float]:
    """Return a side's thresholds, checked against the ratings that take part."""
    if given is None:
        try:
            return usual_thresholds(values).tolist()
        except InputError as error:
            raise InputError(error.what, where=ratings.where, fix=error.fix) from None
    rising = sorted(set(given))
    for cut in rising:
        if not values.min() < cut <= values.max() + 1e-6:
            fix = f"its ratings lie between {values.min():g} and {values.max():g}"
            raise InputError(f"the threshold {cut:g} parts nothing", where=ratings.where, fix=fix)
    return rising


def joining(one: Ratings, two: Ratings, rated: np.ndarray, rating: np.ndarray, missing: str) -> list[str]:
    """Return what happened to pairs that one table lacks."""
    common = int(np.isfinite(rating).sum())
    out = []
    if len(one) > common:
        fate = "count as no there" if missing == "no" else "are left out"
        out.append(f"{len(one) - common:,} pairs of {name_of(one)} are not in {name_of(two)} and {fate}")
    if len(two) > common:
        out.append(
            f"{len(two) - common:,} pairs of {name_of(two)} are not in {name_of(one)} and are left out"
        )
    return out
