"""The report on the bias of a pool: what the choice of systems did to the labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import Part, Result, flat, json_text, plural, renamed_keywords
from karat.benchmarks import Benchmark, Direction, Pairs
from karat.errors import InputError
from karat.judging.bias.bias import BiasTable
from karat.judging.bias.bias_inputs import Valid, bias_measures
from karat.judging.bias.bias_notes import bias_notes
from karat.judging.bias.bias_tables import (
    WIDE,
    curve_layout,
    diversity_layouts,
    gap_layout,
    left_out_layout,
    score_layout,
)
from karat.judging.bias.diversity import Diversity, compare_systems
from karat.judging.bias.leave_one_out import LeftOut, leave_one_out
from karat.judging.bias.subset_scores import Key, SubsetScorer
from karat.judging.bias.subsets import choose_subsets, suggested_labels
from karat.judging.bias.true_bias import TruthGap, true_columns, truth_gaps
from karat.judging.pools import ORIGINAL, Pool, listed_pairs, runs_of_pool
from karat.measures import Named
from karat.runs import Run
from karat.scores import DIRECTION_TITLES
from karat.stats import Intervals


@dataclass(frozen=True, eq=False)
class BiasReport(Result):
    """What the choice of systems did to the labels.

    Parameters
    ----------
    systems
        Their names.
    bias
        By direction and measure, the bias against the labels of all systems.
    against_truth
        The same against a complete truth, where one was given.
    gaps
        How far the labels of all systems are from that truth.
    left_out
        What changes for a system that does not contribute.
    diversity
        By direction, how alike the systems rank.
    notes
        What a reader should know.
    truth
        The name of the complete truth.
    how
        How the intervals were made, as a sentence.
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

    def __repr__(self) -> str:
        return f"BiasReport({plural(len(self.systems), 'system')}, {plural(len(self.bias), 'column')})"

    def records(self) -> list[dict[str, Any]]:
        """Return one record per system on the labels of each subset, then per outsider, gap and two systems.

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
            "against_truth": [
                {"direction": direction, "measure": measure, "system": system, "signed": difference}
                | {"systems": subset["systems"]}
                for (direction, measure), table in self.against_truth.items()
                for subset in table.signed_records()
                for system, difference in subset["signed"].items()
            ],
            "gaps": [gap.record() for gap in self.gaps],
            "leave_one_out": [outsider.record() for outsider in self.left_out],
            "diversity": [record for found in self.diversity.values() for record in found.records()],
        }
        return [{"table": name, **flat(record)} for name, records in tables.items() for record in records]

    def parts(self) -> list[Part]:
        """Return the findings in words, then every table; those of many systems by systems are left out."""
        words = [*curve_sentences(self), *outsider_sentences(self), *truth_sentences(self)]
        out: list[Part] = ["\n".join(words)] if words else []
        few = len(self.systems) <= WIDE
        for (direction, measure), table in self.bias.items():
            title = f"{measure}, {DIRECTION_TITLES[direction]}"
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
        for found in self.diversity.values():
            out += diversity_layouts(found) if few else []
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
            "gaps": [one.record() for one in self.gaps],
            "leave_one_out": [one.record() for one in self.left_out],
            "diversity": [record for found in self.diversity.values() for record in found.records()],
            "notes": list(self.notes),
        }


@renamed_keywords(measures="measure", directions="direction", truth="complete")
def measure_bias(
    pool: Pool,
    judged: Pairs,
    benchmark: Benchmark,
    runs: Sequence[Run] | None = None,
    *,
    measure: Iterable[str | Named] = ("R@1", "RP"),
    direction: Sequence[Direction] | None = None,
    original: str | None = ORIGINAL,
    complete: str | None = None,
    depth: int = 25,
    fixed: bool = True,
    invalid: Mapping[str, Iterable[int]] | None = None,
    intervals: Intervals | None = None,
    per_size: int = 50,
    seed: int = 0,
    threads: int | None = None,
) -> BiasReport:
    """Measure what the choice of systems did to the labels (ECCV Caption §5, appendices A.2 and E.3).

    Parameters
    ----------
    pool
        Who suggested what.
    judged
        What people said: each pair once, with its grade (eq. E.4: 1, 0.5 or 0).
    benchmark
        What the pairs are of.
    runs
        The runs that were pooled, named as the pool's systems. Without them the pool's own places are used,
        which suffice for R@1 and nothing that looks deeper.
    measure
        Shares such as R@1, RP or mAP@R.
    direction
        i2t, t2i; by default those that were pooled.
    original
        The truth whose positives were known beforehand and belong to every subset: by default the pairing of
        captions with the images that they were written for. None for none: only what was judged counts.
    complete
        A complete truth to compare with, where there is one.
    depth
        How many items of each list diversity compares.
    fixed
        See `SubsetScorer`.
    invalid
        Per kind, "image" or "caption", the indices of those that are no good: they neither ask nor count, and
        are not ranked. Diversity alone looks at whole rankings.
    intervals
        How intervals of leave-one-out are made.
    per_size, seed
        Of the sample of subsets, for more than ten systems.
    threads
        How many; all by default.

    Examples
    --------
    >>> from karat.judging import make_pool
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=40, captions=2, seed=1)
    >>> bench, runs = world.benchmark(), simulate_systems(world)
    >>> pool = make_pool(runs, bench, top=3)
    >>> judged = Pairs(pool.image, pool.caption, 1.0 * world.pair_relevance(pool.image, pool.caption))
    >>> found = measure_bias(pool, judged, bench, runs, measure=["R@1"])
    >>> [round(point.bias, 3) for point in found.bias["t2i", "R@1"].curve()]
    [0.208, 0.038, 0.012, 0.005, 0.002, 0.001, 0.0]
    """
    wanted = bias_measures(measure)
    given = runs_of_pool(pool, benchmark) if runs is None else list(runs)
    valid = Valid(benchmark, invalid)
    known = None if original is None else valid.pairs(listed_pairs(benchmark, original))
    counted = valid.pairs(judged)
    labels = suggested_labels(pool, counted, known)
    queries = {
        way: asked
        for way, asked in valid.queries(pool.queries).items()
        if direction is None or way in direction
    }
    if not queries:
        raise InputError(
            "no query of these directions was pooled", fix=f"ask for {' or '.join(pool.queries)}"
        )
    scorer = SubsetScorer(labels, given, benchmark, queries, fixed, valid.fold, threads)
    subsets = choose_subsets(len(pool.systems), empty=known is not None, per_size=per_size, seed=seed)
    scores = scorer.scores(subsets.inside, wanted)
    tables = {key: BiasTable(pool.systems, subsets.inside, found, found[-1]) for key, found in scores.items()}
    against, gaps = {}, list[TruthGap]()
    if complete is not None:
        exact = true_columns(scorer.runs, benchmark, complete, queries, wanted, valid.fold, threads)
        gaps = truth_gaps(scorer, wanted, exact, intervals)
        for key, table in tables.items():
            if key in exact:
                true = np.array([column.value for column in exact[key]], np.float64)
                against[key] = BiasTable(table.systems, table.inside, table.scores, true)
    left_out = leave_one_out(scorer, wanted, intervals)
    diversity = {}
    if len(pool.systems) > 1:
        deep = depth if runs is not None else min(depth, pool.top)
        kept = {way: queries[way] for way in scorer.directions}
        diversity = compare_systems(scorer.runs, benchmark, kept, deep, threads)
    notes = bias_notes(labels, counted, pool, None if subsets.complete else per_size, runs is None, complete)
    made = intervals or Intervals()
    how = (
        "Scores in percent, bias in points. An outsider's place falls in the given share of resamples.\n"
        f"{100 * made.level:g}% {made.shown} intervals from {made.resamples:,} resamples of images "
        "with their captions."
    )
    return BiasReport(pool.systems, tables, against, gaps, left_out, diversity, notes, complete, how)


def points(share: float) -> str:
    """Return a share in points.

    >>> points(0.0123)
    '1.2 points'
    """
    return f"{100 * share:.1f} points"


def curve_sentences(report: BiasReport) -> list[str]:
    """Say what one system alone, and all but one, do to the scores."""
    n = len(report.systems)
    out = []
    for (direction, measure), table in report.bias.items():
        found = {point.size: point.bias for point in table.curve()}
        one, most = found[1], found[n - 1] if n > 1 else None
        if one is None or most is None:
            continue
        said = (
            f"{measure}, {DIRECTION_TITLES[direction]}: on the labels of one system scores are "
            f"{points(one)} off those on the labels of all {n}"
        )
        if n > 2:
            said += f"; on those of {n - 1}, {points(most)}"
        out.append(f"{said}.")
    return out


def outsider_sentences(report: BiasReport) -> list[str]:
    """Say what a system loses that does not contribute, compared with those that do."""
    out = []
    for direction, measure in report.bias:
        rows = [one for one in report.left_out if (one.direction, one.measure) == (direction, measure)]
        if not rows:
            continue
        loss = -float(np.mean([one.unfairness.value for one in rows]))
        sure = sum(one.unfairness.high < 0 for one in rows)
        falls = sum(one.rank_without > one.rank for one in rows)
        verb = "loses" if loss >= 0 else "gains"
        out.append(
            f"{measure}, {DIRECTION_TITLES[direction]}: a system that stays away {verb} {points(abs(loss))} "
            f"more than the others on average; the loss is beyond chance for {sure} of "
            f"{plural(len(rows), 'system')}, and {falls} would stand lower."
        )
    return out


def truth_sentences(report: BiasReport) -> list[str]:
    """Say how far the labels of all systems are from the complete truth."""
    return [
        f"{measure}, {DIRECTION_TITLES[direction]}: on all labels together scores are "
        f"{points(float(table.bias[-1]))} off the truth {report.truth}."
        for (direction, measure), table in report.against_truth.items()
    ]
