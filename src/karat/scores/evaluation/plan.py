"""What is evaluated: which measures on which truths, and how ties and unjudged pairs are read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from karat._util import check_choice
from karat.benchmarks import DIRECTIONS, Benchmark, Direction
from karat.errors import InputError, unknown_name
from karat.measures import (
    READINGS,
    TIE_POLICIES,
    Combined,
    Measure,
    Named,
    Reading,
    Semantic,
    TiePolicy,
    parse_measures,
)

DEFAULT_MEASURES = ("R@1", "R@5", "R@10")


@dataclass(frozen=True)
class ScoringOptions:
    """How ties and unjudged pairs are read, and on how many threads."""

    ties: TiePolicy
    unjudged: Reading
    threads: int | None


@dataclass(frozen=True)
class MeasurePlan:
    """Which measures are computed on which truths, in which directions."""

    benchmark: Benchmark
    measures: dict[str, list[Named]]
    directions: tuple[Direction, ...]

    def needed(self) -> dict[str, list[Measure]]:
        """Return the measures per query of each truth, those that combinations are made of included."""
        needed: dict[str, dict[Measure, None]] = {}
        for truth, measures in self.measures.items():
            for named in measures:
                if isinstance(named, Measure):
                    needed.setdefault(truth, {})[named] = None
                for part in named.parts(truth) if isinstance(named, Combined) else ():
                    needed.setdefault(self.benchmark.truth(part.truth).name, {})[part.measure] = None
        return {truth: list(measures) for truth, measures in needed.items()}


def make_plan(
    benchmark: Benchmark,
    measures: Iterable[str | Named] | str | None,
    truths: Iterable[str] | str | None,
    directions: Sequence[str] | str,
    ties: str,
    unjudged: str,
    threads: int | None = None,
) -> tuple[MeasurePlan, ScoringOptions]:
    """Check what was asked for, before anything is loaded or computed."""
    options = ScoringOptions(
        check_choice(ties, TIE_POLICIES, "ties"),  # type: ignore[arg-type]
        check_choice(unjudged, READINGS, "unjudged"),  # type: ignore[arg-type]
        threads,
    )
    plan = MeasurePlan(
        benchmark, measures_by_truth(benchmark, measures, truths), check_directions(directions)
    )
    plan.needed()  # raises where a combination needs a truth that the benchmark does not have
    return plan, options


def check_directions(directions: Sequence[str] | str) -> tuple[Direction, ...]:
    """Return the directions in their usual order."""
    names = [directions] if isinstance(directions, str) else list(directions)
    for direction in names:
        if direction not in DIRECTIONS:
            raise unknown_name("direction", direction, DIRECTIONS)
    if not names:
        raise InputError("no direction was given", fix="choose i2t, t2i or both")
    return tuple(direction for direction in DIRECTIONS if direction in names)


def measures_by_truth(
    benchmark: Benchmark, measures: Iterable[str | Named] | str | None, truths: Iterable[str] | str | None
) -> dict[str, list[Named]]:
    """Return the measures of each truth that is scored."""
    names = [truths] if isinstance(truths, str) else list(benchmark.truths if truths is None else truths)
    chosen = [measures] if isinstance(measures, str) else measures
    by_truth = {}
    for name in dict.fromkeys(names):
        benchmark.truth(name)
        default = benchmark.defaults.get(name, DEFAULT_MEASURES)
        if truths is not None and not default:
            default = DEFAULT_MEASURES
        if parsed := parse_measures(default if chosen is None else chosen):
            by_truth[name] = parsed
    if not by_truth:
        raise InputError("nothing to compute", fix="name at least one truth and one measure")
    return by_truth


def reading_notes(plan: MeasurePlan, options: ScoringOptions) -> list[str]:
    """Return what a reader of these truths under this reading should know."""
    machines = [name for name in plan.measures if plan.benchmark.truth(name).machine]
    notes = [f"{', '.join(machines)}: made by a machine; no person judged these labels"] if machines else []
    return [*notes, *unjudged_notes(plan, options)]


def unjudged_notes(plan: MeasurePlan, options: ScoringOptions) -> list[str]:
    """Return where a reading of unjudged pairs says little."""
    if options.unjudged == "misses":
        return []
    one_sided = [
        name
        for name, measures in plan.needed().items()
        if not plan.benchmark.truth(name).has_negatives
        # Measures of meaning leave nothing unjudged.
        and not all(isinstance(measure, Semantic) for measure in measures)
    ]
    if not one_sided:
        return []
    listed = ", ".join(one_sided)
    if options.unjudged == "left_out":
        return [f"nothing is judged not relevant in {listed}: scores there are as high as they can be"]
    return [f"nothing is judged not relevant in {listed}: upper bounds say only that anything is possible"]
