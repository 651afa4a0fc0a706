"""Semantic Recall against growing m, with the hit rate beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat.benchmarks import Benchmark
from karat.measures import SemanticRecall
from karat.scores.column import Column
from karat.scores.evaluation import evaluate
from karat.scores.scorecard import Scorecard

CURVE_M = (1, 2, 5, 10, 20, 50)


@dataclass(frozen=True)
class SemanticCurve:
    """SR@K of one run for several m; with `any`, the hit rate instead.

    `low` and `high` are the ends of the intervals, or the value itself where none were computed.
    """

    run: str
    truth: str
    direction: str
    phi: str
    k: int
    gt: bool
    any: bool
    m: tuple[int, ...]
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def title(self) -> str:
        """What tables call it, m left open."""
        return f"SR({self.phi}{'' if self.gt else ', gt=no'})@{self.k}"


def semantic_recall_curve(
    runs: Any,
    benchmark: Benchmark | str,
    by: str = "cider",
    at: int = 5,
    m: Sequence[int] = CURVE_M,
    *,
    with_gt: bool = False,
    phi: Mapping[str, Any] | None = None,
    **options: Any,
) -> Scorecard:
    """Score SR(by, m)@K and the hit rate for every m (Semantic margin figure 3).

    The hit rate rises with m since one of more items is enough; SR says what share of them is found.

    Parameters
    ----------
    runs, benchmark
        As `karat.evaluate` takes them.
    by, at, m
        The similarity, the cut-off, and how many of the most similar items count as relevant.
    with_gt
        Whether what the truth lists as relevant takes part; figure 3 leaves it out.
    phi
        Your own similarities, as `karat.evaluate` takes them.
    **options
        As `karat.evaluate` takes them.

    Returns
    -------
    Scorecard
        `semantic_curves` picks the curves from it; a report of it draws them.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.world import make_world, simulate
    >>> world = make_world(40, seed=3)
    >>> run, bench = simulate(world, strength=3, seed=1), world.benchmark()
    >>> card = semantic_recall_curve(run, bench, "cider", m=(1, 5), truth="original", direction="t2i")
    >>> [curve.any for curve in semantic_curves(card)]
    [False, True]
    """
    return evaluate(runs, benchmark, curve_measures(by, at, m, with_gt), phi=phi, **options)


def curve_measures(phi: str, k: int, m: Sequence[int], gt: bool) -> list[SemanticRecall]:
    """Return SR for every m, then the hit rate for every m."""
    counts = sorted(set(m))
    return [SemanticRecall(phi=phi, m=n, gt=gt, any=any_, k=k) for any_ in (False, True) for n in counts]


def semantic_curves(card: Scorecard) -> Iterator[SemanticCurve]:
    """Yield the curves of a scorecard: measures that differ in m only, at least two, all with values."""
    groups: dict[tuple[Any, ...], dict[int, Column]] = {}
    for column in card:
        measure: Any = getattr(column.measure, "measure", column.measure)
        if isinstance(measure, SemanticRecall) and column.value is not None:
            key = (
                column.run,
                column.truth,
                column.direction,
                measure.phi,
                measure.k,
                measure.gt,
                measure.any,
            )
            groups.setdefault(key, {})[measure.m or 0] = column
    for key, by_m in groups.items():
        if len(by_m) > 1:
            columns = [by_m[m] for m in sorted(by_m)]
            values = tuple(float(column.value or 0) for column in columns)
            low, high = (
                tuple(v if (e := getattr(c, end)) is None else float(e) for c, v in zip(columns, values))
                for end in ("low", "high")
            )
            yield SemanticCurve(*key, tuple(sorted(by_m)), values, low, high)
