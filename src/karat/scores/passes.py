"""The passes over one task: measures of labels from shared counts, measures of meaning from first items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from karat.measures import Measure
from karat.measures.semantic import Semantic
from karat.measures.ties import Counts
from karat.runs import Run
from karat.scores.batches import Batch, score_batch
from karat.scores.implicit import implicit_counts
from karat.scores.plan import Choices
from karat.scores.semantic import semantic_counts
from karat.scores.similarity import Similarities
from karat.scores.tasks import Task

Pass = tuple[list[Measure], list[Batch]]
"""Measures, and their scores of every query."""


def passes(
    run: Run,
    tasks: Sequence[Task],
    counts: Mapping[Task, Counts],
    phi: Similarities,
    measures: Sequence[Measure],
    choices: Choices,
) -> Iterator[Pass]:
    """Yield groups of measures that see the same rows, with their scores over all folds."""
    if by_labels := labelled(measures):
        yield by_labels, list(batches_of(run, tasks, counts, by_labels, choices))
    by_meaning: dict[tuple[str, bool], list[Semantic]] = {}
    for measure in measures:
        if isinstance(measure, Semantic):
            by_meaning.setdefault((measure.phi, measure.gt), []).append(measure)
    for group in by_meaning.values():
        yield from semantic_passes(run, tasks, phi, group, choices)


def labelled(measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that look at the truth's labels."""
    return [measure for measure in measures if not isinstance(measure, Semantic)]


def batches_of(
    run: Run, tasks: Sequence[Task], counts: Mapping[Task, Counts], measures: list[Measure], choices: Choices
) -> Iterator[Batch]:
    """Yield the scores of each fold; of a rule's folds in batches, since nobody listed its positives."""
    for fold, task in enumerate(tasks):
        if not task.truth.implicit:
            yield score_batch(task.queries, fold, counts[task], measures, choices)
            continue
        for queries, counted in implicit_counts(run, task, measures):
            yield score_batch(queries, fold, counted, measures, choices)


def semantic_passes(
    run: Run, tasks: Sequence[Task], phi: Similarities, group: Sequence[Semantic], choices: Choices
) -> Iterator[Pass]:
    """Yield the measures of one similarity by how many of the most similar items they take as relevant."""
    by_m: dict[int | None, list[Measure]] = {}
    for measure in group:
        by_m.setdefault(measure.m, []).append(measure)
    batches: dict[int | None, list[Batch]] = {m: [] for m in by_m}
    for fold, task in enumerate(tasks):
        deepest = max(measure.k for measure in group)
        asked = (phi[group[0].phi], task, group[0].gt, deepest, list(by_m), phi.ideal)
        for queries, counted in semantic_counts(run, *asked):
            for m, counts in counted.items():
                batches[m].append(score_batch(queries, fold, counts, by_m[m], choices))
    yield from ((by_m[m], batches[m]) for m in by_m)
