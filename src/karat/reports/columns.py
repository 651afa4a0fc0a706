"""The columns of a scorecard as a report reads them: which is the main one, who is best, who beats whom.

The first column is of the most complete labels and of the measure that fits them. A column is found by its
key: truth, direction and measure.
"""

from __future__ import annotations

from collections import Counter
from weakref import WeakKeyDictionary

import numpy as np

from karat.benchmarks import Benchmark, Direction
from karat.reports.material import Material
from karat.scores import Column, Comparison, Difference, Scorecard, Standing, show_places

SUMS_UP = ("mean", "both")
MANY_POSITIVES = "mAP@R"
Key = tuple[str, str, str]
"""Truth, direction and measure."""
NEEDED: WeakKeyDictionary[Standing, int] = WeakKeyDictionary()
"""What `draws_needed` returned: every cell of every table asks."""

INDEXES: WeakKeyDictionary[Scorecard, dict[tuple[Key, str], Column]] = WeakKeyDictionary()
"""The columns of a scorecard by key and run: every cell of every table asks for one."""


def key_of(scored: Column | Standing | Difference) -> Key:
    """Return the truth, direction and measure of a column, or of a result about one."""
    return scored.truth, scored.direction, str(scored.measure)


def ordered_columns(card: Scorecard) -> list[Key]:
    """Return (truth, direction, measure) of every column with a value, the main one first.

    The main column is one that every run has a value in, if there is any, or else most of them. Among these
    it is of the most complete labels, sums up both directions where anything does, and is mAP@R where it
    was computed: with many right answers per query, R@K alone says little.
    """
    having = Counter(key_of(column) for column in card if column.value is not None)
    truths = truths_of(card)

    def place(key: Key) -> tuple[int, bool, bool]:
        truth, direction, measure = key
        fits = truth == truths[0] and measure == MANY_POSITIVES
        return truths.index(truth), direction not in SUMS_UP, not fits

    order = sorted(having, key=place)
    main = max(order, key=lambda key: having[key])
    return [main, *(key for key in order if key != main)]


def truths_of(card: Scorecard) -> list[str]:
    """Return the truths that were scored, the most complete one first."""
    names = list(dict.fromkeys(column.truth for column in card))
    order = {name: completeness(card.benchmark, name) for name in names}
    best = max(names, key=lambda name: order[name])
    return [best, *(name for name in names if name != best)]


def completeness(benchmark: Benchmark, truth: str) -> tuple[bool, bool, bool, float]:
    """Return a sort key of how complete labels are: not by a machine, all judged, listed, positives each."""
    known = benchmark.truth(truth)
    means = [positives_per_query(benchmark, truth, direction).mean() for direction in known.directions]
    return not known.machine, known.complete, not known.implicit, float(max(means))


def positives_per_query(benchmark: Benchmark, truth: str, direction: Direction) -> np.ndarray:
    """Return how many items are relevant to each query of a truth."""
    known = benchmark.truth(truth)
    asked = np.asarray(known.queries[direction], dtype=np.int64)
    if known.rule is not None:
        return np.asarray(known.rule.positives(direction, asked))
    rows = known.judged(direction)
    query = np.repeat(np.arange(len(asked)), np.diff(rows.ptr))
    return np.bincount(query[rows.grade > 0], minlength=len(asked))


def column_of(card: Scorecard, key: Key, run: str) -> Column | None:
    """Return a run's column, or None where it has none."""
    if card not in INDEXES:
        # Turned round, since of equal keys the first column counts.
        INDEXES[card] = {(key_of(column), column.run): column for column in reversed(card.columns)}
    return INDEXES[card].get((key, run))


def ranked(card: Scorecard, key: Key) -> list[Column]:
    """Return the columns of all runs that have a value, best first."""
    columns = {run: column_of(card, key, run) for run in card.runs}
    order = by_score(card.runs, list(columns.values()))
    return [c for run in order if (c := columns[run]) is not None and c.value is not None]


def by_score(runs: list[str], columns: list[Column | None]) -> list[str]:
    """Return the runs, best first; those without a value last."""

    def goodness(at: int) -> float:
        column = columns[at]
        if column is None or column.value is None:
            return -np.inf
        return column.value if column.measure.better == "high" else -column.value

    return [runs[at] for at in sorted(range(len(runs)), key=goodness, reverse=True)]


def standing_at(material: Material, key: Key) -> Standing | None:
    """Return who beats whom in a column; None where nothing was tested."""
    if material.comparison is None:
        return None
    for standing in material.comparison.standings:
        if standing.tested and key_of(standing) == key:
            return standing
    return None


def standing_of(material: Material, column: Column | None) -> tuple[bool, str]:
    """Return whether no run is shown to be better in a column, and the places that it can have.

    Neither is returned for a test with too few draws to separate any systems.
    """
    if column is None or material.comparison is None:
        return False, ""
    for standing in material.comparison.standings:
        if key_of(standing) == key_of(column):
            if draws_needed(material, standing):
                return False, ""
            places = standing.places.get(column.run)
            return column.run in standing.first, "" if places is None else show_places(places)
    return False, ""


def draws_needed(material: Material, standing: Standing) -> int:
    """Return how many draws could show a difference; 0 where there were enough.

    The smallest p-value of S swaps is 1/(S + 1), of S resamples 2/(S + 1), and Holm multiplies it by the
    number of pairs: with too few draws, none is shown to be better.
    """
    comparison = material.comparison
    if comparison is None or not standing.tested or standing.beats.any():
        return 0
    if standing not in NEEDED:
        NEEDED[standing] = count_draws(comparison, standing)
    return NEEDED[standing]


def count_draws(comparison: Comparison, standing: Standing) -> int:
    """Return how many draws could show a difference on a column where no run beats another."""
    if comparison.test == "randomisation":
        least, draws = 1, comparison.samples
    elif comparison.test == "bootstrap" and comparison.card.intervals is not None:
        least, draws = 2, comparison.card.intervals.resamples
    else:
        return 0
    pairs = len(standing.runs) * (len(standing.runs) - 1) // 2
    if comparison.correction == "all":
        pairs = len(comparison.differences)
    if pairs * least / (draws + 1) <= comparison.alpha:
        return 0
    key = key_of(standing)
    seen = [d.p for d in comparison.differences if d.p is not None and key_of(d) == key]
    # A pair that differs as much as the draws can show: more of them could tell.
    return (
        round(2 * least * pairs / comparison.alpha) if seen and min(seen) <= 1.5 * least / (draws + 1) else 0
    )
