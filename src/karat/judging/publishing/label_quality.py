"""Precision and recall of older labels against the people's, and how many positives each truth has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark, Direction, Truth
from karat.errors import InputError
from karat.judging.publishing.label_counts import LabelCounts, count_labels
from karat.stats import Estimate, Intervals

QUANTITIES = ("precision", "judged_precision", "recall")
DRAWS = Intervals(resamples=1000)
"""Enough for a data card: the ends of an interval move in their third digit."""


@dataclass(frozen=True, eq=False)
class LabelQuality:
    """How good the labels of an older truth are in one direction, by the people's judgments.

    Parameters
    ----------
    truth, against, direction
        The older truth, the people's, and which side asks.
    precision
        Mean over queries of |r ∩ t| / |r| (ECCV Caption §3.3). What people never saw counts as wrong.
    judged_precision
        The same over the pairs that people saw: the share of the older positives that are right.
    recall
        Mean over queries of |r ∩ t| / |t|.
    judged_share
        The share of the older positives that people saw.
    counts
        What all of these are made of, query by query.
    """

    truth: str
    against: str
    direction: Direction
    precision: Estimate
    judged_precision: Estimate
    recall: Estimate
    judged_share: float
    counts: LabelCounts = field(repr=False)


def label_quality(
    benchmark: Benchmark,
    human: str | Truth,
    older: Iterable[str | Truth] | str | Truth,
    directions: Sequence[Direction] = DIRECTIONS,
    intervals: Intervals = DRAWS,
) -> list[LabelQuality]:
    """Return precision and recall of older truths against the people's, with intervals.

    Let t be the positives that people found for a query, and r those of the older truth. ECCV Caption §3.3:
    precision is the mean of |r ∩ t| / |r|, recall the mean of 1 − |t minus r| / |t|.

    The paper does not say what happens to empty sets: here a query without r has no precision, one without t
    no recall, and the means leave them out. Queries that only one of the truths covers are left out of both.

    The paper's precision takes a pair that people never saw for a wrong one. Where people saw a pool only,
    that says how deep the pool was rather than how good the labels are: an original positive that no system
    ranked high is unjudged, not wrong. In its table 2 the same pairs of COCO are 47.3% right from the side
    of the images and 89.4% from that of the captions. `judged_precision` leaves such pairs out.

    Parameters
    ----------
    benchmark
        Whose truths are compared; queries of one image are resampled together.
    human
        What people said: a truth or its name.
    older
        One or several others; rules such as Plausible Match too.
    directions
        "i2t", "t2i" or both; one in which two truths share no query is left out.
    intervals
        How the intervals are made.

    Examples
    --------
    The labels of COCO Caption are right and few, by ECCV Caption's:

    >>> import karat
    >>> coco = karat.load_benchmark("coco")
    >>> found = label_quality(coco, "eccv", ["coco-5k"])
    >>> [(one.direction, round(one.precision.value, 3), round(one.recall.value, 3)) for one in found]
    [('i2t', 0.999, 0.313), ('t2i', 1.0, 0.136)]
    """
    people = as_truth(benchmark, human)
    truths = as_truths(benchmark, [older] if isinstance(older, str | Truth) else list(older))
    out = []
    for direction in directions:
        size = benchmark.items(direction).size
        counted = [(truth, count_labels(truth, people, direction, size)) for truth in truths]
        counted = [(truth, counts) for truth, counts in counted if len(counts.queries)]
        columns = [(c.queries, getattr(c, name)) for _, c in counted for name in QUANTITIES]
        made = estimates(benchmark, direction, columns, intervals)
        for number, (truth, counts) in enumerate(counted):
            precision, judged, recall = made[3 * number : 3 * number + 3]
            names = (truth.name, people.name, direction)
            out.append(LabelQuality(*names, precision, judged, recall, counts.judged_share, counts))
    order = [truth.name for truth in truths]
    return sorted(out, key=lambda one: order.index(one.truth))


def as_truth(benchmark: Benchmark, given: str | Truth) -> Truth:
    """Return a truth of a benchmark by its name, or the one given."""
    return given if isinstance(given, Truth) else benchmark.truth(given)


def as_truths(benchmark: Benchmark, names: Sequence[str | Truth]) -> list[Truth]:
    """Return truths, each once."""
    found = {truth.name: truth for truth in (as_truth(benchmark, name) for name in names)}
    if not found:
        raise InputError("no older truth was given", fix="name at least one")
    return list(found.values())


def estimates(
    benchmark: Benchmark,
    direction: Direction,
    columns: Sequence[tuple[np.ndarray, np.ndarray]],
    intervals: Intervals,
) -> list[Estimate]:
    """Return the mean of each column (queries, values) with its interval, all from the same draws."""
    from karat.stats import Sample, Samples

    if not columns:
        return []
    labels = [benchmark.clusters(direction, queries) for queries, _ in columns]
    known = np.unique(np.concatenate(labels))
    samples = [Sample(values, np.searchsorted(known, label)) for (_, values), label in zip(columns, labels)]
    pooled = Samples(samples, len(known))
    value = pooled.values()
    draws, jackknife = intervals.draw(pooled.resampled, len(known))
    low, high = intervals.ends(value, draws, jackknife)
    return [
        Estimate(
            float(point),
            float(begin),
            float(end),
            intervals.level,
            intervals.shown,
            int((~np.isnan(sample.values)).sum()),
            len(np.unique(sample.cluster[~np.isnan(sample.values)])),
        )
        for point, begin, end, sample in zip(value, low, high, samples)
    ]
