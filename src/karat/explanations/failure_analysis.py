"""Failure analysis: from runs to an explanation of their failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, connected, plural, say, track
from karat.benchmarks import Benchmark, Direction, JudgedItems, turned
from karat.errors import InputError
from karat.explanations.cleaning_list import CleaningList, OwnPairs, check_owners, rank_captions
from karat.explanations.concept_metrics import ConceptComparison, ConceptMetrics, compare_concepts, path_steps
from karat.explanations.concept_sources import check_source, find_concepts
from karat.explanations.concepts import Concepts
from karat.explanations.explained_failures import ALL, INFORMED, METRIC_HEADS, ExplainedFailures
from karat.explanations.explanation import Explanation
from karat.explanations.failures import (
    FAILURE_TIES,
    FailureQuestion,
    RunFailures,
    check_direction,
    check_ranks,
    images_known,
)
from karat.explanations.fault import FaultChoices, FaultFinder
from karat.explanations.noun_senses import MentionedConcepts
from karat.explanations.query_values import QueryValues, query_vectors
from karat.explanations.slice_columns import SliceTable, read_queries, slice_table
from karat.explanations.slice_report import SliceReport
from karat.explanations.slices import SliceChoices, check_searched, slices_of_values
from karat.runs import Compute, Loading, Run, Top, TopRequest, load_runs, notes_on_loading
from karat.scores import Scorecard, ScoringOptions, check_chance, check_options, scan_runs
from karat.scores.evaluation import ScanAnswers, ScanRequests
from karat.stats import check_seed


class QueryMentions:
    """The concepts that the queries of a benchmark mention: a caption's nouns, or those of an image's
    captions."""

    def __init__(self, benchmark: Benchmark, concepts: Concepts) -> None:
        self.benchmark = benchmark
        self.mentions = MentionedConcepts(concepts.synsets)
        self._known: dict[tuple[Direction, int], np.ndarray] = {}

    def of(self, direction: Direction, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return, compressed, the concepts that each query mentions."""
        new = [q for q in np.unique(queries).tolist() if (direction, q) not in self._known]
        texts = self._texts(direction, new)
        ptr, concept = self.mentions.of_texts([text for own in texts for text in own])
        begin = 0
        for query, own in zip(new, texts):
            end = begin + len(own)
            self._known[direction, query] = np.unique(concept[ptr[begin] : ptr[end]])
            begin = end
        rows = [self._known[direction, query] for query in queries.tolist()]
        lengths = np.array([len(row) for row in rows], np.int64)
        return np.r_[0, np.cumsum(lengths)], np.concatenate([*rows, np.zeros(0, np.int64)])

    def _texts(self, direction: Direction, queries: Sequence[int]) -> list[list[str]]:
        if self.benchmark.query_side(direction).kind == "text":
            captions = self.benchmark.needed_texts
            return [[captions[query]] for query in queries]
        from karat.captions import references_of

        references = references_of(self.benchmark)
        return [references[query] for query in queries]


def explain(
    runs: Run | Sequence[Run] | Any,
    benchmark: Benchmark | str | Path,
    *,
    truth: Iterable[str] | str | None = None,
    direction: Iterable[str] | str | None = None,
    rank: Iterable[int] | int = 1,
    ties: str = "pessimistic",
    concepts: Concepts | str | Path | None = None,
    comparison: ConceptComparison | None = None,
    faults: FaultChoices | None = None,
    slices: Mapping[str, Any] | bool = False,
    clean: bool = False,
    seed: int = 0,
    setting: Mapping[str, Any] | None = None,
    loading: Loading | None = None,
    compute: Compute | None = None,
) -> Explanation:
    """Explain the failures of runs by the concepts of the images (Lymperaiou et al. 2022, §4).

    For every query whose item at a rank is wrong, the image that should have come is compared with the one
    that came; where captions are retrieved, the image that a caption was written for stands for it. The
    ground truth of a query is its original positive (`karat.explanations.find_failures`).

    Parameters
    ----------
    runs
        As `karat.evaluate` takes them.
    benchmark
        A benchmark, its name or its folder.
    truth
        One or several; by default the benchmark's first.
    direction
        "i2t", "t2i" or both.
    rank
        At which places wrong items are looked for; the first by default.
    ties
        What happens to equal scores: "pessimistic", "optimistic" or "stable".
    concepts
        "objects", "captions", the json file of Visual Genome's scene graphs, or `Concepts`; by default the
        objects of the benchmark where it has any, else its captions (`karat.explanations.find_concepts`).
    comparison
        How concepts are compared.
    faults
        Which failures are marked as labels' or captions' fault, and which of them do not count; by default
        none.
    slices
        Whether to search for the queries on which each run is weak, and on which the first run and another
        are weaker than each other (`karat.explanations.find_slices`, by R@1); or, by name, booleans for all
        queries of a direction. The page of failures can be filtered by them.
    clean
        Whether to make the cleaning list as well (`karat.explanations.make_cleaning_list`), from the same
        pass over the scores.
    seed
        Of the search for slices.
    setting
        Settings of a benchmark that is given by name, as `karat.load_benchmark` takes them.
    loading, compute
        How runs are read, and what works on them.

    Returns
    -------
    Explanation
        Its `local` has every failure by itself.

    Examples
    --------
    >>> import karat
    >>> from karat.world import make_world
    >>> bench = make_world(50, seed=3).benchmark()
    >>> scores = np.random.default_rng(0).random((50, 250))
    >>> explained = karat.explain(scores, bench, direction="t2i")
    >>> row = explained.records()[0]
    >>> row["failures"], round(row["agreement"], 2), round(row["failure_share"], 2)
    (246, 0.07, 0.98)
    >>> explained.local.records()[0]["pairs"]
    'cup.n.01 – book.n.02 0.143; apple.n.01 – pear.n.01 0.333'
    """
    ranks = check_ranks(rank)
    check_choice(ties, FAILURE_TIES, "ties")
    comparison, faults = comparison or ConceptComparison(), faults or FaultChoices()
    compute = compute or Compute()
    options = check_options(
        benchmark, "R@1", truth=truth, direction=direction, ties=ties, setting=setting,
        threads=compute.threads,
    )  # fmt: skip
    options.benchmark.check_image_text()
    truths = list(options.measures)[: None if truth is not None else 1]
    check_seed(seed)
    check_known(options.benchmark, concepts, comparison.synset_map)
    asked_directions = options.directions if direction is not None else ()
    check_images_known(options.benchmark, asked_directions, clean)
    finder = FaultFinder(options.benchmark, faults)
    if not (options.benchmark.images.open or options.benchmark.captions.open):
        slices_by_direction(options.benchmark, options.directions, slices)
    with connected(compute.scheduler) as workers:
        loaded = load_runs(runs, options.benchmark, loading, compute)
        check_answered(loaded, asked_directions)
        bench = loaded[0].benchmark or options.benchmark
        if bench is not options.benchmark:
            # What lists name are items of an open benchmark, too.
            finder = FaultFinder(bench, faults)
        sliced = slices_by_direction(bench, options.directions, slices)
        questions = FailureQuestions(bench, truths, options.directions, ranks, clean)
        # Slices are those of R@1 as it is usually scored.
        measures = {name: options.measures[name] for name in truths} if slices is True else {}
        passing = compute.passing(loaded, workers)
        scored = replace(options, benchmark=bench, measures=measures, ties="pessimistic", passing=passing)
        asked = questions.requests
        scoring = scan_runs(loaded, scored, more=asked.tops, pairs=asked.pairs)
    answers = questions.answers(scoring.pairs_placed, scoring.tops)
    say("finding concepts")
    known = find_known(bench, concepts, comparison.synset_map)
    failures, notes = run_failures(loaded, questions, answers, truths, options)
    compare = Comparer(bench, known, comparison, compute.threads)
    columns = explained(failures, compare, finder, faults)
    notes = [*notes_on_loading(loaded), *known.notes, *notes, *undefined_notes(columns)]
    reports = []
    if slices is True:
        reports = weak_slices(columns, scoring.card(), loaded, seed)
        sliced = reported_slices(bench, reports)
        notes += [f"slices of {one.run} {one.direction}: {note}" for one in reports for note in one.notes]
    return Explanation(
        tuple(columns), bench, known, ranks, tuple(dict.fromkeys(notes)), sliced, tuple(reports),
        questions.cleaning(answers.values()),
    )  # fmt: skip


def check_images_known(benchmark: Benchmark, directions: Iterable[Direction], clean: bool) -> None:
    """Raise where the images of captions are needed and a benchmark does not say which they are."""
    if clean:
        check_owners(benchmark)
    for direction in directions:
        if not images_known(benchmark, direction):
            raise InputError(without_owners(benchmark), fix=f"choose {turned(direction)}")


def check_answered(runs: Iterable[Run], directions: Iterable[Direction]) -> None:
    """Raise where a run has no rankings in a direction that was asked for."""
    for run in runs:
        for direction in directions:
            check_direction(run, direction)


def explained(
    failures: Sequence[RunFailures], compare: Comparer, finder: FaultFinder, faults: FaultChoices
) -> list[ExplainedFailures]:
    """Return failures with what their images have in common, and whose fault they are; or raise for none."""
    columns = [
        ExplainedFailures(
            one, compare.metrics(one), finder.of(one) if finder.looks else None, faults.left_out
        )
        for one in track(failures, lambda one: f"comparing the images of {one.run} {one.direction}")
    ]
    if not columns:
        raise InputError(
            "there is nothing to explain", fix="choose a direction and a truth that the runs answer"
        )
    return columns


def without_owners(benchmark: Benchmark) -> str:
    """Return that the image of a caption is not known."""
    return f"{benchmark.name} does not say which images its captions belong to"


class FailureQuestions:
    """What is asked of every run: its failures by truth and direction, where images are known, and, for the
    cleaning list, the places of captions' own images."""

    def __init__(
        self,
        benchmark: Benchmark,
        truths: Sequence[str],
        directions: Sequence[Direction],
        ranks: tuple[int, ...],
        clean: bool,
    ) -> None:
        self._questions = {
            (labels, way): FailureQuestion(benchmark, labels, way, ranks)
            for labels in truths
            for way in directions
            if images_known(benchmark, way) and way in benchmark.truth(labels).directions
        }
        self._own = OwnPairs(benchmark) if clean else None
        asked = self._questions.values()
        pairs = [pairs for question in asked for pairs in question.pairs]
        tops = [request for question in asked for request in question.tops]
        self.requests = ScanRequests([*pairs, *(self._own.pairs if self._own else ())], tops)

    def of(self, truth: str, direction: Direction) -> FailureQuestion | None:
        """Return the question of one truth and direction; None where images are not known."""
        return self._questions.get((truth, direction))

    def answers(
        self,
        placed: Mapping[str, Mapping[JudgedItems, JudgedItems]],
        tops: Mapping[str, Mapping[TopRequest, Top]],
    ) -> dict[str, ScanAnswers]:
        """Return what the pass over each run says, by its name."""
        return {name: self.requests.answers(placed[name].values(), tops[name]) for name in placed}

    def cleaning(self, answers: Iterable[ScanAnswers]) -> CleaningList | None:
        """Return the cleaning list, where it was asked for."""
        return None if self._own is None else rank_captions(self._own, [each.placed for each in answers])


def run_failures(
    runs: Sequence[Run],
    questions: FailureQuestions,
    answers: Mapping[str, ScanAnswers],
    truths: Sequence[str],
    options: ScoringOptions,
) -> tuple[list[RunFailures], list[str]]:
    """Return the failures of every run, truth and direction whose images are known, and what is left out."""
    found, notes = [], []
    for run in runs:
        for labels in truths:
            for way in options.directions:
                question = questions.of(labels, way)
                if way not in run.directions:
                    notes.append(f"{run.name} has no {way} rankings")
                elif question is None:
                    notes.append(
                        f"{labels} covers no {way} query" if images_known(options.benchmark, way)
                        else f"{without_owners(options.benchmark)}: {turned(way)} only"
                    )  # fmt: skip
                else:
                    failures, left = with_images(question.failures(run, answers[run.name], options.ties))
                    found.append(failures)
                    if left:
                        notes.append(
                            f"{run.name} {way}: {plural(left, 'failure')} with captions of unknown images"
                        )
                    if failures.missing:
                        notes.append(
                            f"{run.name} {way}: {failures.missing:,} queries of {labels} without an answer "
                            "or without a relevant item are left out"
                        )
    return found, notes


class Comparer:
    """Compares the concepts of the images of failures; captions are parsed once for all runs."""

    def __init__(
        self, benchmark: Benchmark, concepts: Concepts, comparison: ConceptComparison, threads: int | None
    ) -> None:
        self.concepts = concepts
        self.mentions = QueryMentions(benchmark, concepts) if comparison.query_informed else None
        self._how: dict[str, Any] = {
            "relative_to": comparison.relative_to,
            "threshold": comparison.size_threshold,
            "steps": path_steps(concepts.synsets),
            "threads": threads,
        }

    def metrics(self, failures: RunFailures) -> dict[str, ConceptMetrics]:
        """Return the concept metrics of failures, by what counts."""
        pairs = self.concepts, failures.ground_image, failures.retrieved_image
        metrics = {ALL: compare_concepts(*pairs, **self._how)}
        if self.mentions is not None:
            counted = self.mentions.of(failures.direction, failures.query)
            metrics[INFORMED] = compare_concepts(*pairs, mentioned=counted, **self._how)
        return metrics


def weak_slices(
    columns: Sequence[ExplainedFailures], card: Scorecard, runs: Sequence[Run], seed: int
) -> list[SliceReport]:
    """Return where each run is weak, and where the first and another one are weaker than each other."""
    check_chance(card, runs)
    by_name = {run.name: run for run in runs}
    scored: dict[tuple[str, Direction], list[QueryValues]] = {}
    for one in columns:
        run, truth, way = by_name[one.failures.run], one.failures.truth, one.failures.direction
        column = card.column("R@1", run=run.name, truth=truth, direction=way)
        values = QueryValues.of(card, column, query_vectors(run, way))
        scored.setdefault((truth, way), []).append(values)
    return [report for values in scored.values() for report in slices_of_runs(values, seed)]


def slices_of_runs(values: Sequence[QueryValues], seed: int) -> list[SliceReport]:
    """Return the slices of each of the runs that are scored by one truth in one direction, and of pairs."""
    first = values[0]
    for one in values:
        check_searched(one.values, None, one.cluster, one.group)
    # The queries are read once; of runs with embeddings only their clusters differ.
    truth = first.benchmark.truth(first.truth)
    read = read_queries(first.benchmark, truth, first.direction)
    tables: dict[int, SliceTable] = {}
    own: list[SliceReport] = []
    for one in track(values, lambda one: f"slices of {one.run} {one.direction}"):
        alike = id(one.embeddings)
        if alike not in tables:
            tables[alike] = slice_table(
                one.benchmark, one.direction, truth=one.truth, embeddings=one.embeddings, seed=seed, read=read
            )
        own.append(slices_of_values(one, None, SliceChoices(slices=tables[alike], seed=seed)))
    pairs = [
        pair
        for other, report in zip(values[1:], own[1:])
        for pair in ((first, other, own[0].table), (other, first, report.table))
    ]
    paired = [
        slices_of_values(weak, strong, SliceChoices(slices=table, seed=seed))
        for weak, strong, table in track(pairs, lambda pair: f"slices of {pair[0].run} against {pair[1].run}")
    ]
    return own + paired


def reported_slices(benchmark: Benchmark, reports: Iterable[SliceReport]) -> dict[str, dict[str, np.ndarray]]:
    """Return by direction and name which of the benchmark's queries the reported slices hold."""
    out: dict[str, dict[str, np.ndarray]] = {}
    for report in reports:
        table = report.table
        for one in report.slices:
            inside = np.zeros(benchmark.queries(table.direction).size, bool)
            inside[table.queries[table[one.name]]] = True
            out.setdefault(table.direction, {})[one.name] = inside
    return out


def slices_by_direction(
    benchmark: Benchmark, directions: Iterable[Direction], slices: Mapping[str, Any] | bool
) -> dict[str, dict[str, np.ndarray]]:
    """Return slices given by name under the direction whose queries they have a boolean for, or raise."""
    if isinstance(slices, bool):
        return {}
    sizes = {benchmark.queries(direction).size: direction for direction in directions}
    out: dict[str, dict[str, np.ndarray]] = {}
    for name, given in slices.items():
        column = np.asarray(given)
        if column.dtype != bool or column.ndim != 1 or len(column) not in sizes:
            raise InputError(
                f"slice {name!r} has shape {column.shape} and type {column.dtype}",
                fix=f"give a boolean for each of the {' or '.join(f'{size:,}' for size in sizes)} queries",
            )
        out.setdefault(sizes[len(column)], {})[str(name)] = column
    return out


def check_known(
    benchmark: Benchmark,
    concepts: Concepts | str | Path | None,
    synset_map: Mapping[str, str] | str | Path | None,
) -> None:
    """Raise where concepts are of other images, or from a source that there is not; nothing is read."""
    if not isinstance(concepts, Concepts):
        check_source(concepts)
        return
    if synset_map is not None:
        raise InputError("the concepts are given already", fix="leave out synset_map")
    if len(concepts) != benchmark.images.size and not benchmark.images.open:
        raise InputError(
            f"concepts of {plural(len(concepts), 'image')}",
            fix=f"give those of the {benchmark.images.size:,} images of {benchmark.name}",
        )


def find_known(
    benchmark: Benchmark,
    concepts: Concepts | str | Path | None,
    synset_map: Mapping[str, str] | str | Path | None,
) -> Concepts:
    """Return the concepts, found or given."""
    if isinstance(concepts, Concepts):
        return concepts
    return find_concepts(benchmark, concepts, synset_map=synset_map)


def with_images(failures: RunFailures) -> tuple[RunFailures, int]:
    """Return the failures whose images are known, and how many are not."""
    keep = (failures.ground_image >= 0) & (failures.retrieved_image >= 0)
    if keep.all():
        return failures, 0
    columns = ("query", "rank", "ground", "retrieved", "ground_image", "retrieved_image", "ground_rank")
    return replace(failures, **{name: getattr(failures, name)[keep] for name in columns}), int((~keep).sum())


def undefined_notes(columns: Sequence[ExplainedFailures]) -> list[str]:
    """Return for how many failures each of the four metrics is not defined."""
    notes = []
    for column in columns:
        for counted, metrics in column.metrics.items():
            values = metrics.values()
            missing = {
                head.split()[0]: int(np.isnan(values[name]).sum()) for name, head in METRIC_HEADS.items()
            }
            listed = ", ".join(f"{head} {number:,}" for head, number in missing.items() if number)
            if listed:
                kind = "" if counted == ALL else f", {counted}"
                notes.append(
                    f"{column.failures.run} {column.failures.direction}{kind}: not defined and left out of "
                    f"means: {listed} of {len(metrics):,} failures"
                )
    return notes
