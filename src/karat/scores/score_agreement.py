"""How far any score of pairs agrees with people's ratings: correlations, and kappa over thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from karat.scores.agreement import DRAWN
from karat.scores.cutting import score_thresholds, usual_thresholds
from karat.scores.joining import cuts, name_of
from karat.scores.phrasing import how_intervals
from karat.scores.ratings import Ratings
from karat.scores.ratings_file import read_ratings
from karat.scores.score_agreement_table import ALL, NOT_ORIGINAL, ScoreAgreement, ScoreRow
from karat.scores.thresholds import kappa_over_thresholds
from karat.stats.intervals import Intervals
from karat.stats.item_correlation import item_correlations
from karat.stats.kinds import as_numbers
from karat.validation import InputError, check_choice, plural


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
    (`karat.captions.references`), a run (`karat.scores.pair_scores.run_scores`), a table.

    Parameters
    ----------
    ratings
        `Ratings`, or a file of them. The rating of a pair is the mean of its raters.
    scores
        By name, one number per item of the ratings, in their order; NaN where there is none. Such pairs
        are left out for that score alone.
    original
        Per item, whether the caption was written for the image. Where it is known, the pairs that are
        not original are also shown by themselves: there the original pairing has nothing to say.
    first_from, second_from
        Thresholds of the ratings and of the scores; by default every value above the lowest or, where
        there are many, nine that part the pairs.
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
    overlap  all              3         0.4  1.00 (1.00–1.00)
    <BLANKLINE>
    In brackets: 95% percentile intervals, 10,000 resamples of items.
    """
    resample = check_choice(resample, DRAWN, "resample")
    made = intervals or Intervals()
    one = ratings if isinstance(ratings, Ratings) else read_ratings(ratings)
    if not scores:
        raise InputError("there is no score to compare with the ratings", fix="give one or more")
    columns = {name: check_scores(name, values, len(one)) for name, values in scores.items()}
    rated = ~np.isnan(one.rating)
    groups = {ALL: np.ones(len(one), bool)}
    if original is not None:
        other = ~check_flags(original, len(one))
        # A group that is empty or everything would say nothing new.
        if 0 < (other & rated).sum() < rated.sum():
            groups[NOT_ORIGINAL] = other
    notes = list(one.notes)
    if not rated.all():
        notes.append(f"{plural(int((~rated).sum()), 'pair')} without a rating left out")
    rows = []
    for name, values in columns.items():
        known = rated & ~np.isnan(values)
        if not known.any():
            raise InputError(
                f"{name} scores no pair that has a rating", where=one.where, fix="compare the ids"
            )
        if (without := int((rated & ~known).sum())) > 0:
            notes.append(f"{name} has no score of {plural(without, 'pair')}, left out there")
        given = (first_from and cuts(one.where, one.rating[known], first_from),
                 second_from and cuts(name, values[known], second_from))  # fmt: skip
        for group, inside in groups.items():
            rows.append(compare(one, name, values, group, known & inside, given, resample, made))
    return ScoreAgreement(
        name_of(one), one.about, tuple(rows), tuple(notes), how_intervals(made, f"{resample}s")
    )


def compare(
    ratings: Ratings,
    name: str,
    values: np.ndarray,
    group: str,
    kept: np.ndarray,
    given: Sequence[Sequence[float] | None],
    resample: str,
    intervals: Intervals,
) -> ScoreRow:
    """Return one score beside the ratings, over one group of pairs; `given` thresholds may be None."""
    sides = ratings.rating[kept], values[kept]
    clusters = None if resample == "item" else getattr(ratings, resample)[kept]
    found = item_correlations(*sides, clusters=clusters, intervals=intervals)
    table = None
    if all(len(np.unique(side)) > 1 for side in sides):
        usual = (usual_thresholds, score_thresholds)
        chosen = [cut or choose(side).tolist() for cut, choose, side in zip(given, usual, sides)]
        names = (name_of(ratings), name)
        table = kappa_over_thresholds(*sides, *chosen, names=names, clusters=clusters, intervals=intervals)
    return ScoreRow(name, group, found["pearson"], found["spearman"], found["tau"], table)


def check_scores(name: str, values: Any, items: int) -> np.ndarray:
    """Return a score's numbers, one per item, or raise."""
    numbers = as_numbers(values, name)
    if numbers.shape != (items,):
        what = f"{name} has scores of the shape {numbers.shape}"
        raise InputError(what, fix=f"give one per rated pair, {items:,}, NaN for none")
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise InputError(
            f"{name} has an infinite score (pair {row})", fix="give finite numbers, NaN for none"
        )
    return numbers


def check_flags(original: Any, items: int) -> np.ndarray:
    """Return whether each item is an original pair, or raise."""
    flags = np.asarray(original)
    if flags.dtype != bool or flags.shape != (items,):
        what = f"original holds {flags.dtype} of the shape {flags.shape}"
        raise InputError(what, fix=f"give True or False per rated pair, {items:,}")
    return flags
