"""Columns of a scorecard, from runs and labels.

Each run is asked once where it ranks the labelled items of all truths (`shared_pairs`), or for its first
items where a truth is a rule or a measure looks at similarities (`first_items`). From these counts every
measure is computed, batch of queries by batch (`batches`); the values per query are aggregated to columns,
and columns to combinations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from karat._util import track
from karat.benchmarks import Direction, JudgedItems, Truth, is_direction
from karat.errors import InputError
from karat.measures import (
    ColumnKey,
    Combined,
    MeanOfBoth,
    Measure,
    Named,
    Semantic,
    TiePolicy,
    parse_measure,
)
from karat.runs import ChoiceRun, RankingsRun, Run, Scanned, Top, TopRequest
from karat.scores.column import Column, directions_among
from karat.scores.evaluation.batches import (
    Batch,
    aggregate,
    bound_notes,
    bounds_of,
    folds_of,
    merged,
    mistaken_for,
    read,
    reading_notes,
    score_batch,
    tie_notes,
    tie_report,
)
from karat.scores.evaluation.first_items import (
    KnownTops,
    implicit_counts,
    implicit_depth,
    positives,
    request_of,
    semantic_counts,
    semantic_depth,
)
from karat.scores.evaluation.options import ScoringOptions
from karat.scores.evaluation.shared_pairs import SharedPairs
from karat.scores.evaluation.similarity import Similarities
from karat.scores.scorecard import Details, Scorecard, TieReport
from karat.scores.trec_eval import aligned, notes_on_queries

DETAIL_MEASURES = ("MeanR", "Judged@10")
"""What a report shows of every query besides its scores."""


def score_runs(
    runs: Sequence[Run],
    options: ScoringOptions,
    *,
    details: bool = False,
) -> Scorecard:
    """Score runs with unique names; `karat.evaluate` says what the parameters are."""
    return scan_runs(runs, options, details=details).card()


def scan_runs(
    runs: Sequence[Run],
    options: ScoringOptions,
    *,
    details: bool = False,
    more: Sequence[TopRequest] = (),
    pairs: Sequence[JudgedItems] = (),
) -> Scoring:
    """Score runs; return the scorecard with where the runs rank the labelled items, and what else was asked.

    See `Scoring` for `more` and `pairs`.
    """
    scoring = Scoring(options, details, more, pairs)
    for run in track(named_apart(runs), lambda run: f"scoring {run.name}"):
        scoring.add(aligned(run, options.benchmark, options.ties))
    return scoring


def details_of(card: Scorecard, runs: Sequence[Run], threads: int | None = None) -> Details:
    """Return the details of a scorecard that was made without them, from another pass over its runs."""
    directions = tuple(filter(is_direction, directions_among(card))) or card.benchmark.directions
    truths = dict.fromkeys(column.truth for column in card)
    ties: TiePolicy = card.ties  # type: ignore[assignment]
    options = ScoringOptions(
        card.benchmark,
        {truth: [] for truth in truths},
        directions,
        ties,
        "misses",
        Similarities(card.benchmark),
        threads=threads,
        like=card.like,
    )
    details = score_runs(runs, options, details=True).details
    assert details is not None
    return details


R = TypeVar("R", Run, ChoiceRun)


def named_apart(runs: Sequence[R]) -> Sequence[R]:
    """Raise when two runs have the same name: their columns could not be distinguished."""
    names = [run.name for run in runs]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"two runs are called {twice[0]!r}", fix="name them: --name A,B, or name= in Python")
    return runs


@dataclass(frozen=True, eq=False)
class RunScan:
    """What the one pass over a run's scores gave."""

    run: Run
    placed: Mapping[JudgedItems, JudgedItems]
    tops: KnownTops
    first: Mapping[Direction, np.ndarray]


class Scoring:
    """An evaluation under way: what is known of the labels, and the columns of the runs scored so far.

    Parameters
    ----------
    options
        What is scored.
    details
        Whether to keep what a report shows of every query.
    more
        First items that somebody else needs, listed in the same pass: see `tops`.
    pairs
        Further pairs that somebody else needs, placed in the same pass: see `pairs_placed`.
    """

    def __init__(
        self,
        options: ScoringOptions,
        details: bool = False,
        more: Sequence[TopRequest] = (),
        pairs: Sequence[JudgedItems] = (),
    ) -> None:
        self.options, self.details, self.more, self.pairs = options, details, more, pairs
        self.needed = options.needed()
        self.columns: list[Column] = []
        self.detail_columns: list[Column] = []
        self.tops: dict[str, Mapping[TopRequest, Top]] = {}
        """Per run, the lists of `more` in the directions that it has."""
        self.pairs_placed: dict[str, Mapping[JudgedItems, JudgedItems]] = {}
        """Per run, `pairs` with their counts in the directions that it has."""
        self.first: dict[str, Mapping[Direction, np.ndarray]] = {}
        self.sources: dict[str, tuple[str | None, str]] = {}
        self.placed: dict[tuple[str, str, Direction], list[JudgedItems]] = {}
        """Per truth, run and direction, the judged items of each fold with their counts, where other labels
        are drawn."""
        self.tie_reports: list[TieReport] = []
        self.readings: list[tuple[Column, Column]] = []
        """Columns of measures that are mistaken for another, each with the column of the other."""
        self.notes: list[str] = []

    @cached_property
    def judged(self) -> dict[tuple[str, Direction], list[JudgedItems]]:
        """Per truth and direction, the judged items of each fold."""
        bench = self.options.benchmark
        return {
            (truth, direction): bench.truth(truth).judged_by_fold(direction, bench.items(direction).size)
            for truth in dict.fromkeys([*self.needed, *self.detailed])
            for direction in self.options.directions
        }

    @cached_property
    def pools(self) -> dict[tuple[str, Direction], list[JudgedItems]]:
        """The same of whole pools, those not judged included, for truths whose measures look at them."""
        bench = self.options.benchmark
        return {
            (name, direction): bench.truth(name).judged_by_fold(
                direction, bench.items(direction).size, pool=True
            )
            for name, measures in self.needed.items()
            if of_pool(measures) and not bench.truth(name).implicit
            for direction in self.options.directions
        }

    @cached_property
    def shared(self) -> SharedPairs:
        """The pairs that runs have to place, of truths that list them."""
        wanted = {truth for truth, measures in self.needed.items() if labelled(measures)} | set(self.detailed)
        return SharedPairs(
            [
                items
                for (truth, _), group in self.judged.items()
                if truth in wanted and not self.options.benchmark.truth(truth).implicit
                for items in group
            ]
            + [items for group in self.pools.values() for items in group]
        )

    @cached_property
    def detailed(self) -> list[str]:
        """The truths that details are about: those that list their pairs.

        Folds have their own galleries: they take as long as all others, and add little.
        """
        if not self.details:
            return []
        truths = [self.options.benchmark.truth(name) for name in self.options.measures]
        listed = [truth for truth in truths if not truth.implicit]
        return [truth.name for truth in listed if not truth.folds] or [truth.name for truth in listed]

    def measures_of(self, truth: str) -> list[Measure]:
        """Return the measures of a truth, with those that they are mistaken for."""
        needed = self.needed.get(truth, [])
        return list(dict.fromkeys([*needed, *mistaken_for(needed).values()]))

    @cached_property
    def positives(self) -> dict[JudgedItems, np.ndarray]:
        """Of truths that are rules, how many positives each query has."""
        bench = self.options.benchmark
        return {
            items: positives(bench.truth(name), items)
            for (name, _), group in self.judged.items()
            if bench.truth(name).implicit and labelled(self.measures_of(name))
            for items in group
        }

    @cached_property
    def requests(self) -> list[TopRequest]:
        """The first items that runs have to list, for truths that are rules and for measures of meaning."""
        requests: list[TopRequest] = []
        for (name, _), group in self.judged.items():
            truth, measures = self.options.benchmark.truth(name), self.measures_of(name)
            for items in group:
                depths = [
                    semantic_depth(truth, items, m.gt, m.k) for m in measures if isinstance(m, Semantic)
                ]
                if items in self.positives:
                    depths.append(implicit_depth(items, labelled(measures), self.positives[items]))
                requests += request_of(items, max(depths)) if depths else []
        return requests

    def add(self, run: Run) -> None:
        """Score one run: one pass over its scores, then every measure from the counts."""
        directions = self._directions(run)
        scan = self._scan(run, directions)
        parts: dict[ColumnKey, Column] = {}
        reports: list[TieReport] = []
        for (truth, direction), group in self.judged.items():
            if direction in directions:
                reports += self._score(scan, truth, direction, group, parts)
        columns = [
            column
            for truth, measures in self.options.measures.items()
            for named in measures
            for column in assemble(named, truth, run, parts, self.options.benchmark.directions)
        ]
        self.columns += columns
        self.tie_reports += reports
        self.first[run.name], self.sources[run.name] = scan.first, (run.where, run.kind)
        self.notes += [*self._notes(run, columns, directions), *tie_notes(reports), *bound_notes(columns)]

    def _directions(self, run: Run) -> tuple[Direction, ...]:
        """Return the directions asked for that a run has, or raise where it has none."""
        directions = tuple(direction for direction in self.options.directions if direction in run.directions)
        if not directions:
            raise InputError(
                f"has rankings for {' and '.join(run.directions)} only",
                where=run.where or run.name,
                fix="ask for that direction",
            )
        return directions

    def _scan(self, run: Run, directions: tuple[Direction, ...]) -> RunScan:
        """Ask a run everything at once: where it ranks the labelled items, and its first items."""
        asked = [items for items in self.shared.distinct if items.direction in directions]
        # Lists are looked up as they are.
        requests = [] if isinstance(run, RankingsRun) else self.requests
        needed = [request for request in requests if request.direction in directions]
        more = [request for request in self.more if request.direction in directions]
        # Pairs may be of a direction that is not scored.
        pairs = [items for items in self.pairs if items.direction in run.directions]
        scanned = Scanned([])
        if asked or needed or more or pairs or self.details:
            scanned = run.scan(
                [*asked, *pairs],
                self.options.threads,
                self.details,
                tops=[*needed, *more],
                options=self.options.passing,
            )
        self.tops[run.name] = dict(zip(more, scanned.tops[len(needed) :]))
        self.pairs_placed[run.name] = dict(zip(pairs, scanned.placed[len(asked) :]))
        first = {direction: items for direction, items in scanned.first.items() if direction in directions}
        placed = self.shared.spread(scanned.placed[: len(asked)])
        return RunScan(run, placed, KnownTops(run, needed, scanned.tops), first)

    def _score(
        self,
        scan: RunScan,
        truth: str,
        direction: Direction,
        group: list[JudgedItems],
        parts: dict[ColumnKey, Column],
    ) -> list[TieReport]:
        """Add the columns of one truth in one direction to the parts; return what ties change in them."""
        options, run, needed = self.options, scan.run, self.needed.get(truth, [])
        if options.label_versions and truth in self.needed:
            self.placed[truth, run.name, direction] = [read(scan.placed[items], options) for items in group]
        reports = []
        for measures, batches in passes(
            scan.tops, options.benchmark.truth(truth), group, self.pools.get((truth, direction), group),
            scan.placed, self.measures_of(truth), options, self.positives,
        ):  # fmt: skip
            columns = self._columns(run, truth, direction, batches, measures)
            parts |= {ColumnKey(m, truth, direction): column for m, column in zip(measures, columns)}
            report = tie_report(run, truth, direction, batches, [m for m in measures if m in needed])
            reports += [report] if report else []
        self.readings += [
            (parts[ColumnKey(measure, truth, direction)], parts[ColumnKey(other, truth, direction)])
            for measure, other in mistaken_for(needed).items()
        ]
        if options.like is not None and len(group[0].queries):
            self.notes += notes_on_queries(
                run.name,
                options.like,
                [scan.placed[items].depth > 0 for items in group],
                [
                    np.bincount(items.number[items.grade > 0], minlength=len(items.queries)) > 0
                    for items in group
                ],
            )
        if truth in self.detailed:
            self._add_details(run, truth, direction, [scan.placed[items] for items in group])
        return merged(reports)

    def _notes(self, run: Run, columns: Sequence[Column], directions: tuple[Direction, ...]) -> list[str]:
        """Say which columns have no value, and which directions that truths cover a run lacks."""
        covered = {direction for (_, direction), group in self.judged.items() if len(group[0].queries)}
        return [
            f"{run.name}: {c.measure} on {c.truth} ({c.direction}) has no value: {c.note}"
            for c in columns
            if c.note
        ] + [
            f"{run.name} has no {direction} rankings"
            for direction in self.options.directions
            if direction in covered and direction not in directions
        ]

    def _add_details(self, run: Run, truth: str, direction: Direction, placed: Sequence[JudgedItems]) -> None:
        measures = [m for m in map(parse_measure, DETAIL_MEASURES) if isinstance(m, Measure)]
        # Unjudged pairs count as misses and ties are fixed, so that a place is a whole number.
        options = replace(self.options, ties=self._detail_ties, unjudged="misses")
        batches = [score_batch(items, fold, measures, options) for fold, items in enumerate(placed)]
        self.detail_columns += self._columns(run, truth, direction, batches, measures)

    @property
    def _detail_ties(self) -> TiePolicy:
        return "pessimistic" if self.options.ties == "expected" else self.options.ties

    def _columns(
        self, run: Run, truth: str, direction: Direction, batches: Sequence[Batch], measures: list[Measure]
    ) -> list[Column]:
        """Aggregate every measure of one truth in one direction, over its folds."""
        bench = self.options.benchmark
        queries = np.concatenate([batch.queries for batch in batches])
        folds = folds_of(batches)
        clusters = bench.clusters(direction, queries)
        columns = []
        for measure in measures:
            value, note = aggregate(measure, batches, bench, direction)
            lower, upper = bounds_of(measure, value, batches)
            # No value for a query where the mean would not have one either.
            values = np.concatenate(
                [np.where(batch.unanswered[measure], np.nan, batch.values[measure]) for batch in batches]
            )
            columns.append(
                Column(
                    run.name,
                    truth,
                    direction,
                    measure,
                    value,
                    int((~np.isnan(values)).sum()),
                    values,
                    queries,
                    folds,
                    clusters,
                    lower_bound=lower,
                    upper_bound=upper,
                    note=note,
                )
            )
        return columns

    def card(self) -> Scorecard:
        """Return the scorecard of all runs so far."""
        options = self.options
        notes = list(dict.fromkeys([*self.notes, *reading_notes(self.readings), *options.notes()]))
        details = None
        if self.details:
            places = Scorecard(self.detail_columns, options.benchmark, self._detail_ties)
            details = Details(places, self.first, self.sources)
        return Scorecard(
            self.columns,
            options.benchmark,
            options.ties,
            options.unjudged,
            self.tie_reports,
            notes,
            details=details,
            like=options.like,
        )


Pass = tuple[list[Measure], list[Batch]]
"""Measures, and their scores of every query."""


def passes(
    run: KnownTops,
    truth: Truth,
    judged: Sequence[JudgedItems],
    pool: Sequence[JudgedItems],
    placed: Mapping[JudgedItems, JudgedItems],
    measures: Sequence[Measure],
    options: ScoringOptions,
    totals: Mapping[JudgedItems, np.ndarray],
) -> Iterator[Pass]:
    """Yield groups of measures that see the same rows, with their scores over all folds."""
    if by_labels := [measure for measure in labelled(measures) if not measure.of_pool]:
        yield by_labels, list(batches_of(run, truth, judged, placed, by_labels, options, totals))
    if by_pool := of_pool(measures):
        # They read unjudged pairs in their own way.
        plain = replace(options, unjudged="misses")
        yield by_pool, list(batches_of(run, truth, pool, placed, by_pool, plain, totals))
    by_meaning: dict[tuple[str, bool], list[Semantic]] = {}
    for measure in measures:
        if isinstance(measure, Semantic):
            by_meaning.setdefault((measure.phi, measure.gt), []).append(measure)
    for group in by_meaning.values():
        yield from semantic_passes(run, truth, judged, group, options)


def of_pool(measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that look at the whole pool, judged or not."""
    return [measure for measure in measures if measure.of_pool]


def labelled(measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that look at the truth's labels."""
    return [measure for measure in measures if not isinstance(measure, Semantic)]


def batches_of(
    run: KnownTops,
    truth: Truth,
    judged: Sequence[JudgedItems],
    placed: Mapping[JudgedItems, JudgedItems],
    measures: list[Measure],
    options: ScoringOptions,
    totals: Mapping[JudgedItems, np.ndarray],
) -> Iterator[Batch]:
    """Yield the scores of each fold; of a rule's folds in batches, since its positives are not listed."""
    for fold, items in enumerate(judged):
        counted = (
            implicit_counts(run, truth, items, measures, totals[items]) if truth.implicit else [placed[items]]
        )
        for part in counted:
            yield score_batch(part, fold, measures, options)


def semantic_passes(
    run: KnownTops,
    truth: Truth,
    judged: Sequence[JudgedItems],
    group: Sequence[Semantic],
    options: ScoringOptions,
) -> Iterator[Pass]:
    """Yield the measures of one similarity by how many of the most similar items they take as relevant."""
    by_m: dict[int | None, list[Measure]] = {}
    for measure in group:
        by_m.setdefault(measure.m, []).append(measure)
    batches: dict[int | None, list[Batch]] = {m: [] for m in by_m}
    deepest = max(measure.k for measure in group)
    similarity, gt = options.similarities[group[0].phi], group[0].gt
    for fold, items in enumerate(judged):
        for by_count in semantic_counts(
            run, similarity, truth, fold, items, gt, deepest, list(by_m), options.similarities.ideal
        ):
            for m, part in by_count.items():
                batches[m].append(score_batch(part, fold, by_m[m], options))
    yield from ((by_m[m], batches[m]) for m in by_m)


def assemble(
    named: Named, truth: str, run: Run, parts: dict[ColumnKey, Column], directions: tuple[Direction, ...]
) -> list[Column]:
    """Return the columns of one measure: those directions that there are and their mean, or a combination."""
    if isinstance(named, Combined):
        return [combined(named, truth, run, parts, directions)]
    assert isinstance(named, Measure)
    mean = MeanOfBoth(named)
    columns = [parts[key] for key in mean.parts(truth, directions) if key in parts]
    return [*columns, combined(mean, truth, run, parts, directions)] if len(columns) == 2 else columns


def combined(
    named: Combined, truth: str, run: Run, parts: dict[ColumnKey, Column], directions: tuple[Direction, ...]
) -> Column:
    """Combine aggregated columns, and their bounds where all have some."""
    keys = named.parts(truth, directions)
    columns = [parts[key] for key in keys if key in parts]

    def together(field: str) -> float | None:
        values = [getattr(column, field) for column in columns]
        if len(columns) < len(keys) or None in values:
            return None
        return float(named.combine([np.atleast_1d(value) for value in values])[0])

    per_direction = {column.direction: column.n for column in columns}
    note = None
    if together("value") is None:
        # The parts say why themselves when they are shown; a lone combination has to.
        reasons = [column.note for column in columns if column.note] or ["it needs both directions"]
        note = reasons[0] if named.direction == "both" else None
    return Column(
        run.name,
        truth,
        named.direction,
        named,
        together("value"),
        sum(per_direction.values()),
        lower_bound=together("lower_bound"),
        upper_bound=together("upper_bound"),
        parts=tuple(columns),
        note=note,
    )
