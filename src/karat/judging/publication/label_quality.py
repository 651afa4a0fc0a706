"""How good the labels of older truths are: precision and recall against the annotators' judgments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from karat.benchmarks import Benchmark, Direction, Truth
from karat.errors import InputError
from karat.forms import find, key_of
from karat.scores import query_samples
from karat.stats import Estimate, Intervals, divide

QUANTITIES = ("precision", "judged_precision", "recall")
DRAWS = Intervals(resamples=1000)
"""Enough for a data card: the ends of an interval vary in their third digit."""


@dataclass(frozen=True, eq=False)
class LabelQuality:
    """How good the labels of an older truth are in one direction, according to the annotators' judgments.

    Parameters
    ----------
    truth, against, direction
        The older truth, the annotators' truth, and the direction.
    precision
        Mean over queries of |r ∩ t| / |r| (ECCV Caption §3.3). An unjudged positive counts as wrong.
    judged_precision
        The same over judged pairs: the share of the older positives that are right.
    recall
        Mean over queries of |r ∩ t| / |t|.
    judged_share
        The share of the older positives that were judged.
    counts
        The counts per query behind these.
    """

    truth: str
    against: str
    direction: Direction
    precision: Estimate
    judged_precision: Estimate
    recall: Estimate
    judged_share: float
    counts: LabelCounts = field(repr=False)


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Per query, how many positives an older truth and the annotators' truth have, and how many they share.

    Parameters
    ----------
    queries
        The queries that both truths cover.
    listed
        |r|: positives of the older truth.
    judged
        How many of them were judged, with any outcome.
    found
        |r ∩ t|: how many of them were confirmed.
    wanted
        |t|: positives of the annotators' truth.
    """

    queries: np.ndarray
    listed: np.ndarray
    judged: np.ndarray
    found: np.ndarray
    wanted: np.ndarray

    @property
    def precision(self) -> np.ndarray:
        """|r ∩ t| / |r|, as in ECCV Caption §3.3; NaN where the older truth has no positive."""
        return divide(self.found, self.listed)

    @property
    def judged_precision(self) -> np.ndarray:
        """|r ∩ t| / |judged part of r|; NaN where none of r was judged."""
        return divide(self.found, self.judged)

    @property
    def recall(self) -> np.ndarray:
        """1 − |t minus r| / |t| = |r ∩ t| / |t|; NaN where the annotators' truth has no positive."""
        return divide(self.found, self.wanted)

    @property
    def judged_share(self) -> float:
        """The share of the older truth's positives that were judged; NaN where it has none."""
        total = int(self.listed.sum())
        return float(self.judged.sum() / total) if total else float("nan")


def label_quality(
    benchmark: Benchmark,
    human: str | Truth,
    older: Iterable[str | Truth] | str | Truth,
    intervals: Intervals = DRAWS,
) -> list[LabelQuality]:
    """Return precision and recall of older truths against the annotators' truth, with intervals.

    Let t be the positives that annotators found for a query, and r those of the older truth. In ECCV Caption
    §3.3, precision is the mean of |r ∩ t| / |r| and recall the mean of 1 − |t minus r| / |t|.

    The paper does not define them for empty sets: here a query with an empty r has no precision, one with
    an empty t has no recall, and the means leave such queries out. Queries that only one of the truths
    covers are left out of both.

    The paper's precision counts an unjudged pair as wrong, so that it also measures how deep the pool was;
    `judged_precision` leaves unjudged pairs out.

    A direction in which two truths share no query is left out.

    Parameters
    ----------
    benchmark
        The benchmark of the truths; queries of one image are resampled together.
    human
        The annotators' truth, or its name.
    older
        One or several other truths; rules such as Plausible Match too.
    intervals
        How the intervals are computed.

    Examples
    --------
    According to ECCV Caption, the labels of COCO Caption are right but few:

    >>> import karat
    >>> coco = karat.load_benchmark("coco")
    >>> rows = label_quality(coco, "eccv", ["coco-5k"])
    >>> [(row.direction, round(row.precision.value, 3), round(row.recall.value, 3)) for row in rows]
    [('i2t', 0.999, 0.313), ('t2i', 1.0, 0.136)]
    """
    against = as_truth(benchmark, human)
    truths = as_truths(benchmark, [older] if isinstance(older, str | Truth) else list(older))
    out = []
    for direction in benchmark.directions:
        size = benchmark.items(direction).size
        counted = [(truth, count_labels(truth, against, direction, size)) for truth in truths]
        counted = [(truth, counts) for truth, counts in counted if len(counts.queries)]
        columns = [(counts.queries, getattr(counts, name)) for _, counts in counted for name in QUANTITIES]
        means = estimates(benchmark, direction, columns, intervals)
        for number, (truth, counts) in enumerate(counted):
            precision, judged, recall = means[3 * number : 3 * number + 3]
            names = (truth.name, against.name, direction)
            out.append(LabelQuality(*names, precision, judged, recall, counts.judged_share, counts))
    order = [truth.name for truth in truths]
    return sorted(out, key=lambda row: order.index(row.truth))


def as_truth(benchmark: Benchmark, truth: str | Truth) -> Truth:
    """Return a truth; a name is that of one of the benchmark's."""
    return truth if isinstance(truth, Truth) else benchmark.truth(truth)


def as_truths(benchmark: Benchmark, names: Sequence[str | Truth]) -> list[Truth]:
    """Return truths, each once."""
    truths = {truth.name: truth for truth in (as_truth(benchmark, name) for name in names)}
    if not truths:
        raise InputError("no older truth was given", fix="name at least one")
    return list(truths.values())


def estimates(
    benchmark: Benchmark,
    direction: Direction,
    columns: Sequence[tuple[np.ndarray, np.ndarray]],
    intervals: Intervals,
) -> list[Estimate]:
    """Return the mean of each column (queries, values) with its interval, all from the same draws."""
    return query_samples(benchmark, direction, columns, intervals).means() if columns else []


def count_labels(older: Truth, human: Truth, direction: Direction, gallery: int | None = None) -> LabelCounts:
    """Count, for every query that both truths cover, the positives of each and those that they share.

    Positives outside the gallery count, as in ECCV Caption. Folds do not matter: whether an item is
    relevant to a query does not depend on what else is ranked. The older truth may be a rule; `gallery` is
    then the number of items, since a rule does not know items outside it.

    Examples
    --------
    >>> from karat.benchmarks import Judgments, Provenance
    >>> original, people = [Provenance("original")], [Provenance("people")]
    >>> queries = {"i2t": np.arange(2)}
    >>> old = Truth("old", Judgments([0, 0, 1], [0, 1, 2], sources=original), queries)
    >>> new = Truth("new", Judgments([0, 0, 0], [0, 1, 2], rating=[1, 0, 1], sources=people), queries)
    >>> counts = count_labels(old, new, "i2t")
    >>> counts.precision.tolist(), counts.judged_precision.tolist(), counts.recall.tolist()
    ([0.5, 0.0], [0.5, nan], [0.5, nan])
    """
    if human.implicit:
        raise InputError(f"truth {human.name!r} is a rule", fix="compare with one that lists its pairs")
    known = np.asarray(older.queries.get(direction, np.zeros(0)), np.int64)
    queries = np.intersect1d(known, np.asarray(human.queries.get(direction, np.zeros(0)), np.int64))
    judgments, place = rows_of(human, direction, queries)
    yes = judgments.grade > 0
    if older.rule is not None:
        in_older = judgments.item < (np.inf if gallery is None else gallery)
        in_older[in_older] = older.rule.relevant(
            direction, judgments.query[in_older], judgments.item[in_older]
        )
        listed = older.rule.positives(direction, queries).astype(np.int64)
    else:
        own, own_place = rows_of(older, direction, queries)
        positive = own.grade > 0
        in_older = find(np.sort(own.key[positive]), judgments.key) >= 0
        listed = np.bincount(own_place[positive], minlength=len(queries))

    def count(rows: np.ndarray) -> np.ndarray:
        return np.bincount(place[rows], minlength=len(queries))

    judged = listed if human.complete else count(in_older)
    return LabelCounts(queries, listed, judged, count(in_older & yes), count(yes))


@dataclass(frozen=True, eq=False)
class Rows:
    """Judged pairs of some queries."""

    query: np.ndarray
    item: np.ndarray
    grade: np.ndarray

    @property
    def key(self) -> np.ndarray:
        """One number per pair."""
        return key_of(self.query, self.item)


def rows_of(truth: Truth, direction: Direction, queries: np.ndarray) -> tuple[Rows, np.ndarray]:
    """Return a truth's judged pairs of sorted queries, and the place of each pair's query among them."""
    judged = truth.judged(direction)
    query = judged.query_of_row.astype(np.int64)
    place = find(queries, query)
    kept = place >= 0
    return Rows(query[kept], judged.item[kept], judged.grade[kept]), place[kept]
