"""How far people agree: the raters of one table, or two tables over the thresholds of their scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path

import numpy as np

from karat.scores.agreement_table import Agreement, PairKappa, RaterAgreement
from karat.scores.joining import cuts, join, name_of, names_of
from karat.scores.phrasing import how_intervals
from karat.scores.ratings import Ratings, in_order
from karat.scores.ratings_file import read_ratings
from karat.scores.thresholds import kappa_over_thresholds
from karat.stats.alpha import SCALES, krippendorff_alpha
from karat.stats.intervals import Intervals
from karat.stats.kappa import MOST_CATEGORIES, cohen_kappa
from karat.validation import InputError, check_choice

MISSING = ("left_out", "no")
DRAWN = ("item", "image", "caption")
WEIGHTS = (None, "linear", "quadratic")
MOST_PAIRS = 200
NO_ACCIDENT = 20
"""From so many rows on, ratings that always rise from column to column deserve a word."""


def agree(
    first: Ratings | str | Path,
    second: Ratings | str | Path | None = None,
    *,
    missing: str = "left_out",
    first_from: Sequence[float] | None = None,
    second_from: Sequence[float] | None = None,
    resample: str = "item",
    intervals: Intervals | None = None,
) -> Agreement:
    """Return how far raters agree, with bootstrap intervals.

    One table: Krippendorff's alpha over its raters and Cohen's kappa of every two. Two tables: alpha of
    each that has several raters, and, with both sides' mean ratings binarised at every threshold of
    their scales, kappa of every two thresholds (Hodosh et al. 2013, table 10).

    Parameters
    ----------
    first, second
        `Ratings`, or files of them.
    missing
        What a pair that the first table rates and the second does not list counts as: "left_out", or
        "no" on the second side. A pair that is listed without a rating is unjudged and always left
        out, and so are pairs that only the second has.
    first_from, second_from
        The thresholds of each side; by default every value above the lowest.
    resample
        What is drawn for the intervals: each "item" by itself, or all of an "image" or "caption".
    intervals
        How intervals are made; by default 95%, percentile, 10,000 resamples.

    Examples
    --------
    >>> table = np.array([[1.0, 1], [1, 2], [2, 2], [3, 4], [4, 4], [4, 3]])
    >>> expert = Ratings(list("abcdef"), list("111111"), ("x", "y"), table, "experts")
    >>> crowd = Ratings(list("abcdef"), list("111111"), ("share",), table[:, :1] > 1, "crowd")
    >>> print(agree(expert, crowd))
    experts: 6 items, 2 raters, 12 ratings from 1 to 4
      alpha, nominal   0.38 (−0.22 to 0.78)
      alpha, ordinal   0.81 (0.06–0.99)
      alpha, interval  0.84 (0.27–0.96)
    <BLANKLINE>
    crowd: 6 items, 6 ratings from 0 to 1
    <BLANKLINE>
    kappa over 6 items: experts down, crowd across
    ≥                    1
    ───  ─────────────────
    1.5  0.57 (0.00–1.00)
    2    1.00 (1.00–1.00)*
    3.5  0.67 (0.00–1.00)
    4    0.18 (0.00–0.67)
    <BLANKLINE>
    * best: kappa 1.00 (1.00–1.00)
      experts from 2, crowd from 1
    <BLANKLINE>
    In brackets: 95% percentile intervals, 10,000 resamples of items.
    """
    missing = check_choice(missing, MISSING, "missing")
    resample = check_choice(resample, DRAWN, "resample")
    made = intervals or Intervals()
    one = first if isinstance(first, Ratings) else read_ratings(first)
    if second is None:
        if one.values.shape[1] < 2:
            raise InputError(
                "has one rater only", where=one.where, fix="agreement needs two, or a second table"
            )
        table = rater_agreement(one, name_of(one), resample, made, pairs=True)
        return Agreement((table,), None, (*one.notes, *table.notes), how_intervals(made, f"{resample}s"))
    two = second if isinstance(second, Ratings) else read_ratings(second)
    names = names_of(one, two)
    tables = [rater_agreement(side, name, resample, made, pairs=False)
              for side, name in zip((one, two), names)]  # fmt: skip
    joined = join(one, two, missing, names)
    sides = (one.rating[joined.used], joined.rating)
    chosen = [
        cuts(side.where, rating[np.isfinite(rating)], given)
        for side, rating, given in zip((one, two), sides, (first_from, second_from))
    ]
    thresholds = kappa_over_thresholds(
        *sides,
        *chosen,
        names=names,
        clusters=None if resample == "item" else getattr(one, resample)[joined.used],
        intervals=made,
    )
    notes = [*one.notes, *two.notes, *joined.notes]
    for name, rating, cut, given, option in zip(
        names, sides, chosen, (first_from, second_from), ("--first-from", "--second-from")
    ):
        every = len(np.unique(rating[np.isfinite(rating)])) - 1
        if given is None and len(cut) < every:
            notes.append(f"{len(cut)} of {every:,} thresholds of {name}; {option} names others")
    return Agreement(tuple(tables), thresholds, tuple(notes), how_intervals(made, f"{resample}s"))


def rater_agreement(
    ratings: Ratings, name: str, resample: str, intervals: Intervals, pairs: bool
) -> RaterAgreement:
    """Return alpha over all raters and, where asked for, kappa of every two that rated common items."""
    clusters = None if resample == "item" else getattr(ratings, resample)
    options = asdict(intervals)
    alpha = {}
    if ratings.values.shape[1] > 1:
        # Two values have no order and no distances to speak of: the three scales give the same number.
        two_values = len(np.unique(ratings.values[~np.isnan(ratings.values)])) < 3
        for scale in SCALES[:1] if two_values else SCALES:
            alpha[scale] = krippendorff_alpha(ratings.values, scale, clusters=clusters, **options)
    kappas, notes = pair_kappas(ratings, clusters, intervals) if pairs else ([], [])
    return RaterAgreement(name, ratings.about, alpha, tuple(kappas), tuple(notes))


def pair_kappas(
    ratings: Ratings, clusters: np.ndarray | None, intervals: Intervals
) -> tuple[list[PairKappa], list[str]]:
    """Return kappa of every two raters with common items, and notes on what is not shown and why."""
    there = ~np.isnan(ratings.values)
    used = np.unique(ratings.values[there])
    if not ratings.persons:
        return [], ["no column is one person's (answers are counted, or sorted within each row): "
                    "alpha holds, kappa of two columns would mean nothing"]  # fmt: skip
    if len(used) > MOST_CATEGORIES:
        return [], [f"there are {len(used):,} different ratings: alpha holds, kappa of two raters needs "
                    f"at most {MOST_CATEGORIES:,}, so round them for it"]  # fmt: skip
    notes = []
    if in_order(ratings.values, NO_ACCIDENT):
        notes.append(
            f"in every complete row the ratings rise from {ratings.raters[0]} to {ratings.raters[-1]}: "
            "if they were sorted, and no column is one person's, kappa of two columns means nothing"
        )
    common = there.T.astype(np.int64) @ there
    known = [pair for pair in combinations(range(len(ratings.raters)), 2) if common[pair] > 0]
    known.sort(key=lambda pair: -common[pair])
    if len(known) > MOST_PAIRS:
        notes.append(f"kappa of the {MOST_PAIRS} pairs of raters with most items, of {len(known):,} pairs")
    kappas = []
    for a, b in sorted(known[:MOST_PAIRS]):
        columns = ratings.values[:, a], ratings.values[:, b]
        found = [
            cohen_kappa(*columns, weights=weights, categories=used, clusters=clusters, **asdict(intervals))
            for weights in WEIGHTS
        ]
        kappas.append(PairKappa(ratings.raters[a], ratings.raters[b], *found))
    return kappas, notes
