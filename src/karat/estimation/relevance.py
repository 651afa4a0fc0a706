"""Relevance: what truths say of pairs, when an estimate knows labels that are relevant or not, or unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy

import numpy as np

from karat.benchmarks import Benchmark, Direction, Truth, same_side
from karat.errors import InputError
from karat.measures import Measure

KEY_BASE = np.int64(1) << 32
"""A pair as one number: its query times this, plus its item."""


def pair_keys(direction: Direction, query: np.ndarray, item: np.ndarray) -> np.ndarray:
    """Return pairs as numbers; where a collection is searched with its own items, a pair has no order.

    >>> pair_keys("i2i", np.array([1, 2]), np.array([2, 1])) % KEY_BASE
    array([2, 2])
    """
    if same_side(direction):
        query, item = np.minimum(query, item), np.maximum(query, item)
    return query.astype(np.int64) * KEY_BASE + item


def covered_queries(benchmark: Benchmark, direction: Direction, truths: Sequence[Truth]) -> np.ndarray:
    """Return the queries that all truths cover, sorted; raise where there are none."""
    queries = np.arange(benchmark.queries(direction).size)
    names = []
    for truth in truths:
        if truth.folds:
            raise InputError(
                f"truth {truth.name!r} is scored in folds", fix="name a truth that ranks the whole gallery"
            )
        queries = np.intersect1d(queries, np.asarray(truth.queries.get(direction, ()), dtype=np.int64))
        names.append(truth.name)
    if not len(queries):
        which = f"{' and '.join(names)} cover no {direction} query" + (" together" if len(names) > 1 else "")
        raise InputError(which, fix="name other truths, or another direction")
    return queries


def listed_keys(
    truth: Truth,
    direction: Direction,
    queries: np.ndarray,
    size: int,
    rel: float | str | None,
    relevant_only: bool = False,
) -> np.ndarray:
    """Return the pairs of some queries that a truth lists, inside the gallery."""
    if truth.implicit:
        raise InputError(f"truth {truth.name!r} is a rule, which lists no pairs", fix="name another truth")
    judged = truth.judged(direction)
    keep = np.isin(judged.query_of_row, queries) & (judged.item < size)
    if relevant_only:
        keep &= is_relevant(judged.grade, rel, truth)
    return judged.query_of_row[keep] * KEY_BASE + judged.item[keep]


def is_relevant(grade: np.ndarray, rel: float | str | None, truth: Truth) -> np.ndarray:
    """Return which grades are relevant."""
    if rel is None or isinstance(rel, str):
        return grade > 0
    return grade >= (rel / truth.top if rel > 1 else rel)


def labels_of(
    truth: Truth, direction: Direction, query: np.ndarray, item: np.ndarray, rel: float | str | None = None
) -> np.ndarray:
    """Return what a truth says of given pairs: 1 relevant, 0 not, NaN where it lists nothing.

    In a complete truth, and under a rule, what is not listed is not relevant.

    Examples
    --------
    >>> from karat.benchmarks import Judgments, Provenance
    >>> seen = Judgments([0, 0], [0, 1], rating=[1, 0], sources=[Provenance("people")])
    >>> truth = Truth("seen", seen, {"i2t": np.arange(1)})
    >>> labels_of(truth, "i2t", np.array([0, 0, 0]), np.array([0, 1, 2])).tolist()
    [1.0, 0.0, nan]
    """
    if truth.rule is not None:
        return truth.rule.relevant(direction, query, item).astype(np.float64)
    judged = truth.judged(direction)
    keys = judged.query_of_row * KEY_BASE + judged.item
    order = np.argsort(keys)
    wanted = query.astype(np.int64) * KEY_BASE + item
    label = np.full(len(wanted), 0.0 if truth.complete else np.nan)
    if len(keys):
        at = order[np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)]
        listed = keys[at] == wanted
        label[listed] = is_relevant(judged.grade[at[listed]], rel, truth)
    return label


def without_grade(measure: Measure) -> Measure:
    """Return a measure of labels that are 1 or 0 already: `rel` has been applied to them.

    >>> from karat.measures import parse_measure
    >>> without_grade(parse_measure("P(rel=0.5)@10"))
    P@10
    """
    plain = copy(measure)
    if getattr(plain, "rel", None) is not None:
        plain.rel = None
    return plain


def cut_of(measure: Measure) -> int | None:
    """Return the K of a measure that looks at nothing below its first K; None for every other.

    A measure with a cut-off whose normaliser is fixed, such as P@K, looks at nothing below; the number of
    relevant items in RP, AP or nDCG is a sum over all.
    """
    if measure.cutoff is None or not measure.bounded:
        return None
    cut: int | None = getattr(measure, measure.cutoff.name)
    return cut


def check_graded(measure: Measure, truths: Iterable[Truth]) -> None:
    """Raise where labels have grades between 0 and 1 and the measure does not say which are relevant."""
    if getattr(measure, "rel", None) is not None:
        return
    for truth in truths:
        grade = np.zeros(0) if truth.judgments is None else truth.judgments.pairs().grade
        if ((grade > 0) & (grade < 1)).any():
            name = f"{measure}".partition("@")
            written = f"{name[0]}(rel=1){name[1]}{name[2]}"
            raise InputError(
                f"truth {truth.name!r} has grades between 0 and 1, and an estimate is of labels that are "
                f"relevant or not",
                fix=f"say from which grade on, as in {written}, or rel=any",
            )
