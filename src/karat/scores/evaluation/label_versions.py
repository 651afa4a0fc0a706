"""Many versions of the labels, scored from one pass over each run.

Labels are incomplete and noisy, so it matters what scores would be under others: under the labels that some
of the annotators found, or under grades drawn from a posterior. Where a run ranks the labelled items does not
depend on their grades. So each run is asked once (`place_labels`), and a version of the labels is a row of
grades.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from karat.benchmarks import Benchmark, Direction, JudgedItems, Pairs, Truth, pair_of
from karat.errors import InputError
from karat.measures import MEAN, ColumnKey, Measure, Ranked, TiePolicy, resolve
from karat.runs import Run
from karat.scores.evaluation.columns import named_apart
from karat.scores.evaluation.options import check_of_labels
from karat.scores.evaluation.shared_pairs import KEY_BASE, SharedPairs
from karat.scores.trec_eval import aligned
from karat.stats import divide

BLOCK = 1 << 22
"""How many grades are scored at a time: 32 MB."""

Grades = np.ndarray | Iterable[np.ndarray]
"""Versions of the labels: grades [V, J], at once or as blocks of some versions each."""


def place_labels(
    runs: Sequence[Run],
    benchmark: Benchmark,
    truths: Sequence[str | Truth],
    *,
    directions: Sequence[Direction] | None = None,
    ties: TiePolicy = "pessimistic",
    threads: int | None = None,
) -> dict[str, PlacedLabels]:
    """Ask each run once where it ranks the labelled items of one or several truths.

    Parameters
    ----------
    runs, benchmark
        What is scored.
    truths
        Truths that list their pairs, by name or as they are. Their own grades do not matter here.
    directions
        Which, all of the benchmark's by default; every run must have rankings for them.
    ties
        What happens to equal scores, as in `karat.evaluate`. What a truth does not list counts as a miss.
    threads
        How many; all by default.

    Returns
    -------
    dict of PlacedLabels
        By the truth's name.

    Examples
    --------
    A caption fits its own image; whether the next one fits too is uncertain:

    >>> from karat.benchmarks import Ids, Judgments, Provenance
    >>> from karat.runs import MatrixRun
    >>> pairs = Judgments([0, 0, 1], [0, 1, 1], sources=[Provenance("original")])
    >>> truth = Truth("own", pairs, {"i2t": np.arange(2)})
    >>> bench = Benchmark("tiny", Ids([7, 8], kind="image"), Ids([0, 1], kind="caption"), {"own": truth})
    >>> run = MatrixRun(np.array([[0.1, 0.9], [0.2, 0.8]]), "mine")
    >>> placed = place_labels([run], bench, ["own"], directions=["i2t"])["own"]
    >>> grades = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    >>> from karat.measures import parse_measure
    >>> placed.values(grades, "mine", "i2t", parse_measure("R@1")).tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    by_name = {t.name: t for t in (benchmark.truth(t) if isinstance(t, str) else t for t in truths)}
    ways = benchmark.directions if directions is None else directions
    judged = {name: judged_folds(truth, benchmark, ways) for name, truth in by_name.items()}
    pairs = {name: listed_pairs(truth) for name, truth in by_name.items()}
    rows = {
        (name, direction): [(items, pair_of_row(items, pairs[name])) for items in group]
        for name, groups in judged.items()
        for direction, group in groups.items()
    }
    shared = SharedPairs([items for group in rows.values() for items, _ in group])
    folds: dict[str, dict[tuple[str, Direction], list[PlacedFold]]] = {name: {} for name in by_name}
    for run in named_apart(list(runs)):
        ordered = aligned(run, benchmark, ties)
        check_ranked(ordered, (direction for _, direction in rows))
        counted = shared.spread(ordered.place(shared.distinct, threads))
        for (name, direction), group in rows.items():
            folds[name][run.name, direction] = [
                place_fold(counted[items], pair, ties) for items, pair in group
            ]
    names = tuple(run.name for run in runs)
    return {name: PlacedLabels(name, pairs[name], names, judged[name], folds[name]) for name in by_name}


def judged_folds(
    truth: Truth, benchmark: Benchmark, directions: Sequence[Direction]
) -> dict[Direction, Sequence[JudgedItems]]:
    """Return the judged items of each fold, in the directions in which a truth has queries."""
    return {
        direction: truth.judged_by_fold(direction, benchmark.items(direction).size)
        for direction in directions
        if len(truth.queries.get(direction, ()))
    }


def check_ranked(run: Run, directions: Iterable[Direction]) -> None:
    """Raise where a run has no rankings in a direction."""
    for direction in directions:
        if direction not in run.directions:
            fix = "give a run of both directions, or ask for the other direction alone"
            raise InputError(f"has no {direction} rankings", where=run.where or run.name, fix=fix)


@dataclass(frozen=True, eq=False)
class PlacedLabels:
    """Where runs rank the labelled items of one truth, to be scored under any grades of its pairs.

    `place_labels` makes it. Grades have one row per version and one column per pair of `pairs`, in that
    order, whatever the direction; 0 is not relevant.

    Parameters
    ----------
    truth
        Its name.
    pairs
        The labelled pairs, sorted by image, then caption, with the truth's own grades.
    runs
        The names of the runs.
    judged
        Per direction, the judged items of each fold.
    folds
        Per run and direction, where the labelled items of each fold are.
    """

    truth: str
    pairs: Pairs
    runs: tuple[str, ...]
    judged: Mapping[Direction, Sequence[JudgedItems]]
    folds: Mapping[tuple[str, Direction], Sequence[PlacedFold]]

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions that have queries."""
        return tuple(self.judged)

    def queries(self, direction: Direction) -> np.ndarray:
        """Return the queries of a direction as indices, fold by fold."""
        return np.concatenate([items.queries for items in self.judged[direction]])

    def values(
        self,
        grades: Grades,
        run: str,
        direction: Direction,
        measure: Measure,
        counted_under: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the values per query of one run under every version, [V, Q]; NaN where undefined.

        Parameters
        ----------
        grades
            The versions, [V, J], or blocks of them.
        run, direction, measure
            What is scored.
        counted_under
            Grades [J] under which a query that has a value counts in every version: as 0 where the version
            leaves it without one. By default it is left out there, as `karat.evaluate` leaves it out.
        """
        return np.concatenate(
            [
                np.concatenate(self._fold_values(block, run, direction, measure, counted_under), axis=1)
                for block in self._blocks(grades)
            ]
        )

    def aggregates(
        self, grades: Grades, measures: Iterable[Measure], counted_under: np.ndarray | None = None
    ) -> dict[ColumnKey, np.ndarray]:
        """Return the score of every run under every version, [V, runs], by measure and direction.

        It is the mean over folds of the measure's mean or median, NaN where nothing is defined. The parts of
        a combination such as RSUM are found by their keys. See `values` for the parameters; of each block of
        versions nothing but the scores is kept.
        """
        measures = list(measures)
        out: dict[ColumnKey, list[np.ndarray]] = {}
        for block in self._blocks(grades):
            for direction in self.directions:
                for measure in measures:
                    columns = [
                        aggregate_rows(
                            measure, self._fold_values(block, run, direction, measure, counted_under)
                        )
                        for run in self.runs
                    ]
                    key = ColumnKey(measure, self.truth, direction)
                    out.setdefault(key, []).append(np.stack(columns, axis=1))
        return {key: np.concatenate(blocks) for key, blocks in out.items()}

    def _blocks(self, grades: Grades) -> Iterator[np.ndarray]:
        if isinstance(grades, np.ndarray):
            return (grades[part] for part in version_blocks(len(grades), len(self.pairs)))
        return iter(grades)

    def _fold_values(
        self,
        grades: np.ndarray,
        run: str,
        direction: Direction,
        measure: Measure,
        counted_under: np.ndarray | None,
    ) -> list[np.ndarray]:
        """Return the values per query of each fold, [V, Q]."""
        check_of_labels(measure)
        out = []
        for fold in self.folds[run, direction]:
            ranked = fold.ranked(grades)
            shape = (len(grades), ranked.n_queries)
            unanswered = np.broadcast_to(measure.unanswered(ranked), shape).any(axis=0)
            if unanswered.any():
                raise InputError(
                    f"{measure} needs more places than are known, for {int(unanswered.sum()):,} of "
                    f"{ranked.n_queries:,} queries ({direction})",
                    where=run,
                    fix="give the whole runs (--run), or ask for a measure of the first places such as R@1",
                )
            values = np.broadcast_to(measure(ranked), shape)
            if counted_under is not None:
                # A measure that asks for grade 1 has no value for queries with part grades alone.
                defined = ~np.isnan(measure(fold.ranked(counted_under)))
                values = np.where(np.isnan(values) & defined, 0.0, values)
            out.append(values)
        return out


@dataclass(frozen=True, eq=False)
class PlacedFold:
    """Where one run ranks the labelled items of one fold.

    Parameters
    ----------
    pair
        Per row, the number of its pair.
    places
        `Ranked` where no grade can change a place, its rows as `pair` has them; otherwise the items with
        their counts.
    ties
        How equal scores are resolved, which may depend on the grades.
    """

    pair: np.ndarray
    places: Ranked | JudgedItems
    ties: TiePolicy

    def ranked(self, grades: np.ndarray) -> Ranked:
        """Return what measures see under grades [..., J] of the pairs."""
        graded = replace(self.places, grade=grades[..., self.pair])
        return graded if isinstance(graded, Ranked) else resolve(graded, self.ties)


def place_fold(items: JudgedItems, pair: np.ndarray, ties: TiePolicy) -> PlacedFold:
    """Put the rows of a fold in the order of their places, where these do not depend on grades."""
    if ties not in ("stable", "trec_eval") and (items.tied[items.above >= 0] > 0).any():
        return PlacedFold(pair, items, ties)
    # Row numbers instead of grades come back sorted by place, and so tell where each row went.
    ranked = resolve(replace(items, grade=np.arange(len(pair), dtype=np.float64)), "stable")
    return PlacedFold(pair[ranked.grade.astype(np.int64)], ranked, ties)


def labels_placed(
    truth: Truth, counted: Mapping[tuple[str, Direction], Sequence[JudgedItems]], ties: TiePolicy
) -> PlacedLabels:
    """Return the labels of a truth that runs have placed already, by run and direction, fold by fold."""
    pairs = listed_pairs(truth)
    return PlacedLabels(
        truth.name,
        pairs,
        tuple(dict.fromkeys(run for run, _ in counted)),
        {direction: group for (_, direction), group in counted.items()},
        {
            key: [place_fold(items, pair_of_row(items, pairs), ties) for items in group]
            for key, group in counted.items()
        },
    )


def listed_pairs(truth: Truth) -> Pairs:
    """Return the pairs of a truth, or raise for a rule, which lists none."""
    if truth.judgments is None:
        raise InputError(f"truth {truth.name!r} is a rule, which lists no pairs")
    return truth.judgments.pairs()


def pair_of_row(items: JudgedItems, pairs: Pairs) -> np.ndarray:
    """Return the number of the pair that each judged row is."""
    image, caption = pair_of(items.direction, items.query_of_row, items.item)
    keys = pairs.image.astype(np.int64) * KEY_BASE + pairs.caption
    return np.searchsorted(keys, image * KEY_BASE + caption)


def version_blocks(versions: int, pairs: int) -> Iterator[slice]:
    """Yield the versions that are scored at a time, so that their grades take bounded memory.

    >>> [(part.start, part.stop) for part in version_blocks(5, pairs=1 << 21)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, BLOCK // max(1, pairs))
    return (slice(begin, min(begin + step, versions)) for begin in range(0, versions, step))


def aggregate_rows(measure: Measure, folds: Sequence[np.ndarray]) -> np.ndarray:
    """Return the aggregate of each row of values [V, Q], the mean over folds: [V]."""
    per_fold = [
        row_means(values)
        if measure.aggregate is MEAN
        else np.array([measure.aggregate(row)[0] for row in values])
        for values in folds
    ]
    return row_means(np.stack(per_fold, axis=1))


def row_means(values: np.ndarray) -> np.ndarray:
    """Return the mean of what is defined in each row; NaN where nothing is.

    >>> row_means(np.array([[1.0, np.nan], [0.5, 0.0]])).tolist()
    [1.0, 0.25]
    """
    known = ~np.isnan(values)
    return divide(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1))
