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
from typing import Any

import numpy as np

from karat._util import check_choice, connected, plural
from karat.benchmarks import Benchmark, Direction, JudgedItems, Truth, in_order, query_side, same_side
from karat.errors import InputError
from karat.estimation.change import signed_change
from karat.estimation.expectation import expected_values
from karat.estimation.relevance import KEY_BASE, covered_queries, cut_of, labels_of, listed_keys, pair_keys
from karat.estimation.run_lists import RunLists, scan_runs
from karat.measures import Measure, Ranked, leave_out_unjudged, resolve
from karat.runs import Compute, PassOptions, Run, TableRun
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
    lists
        The lists of the runs and the places in them, where candidates come from these.
    ties
        How equal scores are ordered.
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
    lists: RunLists | None = field(default=None, kw_only=True)
    ties: str = field(default="stable", kw_only=True)

    def __len__(self) -> int:
        return len(self.item)

    def __repr__(self) -> str:
        return (
            f"Candidates({len(self):,} pairs of {len(self.queries):,} {query_side(self.direction).many}, "
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
        """The items of both sides of each candidate, as indices: of an image and a caption."""
        return in_order(self.direction, self.queries[self.query], self.item)

    @cached_property
    def pair(self) -> np.ndarray:
        """Per candidate, the number of its pair; two in whose pair each asks for the other share it."""
        keys = pair_keys(self.direction, self.queries[self.query], self.item)
        return np.unique(keys, return_inverse=True)[1]

    def count(self, which: np.ndarray) -> int:
        """Return how many pairs there are among the candidates that a mask marks."""
        return len(np.unique(self.pair[which]))

    @cached_property
    def places(self) -> dict[str, np.ndarray]:
        """Per run, the place of each candidate, from 0; infinite where it is unknown.

        Equal scores share the first place of their group where ties are resolved in expectation. What only
        other runs list may be unknown below the lists; see `exact`.
        """
        out = {}
        for run, ranking in self.rankings.items():
            out[run] = np.empty(len(self))
            out[run][ranking.row] = ranking.ranked.start
        return out

    @cached_property
    def exact(self) -> Candidates:
        """The same candidates with the place of each in every table, for whoever looks below the lists.

        Where places are unknown so far, this makes a second pass over the scores.
        """
        if self.lists is None or all(ranking.ranked.placed.all() for ranking in self.rankings.values()):
            return self
        self.lists.complete()
        runs = {run.name: run for run in self.lists.runs}
        return replace(self, rankings={name: ranking_in(runs[name], self) for name in self.rankings})

    def matter(self, measure: Measure) -> np.ndarray:
        """Return which candidates a measure looks at: those in the first K of any run, or all."""
        cut = cut_of(measure)
        if cut is None:
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
        luck = rng.random((draws, int(self.pair.max(initial=-1)) + 1))
        return luck if np.array_equal(self.pair, np.arange(len(self))) else luck[:, self.pair]

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
        Whether each of them is relevant; for intervals also the probability, where annotators err.
    since
        Of labels that no draw drew, the number of the first draw before which they were known; 0, as
        everywhere by default: before all.
    versions
        [versions, labels]: other values of `relevant` that are possible since the annotators' error rates are
        not known exactly (`answer_posterior`); none by default.
    """

    candidates: Candidates
    rows: np.ndarray
    relevant: np.ndarray
    since: np.ndarray = None  # type: ignore[assignment]
    versions: np.ndarray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.since is None:
            object.__setattr__(self, "since", np.zeros(len(self.rows), np.int64))
        if self.versions is None:
            object.__setattr__(self, "versions", np.zeros((0, len(self.rows))))

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


@dataclass(frozen=True, eq=False)
class CandidateRequest:
    """Which pairs are candidates: those whose labels are estimated.

    Parameters
    ----------
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
    exact
        Whether each run places what only other runs list, which takes a second pass over its scores. Without,
        these are unplaced, as measures with a cut-off of at most `depth` allow, until `Candidates.exact`.
    list_depth
        How deep the lists of `Candidates.lists` go, if deeper than `depth`.
    """

    noisy: str | Truth
    direction: Direction
    queries: np.ndarray | None = None
    listed: Truth | None = None
    depth: int = DEPTH
    sample: int = 0
    condensed: bool = False
    noisy_positives: bool = True
    rel: float | str | None = None
    ties: str = "stable"
    seed: int = 0
    exact: bool = True
    list_depth: int = 0


def make_candidates(
    runs: Sequence[Run],
    benchmark: Benchmark,
    noisy: str | Truth,
    *,
    direction: Direction,
    compute: Compute | None = None,
    **choices: Any,
) -> Candidates:
    """Choose the pairs whose labels are estimated.

    Parameters
    ----------
    runs, benchmark
        What is scored.
    noisy, direction, **choices
        Which pairs: the parameters of `CandidateRequest`.
    compute
        What the work is done with.

    Examples
    --------
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> runs = simulate_systems(world)[:2]
    >>> make_candidates(runs, world.benchmark(), "original", direction="t2i", depth=10)
    Candidates(1,826 pairs of 120 captions, 120 relevant by the noisy labels; seer, learner)
    """
    return scan_candidates(runs, benchmark, [CandidateRequest(noisy, direction, **choices)], compute)[0]


def scan_candidates(
    runs: Sequence[Run],
    benchmark: Benchmark,
    requests: Sequence[CandidateRequest],
    compute: Compute | None = None,
) -> list[Candidates]:
    """Choose candidates for several directions or measures, from one pass over each run's scores."""
    requests = [with_queries(request, benchmark) for request in requests]
    aligned = check_runs(runs, benchmark, [request.direction for request in requests])
    compute = compute or Compute()
    with connected(compute.scheduler) as workers:
        passing = compute.passing(aligned, workers)
        group = [lists_of(request, benchmark, aligned, compute.threads, passing) for request in requests]
        scan_runs(group)
        everything = [candidate_keys(request, lists) for request, lists in zip(requests, group, strict=True)]
        for lists, keys in zip(group, everything, strict=True):
            lists.wanted = keys
        if any(request.exact for request in requests):
            group[0].complete()
    for lists in group:
        lists.passing = compute.passing(aligned)
    return [
        choose_candidates(request, benchmark, lists, keys)
        for request, lists, keys in zip(requests, group, everything, strict=True)
    ]


def with_queries(request: CandidateRequest, benchmark: Benchmark) -> CandidateRequest:
    """Return a request with its truth and its queries, or raise where it makes no sense."""
    noisy = benchmark.truth(request.noisy) if isinstance(request.noisy, str) else request.noisy
    ties, queries = check_ties(request.ties), request.queries
    if queries is None:
        queries = covered_queries(benchmark, request.direction, [noisy])
    if request.condensed and request.listed is None:
        raise InputError("condensed lists need a truth that lists pairs", fix="give listed")
    return replace(request, noisy=noisy, ties=ties, queries=queries)


def check_runs(runs: Sequence[Run], benchmark: Benchmark, directions: Sequence[Direction]) -> list[Run]:
    """Return the runs matched to the benchmark, or raise where one lacks a direction or a name of its own."""
    aligned = [run.align(benchmark) for run in runs]
    for direction in dict.fromkeys(directions):
        for run in aligned:
            if direction not in run.directions:
                fix = "give a run of both directions, or ask for the other direction alone"
                raise InputError(f"has no {direction} rankings", where=run.where or run.name, fix=fix)
    if len({run.name for run in aligned}) < len(aligned):
        raise InputError("two runs have the same name", fix="give them different names: --name A,B")
    return aligned


def lists_of(
    request: CandidateRequest,
    benchmark: Benchmark,
    runs: Sequence[Run],
    threads: int | None,
    passing: PassOptions,
) -> RunLists:
    """Return what the pass over the runs is asked for: lists, and pairs that are known before it."""
    direction, queries, noisy = request.direction, request.queries, request.noisy
    assert queries is not None
    assert not isinstance(noisy, str)
    size = benchmark.items(direction).size
    others = size - same_side(direction)
    keys = [np.zeros(0, np.int64)]
    if not request.condensed:
        if request.noisy_positives:
            keys.append(listed_keys(noisy, direction, queries, size, request.rel, relevant_only=True))
        if request.sample:
            rng = np.random.default_rng([request.seed, 12])
            keys.append(random_keys(queries, size, request.sample, rng, same_side(direction)))
    if request.listed is not None:
        keys.append(listed_keys(request.listed, direction, queries, size, request.rel))
    depth = 0 if request.condensed else min(request.depth, others)
    deepest = max(depth, min(request.list_depth, others))
    return RunLists(
        runs, direction, queries, depth, deepest, request.ties == "expected",
        np.unique(np.concatenate(keys)), request.exact, threads, passing,
    )  # fmt: skip


def candidate_keys(request: CandidateRequest, lists: RunLists) -> np.ndarray:
    """Return the pairs that are candidates, sorted."""
    heads = [] if request.condensed else [lists.listed_keys(run, lists.depth) for run in lists.tops]
    everything = np.unique(np.concatenate([lists.keys, *heads]))
    if not len(everything):
        raise InputError(
            f"there are no {request.direction} candidates", fix="name truths with labels for the queries"
        )
    return everything


def choose_candidates(
    request: CandidateRequest, benchmark: Benchmark, lists: RunLists, keys: np.ndarray
) -> Candidates:
    """Return the candidates, with all that is cheaply known about them."""
    assert not isinstance(request.noisy, str)
    direction, condensed = request.direction, request.condensed
    query, item = keys // KEY_BASE, keys % KEY_BASE
    queries = np.unique(query) if condensed else lists.queries
    ptr = np.asarray(np.searchsorted(query, np.r_[queries, queries[-1:] + 1]))
    candidates = Candidates(
        direction, queries, ptr, item, np.zeros(len(item), bool), {}, condensed=condensed, lists=lists,
        ties=request.ties,
    )  # fmt: skip
    label = labels_of(request.noisy, direction, query, item, request.rel)
    image, caption = candidates.pairs
    rankings = {run.name: ranking_in(run, candidates) for run in lists.runs}
    ends = {run for run in lists.tops if (np.diff(lists.listed(run, lists.depth).ptr) < lists.depth).any()}
    if request.noisy_positives:
        # What a table has not placed is only not looked up yet.
        unplaced = {run for run, ranking in rankings.items() if not ranking.ranked.placed.all()}
        ends |= {run.name for run in lists.runs if run.name in unplaced and not isinstance(run, TableRun)}
    tables = [run for run in lists.runs if isinstance(run, TableRun)]
    return replace(
        candidates,
        noisy=np.nan_to_num(label) > 0,
        rankings=rankings,
        scores={run.name: run_scores(run, image, caption) for run in tables},
        notes=tuple(
            f"{name}: its {direction} lists end early; what is not in them counts as ranked last"
            for name in rankings
            if name in ends
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


def random_keys(
    queries: np.ndarray, size: int, sample: int, rng: np.random.Generator, themselves: bool = False
) -> np.ndarray:
    """Return pairs of each query with items drawn at random, without duplicates.

    With `themselves`, queries are items, and none is drawn for itself.

    >>> random_keys(np.array([0, 2]), 3, 5, np.random.default_rng(0), themselves=True) % KEY_BASE
    array([1, 2, 0, 1])
    """
    others, drawn = size - themselves, []
    for query in queries:
        item = np.arange(others) if sample >= others else rng.choice(others, sample, replace=False)
        drawn.append(query * KEY_BASE + item + (item >= query) * themselves)
    return np.concatenate(drawn)


def rank_candidates(run: Run, candidates: Candidates, ties: str, threads: int | None = None) -> Ranking:
    """Return where a run ranks the candidates, from a pass of its own."""
    return as_ranking(run.place([items_of(candidates)], threads)[0], candidates, ties)


def ranking_in(run: Run, candidates: Candidates) -> Ranking:
    """Return where a run ranks the candidates, as far as its passes have told."""
    lists, ties = candidates.lists, candidates.ties
    if lists is None or not isinstance(run, TableRun):
        return rank_candidates(run, candidates, ties, None if lists is None else lists.threads)
    items = items_of(candidates)
    above, tied, earlier = lists.place(run.name, items.query_of_row * KEY_BASE + items.item)
    assert run.benchmark is not None
    others = run.benchmark.items(candidates.direction).size - same_side(candidates.direction)
    size = np.full(len(items.queries), others)
    placed = replace(items, above=above, tied=tied, earlier=earlier, size=size, depth=size)
    return as_ranking(placed, candidates, ties)


def items_of(candidates: Candidates) -> JudgedItems:
    """Return the candidates as runs place them."""
    rows = len(candidates)
    return JudgedItems(
        candidates.direction,
        candidates.queries,
        candidates.ptr,
        candidates.item,
        # Row numbers instead of grades come back sorted by place, and so tell where each row went.
        np.arange(rows, dtype=np.float64),
        outside=np.zeros(rows, bool),
    )


def as_ranking(placed: JudgedItems, candidates: Candidates, ties: str) -> Ranking:
    """Return placed candidates in the order of a run."""
    if candidates.condensed:
        placed = leave_out_unjudged(placed)
    ranked = resolve(placed, ties)  # type: ignore[arg-type]
    return Ranking(ranked.grade.astype(np.int64), ranked)
