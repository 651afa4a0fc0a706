"""Agreement of people: the raters of one table, or two tables over the thresholds of their scales.

Krippendorff's alpha, Cohen's kappa of every two raters, and kappa over thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import Layout, Part, Result, check_choice, signed
from karat.errors import InputError
from karat.scores.agreement.ratings import Ratings, in_order, join, name_of, names_of
from karat.scores.agreement.ratings_file import read_ratings
from karat.stats import (
    MOST_CATEGORIES,
    Estimate,
    Intervals,
    ThresholdTable,
    alpha_lines,
    alpha_records,
    cohen_kappa,
    cut_texts,
    estimate_record,
    how_intervals,
    kappa_over_thresholds,
    krippendorff_alpha,
    scales_of,
    thresholds_of,
    with_interval,
)

MISSING_PAIRS = ("left_out", "no")
RESAMPLED = ("item", "image", "caption")
WEIGHTS = (None, "linear", "quadratic")
MOST_PAIRS = 200
NO_ACCIDENT = 20
"""From this many rows on, ratings that always rise from column to column get a note."""
MOST_SHOWN = 15
"""Pairs of raters; of more, the text shows the least and the most agreeing."""


@dataclass(frozen=True)
class PairKappa:
    """Cohen's kappa of two raters: plain, and with linear and quadratic weights."""

    first: str
    second: str
    nominal: Estimate
    linear: Estimate
    quadratic: Estimate


@dataclass(frozen=True, eq=False)
class RaterAgreement:
    """Agreement of the raters of one table.

    Parameters
    ----------
    name, about
        Of the table.
    alpha
        Krippendorff's alpha by scale; empty where there is one rater.
    kappas
        Of every two raters, where requested.
    notes
        What a reader should know.
    """

    name: str
    about: str
    alpha: dict[str, Estimate]
    kappas: tuple[PairKappa, ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the table's line and its alphas."""
        return [f"{self.name}: {self.about}", *(f"  {line}" for line in alpha_lines(self.alpha))]

    def lay_out(self) -> Layout:
        """Return kappa of every two raters or, where there are too many, of the least and most agreeing."""
        shown = list(self.kappas)
        if len(shown) > MOST_SHOWN:
            shown = [pair for pair in shown if not np.isnan(pair.nominal.value)]
            shown.sort(key=lambda pair: pair.nominal.value)
            shown = [*shown[: MOST_SHOWN // 2], *shown[-(MOST_SHOWN // 2) :]]
        rows = [
            [f"{pair.first} and {pair.second}", f"{pair.nominal.n:,}",
             *(with_interval(kappa) for kappa in (pair.nominal, pair.linear, pair.quadratic))]
            for pair in shown
        ]  # fmt: skip
        return Layout(["raters", "items", "kappa", "linear", "quadratic"], rows, set(), 1, set())

    def records(self) -> list[dict[str, Any]]:
        """Return a record per number."""
        out = alpha_records(self.alpha, table=self.name)
        for pair in self.kappas:
            for weights in ("nominal", "linear", "quadratic"):
                out.append(
                    {"statistic": "kappa", "table": self.name, "first": pair.first, "second": pair.second,
                     "weights": weights, **estimate_record(getattr(pair, weights))}
                )  # fmt: skip
        return out


@dataclass(frozen=True, eq=False)
class Agreement(Result):
    """Agreement within and between tables of ratings.

    Parameters
    ----------
    raters
        Those of each table.
    thresholds
        Two tables over the thresholds of their scales.
    notes
        What a reader should know.
    how
        How the intervals were made, as a sentence.
    show_intervals
        Whether the table of thresholds shows intervals; by default where they fit.
    """

    raters: tuple[RaterAgreement, ...]
    thresholds: ThresholdTable | None = None
    notes: tuple[str, ...] = ()
    how: str = ""
    show_intervals: bool | None = None

    def records(self) -> list[dict[str, Any]]:
        """Return a record per number: alphas, kappas of raters, kappas of thresholds."""
        records = [record for table in self.raters for record in table.records()]
        return records + ([] if self.thresholds is None else self.thresholds.records())

    def parts(self) -> list[Part]:
        """Return each table's raters, kappa over the thresholds, and how the intervals were made."""
        out: list[Part] = []
        for table in self.raters:
            out.append("\n".join(table.lines()))
            if table.kappas:
                out.append(table.lay_out())
        if self.thresholds is not None:
            crossed = self.thresholds
            items = crossed.kappa[0, 0].n
            title = f"kappa over {items:,} items: {crossed.first} down, {crossed.second} across"
            out.append(replace(crossed.lay_out(self.show_intervals), title=title))
            if crossed.best is not None:
                out.append(self.best_in_words())
        return [*out, self.how] if self.how else out

    def best_in_words(self) -> str:
        """Return the two thresholds that agree best, as a sentence."""
        table = self.thresholds
        if table is None or table.best is None:
            return ""
        kappa = table.kappa[table.best]
        first, second = (
            cut_texts(table.first_from)[table.best[0]],
            cut_texts(table.second_from)[table.best[1]],
        )
        where = f"{table.first} from {first}, {table.second} from {second}"
        return f"* best: kappa {with_interval(kappa)}\n  {where}{chosen_here(table)}"

    def __repr__(self) -> str:
        return f"Agreement(of {' and '.join(table.name for table in self.raters)})"


def chosen_here(table: ThresholdTable) -> str:
    """Say what to expect of the best thresholds elsewhere; nothing where there was one choice only."""
    if table.kappa.size < 2 or table.elsewhere is None:
        return ""
    return f"\n  chosen and measured on the same items: elsewhere expect {signed(table.elsewhere)}"


def agree(
    first: Ratings | str | Path,
    second: Ratings | str | Path | None = None,
    *,
    rater: Sequence[str] | None = None,
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
    rater
        With one file: only these raters, or columns.
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
    ≥                   1
    ───  ─────────────────
    1.5  0.57 (0.00–1.00)
    2    1.00 (0.22–1.00)*
    3.5  0.67 (0.00–1.00)
    4    0.18 (0.00–0.67)
    <BLANKLINE>
    * best: kappa 1.00 (0.22–1.00)
      experts from 2, crowd from 1
      chosen and measured on the same items: elsewhere expect 0.93
    <BLANKLINE>
    In brackets: 95% percentile intervals, 10,000 resamples of items.
    """
    missing = check_choice(missing, MISSING_PAIRS, "missing")
    resample = check_choice(resample, RESAMPLED, "resample")
    options = intervals or Intervals()
    if rater is not None and second is not None:
        raise InputError("rater with two tables", fix="give one table, or leave it out")
    ratings = first if isinstance(first, Ratings) else read_ratings(first, rater)
    if second is None:
        if ratings.values.shape[1] < 2:
            raise InputError(
                "has one rater only", where=ratings.where, fix="agreement needs two, or a second table"
            )
        table = rater_agreement(ratings, name_of(ratings), resample, options, pairs=True)
        return Agreement(
            (table,), None, (*ratings.notes, *table.notes), how_intervals(options, f"{resample}s")
        )
    against = second if isinstance(second, Ratings) else read_ratings(second)
    names = names_of(ratings, against)
    tables = [rater_agreement(side, name, resample, options, pairs=False)
              for side, name in zip((ratings, against), names)]  # fmt: skip
    joined = join(ratings, against, missing, names)
    sides = (ratings.rating[joined.used], joined.rating)
    chosen = [
        thresholds_of(side.where, rating[np.isfinite(rating)], named)
        for side, rating, named in zip((ratings, against), sides, (first_from, second_from))
    ]
    thresholds = kappa_over_thresholds(
        *sides,
        *chosen,
        names=names,
        clusters=None if resample == "item" else getattr(ratings, resample)[joined.used],
        intervals=options,
    )
    notes = [*ratings.notes, *against.notes, *joined.notes]
    for name, rating, cut, named, option in zip(
        names, sides, chosen, (first_from, second_from), ("--first-from", "--second-from")
    ):
        every = len(np.unique(rating[np.isfinite(rating)])) - 1
        if named is None and len(cut) < every:
            notes.append(f"{len(cut)} of {every:,} thresholds of {name}; {option} names others")
    return Agreement(tuple(tables), thresholds, tuple(notes), how_intervals(options, f"{resample}s"))


def rater_agreement(
    ratings: Ratings, name: str, resample: str, intervals: Intervals, pairs: bool
) -> RaterAgreement:
    """Return alpha over all raters and, where requested, kappa of every two that rated common items."""
    clusters = None if resample == "item" else getattr(ratings, resample)
    options = asdict(intervals)
    alpha = {}
    if ratings.values.shape[1] > 1:
        for scale in scales_of(len(np.unique(ratings.values[~np.isnan(ratings.values)]))):
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
        return [], ["no column is one rater's (answers are counted, or sorted within each row): "
                    "alpha holds, kappa of two columns would mean nothing"]  # fmt: skip
    if len(used) > MOST_CATEGORIES:
        return [], [f"there are {len(used):,} different ratings: alpha holds, kappa of two raters needs "
                    f"at most {MOST_CATEGORIES:,}, so round them for it"]  # fmt: skip
    notes = []
    if in_order(ratings.values, NO_ACCIDENT):
        notes.append(
            f"in every complete row the ratings rise from {ratings.raters[0]} to {ratings.raters[-1]}: "
            "if they were sorted, and no column is one rater's, kappa of two columns means nothing"
        )
    common = there.T.astype(np.int64) @ there
    known = [pair for pair in combinations(range(len(ratings.raters)), 2) if common[pair] > 0]
    known.sort(key=lambda pair: -common[pair])
    if len(known) > MOST_PAIRS:
        notes.append(f"kappa of the {MOST_PAIRS} pairs of raters with most items, of {len(known):,} pairs")
    kappas = []
    for a, b in sorted(known[:MOST_PAIRS]):
        columns = ratings.values[:, a], ratings.values[:, b]
        estimates = [
            cohen_kappa(*columns, weights=weights, categories=used, clusters=clusters, **asdict(intervals))
            for weights in WEIGHTS
        ]
        kappas.append(PairKappa(ratings.raters[a], ratings.raters[b], *estimates))
    return kappas, notes
