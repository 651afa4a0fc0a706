"""The assessment of a run on changed queries: ranks, scores and measures before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, connected, plural, track
from karat.benchmarks import Benchmark, JudgedItems, Truth, as_benchmark
from karat.captions import PerturbedQuery
from karat.errors import InputError
from karat.measures import Combined, Named, Semantic, parse_measures
from karat.perturbations.caption_sets import caption_sets
from karat.perturbations.changed_run import (
    CAPTIONS_ASK,
    SAME,
    ChangedQueries,
    ChangedRun,
    changed_queries,
    changed_run,
    check_captions_ask,
)
from karat.perturbations.robustness_report import MeasureEffect, QueryEffect, Robustness
from karat.runs import (
    Compute,
    EmbeddingRun,
    Loading,
    Run,
    TableRun,
    group_sources,
    load_runs,
    notes_on_loading,
    notes_on_making,
)
from karat.scores import (
    Column,
    Scorecard,
    ScoringOptions,
    check_chance,
    check_options,
    comparison_intervals,
    paired_differences,
    query_samples,
    scan_runs,
)
from karat.scores.evaluation import pairs_of
from karat.stats import FEW, FEWEST_OTHER, Estimate, Intervals

ROBUSTNESS_UNITS = ("caption", "set", "both")
"""What a query is."""
MEASURES = ("R@1", "R@10", "MRR@10", "MRR")
"""Those of Lymperaiou et al. (2022), table 5."""
NO_SHARES = ("score_change", "cosine")
"""The columns of `QueryChanges` that are not 0, 0.5 or 1."""


def robustness(
    before: Any,
    after: Any = None,
    benchmark: Benchmark | str | Path = "coco",
    queries: Any = (),
    measure: Iterable[str | Named] | str | None = None,
    *,
    per: str | None = None,
    truth: Iterable[str] | str | None = None,
    ties: str = "pessimistic",
    unjudged: str = "misses",
    intervals: Intervals | str | bool = True,
    interval_method: str | None = None,
    level: float | None = None,
    resamples: int | None = None,
    seed: int = 0,
    setting: Mapping[str, Any] | None = None,
    loading: Loading | None = None,
    compute: Compute | None = None,
) -> Robustness:
    """Compare a model's run on captions with its run on changed captions: does it read what was changed?

    For each changed caption, where its own image ranked and what it scored, before and after (Lymperaiou et
    al. 2022, table 4), and every measure before and after (table 5): on the changed captions alone and on
    all, with paired intervals over images.

    The *own image* of a caption is the one that it was written for. Where the benchmark does not say, it is
    the relevant image that ranked first before. Labels are those of the captions as they were.

    Parameters
    ----------
    before
        The run on the captions as they are: a run or what `karat.load_run` takes, embeddings as a tuple.
        Without `after`, the files of all runs in a list: those of this one, then those of the others.
    after
        The same model's run on the changed captions: on those of `queries`, in that order or with ids, or on
        all captions. Where `before` is embeddings, the vectors of the queries are enough. A list for several
        kinds.
    benchmark
        A benchmark, its name or its folder.
    queries
        What `karat perturb` wrote or `karat.perturb` returned; as many as `after`.
    measure
        One or several; by default R@1, R@10, MRR@10, MRR and the benchmark's own choice.
    per
        "caption"; "set", where an image's captions together are one query whose score is the mean of theirs;
        or "both", the default where scores can be averaged.
    truth
        One or several; the benchmark's first by default. Caption sets have their own image as truth.
    ties
        How equal scores are ordered, in ranks and measures: "pessimistic", "optimistic", "expected" (a rank
        is then the mean of those that are possible), "stable" or "trec_eval".
    unjudged
        As `karat.evaluate` takes it.
    intervals, interval_method, level, resamples, seed
        As `karat.compare` takes them.
    setting
        Settings of a benchmark that is given by name.
    loading, compute
        How runs are read, and what works on them; name and ids are those of `before`.

    Returns
    -------
    Robustness

    Examples
    --------
    >>> import karat
    >>> from karat.world import make_world, simulate_reader
    >>> world = make_world(images=100, captions=3, seed=1)
    >>> bench = world.benchmark()
    >>> perturbed = karat.perturb(bench, "colour")
    >>> changed = [query.new for query in perturbed.queries]
    >>> for blind in ((), "colour"):  # doctest: +ELLIPSIS
    ...     runs = [simulate_reader(world, texts, blind=blind) for texts in (None, changed)]
    ...     robust = robustness(*runs, bench, perturbed, per="caption")
    ...     print(robust.effect("colour").answer())
    Does it notice colour? Yes: the own image's score fell for ...
    Does it notice colour? Not shown: the own image's score fell for ...
    """
    per = None if per is None else check_choice(per, ROBUSTNESS_UNITS, "per")
    loading, compute = loading or Loading(), compute or Compute()
    bench = as_benchmark(benchmark, setting)
    bench.check_image_text()
    drawn = comparison_intervals(intervals, interval_method, level, resamples, seed)
    options = check_options(
        bench, measure, truth=truth or [next(iter(bench.truths))], direction=CAPTIONS_ASK, ties=ties,
        unjudged=unjudged, threads=compute.threads,
    )  # fmt: skip
    wanted = _wanted(measure, options)
    options = replace(options, measures=dict.fromkeys(options.measures, wanted))
    bench = options.benchmark
    if after is None:
        before, after = _split_files(before, bench, len(_listed_queries(queries)))
    kinds, sources = _matched(queries, after, bench)
    with connected(compute.scheduler) as workers:
        runs = load_runs(before, bench, loading, compute)
        run = _run_before(runs)
        options = replace(options, passing=compute.passing(runs, workers))
        changes = [changed_run(source, run, bench, kind, loading) for source, kind in zip(sources, kinds)]
        by_caption = _BeforeAndAfter(
            "caption", options, run, changes, [kind.changed for kind in kinds], kinds
        )
        notes = _notes_before(run, by_caption.before.card)
        compared, without_sets = _compared(by_caption, per)
        for each in compared:
            each.check()
    effects = [effect for each in compared for effect in each.effects(drawn)]
    measures = [effect for each in compared for effect in each.measures(drawn)]
    notes += [*without_sets, *(note for each in compared for note in each.notes())]
    notes += [note for kind, each in zip(kinds, changes) for note in _unlike_before(run, each, kind)]
    notes += _few_images(effects)
    # Captions and sets of one kind are shown together.
    order = [kind.kind for kind in kinds]
    return Robustness(
        run.name, bench.name, options.ties, sorted(effects, key=lambda effect: order.index(effect.kind)),
        sorted(measures, key=lambda effect: order.index(effect.kind)), drawn, tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _split_files(
    files: Sequence[str | Path], benchmark: Benchmark, kinds: int
) -> tuple[tuple[Path, ...], list[tuple[Path, ...]]]:
    """Return the files of the run before, and those of the run on each kind of changed queries."""
    before = group_sources(files[:2], benchmark)[0]
    rest = [Path(file) for file in files[len(before) :]]
    width = 2 if len(rest) == 2 * kinds else 1
    if len(rest) not in (kinds, 2 * kinds):
        raise InputError(
            f"{plural(len(rest), 'file')} after {' and '.join(map(str, before))}, but "
            f"{plural(kinds, 'file')} of queries",
            fix="give, for each file of queries, one run on the changed queries",
        )
    return before, [tuple(rest[at : at + width]) for at in range(0, len(rest), width)]


def _matched(queries: Any, after: Any, benchmark: Benchmark) -> tuple[list[ChangedQueries], list[Any]]:
    """Return each list of changed queries, named apart, with its run."""
    kinds = _named_apart([changed_queries(source, benchmark) for source in _listed_queries(queries)])
    sources = list(after) if isinstance(after, list) else [after]
    if len(sources) != len(kinds):
        raise InputError(
            f"{plural(len(sources), 'run')} on changed queries, but {plural(len(kinds), 'list')} of queries",
            fix="give a list of queries with each run",
        )
    return kinds, sources


def _notes_before(run: Run, card: Scorecard) -> list[str]:
    """Return what a reader should know of the run before."""
    made_with = {run.name: run.made_with} if run.made_with is not None else {}
    return [
        *check_chance(card, [run]), *notes_on_loading([run]), *notes_on_making(made_with), *card.notes,
    ]  # fmt: skip


def _run_before(runs: Sequence[Run]) -> Run:
    """Return the one run on captions as they are, or raise."""
    if len(runs) != 1:
        raise InputError(f"{len(runs)} runs were given as the one before", fix="give one model at a time")
    run = runs[0]
    check_captions_ask(run)
    return run


def _compared(by_caption: _BeforeAndAfter, per: str | None) -> tuple[list[_BeforeAndAfter], list[str]]:
    """Return what is compared, captions or sets or both, and why there are no sets where both are usual."""
    if per == "caption":
        return [by_caption], []
    captions = [by_caption] if per != "set" else []
    by_set = _by_set(by_caption.options, by_caption.run, by_caption.changes, by_caption.kinds)
    if isinstance(by_set, _BeforeAndAfter):
        return [*captions, by_set], []
    if per is not None:
        raise InputError(f"there are no caption sets: {by_set}", fix="choose per=caption")
    return captions, [f"no caption sets: {by_set}"]


def _few_images(effects: Iterable[QueryEffect]) -> list[str]:
    """Return which kinds have changed the queries of few images only."""
    return [
        f"{effect.kind}: the changed queries are of {plural(effect.images, 'image')} only"
        for effect in effects
        if effect.images < FEW
    ]


def _wanted(measure: Any, options: ScoringOptions) -> list[Named]:
    """Return the measures of every truth: those that were asked for, or the usual ones."""
    listed = [named for group in options.measures.values() for named in group]
    combined = [named for named in listed if isinstance(named, Combined)]
    if measure is not None and combined:
        raise InputError(
            f"{combined[0]} has no value of its own for a query", fix="choose others, such as R@1 or MRR"
        )
    usual = parse_measures(MEASURES) if measure is None else []
    return list({str(named): named for named in [*usual, *listed] if named not in combined}.values())


def _listed_queries(queries: Any) -> list[Any]:
    """Return one list of queries, or several, as a list."""
    several = isinstance(queries, list) and not any(isinstance(each, PerturbedQuery) for each in queries)
    listed = queries if several else [queries]
    if not listed:
        raise InputError("no queries were given", fix="give what karat perturb wrote")
    return listed


def _named_apart(kinds: Sequence[ChangedQueries]) -> list[ChangedQueries]:
    """Return kinds with different names: where two are the same, with that of the file or a number."""
    names = [each.kind for each in kinds]
    return [
        replace(each, kind=f"{each.kind} {Path(each.where).stem if each.where else number}")
        if names.count(each.kind) > 1
        else each
        for number, each in enumerate(kinds, start=1)
    ]


def _unlike_before(run: Run, after: ChangedRun, queries: ChangedQueries) -> list[str]:
    """Return a note where captions that were not changed score differently."""
    rest = np.setdiff1d(after.captions, queries.changed)
    if not (len(rest) and isinstance(run, TableRun) and isinstance(after.run, TableRun)):
        return []
    image = np.zeros(len(rest), np.int64)
    before, now = (each.pairs(CAPTIONS_ASK, rest, image) for each in (run, after.run))
    other = int((np.abs(now - before) > 100 * SAME * np.abs(before).max()).sum())
    if not other:
        return []
    return [
        f"{queries.kind}: {other:,} of {plural(len(rest), 'caption')} that were not changed have another "
        "score after: is it the same model, and are its rows in the order of the captions?"
    ]


@dataclass(frozen=True, eq=False)
class QueryChanges:
    """What became of changed queries: for each a value of every column, as `QueryEffect` names them."""

    queries: np.ndarray
    columns: Mapping[str, np.ndarray]


class OwnImages:
    """The own image of captions: the one that each was written for, else the relevant one that ranks first.

    Parameters
    ----------
    options
        With the benchmark, and the truth that says what is relevant.
    captions
        Sorted, each once.
    """

    def __init__(self, options: ScoringOptions, captions: np.ndarray) -> None:
        self.captions = captions
        bench = options.benchmark
        owner = bench.caption_image
        own = np.full(len(captions), -1) if owner is None else np.asarray(owner)[captions].astype(np.int64)
        query, item = captions[own >= 0], own[own >= 0]
        name = next(iter(options.measures), next(iter(bench.truths)))
        truth = _restricted(bench.truth(name), captions[own < 0])
        if truth is not None and not truth.implicit:
            judged = truth.judged(CAPTIONS_ASK)
            rows = (judged.grade > 0) & (judged.item < bench.images.size)
            query, item = np.r_[query, judged.query_of_row[rows]], np.r_[item, judged.item[rows]]
        order = np.lexsort((item, query))
        self.query, self.item = query[order], item[order]
        self.pairs = [pairs_of(CAPTIONS_ASK, self.query, self.item)] if len(query) else []

    def settle(self, answers: Mapping[JudgedItems, JudgedItems], ties: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the own image of each caption, −1 where it has none, and its place."""
        own, rank = np.full(len(self.captions), -1), np.full(len(self.captions), np.inf)
        for placed in answers.values():
            place = np.where(placed.above >= 0, placed.above + placed.tied, np.iinfo(np.int64).max)
            best = np.lexsort((self.item, place, self.query))
            query, first = np.unique(self.query[best], return_index=True)
            at = np.searchsorted(self.captions, query)
            own[at], rank[at] = self.item[best[first]], ranks_of(placed, ties)[best[first]]
        return own, rank


def ranks_of(placed: JudgedItems, ties: str) -> np.ndarray:
    """Return the place of each pair's item; infinite where a list does not have it."""
    behind = {
        "pessimistic": placed.tied,
        "optimistic": np.zeros_like(placed.tied),
        "expected": placed.tied / 2,
    }.get(ties, placed.earlier)
    return np.where(placed.above >= 0, placed.above + behind + 1, np.inf)


@dataclass(frozen=True, eq=False)
class _Before:
    """The run before: its scores, and the own image of every changed query with its place."""

    card: Scorecard
    own: OwnImages
    item: np.ndarray
    rank: np.ndarray


@dataclass(frozen=True, eq=False)
class _BeforeAndAfter:
    """One run before and after every kind of change, per caption or per set.

    `changed` has the queries of each kind. Each run is read once: the one before in `before`, those after in
    `after`.
    """

    per: str
    options: ScoringOptions
    run: Run
    changes: Sequence[ChangedRun]
    changed: Sequence[np.ndarray]
    kinds: Sequence[ChangedQueries]

    @cached_property
    def before(self) -> _Before:
        """What the pass over the run before gave."""
        own = OwnImages(self.options, np.unique(np.concatenate(self.changed)))
        options = replace(self.options, benchmark=self.run.benchmark or self.options.benchmark)
        scoring = scan_runs([self.run], options, pairs=own.pairs)
        return _Before(scoring.card(), own, *own.settle(scoring.pairs_placed[self.run.name], options.ties))

    @cached_property
    def after(self) -> list[tuple[Scorecard, QueryChanges]]:
        """What the passes over the runs after gave: their scores, and what became of changed queries."""
        both = list(zip(self.changes, self.changed))
        return [self._after(change, changed) for change, changed in track(both, "scoring changed queries")]

    def _after(self, after: ChangedRun, changed: np.ndarray) -> tuple[Scorecard, QueryChanges]:
        bench, before = self.options.benchmark, self.before
        at = np.searchsorted(before.own.captions, changed)
        at = at[before.item[at] >= 0]
        queries, own = before.own.captions[at], before.item[at]
        truths = {name: _restricted(bench.truth(name), after.captions) for name in self.options.measures}
        scored = {name: truth for name, truth in truths.items() if truth is not None}
        options = replace(
            self.options,
            benchmark=replace(bench, truths={**bench.truths, **scored}),
            measures={name: self.options.measures[name] for name in scored},
        )
        pairs = [pairs_of(CAPTIONS_ASK, queries, own)] if len(queries) else []
        run = after.of(options.benchmark)
        scoring = scan_runs([run], options, pairs=pairs)
        placed = scoring.pairs_placed[run.name]
        now = ranks_of(placed[pairs[0]], options.ties) if pairs else np.zeros(0)
        return scoring.card(), self._values(after, queries, own, before.rank[at], now)

    @property
    def values(self) -> list[QueryChanges]:
        """What became of the changed queries of each kind."""
        return [values for _, values in self.after]

    def check(self) -> None:
        """Raise where no query of a kind can be looked at."""
        for kind, each in zip(self.kinds, self.values):
            if not len(each.queries):
                raise InputError(
                    f"no changed query has a place of its own image: {kind.kind}",
                    where=kind.where,
                    fix="give longer lists, or a truth that has relevant images of these captions",
                )

    def notes(self) -> list[str]:
        """Return how many queries were left out."""
        return [
            f"{kind.kind}: {len(changed) - len(each.queries):,} of {len(changed):,} changed queries have no "
            "place of their own image and are left out"
            for kind, changed, each in zip(self.kinds, self.changed, self.values)
            if len(each.queries) < len(changed)
        ]

    def _values(
        self, after: ChangedRun, queries: np.ndarray, own: np.ndarray, then: np.ndarray, now: np.ndarray
    ) -> QueryChanges:
        """Return what became of queries whose own image ranked at one place, and ranks at another now."""
        known = np.isfinite(then) | np.isfinite(now)
        queries, own, then, now = (column[known] for column in (queries, own, then, now))
        columns = {"lower": now > then, "higher": now < then, "same": now == then}
        fall = (now > then) + 0.5 * (now == then)
        if isinstance(self.run, TableRun) and isinstance(after.run, TableRun):
            old, new = (
                run.pairs(CAPTIONS_ASK, queries, own).astype(np.float64) for run in (self.run, after.run)
            )
            slack = SAME * np.abs(old).max(initial=0)
            fell, rose = new < old - slack, new > old + slack
            fall = fell + 0.5 * ~(fell | rose)
            columns |= {"unnoticed": ~fell, "score_change": new - old}
        if isinstance(self.run, EmbeddingRun) and isinstance(after.run, EmbeddingRun):
            columns["cosine"] = _cosines(*(
                run.captions[run.maps(CAPTIONS_ASK)[0][queries]] for run in (self.run, after.run)
            ))  # fmt: skip
        columns["fall"] = fall
        return QueryChanges(queries, {name: column.astype(np.float64) for name, column in columns.items()})

    def effects(self, intervals: Intervals) -> list[QueryEffect]:
        """Return what became of ranks and scores, the intervals of all kinds from the same draws."""
        bench = self.options.benchmark
        named = [(number, name) for number, each in enumerate(self.values) for name in each.columns]
        place = {key: at for at, key in enumerate(named)}
        columns = [(self.values[number].queries, self.values[number].columns[name]) for number, name in named]
        samples = query_samples(bench, CAPTIONS_ASK, columns, intervals)
        shares, means = samples.means(), samples.estimates(lambda scores: scores)
        controls = [place[number, "fall"] for number, kind in enumerate(self.kinds) if kind.control]
        effects = []
        for number, (kind, each) in enumerate(zip(self.kinds, self.values)):
            found: dict[str, Any] = {}
            for name in each.columns:
                at = place[number, name]
                # A change or a cosine is no share, even where all lie between 0 and 1.
                found[name] = _of_size(means[at], shares[at]) if name in NO_SHARES else shares[at]
            if controls and not kind.control:
                fall = place[number, "fall"]
                (beyond,) = samples.estimates(
                    lambda scores, fall=fall: scores[[fall]] - scores[controls].mean(axis=0)  # type: ignore[misc]
                )
                found["beyond_controls"] = _of_size(beyond, shares[fall])
            counts = len(self.changed[number]), bench.captions.size
            images = shares[place[number, "fall"]].effective
            effects.append(QueryEffect(kind.kind, kind.control, self.per, *counts, images, **found))
        return effects

    def measures(self, intervals: Intervals) -> list[MeasureEffect]:
        """Return every measure before and after, on the changed queries and on all."""
        pairs: list[tuple[Column, Column]] = []
        heads: list[tuple[ChangedQueries, str]] = []
        for kind, (card, _), changed in zip(self.kinds, self.after, self.changed):
            for old, new in self._columns(card):
                assert old.query is not None
                for queries in ("changed", "all"):
                    rows = np.isin(old.query, changed) | (queries == "all")
                    if rows.any():
                        pairs.append((_taken(old, rows), _taken(new, rows)))
                        heads.append((kind, queries))
        return [
            MeasureEffect(kind.kind, kind.control, self.per, queries, old.truth, old.measure, *numbers)
            for (kind, queries), (old, _), numbers in zip(heads, pairs, paired_differences(pairs, intervals))
        ]

    def _columns(self, card: Scorecard) -> list[tuple[Column, Column]]:
        """Return every measure of all queries before, and with those that the run after has replaced."""
        scored = {column.truth for column in card}
        pairs = []
        for old in self.before.card:
            if old.values is None or old.truth not in scored or old.value is None:
                continue
            new = card.column(str(old.measure), truth=old.truth, direction=CAPTIONS_ASK)
            if new.values is None or new.value is None:
                continue
            values = old.values.copy()
            at = {key: place for place, key in enumerate(zip(old.fold.tolist(), old.query.tolist()))}  # type: ignore[union-attr]
            places = [at[key] for key in zip(new.fold.tolist(), new.query.tolist())]  # type: ignore[union-attr]
            values[places] = new.values
            pairs.append((old, replace(old, run="after", values=values)))
        return pairs


def _by_set(
    options: ScoringOptions, run: Run, changes: Sequence[ChangedRun], kinds: Sequence[ChangedQueries]
) -> _BeforeAndAfter | str:
    """Return the same per caption set, whose truth is its own image; or why there is none."""
    sets = caption_sets(options.benchmark)
    if sets is None:
        return "the benchmark does not say which image each caption was written for"
    before, *after = (sets.run(run, each) for each in (None, *changes))
    if before is None or None in after:
        return "scores of captions can be averaged where both runs are score tables, or both embeddings"
    every = np.arange(sets.benchmark.captions.size)
    runs = [ChangedRun(each, every) for each in after if each is not None]
    measures = next(iter(options.measures.values()))
    (truth,) = sets.benchmark.truths
    chosen = replace(
        options,
        benchmark=sets.benchmark,
        # Similarities of meaning are known of captions, not of sets.
        measures={truth: [named for named in measures if not isinstance(named, Semantic)]},
        unjudged="misses",
    )
    changed = [sets.with_any(kind.changed) for kind in kinds]
    return _BeforeAndAfter("set", chosen, before, runs, changed, kinds)


def _restricted(truth: Truth, captions: np.ndarray) -> Truth | None:
    """Return a truth for some of its captions; None where it covers none of them."""
    queries = np.asarray(truth.queries.get(CAPTIONS_ASK, ()), dtype=np.int64)
    kept = queries[np.isin(queries, captions)]
    return replace(truth, queries={CAPTIONS_ASK: kept}) if len(kept) else None


def _taken(column: Column, rows: np.ndarray) -> Column:
    """Return a column of some of its queries; its value is that of all of them."""
    parts = {name: getattr(column, name)[rows] for name in ("values", "query", "fold", "cluster")}
    return replace(column, n=int((~np.isnan(parts["values"])).sum()), **parts)


def _of_size(mean: Estimate, share: Estimate) -> Estimate:
    """Return a mean with the number of queries of another; without an interval where these are too few."""
    if share.effective < FEWEST_OTHER:
        mean = replace(mean, low=float("nan"), high=float("nan"))
    return replace(mean, n=share.n, effective=share.effective)


def _cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the cosine of each row of two tables; NaN where a vector is 0."""
    first, second = (table.astype(np.float64) for table in (first, second))
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.einsum("ij,ij->i", first, second) / lengths
