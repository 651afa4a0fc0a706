"""Candidates: the pairs whose labels are uncertain, with all that is cheaply known about them.

The true score is the score under the labels that annotators would give if they vetted everything. Nobody can
vet a million pairs, so candidates are chosen: what the runs rank first, what the noisy labels call relevant,
and what is vetted already. Every other pair counts as not relevant. `Candidates` holds, per pair, its noisy
label, where each run ranks it and which score each run gives it; `VettedLabels` adds what annotators said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from karat._util import check_choice, plural
from karat.benchmarks import SIDES, Benchmark, Direction, JudgedItems, Truth
from karat.errors import InputError
from karat.estimate.change import signed_change
from karat.estimate.expectation import expected_values
from karat.estimate.relevance import KEY_BASE, covered_queries, labels_of, listed_keys
from karat.measures import Measure, Ranked, leave_out_unjudged, resolve
from karat.runs import Run, TableRun
from karat.scores import run_scores

TIES = ("stable", "expected")
"""How equal scores may be ordered: labels must not change the order, since most are unknown."""
DEPTH = 50
"""How many first items of each run are candidates by default."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Where one run ranks the candidates.

    Parameters
    ----------
    row
        The candidates in the order of their places, query by query.
    ranked
        Their places, in this order; its grades mean nothing.
    """

    row: np.ndarray
    ranked: Ranked

    def under(self, grade: np.ndarray) -> Ranked:
        """Return what measures see under grades [..., J] of the candidates, or under probabilities."""
        return replace(self.ranked, grade=np.asarray(grade, dtype=np.float64)[..., self.row])

    def expected(
        self, probability: np.ndarray, measure: Measure, draws: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the expected value of each query under probabilities of the candidates' labels."""
        return expected_values(self.under(probability), measure, draws=draws, rng=rng)

    def change(
        self, probability: np.ndarray, measure: Measure, draws: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Return, per candidate, how much its label is expected to change its query's value, with a sign."""
        change = np.zeros(len(probability))
        change[self.row] = signed_change(self.under(probability), measure, draws=draws, rng=rng)
        return change


@dataclass(frozen=True, eq=False)
class Candidates:
    """The pairs that may be vetted, in one direction, compressed by query: `make_candidates` makes it.

    Query q has the candidates ptr[q] to ptr[q + 1], sorted by item. A candidate is known by its number, its
    place in these arrays.

    Parameters
    ----------
    direction
        Which side asks.
    queries
        The indices of the queries.
    ptr, item
        The candidates of each query.
    noisy
        Per candidate, whether the noisy labels call it relevant.
    rankings
        Per run, where it ranks the candidates.
    scores
        Per run that has scores, that of every candidate.
    features
        What else may tell whether a pair is relevant, by name: similarities, answers of machine judges. One
        number per candidate, NaN where it is unknown.
    condensed
        Whether items that are not candidates are left out of the rankings, instead of counting as not
        relevant.
    notes
        What a reader should know.
    unit
        Per candidate, the number of what an annotator answers about, where one answer tells the labels of
        several candidates; each candidate is its own unit by default.
    """

    direction: Direction
    queries: np.ndarray
    ptr: np.ndarray
    item: np.ndarray
    noisy: np.ndarray
    rankings: Mapping[str, Ranking]
    scores: Mapping[str, np.ndarray] = field(default_factory=dict)
    features: Mapping[str, np.ndarray] = field(default_factory=dict)
    condensed: bool = False
    notes: tuple[str, ...] = ()
    unit: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.item)

    def __repr__(self) -> str:
        return (
            f"Candidates({len(self):,} pairs of {len(self.queries):,} {SIDES[self.direction]}, "
            f"{int(self.noisy.sum()):,} relevant by the noisy labels; {', '.join(self.runs)})"
        )

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(self.rankings)

    @cached_property
    def query(self) -> np.ndarray:
        """Per candidate, the number of its query: 0 for the first of `queries`."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.ptr))

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The image and the caption of each candidate, as indices."""
        asking = self.queries[self.query]
        return (asking, self.item) if self.direction == "i2t" else (self.item, asking)

    @cached_property
    def places(self) -> dict[str, np.ndarray]:
        """Per run, the place of each candidate, from 0; infinite where it is unknown.

        Equal scores share the first place of their group where ties are resolved in expectation.
        """
        out = {}
        for run, ranking in self.rankings.items():
            out[run] = np.empty(len(self))
            out[run][ranking.row] = ranking.ranked.start
        return out

    def matter(self, measure: Measure) -> np.ndarray:
        """Return which candidates a measure looks at: those in the first K of any run, or all.

        A measure with a cut-off whose normaliser is fixed, such as P@K, looks at nothing below; the number of
        relevant items in RP, AP or nDCG is a sum over all.
        """
        cut = getattr(measure, measure.cutoff.name) if measure.cutoff is not None else None
        if cut is None or not measure.bounded:
            return np.ones(len(self), bool)
        return np.any([places < cut for places in self.places.values()], axis=0)

    @cached_property
    def asked(self) -> np.ndarray:
        """Per candidate, whether strategies may choose it: one for each unit."""
        return np.ones(len(self), bool)

    @property
    def levels(self) -> np.ndarray:
        """Per candidate, the number of the kind of its label, of which each has a model: 0 for all."""
        return np.zeros(len(self), np.int64)

    @property
    def groups(self) -> np.ndarray:
        """Per candidate, the number of its query, or of the category for several queries."""
        return self.query

    @property
    def same_features(self) -> np.ndarray:
        """Per candidate, a number that candidates with the same features share."""
        return np.arange(len(self))

    @property
    def possible(self) -> np.ndarray:
        """Per candidate, whether it may be relevant."""
        return np.ones(len(self), bool)

    @property
    def units(self) -> np.ndarray:
        """Per candidate, the number of its unit."""
        return np.arange(len(self)) if self.unit is None else self.unit

    @cached_property
    def by_unit(self) -> tuple[np.ndarray, np.ndarray]:
        """The candidates sorted by unit, and where each unit begins."""
        return np.argsort(self.units, kind="stable"), np.r_[0, np.cumsum(np.bincount(self.units))]

    def whole_units(self, rows: np.ndarray) -> np.ndarray:
        """Return all candidates of the units of given ones, unit by unit."""
        if self.unit is None or not len(rows):
            return rows
        order, ptr = self.by_unit
        return np.concatenate([order[ptr[unit] : ptr[unit + 1]] for unit in self.unit[rows]])

    def unit_sums(self, values: np.ndarray) -> np.ndarray:
        """Return, per candidate, the sum of values over its unit."""
        return values if self.unit is None else np.bincount(self.unit, values)[self.unit]

    def vetted_by(self, vetted: np.ndarray) -> Candidates:
        """Return the candidates as they are ranked where those that `vetted` marks are vetted: the same."""
        return self

    def averaged(self, values: np.ndarray) -> np.ndarray:
        """Return values [..., queries] with those averaged that count as one: the same."""
        return values

    def luck(self, draws: int, rng: np.random.Generator) -> np.ndarray:
        """Return random numbers [draws, J] that labels are drawn by: relevant below the probability."""
        return rng.random((draws, len(self)))

    def find(self, query: np.ndarray, item: np.ndarray) -> np.ndarray:
        """Return the numbers of given pairs, by the benchmark's indices; −1 for what is not a candidate."""
        keys = self.queries[self.query].astype(np.int64) * KEY_BASE + self.item
        order = np.argsort(keys)
        wanted = np.asarray(query).astype(np.int64) * KEY_BASE + np.asarray(item)
        at = np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))
        return np.where(keys[order][at] == wanted, order[at], -1) if len(keys) else np.full(len(wanted), -1)

    @cached_property
    def by_run(self) -> dict[str, Candidates]:
        """The same candidates with one run alone, which then says what a measure looks at."""
        return {
            run: replace(
                self,
                rankings={run: ranking},
                scores={name: score for name, score in self.scores.items() if name == run},
            )
            for run, ranking in self.rankings.items()
        }

    def with_features(self, features: Mapping[str, np.ndarray]) -> Candidates:
        """Return the candidates with further features; a name that is taken raises."""
        for name, values in features.items():
            if name in self.features:
                raise InputError(f"two features are called {name!r}", fix="rename one")
            if np.shape(values) != (len(self),):
                raise InputError(
                    f"the feature {name!r} has the shape {np.shape(values)}",
                    fix=f"give one number for each of the {plural(len(self), 'candidate')}",
                )
        return replace(self, features={**self.features, **features})


@dataclass(frozen=True, eq=False)
class VettedLabels:
    """What annotators said about some candidates, in the order in which they were asked.

    Parameters
    ----------
    candidates
        Of which pairs.
    rows
        The vetted candidates, each once, in the order of vetting.
    relevant
        Whether each of them is relevant.
    """

    candidates: Candidates
    rows: np.ndarray
    relevant: np.ndarray

    @classmethod
    def none(cls, candidates: Candidates) -> VettedLabels:
        """Return the state before anything is vetted."""
        return cls(candidates, np.zeros(0, np.int64), np.zeros(0, bool))

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def vetted(self) -> np.ndarray:
        """Per candidate, whether it is vetted."""
        mask = np.zeros(len(self.candidates), bool)
        mask[self.rows] = True
        return mask

    @cached_property
    def label(self) -> np.ndarray:
        """Per candidate, 1 where it is vetted and relevant, 0 where it is vetted and not; NaN elsewhere."""
        label = np.full(len(self.candidates), np.nan)
        label[self.rows] = self.relevant
        return label

    def filled(self, probability: np.ndarray) -> np.ndarray:
        """Return the vetted labels, and the given probabilities where there are none."""
        return np.where(self.vetted, self.label, probability)

    def add(self, rows: np.ndarray, relevant: np.ndarray) -> VettedLabels:
        """Return the labels with further ones."""
        return VettedLabels(
            self.candidates,
            np.r_[self.rows, np.asarray(rows, dtype=np.int64)],
            np.r_[self.relevant, np.asarray(relevant, dtype=bool)],
        )


def make_candidates(
    runs: Sequence[Run],
    benchmark: Benchmark,
    noisy: str | Truth,
    *,
    direction: Direction,
    queries: np.ndarray | None = None,
    listed: Truth | None = None,
    depth: int = DEPTH,
    sample: int = 0,
    condensed: bool = False,
    noisy_positives: bool = True,
    rel: float | str | None = None,
    ties: str = "stable",
    seed: int = 0,
    threads: int | None = None,
) -> Candidates:
    """Choose the pairs whose labels are estimated.

    Parameters
    ----------
    runs, benchmark
        What is scored.
    noisy
        The truth with the labels that are there for all pairs; what it does not list it calls not relevant.
    direction
        Which side asks.
    queries
        The indices of the queries, sorted; those that `noisy` covers by default (see `covered_queries`).
    listed
        A truth whose pairs are candidates too.
    depth
        How many first items of each run are candidates.
    sample
        How many further items of each query are drawn at random.
    condensed
        Take the pairs of `listed`, and these alone; other items are left out of the rankings.
    noisy_positives
        Whether what the noisy labels call relevant is a candidate, wherever runs rank it.
    rel
        The grade from which on an item is relevant; None where labels have no grades in between.
    ties
        "stable" or "expected"; the order must not depend on labels.
    seed
        Of the sample.
    threads
        How many; all by default.

    Examples
    --------
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> runs = simulate_systems(world)[:2]
    >>> make_candidates(runs, world.benchmark(), "original", direction="t2i", depth=10)
    Candidates(1,826 pairs of 120 captions, 120 relevant by the noisy labels; seer, learner)
    """
    policy = check_ties(ties)
    first = benchmark.truth(noisy) if isinstance(noisy, str) else noisy
    if queries is None:
        queries = covered_queries(benchmark, direction, [first])
    size = benchmark.items(direction).size
    if condensed and listed is None:
        raise InputError("condensed lists need a truth that lists pairs", fix="give listed")
    aligned = []
    for run in runs:
        run = run.align(benchmark)
        if direction not in run.directions:
            fix = "give a run of both directions, or ask for the other direction alone"
            raise InputError(f"has no {direction} rankings", where=run.where or run.name, fix=fix)
        aligned.append(run)
    if len({run.name for run in aligned}) < len(aligned):
        raise InputError("two runs have the same name", fix="give them different names: --name A,B")
    keys, short = [], set()
    if not condensed:
        for run in aligned:
            top = run.top(direction, min(depth, size), queries, whole_ties=policy == "expected")
            short |= {run.name} if (np.diff(top.ptr) < min(depth, size)).any() else set()
            keys.append(np.repeat(queries, np.diff(top.ptr)) * KEY_BASE + top.item)
        if noisy_positives:
            keys.append(listed_keys(first, direction, queries, size, rel, relevant_only=True))
        if sample:
            keys.append(random_keys(queries, size, sample, np.random.default_rng([seed, 12])))
    if listed is not None:
        keys.append(listed_keys(listed, direction, queries, size, rel))
    everything = np.unique(np.concatenate(keys))
    if not len(everything):
        raise InputError(
            f"there are no {direction} candidates", fix="name truths with labels for the queries"
        )
    query, item = everything // KEY_BASE, everything % KEY_BASE
    queries = np.unique(query) if condensed else queries
    ptr = np.asarray(np.searchsorted(query, np.r_[queries, queries[-1:] + 1]))
    candidates = Candidates(direction, queries, ptr, item, np.zeros(len(item), bool), {}, condensed=condensed)
    label = labels_of(first, direction, query, item, rel)
    image, caption = candidates.pairs
    rankings = {run.name: rank_candidates(run, candidates, size, policy, threads) for run in aligned}
    if noisy_positives:
        short |= {name for name, ranking in rankings.items() if not ranking.ranked.placed.all()}
    return replace(
        candidates,
        noisy=np.nan_to_num(label) > 0,
        rankings=rankings,
        scores={run.name: run_scores(run, image, caption) for run in aligned if isinstance(run, TableRun)},
        notes=tuple(
            f"{name}: its {direction} lists end early; what is not in them counts as ranked last"
            for name in rankings
            if name in short
        ),
    )


def check_ties(ties: str) -> str:
    """Return the tie policy, or raise for one under which labels decide the order."""
    if str(ties).replace("-", "_").lower() in ("pessimistic", "optimistic"):
        raise InputError(
            f"ties is {ties!r}, which orders equal scores by their labels, and most labels are unknown",
            fix="choose stable or expected",
        )
    return check_choice(ties, TIES, "ties")


def random_keys(queries: np.ndarray, size: int, sample: int, rng: np.random.Generator) -> np.ndarray:
    """Return pairs of each query with items drawn at random, without duplicates."""
    if sample >= size:
        return (queries[:, None] * KEY_BASE + np.arange(size)).ravel()
    return np.concatenate([query * KEY_BASE + rng.choice(size, sample, replace=False) for query in queries])


def rank_candidates(
    run: Run, candidates: Candidates, size: int, ties: str, threads: int | None = None
) -> Ranking:
    """Return where a run ranks the candidates."""
    rows = len(candidates)
    items = JudgedItems(
        candidates.direction,
        candidates.queries,
        candidates.ptr,
        candidates.item,
        # Row numbers instead of grades come back sorted by place, and so tell where each row went.
        np.arange(rows, dtype=np.float64),
        size=np.full(len(candidates.queries), size),
        outside=np.zeros(rows, bool),
    )
    placed = run.place([items], threads)[0]
    if candidates.condensed:
        placed = leave_out_unjudged(placed)
    ranked = resolve(placed, ties)  # type: ignore[arg-type]
    return Ranking(ranked.grade.astype(np.int64), ranked)
