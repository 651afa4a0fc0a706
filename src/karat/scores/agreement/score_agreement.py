"""Agreement of any score of pairs with people's ratings: correlations, and kappa over thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import MISSING, Layout, Part, Result, check_choice, plural, signed
from karat.errors import InputError, unknown_name
from karat.scores.agreement.rater_agreement import RESAMPLED
from karat.scores.agreement.ratings import Ratings, name_of
from karat.scores.agreement.ratings_file import read_ratings
from karat.stats import (
    Estimate,
    Intervals,
    ThresholdTable,
    as_numbers,
    cut_texts,
    estimate_record,
    how_intervals,
    item_correlations,
    kappa_over_thresholds,
    score_thresholds,
    thresholds_of,
    usual_thresholds,
    with_interval,
)

ALL, NOT_ORIGINAL = "all", "not original"
"""The groups of pairs: every rated one, and those whose caption was written for another image."""
TITLES = {ALL: "all {}", NOT_ORIGINAL: "{} that are not the benchmark's original ones"}
HEADS = {"pearson": "Pearson's r", "spearman": "Spearman's ρ", "tau": "Kendall's τ-b"}
CHOSEN = (
    "The best of several thresholds, chosen and measured on these very pairs;\n"
    "elsewhere: less what choosing adds, on average over resamples."
)
MANY = 10_000
"""From this many pairs on, the third digit is shown."""


@dataclass(frozen=True, eq=False)
class ScoreRow:
    """One score beside the ratings, over one group of pairs.

    Parameters
    ----------
    score
        Its name.
    pairs
        The group: "all" or "not original".
    pearson, spearman, tau
        The correlations with the ratings; NaN where one side does not vary.
    thresholds
        Kappa of every two thresholds, ratings first; None where a side does not vary.
    """

    score: str
    pairs: str
    pearson: Estimate
    spearman: Estimate
    tau: Estimate
    thresholds: ThresholdTable | None = None

    @property
    def best_kappa(self) -> Estimate | None:
        """The highest kappa over the thresholds; None where it is nowhere defined."""
        best = None if self.thresholds is None else self.thresholds.best
        return None if self.thresholds is None or best is None else self.thresholds.kappa[best]

    def records(self) -> list[dict[str, Any]]:
        """Return a record per number."""
        out = [
            {
                "statistic": name,
                "score": self.score,
                "pairs": self.pairs,
                **estimate_record(getattr(self, name)),
            }
            for name in HEADS
        ]
        cuts = [] if self.thresholds is None else self.thresholds.records()
        return out + [{**record, "score": self.score, "pairs": self.pairs} for record in cuts]


@dataclass(frozen=True, eq=False)
class ScoreAgreement(Result):
    """Agreement of scores with people's ratings.

    Parameters
    ----------
    ratings, about
        The name of the ratings, and one line on them.
    rows
        Every score over every group of pairs.
    notes
        What a reader should know.
    how
        How the intervals were made, as a sentence.
    show_intervals
        Whether the tables of thresholds show intervals; by default where they fit.
    """

    ratings: str
    about: str
    rows: tuple[ScoreRow, ...]
    notes: tuple[str, ...] = ()
    how: str = ""
    show_intervals: bool | None = None

    def row(self, score: str, pairs: str = ALL) -> ScoreRow:
        """Return what one score has over one group of pairs."""
        for row in self.rows:
            if (row.score, row.pairs) == (score, pairs):
                return row
        known = [f"{row.score}, {row.pairs}" for row in self.rows]
        raise unknown_name("score and pairs", f"{score}, {pairs}", known)

    def records(self) -> list[dict[str, Any]]:
        """Return a record per number: correlations, and kappas of thresholds."""
        return [record for row in self.rows for record in row.records()]

    def lay_out(self, pairs: str) -> Layout:
        """Return the correlations of every score over one group of pairs."""
        chosen = [row for row in self.rows if row.pairs == pairs]
        digits = 3 if max(row.pearson.n for row in chosen) >= MANY else 2
        rows = [[row.score, *(with_interval(getattr(row, name), digits) for name in HEADS)] for row in chosen]
        return Layout(["score", *HEADS.values()], rows, set(), 1, set())

    def lay_out_kappas(self) -> Layout:
        """Return the best kappa of every score and group, with its thresholds."""
        rows = []
        for row in self.rows:
            table, best = row.thresholds, row.best_kappa
            if table is None or table.best is None or best is None:
                continue
            sides = zip((table.first_from, table.second_from), table.best)
            shown = [cut_texts(values[at : at + 1])[0] for values, at in sides]
            elsewhere = MISSING if table.elsewhere is None else signed(table.elsewhere)
            rows.append([row.score, row.pairs, *shown, with_interval(best), elsewhere])
        head = ["score", "pairs", "rating from", "score from", "kappa", "elsewhere"]
        if all(row.thresholds is None or row.thresholds.kappa.size < 2 for row in self.rows):
            # One cut of each side was not chosen.
            head, rows = head[:-1], [row[:-1] for row in rows]
        return Layout(head, rows, labels=2, title="best kappa, both sides cut into yes and no")

    def parts(self) -> list[Part]:
        """Return the correlations of every group, kappa over the thresholds, and the best of it."""
        out: list[Part] = [f"{self.ratings}: {self.about}"]
        for group, title in TITLES.items():
            sizes = [row.pearson.n for row in self.rows if row.pairs == group]
            if sizes:
                out.append(replace(self.lay_out(group), title=title.format(plural(max(sizes), "pair"))))
        # One cut of each side leaves nothing to choose from, and no table to show.
        tables = [(row, table) for row in self.rows if (table := row.thresholds) and table.kappa.size > 1]
        if len({row.score for row in self.rows}) == 1:
            for row, table in tables:
                title = f"kappa, {row.pairs} pairs: {table.first} down, {table.second} across"
                out.append(replace(table.lay_out(self.show_intervals), title=title))
        kappas = self.lay_out_kappas()
        if kappas.rows:
            out += [kappas, *([CHOSEN] if tables else [])]
        return [*out, self.how] if self.how else out

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(row.score for row in self.rows))
        return f"ScoreAgreement({names} against {self.ratings})"


def score_agreement(
    ratings: Ratings | str | Path,
    scores: Mapping[str, Any],
    *,
    original: Any = None,
    first_from: Sequence[float] | None = None,
    second_from: Sequence[float] | None = None,
    resample: str = "image",
    intervals: Intervals | None = None,
) -> ScoreAgreement:
    """Return how far scores agree with people's mean ratings of the same pairs.

    Pearson's r, Spearman's ρ and Kendall's τ-b, and, with both sides cut into yes and no, Cohen's kappa
    of every two thresholds; all with bootstrap intervals. Scores come from anywhere: a caption metric
    (`karat.captions.similarity`), a run (`karat.scores.run_scores`), a table.

    Parameters
    ----------
    ratings
        `Ratings`, or a file of them. The rating of a pair is the mean of its raters.
    scores
        By name, one number per item of the ratings, in their order; NaN where there is none. Such pairs
        are left out for that score alone.
    original
        Per item, whether the caption was written for the image. Where it is known, the pairs that are
        not original are also shown by themselves: there the original pairing says nothing.
    first_from, second_from
        Thresholds of the ratings and of the scores; by default every value above the lowest or, where
        there are many, nine that divide the pairs.
    resample
        What is drawn for the intervals: all pairs of an "image" or "caption", or each "item" by itself,
        as if the pairs of one image were independent.
    intervals
        How intervals are made; by default 95%, percentile, 10,000 resamples.

    Examples
    --------
    >>> table = np.array([[1.0], [1], [2], [3], [4], [4]])
    >>> people = Ratings(list("aabbcc"), list("123456"), ("mean",), table, "people")
    >>> overlap = [0.1, 0.2, 0.1, 0.5, 0.4, 0.9]
    >>> cuts = {"first_from": [3], "second_from": [0.4]}
    >>> print(score_agreement(people, {"overlap": overlap}, **cuts, resample="item"))
    people: 6 items, 6 ratings from 1 to 4
    <BLANKLINE>
    all 6 pairs
    score         Pearson's r      Spearman's ρ         Kendall's τ-b
    ───────  ────────────────  ────────────────  ────────────────────
    overlap  0.80 (0.52–1.00)  0.76 (0.00–1.00)  0.59 (−0.09 to 1.00)
    <BLANKLINE>
    best kappa, both sides cut into yes and no
    score    pairs  rating from  score from             kappa
    ───────  ─────  ───────────  ──────────  ────────────────
    overlap  all              3         0.4  1.00 (0.24–1.00)
    <BLANKLINE>
    In brackets: 95% percentile intervals, 10,000 resamples of items.
    """
    resample = check_choice(resample, RESAMPLED, "resample")
    options = intervals or Intervals()
    table = ratings if isinstance(ratings, Ratings) else read_ratings(ratings)
    if not scores:
        raise InputError("there is no score to compare with the ratings", fix="give one or more")
    columns = {name: check_scores(name, values, len(table)) for name, values in scores.items()}
    rated = ~np.isnan(table.rating)
    groups = {ALL: np.ones(len(table), bool)}
    if original is not None:
        not_original = ~check_flags(original, len(table))
        # A group that is empty or everything would say nothing new.
        if 0 < (not_original & rated).sum() < rated.sum():
            groups[NOT_ORIGINAL] = not_original
    notes = list(table.notes)
    if not rated.all():
        notes.append(f"{plural(int((~rated).sum()), 'pair')} without a rating left out")
    rows = []
    for name, values in columns.items():
        known = rated & ~np.isnan(values)
        if not known.any():
            raise InputError(
                f"{name} scores no pair that has a rating", where=table.where, fix="compare the ids"
            )
        if (without := int((rated & ~known).sum())) > 0:
            notes.append(f"{name} has no score of {plural(without, 'pair')}, left out there")
        thresholds = (
            first_from and thresholds_of(table.where, table.rating[known], first_from),
            second_from and thresholds_of(name, values[known], second_from),
        )
        for group, inside in groups.items():
            rows.append(score_row(table, name, values, group, known & inside, thresholds, resample, options))
    return ScoreAgreement(
        name_of(table), table.about, tuple(rows), tuple(notes), how_intervals(options, f"{resample}s")
    )


def score_row(
    ratings: Ratings,
    name: str,
    values: np.ndarray,
    group: str,
    inside: np.ndarray,
    thresholds: Sequence[Sequence[float] | None],
    resample: str,
    intervals: Intervals,
) -> ScoreRow:
    """Return one score beside the ratings, over one group of pairs; unnamed `thresholds` are None."""
    sides = ratings.rating[inside], values[inside]
    clusters = None if resample == "item" else getattr(ratings, resample)[inside]
    correlations = item_correlations(*sides, clusters=clusters, intervals=intervals)
    table = None
    if all(len(np.unique(side)) > 1 for side in sides):
        usual = (usual_thresholds, score_thresholds)
        chosen = [cut or choose(side).tolist() for cut, choose, side in zip(thresholds, usual, sides)]
        names = (name_of(ratings), name)
        table = kappa_over_thresholds(*sides, *chosen, names=names, clusters=clusters, intervals=intervals)
    return ScoreRow(
        name, group, correlations["pearson"], correlations["spearman"], correlations["tau"], table
    )


def check_scores(name: str, values: Any, items: int) -> np.ndarray:
    """Return a score's numbers, one per item, or raise."""
    numbers = as_numbers(values, name)
    if numbers.shape != (items,):
        what = f"{name} has scores of the shape {numbers.shape}"
        raise InputError(what, fix=f"give one per rated pair, {items:,}, NaN for missing values")
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise InputError(
            f"{name} has an infinite score (pair {row})", fix="give finite numbers, NaN for missing values"
        )
    return numbers


def check_flags(original: Any, items: int) -> np.ndarray:
    """Return whether each item is an original pair, or raise."""
    flags = np.asarray(original)
    if flags.dtype != bool or flags.shape != (items,):
        what = f"original holds {flags.dtype} of the shape {flags.shape}"
        raise InputError(what, fix=f"give True or False per rated pair, {items:,}")
    return flags
