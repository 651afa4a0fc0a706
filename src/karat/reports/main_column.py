"""Which of many columns speaks first: the most complete labels, and the measure that fits them."""

from __future__ import annotations

from collections import Counter

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark
from karat.scores import Column, Scorecard

SUMS_UP = ("mean", "both")
MANY_POSITIVES = "mAP@R"


def positives_per_query(benchmark: Benchmark, truth: str, direction: str) -> np.ndarray:
    """Return how many items are relevant to each query of a truth."""
    known = benchmark.truth(truth)
    asked = np.asarray(known.queries.get(direction, np.empty(0)), dtype=np.int64)  # type: ignore[call-overload]
    if known.rule is not None:
        return np.asarray(known.rule.positives(direction, asked))  # type: ignore[arg-type]
    rows = known.judged(direction)  # type: ignore[arg-type]
    query = np.repeat(np.arange(len(asked)), np.diff(rows.ptr))
    return np.bincount(query[rows.grade > 0], minlength=len(asked))


def completeness(benchmark: Benchmark, truth: str) -> tuple[bool, bool, bool, float]:
    """Return how good labels are, to be compared: no machine's, all judged, listed, positives each."""
    known = benchmark.truth(truth)
    counts = [positives_per_query(benchmark, truth, direction) for direction in DIRECTIONS]
    means = [float(count.mean()) for count in counts if len(count)]
    return not known.machine, known.complete, not known.implicit, max(means)


def truths_of(card: Scorecard) -> list[str]:
    """Return the truths that were scored, the most complete one first."""
    names = list(dict.fromkeys(column.truth for column in card))
    order = {name: completeness(card.benchmark, name) for name in names}
    best = max(names, key=lambda name: order[name])
    return [best, *(name for name in names if name != best)]


def ordered_columns(card: Scorecard) -> list[tuple[str, str, str]]:
    """Return (truth, direction, measure) of every column with a value, the main one first.

    The main column is one that every run has a value in, if there is any, or else most of them. Among these
    it is of the most complete labels, sums up both directions where anything does, and is mAP@R where it
    was computed: with many right answers per query, R@K alone says little.
    """
    having = Counter((c.truth, c.direction, str(c.measure)) for c in card if c.value is not None)
    truths = truths_of(card)
    main_truth = truths[0]

    def place(key: tuple[str, str, str]) -> tuple[int, bool, bool]:
        truth, direction, measure = key
        wanted = truth == main_truth and measure == MANY_POSITIVES
        return truths.index(truth), direction not in SUMS_UP, not wanted

    order = sorted(having, key=place)
    main = max(order, key=lambda key: having[key])
    return [main, *(key for key in order if key != main)]


def column_of(card: Scorecard, key: tuple[str, str, str], run: str) -> Column | None:
    """Return a run's column, or None where it has none."""
    for column in card.columns:
        if (column.run, column.truth, column.direction, str(column.measure)) == (run, *key):
            return column
    return None
