"""Label uncertainty: intervals that hold for queries and for labels.

A published label is the more probable of two; where annotators disagreed, the other one may be right. So the
labels are drawn from their probabilities, again and again (`karat.benchmarks.UncertainRatings`), and every
draw of the queries scores the runs under one version of the labels. Where a run ranks an item does not depend
on labels: the runs are not read again.

A probability comes from the answers about a pair. Where a run ranks the pair says more: of pairs with the
same answers, those that a good run ranks first are relevant more often. Labels that were drawn without regard
to the ranking would blur it, and every good run would look worse than it is. So each run's labels are drawn
from probabilities given the answers and its own ranking (`relevance_by_place`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from karat._util import plural
from karat.benchmarks import Direction, UncertainRatings, direction_title
from karat.measures import Measure, is_in_percent, show_value
from karat.scores.column import Column
from karat.scores.column_intervals import ColumnSamples, with_ends
from karat.scores.evaluation.columns import Scoring
from karat.scores.evaluation.label_versions import (
    PlacedLabels,
    labels_placed,
    pair_of_row,
    version_blocks,
)
from karat.scores.scorecard import Scorecard

MOST_NAMED = 3
"""How many columns a note names."""
BINS = np.array([1, 2, 3, 5, 9, 17, 33])
"""Where bins of places begin; a place that is not known has a bin of its own."""
RIDGE = 1.0
"""The weight of the assumption that places tell nothing: as much as a few answers."""
ROUNDS, TOLERANCE = 500, 1e-8


def with_label_uncertainty(card: Scorecard, scoring: Scoring) -> Scorecard:
    """Return the scorecard with intervals over queries and labels.

    Parameters
    ----------
    card
        The scores under the published labels.
    scoring
        The evaluation behind it: its options, and where the runs rank the labelled items.
    """
    options = scoring.options
    assert options.intervals is not None
    if all(column.value is None for column in card):
        return card
    column_samples = ColumnSamples(card.columns)
    versions = LabelVersions(scoring, column_samples.leaves)
    scores: list[np.ndarray] = []

    def samples() -> Iterator[Callable[[np.ndarray], np.ndarray]]:
        for values in versions:
            version = column_samples.with_values(values)
            scores.append(version.values())
            yield version.resampled

    draws = options.intervals.draw_versions(samples(), options.label_versions, column_samples.clusters)
    low, high, methods = column_samples.ends(options.intervals, draws, None)
    by_labels, by_both = deviations(np.stack(scores, axis=1)), deviations(draws)
    # What replaces the draws of few images knows the published labels alone: where labels move a score, it is
    # never narrower than the draws.
    replaced = [t for t, method in enumerate(methods) if method is not None and by_labels[t] > 1e-12]
    drawn = options.intervals.ends(column_samples.values(), draws, None)
    low[replaced] = np.fmin(low, drawn[0])[replaced]
    high[replaced] = np.fmax(high, drawn[1])[replaced]
    open_ended = [
        t for t in range(len(low)) if not versions.unanswered.isdisjoint(column_samples.leaves_of(t))
    ]
    low[open_ended] = high[open_ended] = np.nan
    made = with_ends(card, column_samples, options.intervals, low, high, methods)
    spread = {
        column: (float(own), float(both))
        for t, (column, own, both) in enumerate(zip(column_samples.columns, by_labels, by_both))
        if t not in open_ended and np.isfinite(own)
    }
    # `with_ends` replaces columns, in their order.
    columns = [
        replace(column, label_spread=spread[before][0]) if before in spread else column
        for before, column in zip(card.columns, made.columns)
    ]
    notes = [
        *label_notes(scoring),
        *spread_notes(spread),
        *outside_notes(columns),
        *open_notes([column_samples.columns[t] for t in open_ended]),
    ]
    return replace(made, columns=columns, notes=[*made.notes, *notes], label_versions=options.label_versions)


class LabelVersions:
    """The values per query under versions of the labels, one version at a time.

    Parameters
    ----------
    scoring
        Where the runs rank the labelled items.
    leaves
        The columns whose values are computed again.

    Attributes
    ----------
    unanswered
        Once all versions were seen: the columns that under some version depend on places that are not known.
    """

    def __init__(self, scoring: Scoring, leaves: Sequence[Column]) -> None:
        self.scoring = scoring
        self.unanswered: set[Column] = set()
        self._size = sum(len(leaf.values) for leaf in leaves if leaf.values is not None)
        self._leaves: dict[tuple[str, str, Direction], list[Column]] = {}
        for leaf in leaves:
            self._leaves.setdefault((leaf.truth, leaf.run, leaf.direction), []).append(leaf)

    def __iter__(self) -> Iterator[dict[Column, np.ndarray]]:
        options = self.scoring.options
        assert options.intervals is not None
        placed = self._placed()
        everything = list(options.benchmark.truths)
        # A stream of its own for each truth, whichever others are scored, and none that draws queries.
        rngs = {
            name: np.random.default_rng([options.intervals.seed, 1 + everything.index(name)])
            for name in placed
        }
        pairs = sum(len(labels.pairs) for labels in placed.values())
        tables = {name: options.benchmark.truth(name).judgments for name in placed}
        ratings = {name: table.uncertain for name, table in tables.items() if table is not None}
        fits = {key: self._fit(ratings[key[0]], placed[key[0]], key[1]) for key in self._runs()}
        for part in version_blocks(options.label_versions, max(pairs, self._size)):
            values: dict[Column, np.ndarray] = {}
            luck = {name: ratings[name].luck(part.stop - part.start, rngs[name]) for name in placed}
            for name, run in self._runs():
                grades = ratings[name].draw(luck[name], fits[name, run])
                for (truth, other, direction), leaves in self._leaves.items():
                    if (truth, other) == (name, run):
                        values |= self._values(placed[name], run, direction, leaves, grades)
            for version in range(part.stop - part.start):
                yield {leaf: table[version] for leaf, table in values.items()}

    def _runs(self) -> list[tuple[str, str]]:
        """Return every truth with every run."""
        return list(dict.fromkeys((truth, run) for truth, run, _ in self._leaves))

    def _fit(self, ratings: UncertainRatings, labels: PlacedLabels, run: str) -> np.ndarray:
        """Return the probability of each rating, given where the run ranks its pair."""
        places = []
        for direction in labels.directions:
            place = np.zeros(len(labels.pairs))
            for items in self.scoring.placed.get((labels.truth, run, direction), ()):
                known = items.above >= 0
                # The middle of the places that tied items share.
                place[pair_of_row(items, labels.pairs)[known]] = (items.above + 1 + items.tied / 2)[known]
            places.append(place[ratings.pair[ratings.free]])
        probability = ratings.probability.copy()
        probability[ratings.free] = relevance_by_place(probability[ratings.free], places)
        return probability

    def _placed(self) -> dict[str, PlacedLabels]:
        """Return the labels of every truth, where the runs rank them."""
        options, placed = self.scoring.options, self.scoring.placed
        return {
            name: labels_placed(
                options.benchmark.truth(name),
                {
                    (run, direction): group
                    for (truth, run, direction), group in placed.items()
                    if truth == name
                },
                options.ties,
            )
            for name in dict.fromkeys(truth for truth, _, _ in placed)
        }

    def _values(
        self,
        labels: PlacedLabels,
        run: str,
        direction: Direction,
        leaves: Sequence[Column],
        grades: np.ndarray,
    ) -> dict[Column, np.ndarray]:
        """Return the values per query of some columns under some versions, [V, Q]."""
        folds: dict[Column, list[np.ndarray]] = {leaf: [] for leaf in leaves}
        for fold in labels.folds[run, direction]:
            ranked = fold.ranked(grades)
            shape = (len(grades), ranked.n_queries)
            for leaf in leaves:
                assert isinstance(leaf.measure, Measure)
                if leaf.measure.unanswered(ranked).any():
                    self.unanswered.add(leaf)
                folds[leaf].append(np.broadcast_to(leaf.measure(ranked), shape))
        return {leaf: np.concatenate(tables, axis=1) for leaf, tables in folds.items()}


def deviations(draws: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each row, NaN left out; NaN with fewer than two, or infinite ones.

    >>> deviations(np.array([[1.0, 3.0, np.nan], [1.0, np.inf, np.inf]])).tolist()
    [1.0, nan]
    """
    known = ~np.isnan(draws)
    count = np.maximum(known.sum(axis=1), 1)
    finite = np.where(np.isfinite(draws), draws, 0.0)
    middle = finite.sum(axis=1) / count
    squares = np.where(known, (finite - middle[:, None]) ** 2, 0.0).sum(axis=1) / count
    return np.where((count > 1) & ~np.isinf(draws).any(axis=1), np.sqrt(squares), np.nan)


def label_notes(scoring: Scoring) -> list[str]:
    """Return the sentence on what was drawn."""
    options = scoring.options
    counts = []
    for name in dict.fromkeys(truth for truth, _, _ in scoring.placed):
        judgments = options.benchmark.truth(name).judgments
        assert judgments is not None
        counts.append(
            f"{judgments.uncertain.n_pairs:,} of {plural(len(judgments.pairs()), 'pair')} of {name}"
        )
    return [
        f"intervals hold for queries and labels: {plural(options.label_versions, 'version')} of the labels "
        f"were drawn from their probabilities, in which {' and '.join(counts)} are uncertain; "
        "scores are those of the published labels"
    ]


def spread_notes(spread: dict[Column, tuple[float, float]]) -> list[str]:
    """Return, per truth, how much of the intervals is due to labels."""
    notes = []
    for truth in dict.fromkeys(column.truth for column in spread):
        shares = {
            column: (own / both) ** 2
            for column, (own, both) in spread.items()
            if column.truth == truth and np.isfinite(both) and both > 0
        }
        if not shares:
            continue
        most = max(shares, key=lambda column: shares[column])
        own = show_value(most.measure, spread[most][0])
        points = " points" if is_in_percent(most.measure) else ""
        low, high = (f"{100 * min(1.0, end):.0f}%" for end in (min(shares.values()), max(shares.values())))
        between = high if low == high else f"{low} to {high}"
        notes.append(
            f"{truth}: labels alone make up {between} of the variance behind the intervals, most of "
            f"{named(most)}, where their standard deviation is {own}{points}"
        )
    return notes


def outside_notes(columns: Sequence[Column]) -> list[str]:
    """Return which scores do not lie in their own intervals, and why that can be."""
    outside = [
        c
        for c in columns
        if c.value is not None and c.low is not None and c.high is not None and not c.low <= c.value <= c.high
    ]
    if not outside:
        return []
    more = f" and {len(outside) - MOST_NAMED} more" if len(outside) > MOST_NAMED else ""
    return [
        f"{', '.join(map(named, outside[:MOST_NAMED]))}{more}: the score lies outside of its interval, since "
        "errors of the published labels move it in one direction; trust the interval"
    ]


def open_notes(columns: Sequence[Column]) -> list[str]:
    """Return which intervals are left out because rankings end too early for some version of the labels."""
    return [
        f"{named(column)}: no interval, since under some of the drawn labels the rankings end too early"
        for column in columns
    ]


def named(column: Column) -> str:
    """Return how a note calls a column."""
    return f"{column.measure} ({direction_title(column.direction)}) of {column.run}"


def relevance_by_place(probability: np.ndarray, places: Sequence[np.ndarray]) -> np.ndarray:
    """Return the probability that each pair is relevant, given the answers and its places in a run.

    The answers about pair i give the probability p_i that it is relevant, where every pair has the same
    chance before it is judged: the mean p of all. So they support "relevant" by the factor
    L_i = (p_i / (1 − p_i)) / (p / (1 − p)). Let instead that chance depend on where a run ranks the pair,
    logit π_i = a + Σ_d b_d[bin of the place in direction d]. The coefficients are those that make the
    answers most probable, Σ_i log(π_i L_i + 1 − π_i) − (ridge / 2) Σ b², by EM with a Newton step of the
    logistic regression in each round; and q_i = π_i L_i / (π_i L_i + 1 − π_i). Without coefficients b it is
    p_i again.

    The run is not believed: what its places are worth is estimated from the answers. It holds if annotators
    err independently of the run, given what is true; a machine judge that is the run's own model does not.

    Parameters
    ----------
    probability
        Given the answers alone, above 0 and below 1.
    places
        Per direction, the place of each pair, counted from 1; 0 where it is not known.

    Examples
    --------
    Half of the pairs are probably relevant, and a run ranks them first; where the answers leave it open, its
    place tells:

    >>> probability = np.array([0.95] * 40 + [0.05] * 40 + [0.5] * 2)
    >>> place = np.array([1] * 40 + [20] * 40 + [1, 20])
    >>> relevance_by_place(probability, [place])[[0, 40, 80, 81]].round(2).tolist()
    [1.0, 0.0, 0.93, 0.07]
    """
    from scipy.special import expit, logit

    if not len(probability):
        return probability
    columns = [np.ones((len(probability), 1))]
    for place in places:
        columns.append(np.eye(len(BINS) + 1)[np.searchsorted(BINS, place, side="right")])
    table = np.concatenate(columns, axis=1)
    before = logit(probability.mean())
    support = logit(probability) - before
    weights = np.zeros(table.shape[1])
    weights[0] = before
    ridge = np.full(len(weights), RIDGE)
    ridge[0] = 0.0
    for _ in range(ROUNDS):
        chance = expit(table @ weights)
        slope = table.T @ (expit(table @ weights + support) - chance) - ridge * weights
        curvature = (table * (chance * (1 - chance))[:, None]).T @ table + np.diag(ridge)
        # Where nearly all pairs are on one side the curvature is flat, and a whole step goes too far.
        step = np.clip(np.linalg.solve(curvature, slope), -2, 2)
        weights += step
        if np.abs(step).max() < TOLERANCE:
            break
    return expit(table @ weights + support)
