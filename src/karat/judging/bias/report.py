"""The report on the bias of a pool: how its models bias the labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat._util import Part, Result, flat, json_text, plural
from karat.benchmarks import Benchmark, Direction, Pairs, direction_title
from karat.errors import InputError
from karat.forms import ORIGINAL, Pool, listed_pairs, runs_of_pool
from karat.judging.bias.bias import (
    BiasTable,
    curve_layout,
    score_layout,
    shown_bias,
)
from karat.judging.bias.diversity import Diversity, compare_systems, diversity_layouts
from karat.judging.bias.leave_one_out import LeftOut, leave_one_out, left_out_layout
from karat.judging.bias.resampled_bias import bias_tables
from karat.judging.bias.subsets import (
    Key,
    SubsetScorer,
    SuggestedLabels,
    Valid,
    bias_measures,
    choose_subsets,
    suggested_labels,
)
from karat.judging.bias.true_bias import TruthGap, gap_layout, true_columns, truth_gaps
from karat.measures import Named
from karat.runs import Compute, Run
from karat.scores import Column
from karat.stats import Intervals

WIDE = 8
"""Tables of models by models with more columns than this are not readable; the json has everything."""


@dataclass(frozen=True, eq=False)
class BiasReport(Result):
    """How the models of a pool bias its labels.

    Parameters
    ----------
    systems
        The names of the models.
    bias
        By direction and measure, the bias against the labels of all models.
    against_truth
        The same against a complete truth, if there is one.
    gaps
        The differences between the labels of all models and that truth.
    left_out
        How the score of a model changes when it does not contribute.
    diversity
        By direction, how similarly the models rank.
    notes
        What a reader should know.
    truth
        The name of the complete truth.
    how
        How the intervals were computed, as a sentence.
    labels
        Which labels these are, as a sentence.
    """

    systems: tuple[str, ...]
    bias: dict[Key, BiasTable]
    against_truth: dict[Key, BiasTable]
    gaps: list[TruthGap]
    left_out: list[LeftOut]
    diversity: dict[Direction, Diversity]
    notes: Sequence[str] = ()
    truth: str | None = None
    how: str = ""
    labels: str = ""

    def __repr__(self) -> str:
        return f"BiasReport({plural(len(self.systems), 'model')}, {plural(len(self.bias), 'column')})"

    def records(self) -> list[dict[str, Any]]:
        """Return one record per model and subset, then per size, gap, outsider and pair of models.

        `table` says which of these a record is.
        """
        tables: dict[str, list[dict[str, Any]]] = {
            "bias": [
                {"direction": direction, "measure": measure, "system": system, "score": score}
                | {key: value for key, value in subset.items() if key != "scores"}
                for (direction, measure), table in self.bias.items()
                for subset in table.records()
                for system, score in subset["scores"].items()
            ],
            "curve": [
                {"direction": direction, "measure": measure, **vars(point)}
                for (direction, measure), table in self.bias.items()
                for point in table.curve()
            ],
            "against_truth": [
                {"direction": direction, "measure": measure, "system": system, "signed": difference}
                | {"systems": subset["systems"]}
                for (direction, measure), table in self.against_truth.items()
                for subset in table.signed_records()
                for system, difference in subset["signed"].items()
            ],
            "gaps": [gap.record() for gap in self.gaps],
            "leave_one_out": [outsider.record() for outsider in self.left_out],
            "diversity": [record for table in self.diversity.values() for record in table.records()],
        }
        return [{"table": name, **flat(record)} for name, records in tables.items() for record in records]

    def parts(self) -> list[Part]:
        """Return the findings in words, then every table; tables of models by models only for few models."""
        sentences = [*curve_sentences(self), *outsider_sentences(self), *truth_sentences(self)]
        out: list[Part] = [self.labels] if self.labels else []
        out += ["\n".join(sentences)] if sentences else []
        few = len(self.systems) <= WIDE
        for (direction, measure), table in self.bias.items():
            title = f"{measure}, {direction_title(direction)}"
            against = self.against_truth.get((direction, measure))
            out.append(curve_layout(table, title, against))
            if few:
                out.append(
                    score_layout(table, title, None if against is None else against.reference.tolist())
                )
        if self.left_out:
            out.append(left_out_layout(self.left_out))
        if self.gaps:
            out.append(gap_layout(self.gaps, self.truth))
        for diversity in self.diversity.values():
            out += diversity_layouts(diversity) if few else []
        return [*out, self.how] if self.how else out

    def to_json(self) -> str:
        """Return `as_dict` as json."""
        return json_text(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for json; scores are fractions."""
        return {
            "systems": list(self.systems),
            "bias": [
                {
                    "direction": direction,
                    "measure": measure,
                    "all": dict(zip(table.systems, table.reference.tolist())),
                    "curve": [vars(point) for point in table.curve()],
                    "subsets": table.records(),
                }
                for (direction, measure), table in self.bias.items()
            ],
            "truth": self.truth,
            "against_truth": [
                {
                    "direction": direction,
                    "measure": measure,
                    "true": dict(zip(table.systems, table.reference.tolist())),
                    "subsets": table.signed_records(),
                }
                for (direction, measure), table in self.against_truth.items()
            ],
            "gaps": [gap.record() for gap in self.gaps],
            "leave_one_out": [outsider.record() for outsider in self.left_out],
            "diversity": [record for table in self.diversity.values() for record in table.records()],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False)
class JudgedPool:
    """A pool whose pairs were judged.

    Parameters
    ----------
    pool
        The pool, with the models that suggested each pair.
    judged
        The judgments: each pair once, with its grade (eq. E.4: 1, 0.5 or 0).
    benchmark
        The benchmark of the pairs.
    invalid
        Per kind, "image" or "caption", the indices of invalid items: they are neither queries nor ranked, and
        their pairs do not count. Only diversity compares whole rankings.
    """

    pool: Pool
    judged: Pairs
    benchmark: Benchmark
    invalid: Mapping[str, Iterable[int]] = field(default_factory=dict)


def measure_bias(
    labels: JudgedPool,
    runs: Sequence[Run] | None = None,
    *,
    measure: Iterable[str | Named] = ("R@1", "RP"),
    direction: Sequence[Direction] | None = None,
    original: str | None = ORIGINAL,
    complete: str | None = None,
    depth: int = 25,
    drop_empty: bool = False,
    intervals: Intervals | None = None,
    per_size: int = 50,
    compute: Compute | None = None,
) -> BiasReport:
    """Measure how the models of a pool bias its labels (ECCV Caption §5, appendices A.2 and E.3).

    Parameters
    ----------
    labels
        The pool, the judgments of its pairs, and which items are invalid.
    runs
        The runs that were pooled, named as the pool's models. Without them the places in the pool are used,
        which suffice for R@1 but not for measures that look deeper.
    measure
        Shares such as R@1, RP or mAP@R.
    direction
        Of the benchmark's directions; by default those that were pooled.
    original
        The truth whose positives were known before and belong to every subset: by default the pairing of
        captions with the images that they were written for. None: only judged pairs count.
    complete
        A complete truth to compare with, if there is one.
    depth
        How many items of each list diversity compares.
    drop_empty
        Leave out queries for which a subset found nothing; by default they count as 0 under it.
    intervals
        How the intervals are computed. Their seed is that of the sample of subsets, too.
    per_size
        How many subsets of each size are drawn, for more than ten models.
    compute
        What computes: how many threads.

    Examples
    --------
    >>> from karat.judging import make_pool
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=40, captions=2, seed=1)
    >>> bench, runs = world.benchmark(), simulate_systems(world)
    >>> pool = make_pool(runs, bench, top=3)
    >>> judged = Pairs(pool.image, pool.caption, 1.0 * world.pair_relevance(pool.image, pool.caption))
    >>> report = measure_bias(JudgedPool(pool, judged, bench), runs, measure=["R@1"])
    >>> [round(point.bias, 3) for point in report.bias["t2i", "R@1"].curve()]
    [0.208, 0.038, 0.012, 0.005, 0.002, 0.001, 0.0]
    """
    measures, made = bias_measures(measure), intervals or Intervals()
    pool, benchmark, threads = labels.pool, labels.benchmark, (compute or Compute()).threads
    scored = runs_of_pool(pool, benchmark) if runs is None else list(runs)
    valid = Valid(benchmark, labels.invalid)
    known = None if original is None else valid.pairs(listed_pairs(benchmark, original))
    counted = valid.pairs(labels.judged)
    suggested = suggested_labels(pool, counted, known)
    named = None if direction is None else [benchmark.direction(name) for name in direction]
    queries = {
        way: some for way, some in valid.queries(pool.queries).items() if named is None or way in named
    }
    if not queries:
        raise InputError("no query of these directions was pooled", fix=f"choose {' or '.join(pool.queries)}")
    scorer = SubsetScorer(suggested, scored, benchmark, queries, not drop_empty, valid.fold, threads)
    subsets = choose_subsets(len(pool.systems), empty=known is not None, per_size=per_size, seed=made.seed)
    exact = dict[Key, list[Column]]()
    gaps = list[TruthGap]()
    if complete is not None:
        exact = true_columns(scorer.runs, benchmark, complete, queries, measures, valid.fold, threads)
        gaps = truth_gaps(scorer, measures, exact, intervals)
    true = {key: [(each.query, each.values) for each in columns] for key, columns in exact.items()}
    tables, against = bias_tables(scorer, subsets.inside, measures, intervals, true)  # type: ignore[arg-type]
    left_out = leave_one_out(scorer, measures, intervals)
    diversity = {}
    if len(pool.systems) > 1:
        deep = depth if runs is not None else min(depth, pool.top)
        kept = {way: queries[way] for way in scorer.directions}
        diversity = compare_systems(scorer.runs, benchmark, kept, deep, threads)
    notes = bias_notes(
        suggested, counted, pool, None if subsets.complete else per_size, runs is None, complete
    )
    grouping = benchmark.grouping
    whole = benchmark.unit(scorer.directions).many if grouping is None else grouping.whole
    how = (
        "Scores are in percent, bias in points; falls is the share of resamples in which an outsider's place "
        "gets worse.\n"
        f"{100 * made.level:g}% {made.shown} intervals from {made.resamples:,} resamples of {whole}."
    )
    return BiasReport(pool.systems, tables, against, gaps, left_out, diversity, notes, complete, how)


def bias_notes(
    labels: SuggestedLabels,
    judged: Pairs,
    pool: Pool,
    sampled: int | None,
    alone: bool,
    truth: str | None,
) -> list[str]:
    """Return what the numbers of a report leave out, in sentences.

    Parameters
    ----------
    labels, judged, pool
        The labels, the judgments and the pool behind the report.
    sampled
        How many subsets of each size were drawn; None when all were taken.
    alone
        Whether there were no runs, only the places in the pool.
    truth
        The complete truth, if there is one.
    """
    notes = []
    labelled = int(labels.by.any(axis=1).sum())
    if labelled < len(pool):
        unjudged = f"{len(pool) - labelled:,} of {plural(len(pool), 'pooled pair')}"
        notes.append(f"{unjudged} have no judgment, or no model that suggested them: they count as misses")
    if len(judged) > labelled:
        others = plural(len(judged) - labelled, "judged pair")
        notes.append(f"{others} that no model suggested (hidden gold, fillers) belong to no subset")
    if pool.judged or pool.filtered:
        left = plural(pool.judged + pool.filtered, "suggestion")
        notes.append(f"{left} were left out of the pool (judged before, or filtered) and count as misses, "
                     "unless they are among the original positives")  # fmt: skip
    if sampled is not None:
        most = max(sampled, len(pool.systems))
        notes.append(
            f"the subsets are a random sample of at most {most} of each size: the least bias may be missed"
        )
    if alone:
        notes.append(f"without the runs, places below {pool.top} are not known")
    if truth is not None and ((judged.grade > 0) & (judged.grade < 1)).any():
        notes.append(
            f"annotators gave partial grades, but {truth} has only yes and no: R(rel=1)@1 and RP(rel=1) "
            "treat both alike"
        )
    return notes


def points(share: float) -> str:
    """Return a share in points.

    >>> points(0.0123)
    '1.2 points'
    """
    return f"{100 * share:.1f} points"


def curve_sentences(report: BiasReport) -> list[str]:
    """Say how far scores on the labels of one model, and of all but one, are from those on all labels."""
    n = len(report.systems)
    out = []
    for (direction, measure), table in report.bias.items():
        curve = {point.size: point for point in table.curve()}
        if n < 2 or curve[1].bias is None or curve[n - 1].bias is None:
            continue
        sentence = (
            f"{measure}, {direction_title(direction)}: scores on the labels of one model differ by "
            f"{shown_bias(curve[1])} points from those on the labels of all {n}"
        )
        if n > 2:
            sentence += f"; on the labels of {n - 1}, they differ by {shown_bias(curve[n - 1])} points"
        out.append(f"{sentence}.")
    return out


def outsider_sentences(report: BiasReport) -> list[str]:
    """Say how much a model that does not contribute loses, compared with those that do."""
    out = []
    for direction, measure in report.bias:
        rows = [row for row in report.left_out if (row.direction, row.measure) == (direction, measure)]
        if not rows:
            continue
        loss = -float(np.mean([row.unfairness.value for row in rows]))
        certain = sum(row.unfairness.high < 0 for row in rows)
        lower = sum(row.rank_without > row.rank for row in rows)
        verb = "loses" if loss >= 0 else "gains"
        out.append(
            f"{measure}, {direction_title(direction)}: a model that does not contribute {verb} "
            f"{points(abs(loss))} more than the others on average; the interval of the loss excludes 0 for "
            f"{certain} of {plural(len(rows), 'model')}, and {lower} would rank lower."
        )
    return out


def truth_sentences(report: BiasReport) -> list[str]:
    """Say how far scores on the labels of all models are from those on the complete truth."""
    return [
        f"{measure}, {direction_title(direction)}: scores on the labels of all models differ by "
        f"{shown_bias(table.curve()[-1])} points from those on the truth {report.truth}."
        for (direction, measure), table in report.against_truth.items()
    ]
