"""Failure analysis: from runs to an explanation of their failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, plural
from karat.benchmarks import Benchmark, Direction
from karat.errors import InputError
from karat.explain.concept_metrics import (
    RELATIVE_TO,
    THRESHOLD,
    check_threshold,
    compare_concepts,
    path_steps,
)
from karat.explain.concept_sources import find_concepts
from karat.explain.concepts import Concepts
from karat.explain.explained_failures import ALL, INFORMED, METRIC_HEADS, ExplainedFailures
from karat.explain.explanation import Explanation
from karat.explain.failures import FAILURE_TIES, RunFailures, check_ranks, find_failures
from karat.explain.fault import FaultFinder, check_left_out
from karat.explain.noun_senses import MentionedConcepts
from karat.explain.slice_report import SliceReport
from karat.explain.slices import find_slices
from karat.runs import Order, Run, load_runs, notes_on_loading
from karat.scores import check_options


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
        if direction == "t2i":
            captions = self.benchmark.needed_texts
            return [[captions[query]] for query in queries]
        from karat.captions import references_of

        references = references_of(self.benchmark)
        return [references[query] for query in queries]


def explain_failures(
    runs: Run | Sequence[Run] | Any,
    benchmark: Benchmark | str | Path,
    *,
    truth: Iterable[str] | str | None = None,
    direction: Iterable[str] | str | None = None,
    rank: Iterable[int] | int = 1,
    concepts: Concepts | str | Path | None = None,
    synset_map: Mapping[str, str] | str | Path | None = None,
    query_informed: bool = False,
    relative_to: str = "ground_truth",
    size_threshold: float = THRESHOLD,
    ties: str = "pessimistic",
    better: str | None = None,
    keywords: int | None = None,
    without: Iterable[str] | str = (),
    slices: Mapping[str, Any] | bool = False,
    seed: int = 0,
    name: Iterable[str] | str | None = None,
    ids: Order | None = None,
    similarity: str = "dot",
    transpose: bool = False,
    setting: Mapping[str, Any] | None = None,
    threads: int | None = None,
) -> Explanation:
    """Explain the failures of runs by the concepts of the images (Lymperaiou et al. 2022, §4).

    For every query whose item at a rank is wrong, the image that should have come is compared with the one
    that came; where captions are retrieved, the image that a caption was written for stands for it. The
    ground truth of a query is its original positive (`karat.explain.find_failures`).

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
    concepts
        "objects", "captions", the json file of Visual Genome's scene graphs, or `Concepts`; by default the
        objects of the benchmark where it has any, else its captions (`karat.explain.find_concepts`).
    synset_map
        Names with their synsets, or the json file of such a mapping.
    query_informed
        Also compute every metric over the concepts that the query mentions alone.
    relative_to
        What a difference of two areas is divided by: "ground_truth" (its area) or "smaller" (the smaller
        one).
    size_threshold
        From which difference on sizes disagree in the binary reading; 1 is 100%.
    ties
        What happens to equal scores: "pessimistic", "optimistic" or "stable".
    better
        Another truth of the benchmark: failures whose retrieved item it calls relevant are marked as
        successful alternatives.
    keywords
        Marks failures whose caption shares fewer concepts than this with the other captions of its image
        (§4.2; the paper's is 2). By default nothing is counted, since all captions must be parsed.
    without
        Failures with these marks do not count in summaries: "alternative", "keywords".
    slices
        Whether to search for the queries on which each run is weak, and on which the first run and another
        are weaker than each other (`karat.explain.find_slices`, by R@1); or, by name, booleans for all
        queries of a direction. The page of failures can be filtered by them.
    seed
        Of the search for slices.
    name, ids, similarity, transpose, setting
        As `karat.evaluate` takes them.
    threads
        How many; all by default. Results do not depend on it.

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
    >>> explained = karat.explain_failures(scores, bench, direction="t2i")
    >>> row = explained.records()[0]
    >>> row["failures"], round(row["agreement"], 2), round(row["failure_share"], 2)
    (246, 0.07, 0.98)
    >>> explained.local.records()[0]["pairs"]
    'cup.n.01 – book.n.02 0.143; apple.n.01 – pear.n.01 0.333'
    """
    ranks = check_ranks(rank)
    check_choice(ties, FAILURE_TIES, "ties")
    check_choice(relative_to, RELATIVE_TO, "relative_to")
    check_threshold(size_threshold)
    options = check_options(
        benchmark, "R@1", truth=truth, direction=direction, ties=ties, setting=setting, threads=threads
    )
    truths = list(options.measures)[: None if truth is not None else 1]
    loaded = load_runs(
        runs, options.benchmark, name=name, ids=ids, similarity=similarity, transpose=transpose
    )
    bench = loaded[0].benchmark or options.benchmark
    finder = FaultFinder(bench, better, keywords)
    left_out = check_left_out(without, finder)
    sliced = slices_by_direction(bench, options.directions, slices if isinstance(slices, Mapping) else {})
    known = find_known(bench, concepts, synset_map)
    notes = list(known.notes)
    mentions = QueryMentions(bench, known) if query_informed else None
    steps = path_steps(known.synsets)
    columns = []
    for run in loaded:
        for labels in truths:
            for way in options.directions:
                if direction is None and way not in run.directions:
                    notes.append(f"{run.name} has no {way} rankings")
                    continue
                if way == "i2t" and bench.caption_image is None:
                    if direction is not None:
                        raise InputError(
                            f"{bench.name} does not say which images its captions belong to", fix="choose t2i"
                        )
                    notes.append(f"{bench.name} does not say which images its captions belong to: t2i only")
                    continue
                if not len(bench.truth(labels).queries.get(way, ())):
                    notes.append(f"{labels} covers no {way} query")
                    continue
                failures = find_failures(run, bench, labels, way, rank=ranks, ties=ties)
                failures, left = with_images(failures)
                if left:
                    notes.append(
                        f"{run.name} {way}: {plural(left, 'failure')} with captions of unknown images"
                    )
                compared: dict[str, Any] = {
                    "relative_to": relative_to,
                    "threshold": size_threshold,
                    "steps": steps,
                    "threads": threads,
                }
                pairs = known, failures.ground_image, failures.retrieved_image
                metrics = {ALL: compare_concepts(*pairs, **compared)}
                if mentions is not None:
                    counted = mentions.of(way, failures.query)
                    metrics[INFORMED] = compare_concepts(*pairs, mentioned=counted, **compared)
                faults = finder.of(failures) if finder.looks else None
                columns.append(ExplainedFailures(failures, metrics, faults, left_out))
                if failures.missing:
                    notes.append(
                        f"{run.name} {way}: {failures.missing:,} queries of {labels} without an answer or "
                        "without a relevant item are left out"
                    )
    if not columns:
        raise InputError(
            "there is nothing to explain", fix="choose a direction and a truth that the runs answer"
        )
    notes += undefined_notes(columns)
    reports: list[SliceReport] = []
    if slices is True:
        reports = weak_slices(columns, loaded, bench, seed)
        sliced = reported_slices(bench, reports)
        notes += [f"slices of {one.run} {one.direction}: {note}" for one in reports for note in one.notes]
    return Explanation(
        tuple(columns), bench, known, ranks, tuple(dict.fromkeys([*notes_on_loading(loaded), *notes])),
        sliced, tuple(reports),
    )  # fmt: skip


def weak_slices(
    columns: Sequence[ExplainedFailures], runs: Sequence[Run], benchmark: Benchmark, seed: int
) -> list[SliceReport]:
    """Return where each run is weak, and where the first and another one are weaker than each other."""
    by_name = {run.name: run for run in runs}
    reports: list[SliceReport] = []
    for truth, direction in dict.fromkeys((one.failures.truth, one.failures.direction) for one in columns):
        names = [
            one.failures.run
            for one in columns
            if (one.failures.truth, one.failures.direction) == (truth, direction)
        ]
        common: dict[str, Any] = {"truth": truth, "direction": direction, "seed": seed}
        own = {name: find_slices(by_name[name], benchmark, **common) for name in names}
        reports += own.values()
        first = names[0]
        for weak, strong in [pair for other in names[1:] for pair in ((first, other), (other, first))]:
            reports.append(
                find_slices(
                    by_name[weak], benchmark, against=by_name[strong], slices=own[weak].table, **common
                )
            )
    return reports


def reported_slices(benchmark: Benchmark, reports: Iterable[SliceReport]) -> dict[str, dict[str, np.ndarray]]:
    """Return by direction and name which of the benchmark's queries the reported slices hold."""
    out: dict[str, dict[str, np.ndarray]] = {}
    for report in reports:
        for one in report.slices:
            inside = np.zeros(benchmark.queries(report.direction).size, bool)
            inside[report.table.queries[report.table[one.name]]] = True
            out.setdefault(report.direction, {})[one.name] = inside
    return out


def slices_by_direction(
    benchmark: Benchmark, directions: Iterable[Direction], slices: Mapping[str, Any]
) -> dict[str, dict[str, np.ndarray]]:
    """Return slices under the direction whose queries they have a boolean for, or raise."""
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


def find_known(
    benchmark: Benchmark,
    concepts: Concepts | str | Path | None,
    synset_map: Mapping[str, str] | str | Path | None,
) -> Concepts:
    """Return the concepts, found or given, or raise where they are those of other images."""
    if not isinstance(concepts, Concepts):
        return find_concepts(benchmark, concepts, synset_map=synset_map)
    if synset_map is not None:
        raise InputError("the concepts are given already", fix="leave out synset_map")
    if len(concepts) != benchmark.images.size:
        raise InputError(
            f"concepts of {plural(len(concepts), 'image')}",
            fix=f"give those of the {benchmark.images.size:,} images of {benchmark.name}",
        )
    return concepts


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
