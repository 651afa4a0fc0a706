"""What a filter costs: how many pairs it drops, and how many of those that people call relevant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from karat.benchmarks import Benchmark
from karat.captions.filter import HAIR, caption_filter
from karat.captions.filter_findings import FilterAudit, Judged, Lost, ThresholdAudit
from karat.captions.metric import CaptionMetric
from karat.scores.joining import name_of
from karat.scores.pair_scores import Located, locate
from karat.scores.phrasing import how_intervals
from karat.scores.ratings import Ratings
from karat.scores.ratings_file import read_ratings
from karat.stats.bootstrap import bootstrap_interval
from karat.stats.estimate import Estimate
from karat.stats.intervals import Intervals
from karat.validation import InputError


def audit_filter(
    benchmark: Benchmark,
    ratings: Sequence[Ratings | str | Path],
    *,
    thresholds: Sequence[float] = (0.25,),
    metric: str | CaptionMetric = "bleu-pre",
    relevant_from: Sequence[float] | None = None,
    rated_captions: bool = False,
    intervals: Intervals | None = None,
) -> FilterAudit:
    """Return what a filter by captions drops at several thresholds, with intervals over images.

    Parameters
    ----------
    benchmark
        One that holds its captions.
    ratings
        People's ratings, or files of them: the relevant pairs among them are what must not be lost.
    thresholds
        Of φ: from here on a pair is kept.
    metric
        φ.
    relevant_from
        Mean ratings from which on a pair is relevant; by default, and for a table whose scale has none
        of them, the middle of its scale. One that is on no table's scale is refused.
    rated_captions
        Whether only captions that stand in the ratings can be paired, as in Hodosh's 1,000 by 1,000
        pairs; all of the gallery by default.
    intervals
        How intervals are made; images are drawn, with all of their pairs.

    Examples
    --------
    >>> from karat.benchmarks.reading import build
    >>> texts = ["a black dog runs", "a dog", "two men sit on a bench", "men on a bench"]
    >>> whose = ["x", "x", "y", "y"]
    >>> tiny = build("tiny", ["x", "y"], ["1", "2", "3", "4"], whose, texts, where="tiny", about="")
    >>> said = np.array([[4.0, 3], [1, 1], [3, 4]])
    >>> people = Ratings(["x", "x", "y"], ["2", "3", "1"], ("ann", "bob"), said, "people")
    >>> found = audit_filter(tiny, [people])
    >>> found
    FilterAudit(bleu-pre on tiny, 1 threshold)
    >>> print("\\n".join(found.sentences()[2:5]))
    bleu-pre ≥ 0.25 drops 50.0% (50.0–50.0) of all pairs.
      Of 2 that people rates 2.5 or more it drops 50.0% (0.0–100.0).
        Of the 1 among them that are not original: 100.0% (100.0–100.0).
    """
    made = intervals or Intervals()
    if not ratings or not len(thresholds):
        raise InputError("there is nothing to audit", fix="give ratings and thresholds")
    tables = [one if isinstance(one, Ratings) else read_ratings(one) for one in ratings]
    located = [locate(table, benchmark) for table in tables]
    for one in located:
        if np.isnan(one.ratings.values).all():
            raise InputError(
                f"rates no pair of {benchmark.name}", where=one.ratings.where, fix="fill in ratings"
            )
    for cut in relevant_from or ():
        if not any(within_scale(one.ratings, cut) for one in located):
            raise InputError(f"nobody rates from {cut:g} on", fix="choose a rating that the tables have")
    captions = np.concatenate([one.caption for one in located]) if rated_captions else None
    plausible = caption_filter(benchmark, thresholds[0], metric, captions)
    kept = plausible.counts(thresholds)
    phi = [plausible.scores(one.image, one.caption) for one in located]
    found = []
    for row, threshold in zip(kept, thresholds):
        lost: list[Lost] = []
        judged: list[Judged] = []
        for one, score in zip(located, phi):
            dropped = score < threshold - HAIR
            lost += [lost_positives(one, dropped, cut, made) for cut in cuts(one.ratings, relevant_from)]
            judged += judged_and_dropped(one, dropped, made)
        share = bootstrap_interval(1 - row / len(plausible.captions), **asdict(made))
        found.append(ThresholdAudit(float(threshold), share, tuple(lost), tuple(judged)))
    notes = [note for one in located for note in one.notes]
    return FilterAudit(
        benchmark.name,
        plausible.metric.name,
        kept.shape[1],
        len(plausible.captions),
        tuple(found),
        tuple(notes),
        how_intervals(made, "images"),
    )


def middle(ratings: Ratings) -> float:
    """Return the middle between the lowest and the highest rating: from here on an answer is a yes.

    >>> middle(Ratings(["a", "b"], ["1", "1"], ("x", "y"), np.array([[1.0, 4.0], [2.0, np.nan]])))
    2.5
    """
    return float(np.nanmin(ratings.values) + np.nanmax(ratings.values)) / 2


def cuts(ratings: Ratings, given: Sequence[float] | None) -> list[float]:
    """Return the given cuts that lie within a table's scale, or its middle."""
    return [cut for cut in sorted(set(given or ())) if within_scale(ratings, cut)] or [middle(ratings)]


def within_scale(ratings: Ratings, cut: float) -> bool:
    """Whether a cut parts a table's ratings."""
    return bool(np.nanmin(ratings.values) < cut <= np.nanmax(ratings.values) + HAIR)


def lost_positives(found: Located, dropped: np.ndarray, cut: float, intervals: Intervals) -> Lost:
    """Return what share of the pairs that people rate so high the filter drops."""
    good = found.ratings.rating >= cut - HAIR
    groups = [good] if found.original is None else [good, good & ~found.original]
    shares = [share_of(dropped[group], found.image[group], intervals) for group in groups]
    return Lost(name_of(found.ratings), cut, *shares)


def judged_and_dropped(found: Located, dropped: np.ndarray, intervals: Intervals) -> list[Judged]:
    """Return, of the pairs that the filter drops and people judged, how often all and most said no."""
    answers = found.ratings.values
    given = (~np.isnan(answers)).sum(axis=1)
    yes = (answers >= middle(found.ratings)).sum(axis=1)
    seen = dropped & (given > 0)
    if not seen.any():
        return []
    all_no, most_no = (
        share_of(said[seen], found.image[seen], intervals) for said in (yes == 0, 2 * yes < given)
    )
    return [Judged(name_of(found.ratings), all_no, most_no, several=bool((given > 1).any()))]


def share_of(yes: np.ndarray, image: np.ndarray, intervals: Intervals) -> Estimate:
    """Return a share with its interval over images; NaN of nothing."""
    if not len(yes):
        return Estimate(np.nan, np.nan, np.nan, intervals.level, intervals.shown, 0, 0)
    return bootstrap_interval(yes.astype(np.float64), image, **asdict(intervals))
