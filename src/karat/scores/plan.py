"""What an evaluation was asked to do: which measures on which truths, read how."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from karat.benchmarks import DIRECTIONS, Benchmark, Direction
from karat.measures import READINGS, TIE_POLICIES, Combined, Measure, Named, parse_measures
from karat.measures.semantic import Semantic
from karat.measures.ties import Reading, TiePolicy
from karat.validation import InputError, check_choice, unknown_name

DEFAULT_MEASURES = ("R@1", "R@5", "R@10")


@dataclass(frozen=True)
class Choices:
    """What an evaluation was asked to do."""

    ties: TiePolicy
    unjudged: Reading
    threads: int | None


@dataclass(frozen=True)
class Plan:
    """Which measures are computed on which truths, and which tasks they share."""

    benchmark: Benchmark
    wanted: dict[str, list[Named]]
    directions: tuple[Direction, ...]

    def needed(self) -> dict[str, list[Measure]]:
        """Return the measures per query of each truth, those that combinations are made of included."""
        needed: dict[str, dict[Measure, None]] = {}
        for truth, wanted in self.wanted.items():
            for named in wanted:
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
) -> tuple[Plan, Choices]:
    """Check what was asked for, before anything is loaded or computed."""
    choices = Choices(
        check_choice(ties, TIE_POLICIES, "ties"),  # type: ignore[arg-type]
        check_choice(unjudged, READINGS, "unjudged"),  # type: ignore[arg-type]
        threads,
    )
    plan = Plan(benchmark, wanted_measures(benchmark, measures, truths), check_directions(directions))
    plan.needed()  # raises where a combination needs a truth that the benchmark does not have
    return plan, choices


def check_directions(directions: Sequence[str] | str) -> tuple[Direction, ...]:
    """Return the directions in their usual order."""
    asked = [directions] if isinstance(directions, str) else list(directions)
    for direction in asked:
        if direction not in DIRECTIONS:
            raise unknown_name("direction", direction, DIRECTIONS)
    if not asked:
        raise InputError("no direction was given", fix="choose i2t, t2i or both")
    return tuple(direction for direction in DIRECTIONS if direction in asked)


def wanted_measures(
    benchmark: Benchmark, measures: Iterable[str | Named] | str | None, truths: Iterable[str] | str | None
) -> dict[str, list[Named]]:
    """Return the measures of each truth that is scored."""
    names = [truths] if isinstance(truths, str) else list(benchmark.truths if truths is None else truths)
    chosen = [measures] if isinstance(measures, str) else measures
    wanted = {}
    for name in dict.fromkeys(names):
        benchmark.truth(name)
        default = benchmark.defaults.get(name, DEFAULT_MEASURES)
        if truths is not None and not default:
            default = DEFAULT_MEASURES
        if parsed := parse_measures(default if chosen is None else chosen):
            wanted[name] = parsed
    if not wanted:
        raise InputError("nothing to compute", fix="name at least one truth and one measure")
    return wanted


def reading_notes(plan: Plan, choices: Choices) -> list[str]:
    """Return what a reader of these truths under this reading should know."""
    machines = [name for name in plan.wanted if plan.benchmark.truth(name).machine]
    made = [f"{', '.join(machines)}: made by a machine; no person judged these labels"] if machines else []
    return [*made, *unjudged_notes(plan, choices)]


def unjudged_notes(plan: Plan, choices: Choices) -> list[str]:
    """Return where a reading of unjudged pairs says little."""
    if choices.unjudged == "misses":
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
    if choices.unjudged == "left_out":
        return [f"nothing is judged not relevant in {listed}: scores there are as high as they can be"]
    return [f"nothing is judged not relevant in {listed}: upper bounds say only that anything is possible"]
