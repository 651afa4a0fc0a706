"""Subsets of a pool's models: the labels that each would have produced, and every model's score on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from karat._util import track
from karat.benchmarks import Benchmark, Direction, Fold, Judgments, Pairs, Provenance, Share, Truth
from karat.errors import InputError
from karat.forms import Pool, key_of, split_key
from karat.judging.bias.bias import mean_values
from karat.judging.publication import SIDES, asking, valid_fold, valid_items, valid_pairs
from karat.measures import Measure, Named, parse_measure
from karat.runs import Run
from karat.scores import place_labels, similarities_of, version_blocks
from karat.stats import check_count, check_seed

MOST = 10
"""Up to this number of models all subsets are taken: 1,023 for ten models."""
Key = tuple[Direction, str]
"""A direction and the name of a measure."""


@dataclass(frozen=True, eq=False)
class Subsets:
    """Subsets of models, small ones first.

    Parameters
    ----------
    inside
        Which models are in each subset, as booleans [subsets, models]. The last subset is all models.
    complete
        Whether these are all subsets, or a random sample of each size.
    """

    inside: np.ndarray
    complete: bool

    def __len__(self) -> int:
        return len(self.inside)

    @property
    def size(self) -> np.ndarray:
        """How many models each subset has."""
        return self.inside.sum(axis=1)


def choose_subsets(systems: int, *, empty: bool = False, per_size: int = 50, seed: int = 0) -> Subsets:
    """Return all subsets of up to ten models, and a sample of the subsets of more.

    With more than ten models, sizes with more than `per_size` subsets are sampled uniformly, without
    duplicates. The subsets of one model, of all but one, and of all models are never sampled.

    Parameters
    ----------
    systems
        The number of models.
    empty
        Whether to start with the empty subset, which has the original labels only.
    per_size, seed
        How many subsets of each size a sample has, and its seed.

    Examples
    --------
    >>> choose_subsets(3).inside.astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]]
    >>> len(choose_subsets(5)), len(choose_subsets(12)), choose_subsets(12).complete
    (31, 475, False)
    """
    check_count("per_size", per_size, usual=50)
    check_seed(seed)
    if systems < 1:
        raise InputError("the pool has no models", fix="give a pool of at least one model")
    rng = np.random.default_rng(seed)
    rows: list[tuple[int, ...]] = [()] if empty else []
    complete = True
    for size in range(1, systems + 1):
        few = comb(systems, size) <= max(per_size, systems)
        if systems <= MOST or few:
            rows += combinations(range(systems), size)
            continue
        complete = False
        drawn: set[tuple[int, ...]] = set()
        while len(drawn) < per_size:
            drawn.add(tuple(np.sort(rng.permutation(systems)[:size]).tolist()))
        rows += sorted(drawn)
    inside = np.zeros((len(rows), systems), bool)
    for number, row in enumerate(rows):
        inside[number, list(row)] = True
    return Subsets(inside, complete)


@dataclass(frozen=True, eq=False)
class SuggestedLabels:
    """Judged pairs with the models that suggested them, and the pairs that were known before.

    Parameters
    ----------
    image, caption
        The pairs, each once, sorted by image, then caption.
    original
        The grade that was known before anything was pooled; 0 where none was.
    found
        The grade that the annotators gave; 0 where the pair was not judged.
    by
        Which models suggested each pair, as booleans [pairs, models]; none for pairs that were not judged.
    systems
        The names of the models.
    """

    image: np.ndarray
    caption: np.ndarray
    original: np.ndarray
    found: np.ndarray
    by: np.ndarray
    systems: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.image)

    def under(self, inside: np.ndarray) -> np.ndarray:
        """Return the grades of all pairs under each subset, [subsets, pairs]; 0 where it has no label."""
        # A product of floats is much faster than one of booleans.
        suggested = inside.astype(np.float32) @ self.by.T.astype(np.float32) > 0
        return np.maximum(self.original, np.where(suggested, self.found, 0.0))

    def unique(self, system: int) -> tuple[int, int]:
        """Return how many judged pairs only this model suggested, and how many of them are new positives."""
        alone = self.by[:, system] & (self.by.sum(axis=1) == 1)
        return int(alone.sum()), int((alone & (self.found > 0) & (self.original == 0)).sum())


def suggested_labels(pool: Pool, judged: Pairs, original: Pairs | None = None) -> SuggestedLabels:
    """Join the pool with the judgments of its pairs.

    A model's labels are the judged pairs that it ranked within the pool's depth, in either direction: pairs
    have no direction. Judged pairs that no model suggested (hidden gold, pairs that fill up a grid) belong to
    no subset.

    Parameters
    ----------
    pool
        The pool, with the models that suggested each pair.
    judged
        The judged pairs with one grade each, 0 for not relevant.
    original
        The pairs that were known before, such as captions with the images that they were written for. They
        belong to every subset, so that they cannot cause a difference; where such a pair was judged too, the
        higher grade counts. None: only judged pairs count.

    Examples
    --------
    >>> places = [np.array(column) for column in ([0, 1, 1], [0, 0, 1], [1, 1, 1], [1, 2, 1])]
    >>> pool = Pool(np.array([0, 1]), np.array([0, 0]), np.zeros(2), ("a", "b"), *places, np.zeros(3))
    >>> labels = suggested_labels(pool, Pairs(np.array([0, 1]), np.array([0, 0]), np.array([1.0, 0.5])))
    >>> labels.under(np.array([[True, False], [False, True]])).tolist()
    [[1.0, 0.5], [0.0, 0.5]]
    """
    known = Pairs(*(np.zeros(0),) * 3) if original is None else original
    pooled, asked, before = (key_of(part.image, part.caption) for part in (pool, judged, known))
    for keys, kind in ((asked, "judged"), (before, "original")):
        if len(np.unique(keys)) < len(keys):
            raise InputError(f"the {kind} pairs contain a duplicate", fix="give one grade for each pair")
    suggested = np.zeros((len(pool), len(pool.systems)), bool)
    suggested[pool.place_pair, pool.place_system] = True
    labelled = np.isin(pooled, asked) & suggested.any(axis=1)
    positive = known.grade > 0
    keys = np.union1d(pooled[labelled], before[positive])
    by = np.zeros((len(keys), len(pool.systems)), bool)
    by[np.searchsorted(keys, pooled[labelled])] = suggested[labelled]
    original_grade, found = np.zeros(len(keys)), np.zeros(len(keys))
    original_grade[np.searchsorted(keys, before[positive])] = known.grade[positive]
    kept = np.isin(asked, pooled[labelled])
    found[np.searchsorted(keys, asked[kept])] = judged.grade[kept]
    return SuggestedLabels(*split_key(keys), original_grade, found, by, pool.systems)


class SubsetScorer:
    """Scores models under many versions of the labels, from one pass over each run: s_Θ(φ).

    Pairs without a label count as misses, and equal scores stay in the benchmark's order, as in pools: a
    model's first item is then always one that it suggested.

    Parameters
    ----------
    labels
        What `suggested_labels` returned.
    runs
        The runs of the pool's models, in any order.
    benchmark
        The benchmark of the runs.
    queries
        Per direction, the queries to score. Queries for which all models together found nothing are left out.
    fixed
        Whether a query for which a subset found nothing counts as 0 under it, as in ECCV Caption's eq. E.2
        where N is fixed. Otherwise it is left out under this subset, as in `karat.evaluate`.
    fold
        The part of the benchmark that is ranked; all by default. Labels and queries lie in it.
    threads
        How many; all by default.
    """

    def __init__(
        self,
        labels: SuggestedLabels,
        runs: Sequence[Run],
        benchmark: Benchmark,
        queries: Mapping[Direction, np.ndarray],
        fixed: bool = True,
        fold: Fold | None = None,
        threads: int | None = None,
    ) -> None:
        self.labels, self.benchmark = labels, benchmark
        self.runs = in_order(runs, labels.systems)
        everything = labels.under(np.ones((1, len(labels.systems)), bool))[0]
        self._counted_under = everything if fixed else None
        scored = {
            direction: relevant
            for direction, some in queries.items()
            if len(relevant := np.intersect1d(some, relevant_queries(labels, everything, direction)))
        }
        if not scored:
            raise InputError("no pooled query has a relevant item", fix="judge the pool first")
        judgments = Judgments(
            labels.image,
            labels.caption,
            rating=everything,
            sources=[Provenance("pool", "0 to 1", Share(top=1))],
        )
        truth = Truth("pool", judgments, scored, folds=() if fold is None else (fold,))
        self._placed = place_labels(
            self.runs, benchmark, [truth], directions=tuple(scored), ties="stable", threads=threads
        )["pool"]

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions that have queries with a relevant item."""
        return self._placed.directions

    def queries(self, direction: Direction) -> np.ndarray:
        """Return the queries that are scored, as indices."""
        return self._placed.queries(direction)

    def values(self, inside: np.ndarray, model: int, direction: Direction, measure: Measure) -> np.ndarray:
        """Return the values per query of one model under a few subsets [S, models]: [S, Q]."""
        run = self.labels.systems[model]
        return self._placed.values(self.labels.under(inside), run, direction, measure, self._counted_under)

    def scores(self, inside: np.ndarray, measures: Sequence[Measure]) -> dict[Key, np.ndarray]:
        """Return the score of every model under every subset, [S, models], by direction and measure.

        NaN where a score is undefined.
        """
        out: dict[Key, list[np.ndarray]] = {}
        for key, _, values in self.value_blocks(inside, measures):
            out.setdefault(key, []).append(mean_values(values))
        return {key: np.concatenate(blocks) for key, blocks in out.items()}

    def value_blocks(
        self, inside: np.ndarray, measures: Sequence[Measure]
    ) -> Iterator[tuple[Key, slice, np.ndarray]]:
        """Yield the values per query of every model, [S, models, Q], for some subsets at a time.

        Each comes with its direction and measure, and with which of the subsets it is about.
        """
        queries = max(len(self.queries(direction)) for direction in self.directions)
        parts = list(version_blocks(len(inside), max(len(self.labels), len(self.runs) * queries)))
        for part in track(parts, "scoring by the labels of subsets"):
            grades = self.labels.under(inside[part])
            for direction in self.directions:
                for measure in measures:
                    values = [
                        self._placed.values(grades, run.name, direction, measure, self._counted_under)
                        for run in self.runs
                    ]
                    yield (direction, str(measure)), part, np.stack(values, axis=1)


def in_order(runs: Sequence[Run], systems: Sequence[str]) -> list[Run]:
    """Return the runs in the order of the pool's models; a missing or unknown one raises an error."""
    by_name = {run.name: run for run in runs}
    if len(by_name) < len(runs):
        raise InputError("two runs have the same name", fix="name the runs as in the pool: --name A,B")
    unknown = [name for name in by_name if name not in systems]
    missing = [name for name in systems if name not in by_name]
    fix = f"pass the runs of {', '.join(systems)}; --name A,B names them"
    if unknown:
        raise InputError(f"the run {unknown[0]!r} is not a model of the pool", fix=fix)
    if missing:
        raise InputError(f"there is no run of the pool's model {missing[0]!r}", fix=fix)
    return [by_name[name] for name in systems]


def relevant_queries(labels: SuggestedLabels, grade: np.ndarray, direction: Direction) -> np.ndarray:
    """Return the queries of labelled pairs that have a grade above 0."""
    return np.concatenate([side[grade > 0] for side in asking(direction, labels.image, labels.caption)])


def bias_measures(names: Iterable[str | Named]) -> list[Measure]:
    """Return the measures, each once; only shares per query where higher is better have a bias.

    >>> bias_measures(["R@1", "RP", "R-Precision"])
    [R@1, RP]
    """
    out = []
    for name in names:
        measure = parse_measure(name)
        fits = isinstance(measure, Measure) and measure.of_relevance
        if not fits or measure.unit != "fraction" or measure.better != "high" or similarities_of(measure):
            raise InputError(
                f"the bias of {measure} is not defined",
                fix="choose a share such as R@1, RP, mAP@R or nDCG@10",
            )
        assert isinstance(measure, Measure)
        out.append(measure)
    if not out:
        raise InputError("no measure was given", fix="choose R@1 or RP, for example")
    return list(dict.fromkeys(out))


class Valid:
    """Leaves out invalid items, as `publish` does: they are neither queries nor ranked, nor do they count.

    Parameters
    ----------
    benchmark
        The benchmark of the items.
    marked
        Per kind, "image" or "caption", the indices of the invalid items.
    """

    def __init__(self, benchmark: Benchmark, marked: Mapping[str, Iterable[int]] | None = None) -> None:
        self._valid = valid_items(
            benchmark, {kind: dict.fromkeys(some, "") for kind, some in (marked or {}).items()}
        )
        self.fold = next(iter(valid_fold(benchmark, self._valid)), None)

    def pairs(self, pairs: Pairs) -> Pairs:
        """Return the pairs of valid items."""
        image, caption = pairs.image.astype(np.int64), pairs.caption.astype(np.int64)
        valid = valid_pairs(key_of(image, caption), self._valid)
        return Pairs(image[valid], caption[valid], pairs.grade[valid])

    def queries(self, queries: Mapping[Direction, np.ndarray]) -> dict[Direction, np.ndarray]:
        """Return the valid queries of each direction that has any."""
        kept = {
            d: np.unique(some)[self._valid[asking(d, *SIDES)[0]][np.unique(some)]]
            for d, some in queries.items()
            if len(some)
        }
        return {direction: some for direction, some in kept.items() if len(some)}
