"""What a filter costs: how many pairs it drops, and how many of those that people call relevant.

`audit_filter` returns a `FilterAudit`: shares with intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import TEXT_FORMATS, Result, plural
from karat.benchmarks import Benchmark, as_benchmark
from karat.captions.metric import CaptionMetric
from karat.captions.pair_filter import HAIR, caption_filter
from karat.captions.similarity import find_metric
from karat.errors import InputError
from karat.scores import Located, Ratings, locate, name_of, read_ratings
from karat.stats import (
    Estimate,
    Intervals,
    bootstrap_interval,
    cut_texts,
    estimate_record,
    how_intervals,
    percent,
)


def audit_filter(
    benchmark: Benchmark | str | Path,
    ratings: Ratings | str | Path | Sequence[Ratings | str | Path],
    *,
    from_: Sequence[float] = (0.25,),
    metric: str | CaptionMetric = "bleu-pre",
    relevant_from: Sequence[float] | None = None,
    rated_captions: bool = False,
    intervals: Intervals | None = None,
    setting: Mapping[str, Any] | None = None,
) -> FilterAudit:
    """Return what a filter by captions drops at several thresholds, with intervals over images.

    Parameters
    ----------
    benchmark
        One with captions, its name or its folder.
    ratings
        People's ratings or a file of them, one or several: the relevant pairs among them
        are what must not be lost.
    from_
        Of φ: from here on a pair is kept.
    metric
        φ.
    relevant_from
        Mean ratings at or above which a pair is relevant; by default, and for a table whose scale has none
        of them, the middle of its scale. One that is on no table's scale is refused.
    rated_captions
        Whether only captions that the ratings name can be paired, as in Hodosh's 1,000 by 1,000
        pairs; all of the gallery by default.
    intervals
        How intervals are made; images are drawn, with all of their pairs.
    setting
        Settings of a benchmark that is given by name.

    Examples
    --------
    >>> import karat
    >>> from karat.benchmarks import build
    >>> texts = ["a black dog runs", "a dog", "two men sit on a bench", "men on a bench"]
    >>> whose = ["x", "x", "y", "y"]
    >>> tiny = build("tiny", ["x", "y"], ["1", "2", "3", "4"], whose, texts, where="tiny", about="")
    >>> said = np.array([[4.0, 3], [1, 1], [3, 4]])
    >>> people = Ratings(["x", "x", "y"], ["2", "3", "1"], ("ann", "bob"), said, "people")
    >>> audit = karat.captions.filter(tiny, people)
    >>> audit
    FilterAudit(bleu-pre on tiny, 1 threshold)
    >>> print(audit.parts()[1])
    bleu-pre ≥ 0.25 drops 50.0% (no interval) of all pairs.
      Of 2 that people rates 2.5 or more it drops 50.0% (no interval).
        Of the 1 among them that are not original: 100.0% (no interval).
      Of the dropped ones people judged 2:
        all said no to 50.0% (no interval), most to 50.0% (no interval).
    """
    intervals = intervals or Intervals()
    listed = [ratings] if isinstance(ratings, Ratings | str | Path) else list(ratings)
    if not listed or not len(from_):
        raise InputError("there is nothing to audit", fix="give ratings and thresholds")
    metric = find_metric(metric)
    benchmark = as_benchmark(benchmark, setting)
    located = located_ratings(listed, benchmark, relevant_from)
    captions = np.concatenate([table.caption for table in located]) if rated_captions else None
    plausible = caption_filter(benchmark, from_[0], metric, captions)
    kept = plausible.counts(from_)
    phi = [plausible.scores(table.image, table.caption) for table in located]
    audits = []
    for row, threshold in zip(kept, from_):
        lost: list[Lost] = []
        judged: list[DroppedRatings] = []
        for table, score in zip(located, phi):
            dropped = score < threshold - HAIR
            lost += [
                lost_positives(table, dropped, cut, intervals) for cut in cuts(table.ratings, relevant_from)
            ]
            judged += judged_and_dropped(table, dropped, intervals)
        share = bootstrap_interval(1 - row / len(plausible.captions), **asdict(intervals))
        audits.append(ThresholdAudit(float(threshold), share, tuple(lost), tuple(judged)))
    return FilterAudit(
        benchmark.name,
        plausible.metric.name,
        kept.shape[1],
        len(plausible.captions),
        tuple(audits),
        tuple(note for table in located for note in table.notes),
        how_intervals(intervals, "images"),
    )


def located_ratings(
    ratings: Sequence[Ratings | str | Path], benchmark: Benchmark, relevant_from: Sequence[float] | None
) -> list[Located]:
    """Return ratings with the places of their pairs, or raise where there is nothing to audit by them."""
    tables = [table if isinstance(table, Ratings) else read_ratings(table) for table in ratings]
    located = [locate(table, benchmark) for table in tables]
    for table in located:
        if np.isnan(table.ratings.values).all():
            raise InputError(
                f"rates no pair of {benchmark.name}", where=table.ratings.where, fix="fill in ratings"
            )
    for cut in relevant_from or ():
        if not any(within_scale(table.ratings, cut) for table in located):
            raise InputError(
                f"{cut:g} is outside the scale of every table", fix="choose a rating that the tables have"
            )
    return located


@dataclass(frozen=True)
class Lost:
    """The share of pairs that people rate `rated_from` or more which a filter drops.

    Parameters
    ----------
    ratings, rated_from
        Whose ratings, and the rating at or above which a pair is relevant.
    share
        Of all such pairs.
    not_original
        Of those whose caption was written for another image; None where it is unknown. An original pair
        compares a caption with itself and is never dropped.
    """

    ratings: str
    rated_from: float
    share: Estimate
    not_original: Estimate | None = None


@dataclass(frozen=True)
class DroppedRatings:
    """Of the pairs that a filter drops and people judged: how often all and most of them said no.

    Parameters
    ----------
    ratings
        Who judged.
    all_no, most_no
        The shares; an even split is not a majority.
    several
        Whether a pair has several answers. A mean rating is one: then the shares are the same.
    """

    ratings: str
    all_no: Estimate
    most_no: Estimate
    several: bool = True


@dataclass(frozen=True)
class ThresholdAudit:
    """What a filter does at one threshold.

    Parameters
    ----------
    threshold
        From here on a pair is kept.
    dropped
        The share of all pairs that it drops.
    lost, judged
        What it drops of what people rated high, and what people say of what it drops.
    """

    threshold: float
    dropped: Estimate
    lost: tuple[Lost, ...] = ()
    judged: tuple[DroppedRatings, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return a record per number."""
        shares: list[tuple[str, dict[str, Any], Estimate]] = [("dropped", {}, self.dropped)]
        for lost in self.lost:
            about = {"ratings": lost.ratings, "rated_from": lost.rated_from}
            shares.append(("lost", about, lost.share))
            if lost.not_original is not None:
                shares.append(("lost, not original", about, lost.not_original))
        for judged in self.judged:
            shares += [(f"dropped, {who} said no", {"ratings": judged.ratings}, share)
                       for who, share in (("all", judged.all_no), ("most", judged.most_no))]  # fmt: skip
        empty = {"ratings": None, "rated_from": None}
        return [
            {"statistic": name, "from": self.threshold, **empty, **more, **estimate_record(share)}
            for name, more, share in shares
        ]


@dataclass(frozen=True, eq=False)
class FilterAudit(Result):
    """What a filter drops, and what that costs.

    Parameters
    ----------
    benchmark, metric
        Their names.
    images, captions
        How many there are to pair.
    thresholds
        What happens at each.
    notes
        What a reader should know.
    how
        How the intervals were made, as a sentence.
    """

    benchmark: str
    metric: str
    images: int
    captions: int
    thresholds: tuple[ThresholdAudit, ...]
    notes: tuple[str, ...] = ()
    how: str = ""
    formats = TEXT_FORMATS

    def at(self, threshold: float) -> ThresholdAudit:
        """Return what happens at one of the thresholds."""
        for audit in self.thresholds:
            if audit.threshold == threshold:
                return audit
        known = ", ".join(f"{audit.threshold:g}" for audit in self.thresholds)
        raise InputError(f"there is no audit at {threshold:g}", fix=f"known: {known}")

    def records(self) -> list[dict[str, Any]]:
        """Return a record per number."""
        return [record for audit in self.thresholds for record in audit.records()]

    def parts(self) -> list[str]:
        """Return what was found in words, a paragraph per threshold."""
        size = f"{plural(self.images, 'image')} by {plural(self.captions, 'caption')}"
        out = [f"{self.benchmark}: {size}, {self.images * self.captions:,} pairs"]
        for text, audit in zip(cut_texts([audit.threshold for audit in self.thresholds]), self.thresholds):
            said = [f"{self.metric} ≥ {text} drops {percent(audit.dropped)} of all pairs."]
            for lost in audit.lost:
                high = f"{lost.share.n:,} that {lost.ratings} rates {cut_texts([lost.rated_from])[0]} or more"
                said.append(f"  Of {high} it drops {percent(lost.share)}.")
                if (other := lost.not_original) is not None:
                    said.append(f"    Of the {other.n:,} among them that are not original: {percent(other)}.")
            for seen in audit.judged:
                answers = f"    all said no to {percent(seen.all_no)}, most to {percent(seen.most_no)}."
                if not seen.several:
                    answers = f"    it rates {percent(seen.all_no)} below the middle of its scale."
                said += [f"  Of the dropped ones {seen.ratings} judged {seen.all_no.n:,}:", answers]
            out.append("\n".join(said))
        return [*out, self.how] if self.how else out

    def __repr__(self) -> str:
        return f"FilterAudit({self.metric} on {self.benchmark}, {plural(len(self.thresholds), 'threshold')})"


def middle(ratings: Ratings) -> float:
    """Return the middle between the lowest and the highest rating: from here on an answer is a yes.

    >>> middle(Ratings(["a", "b"], ["1", "1"], ("x", "y"), np.array([[1.0, 4.0], [2.0, np.nan]])))
    2.5
    """
    return float(np.nanmin(ratings.values) + np.nanmax(ratings.values)) / 2


def cuts(ratings: Ratings, relevant_from: Sequence[float] | None) -> list[float]:
    """Return the given cuts that lie within a table's scale, or its middle."""
    return [cut for cut in sorted(set(relevant_from or ())) if within_scale(ratings, cut)] or [
        middle(ratings)
    ]


def within_scale(ratings: Ratings, cut: float) -> bool:
    """Whether a cut divides a table's ratings."""
    return bool(np.nanmin(ratings.values) < cut <= np.nanmax(ratings.values) + HAIR)


def lost_positives(table: Located, dropped: np.ndarray, cut: float, intervals: Intervals) -> Lost:
    """Return the share of the pairs rated this high that the filter drops."""
    good = table.ratings.rating >= cut - HAIR
    groups = [good] if table.original is None else [good, good & ~table.original]
    shares = [share_of(dropped[group], table.image[group], intervals) for group in groups]
    return Lost(name_of(table.ratings), cut, *shares)


def judged_and_dropped(table: Located, dropped: np.ndarray, intervals: Intervals) -> list[DroppedRatings]:
    """Return, of the pairs that the filter drops and people judged, how often all and most said no."""
    answers = table.ratings.values
    number = (~np.isnan(answers)).sum(axis=1)
    yes = (answers >= middle(table.ratings)).sum(axis=1)
    seen = dropped & (number > 0)
    if not seen.any():
        return []
    all_no, most_no = (
        share_of(said[seen], table.image[seen], intervals) for said in (yes == 0, 2 * yes < number)
    )
    return [DroppedRatings(name_of(table.ratings), all_no, most_no, several=bool((number > 1).any()))]


def share_of(yes: np.ndarray, image: np.ndarray, intervals: Intervals) -> Estimate:
    """Return a share with its interval over images; NaN of nothing."""
    if not len(yes):
        return Estimate(np.nan, np.nan, np.nan, intervals.level, intervals.shown, 0, 0)
    return bootstrap_interval(yes.astype(np.float64), image, **asdict(intervals))
