"""How many positives two truths share, query by query: what precision and recall of labels are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.benchmarks import Direction, Truth
from karat.errors import InputError
from karat.judging.pools import find, key_of


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Per query, how the positives of an older truth meet the judgments of people.

    Parameters
    ----------
    queries
        Those that both truths cover.
    listed
        |r|: positives of the older truth.
    judged
        Those of them that people judged, whatever they said.
    found
        |r ∩ t|: those of them that people confirmed.
    wanted
        |t|: the people's positives.
    """

    queries: np.ndarray
    listed: np.ndarray
    judged: np.ndarray
    found: np.ndarray
    wanted: np.ndarray

    @property
    def precision(self) -> np.ndarray:
        """|r ∩ t| / |r|, as ECCV Caption §3.3 has it; NaN where the older truth lists nothing."""
        return share(self.found, self.listed)

    @property
    def judged_precision(self) -> np.ndarray:
        """|r ∩ t| / |r that was judged|; NaN where none of r was."""
        return share(self.found, self.judged)

    @property
    def recall(self) -> np.ndarray:
        """1 − |t minus r| / |t| = |r ∩ t| / |t|; NaN where people found nothing."""
        return share(self.found, self.wanted)

    @property
    def judged_share(self) -> float:
        """The share of the older truth's positives that people judged; NaN where it has none."""
        total = int(self.listed.sum())
        return float(self.judged.sum() / total) if total else float("nan")


def share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return part / whole, NaN where the whole is nothing.

    >>> share(np.array([1, 0]), np.array([2, 0])).tolist()
    [0.5, nan]
    """
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


def count_labels(older: Truth, human: Truth, direction: Direction, gallery: int | None = None) -> LabelCounts:
    """Count, for every query that both truths cover, what they list and what they share.

    Positives outside the gallery count, as in ECCV Caption. Folds do not matter: what is relevant to a query
    does not depend on what else is ranked. The older truth may be a rule; `gallery` then says how many items
    there are, since a rule knows nothing of others.

    Examples
    --------
    >>> from karat.benchmarks import Judgments, Provenance
    >>> one, two = [Provenance("original")], [Provenance("people")]
    >>> asked = {"i2t": np.arange(2)}
    >>> old = Truth("old", Judgments([0, 0, 1], [0, 1, 2], sources=one), asked)
    >>> new = Truth("new", Judgments([0, 0, 0], [0, 1, 2], rating=[1, 0, 1], sources=two), asked)
    >>> counts = count_labels(old, new, "i2t")
    >>> counts.precision.tolist(), counts.judged_precision.tolist(), counts.recall.tolist()
    ([0.5, 0.0], [0.5, nan], [0.5, nan])
    """
    if human.implicit:
        raise InputError(f"truth {human.name!r} is a rule", fix="compare with one that lists its pairs")
    known = np.asarray(older.queries.get(direction, np.zeros(0)), np.int64)
    queries = np.intersect1d(known, np.asarray(human.queries.get(direction, np.zeros(0)), np.int64))
    said, place = rows_of(human, direction, queries)
    yes = said.grade > 0
    if older.rule is not None:
        inside = said.item < (np.inf if gallery is None else gallery)
        inside[inside] = older.rule.relevant(direction, said.query[inside], said.item[inside])
        listed = older.rule.positives(direction, queries).astype(np.int64)
    else:
        own, at = rows_of(older, direction, queries)
        positive = own.grade > 0
        inside = find(np.sort(own.key[positive]), said.key) >= 0
        listed = np.bincount(at[positive], minlength=len(queries))

    def count(rows: np.ndarray) -> np.ndarray:
        return np.bincount(place[rows], minlength=len(queries))

    judged = listed if human.complete else count(inside)
    return LabelCounts(queries, listed, judged, count(inside & yes), count(yes))


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
