"""Everything about the bias of a pool in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import plural
from karat.benchmarks import Benchmark, Direction, Pairs
from karat.errors import InputError
from karat.judging.bias.bias import BiasTable
from karat.judging.bias.bias_inputs import Valid, bias_measures
from karat.judging.bias.bias_notes import bias_notes
from karat.judging.bias.diversity import Diversity, compare_systems
from karat.judging.bias.leave_one_out import LeftOut, leave_one_out
from karat.judging.bias.subset_scores import Key, SubsetScorer
from karat.judging.bias.subsets import choose_subsets, suggested_labels
from karat.judging.bias.true_bias import TruthGap, true_columns, truth_gaps
from karat.judging.pools import ORIGINAL, Pool, listed_pairs, runs_of_pool
from karat.measures import Named
from karat.runs import Run
from karat.stats import Intervals


@dataclass(frozen=True, eq=False)
class BiasReport:
    """What the choice of systems did to the labels.

    Parameters
    ----------
    systems
        Their names.
    tables
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
    """

    systems: tuple[str, ...]
    tables: dict[Key, BiasTable]
    against_truth: dict[Key, BiasTable]
    gaps: list[TruthGap]
    left_out: list[LeftOut]
    diversity: dict[Direction, Diversity]
    notes: list[str]
    truth: str | None = None

    def __repr__(self) -> str:
        return f"BiasReport({plural(len(self.systems), 'system')}, {plural(len(self.tables), 'column')})"

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
                for (direction, measure), table in self.tables.items()
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
            "notes": self.notes,
        }


def measure_bias(
    pool: Pool,
    judged: Pairs,
    benchmark: Benchmark,
    runs: Sequence[Run] | None = None,
    *,
    measures: Iterable[str | Named] = ("R@1", "RP"),
    directions: Sequence[Direction] | None = None,
    original: str | None = ORIGINAL,
    truth: str | None = None,
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
    measures
        Shares such as R@1, RP or mAP@R.
    directions
        i2t, t2i; by default those that were pooled.
    original
        The truth whose positives were known beforehand and belong to every subset: by default the pairing of
        captions with the images that they were written for. None for none: only what was judged counts.
    truth
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
    >>> found = measure_bias(pool, judged, bench, runs, measures=["R@1"])
    >>> [round(point.bias, 3) for point in found.tables["t2i", "R@1"].curve()]
    [0.208, 0.038, 0.012, 0.005, 0.002, 0.001, 0.0]
    """
    wanted = bias_measures(measures)
    given = runs_of_pool(pool, benchmark) if runs is None else list(runs)
    valid = Valid(benchmark, invalid)
    known = None if original is None else valid.pairs(listed_pairs(benchmark, original))
    counted = valid.pairs(judged)
    labels = suggested_labels(pool, counted, known)
    queries = {
        direction: asked
        for direction, asked in valid.queries(pool.queries).items()
        if directions is None or direction in directions
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
    if truth is not None:
        exact = true_columns(scorer.runs, benchmark, truth, queries, wanted, valid.fold, threads)
        gaps = truth_gaps(scorer, wanted, exact, intervals)
        for key, table in tables.items():
            if key in exact:
                true = np.array([column.value for column in exact[key]], np.float64)
                against[key] = BiasTable(table.systems, table.inside, table.scores, true)
    left_out = leave_one_out(scorer, wanted, intervals)
    diversity = {}
    if len(pool.systems) > 1:
        deep = depth if runs is not None else min(depth, pool.top)
        kept = {direction: queries[direction] for direction in scorer.directions}
        diversity = compare_systems(scorer.runs, benchmark, kept, deep, threads)
    notes = bias_notes(labels, counted, pool, None if subsets.complete else per_size, runs is None, truth)
    return BiasReport(pool.systems, tables, against, gaps, left_out, diversity, notes, truth)
