"""Planted weaknesses: models of the world that fail on known captions, and what the search finds of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from karat.benchmarks import Benchmark
from karat.explanations import SliceReport, SliceTable, find_slices, slice_table
from karat.runs import MatrixRun
from karat.world import World, make_world, simulate

IMAGES, CAPTIONS, STRENGTH = 500, 5, 8.0
TRUTHS = ("original", "complete")
ASPECTS = ("colour", "number", "size")
DEALS, MEASURE = 200, "MRR"
RED_DOGS = ("colour: red", "concept: dog")


@dataclass(frozen=True, eq=False)
class Setting:
    """One world with its slices, and a model without a weakness."""

    seed: int
    world: World
    benchmark: Benchmark
    table: SliceTable

    def search(self, run: MatrixRun, truth: str, against: MatrixRun | None = None) -> SliceReport:
        """Return the slices of a run."""
        return find_slices(
            run, self.benchmark, MEASURE, truth=truth, slices=self.table, deals=DEALS, most=3, against=against
        )

    def model(self, noise: int = 1000, strength: float = STRENGTH, **options) -> MatrixRun:
        """Return a model with its own noise."""
        return simulate(self.world, strength, seed=noise + self.seed, **options)


def make_setting(seed: int, captions: int = CAPTIONS) -> Setting:
    """Make a world and read its captions."""
    world = make_world(IMAGES, captions, seed=seed)
    benchmark = world.benchmark()
    return Setting(seed, world, benchmark, slice_table(benchmark))


def is_first(*aspects: str) -> Callable[[SliceReport], bool]:
    """Whether one aspect is the first slice, or several are among the first three."""

    def check(report: SliceReport) -> bool:
        kinds = [each.kind.removesuffix("s") for each in report.slices]
        return kinds[:1] == list(aspects) if len(aspects) == 1 else set(aspects) <= set(kinds[:3])

    return check


def is_red_dogs(report: SliceReport) -> bool:
    """Whether the first slice joins red and dog."""
    if not report.slices:
        return False
    place = report.table.names.index(report.slices[0].name)
    parts = report.table.parts[place]
    return parts[0] >= 0 and {report.table.names[part] for part in parts} == set(RED_DOGS)


def is_nothing(report: SliceReport) -> bool:
    """Whether no slice is reported."""
    return not report.slices


def one_world(seed: int) -> Counter:
    """Count what is found in one world, by what was planted and truth."""
    setting = make_setting(seed)
    meanings, seer = setting.world.meanings, setting.model(noise=5000)
    rows: list[tuple[str, MatrixRun, MatrixRun | None, Callable[[SliceReport], bool]]] = []
    for aspect in ASPECTS:
        rows.append((f"blind to {aspect}", setting.model(blind=aspect), None, is_first(aspect)))
        weak = setting.model(weak=meanings.mentions(aspect), weakness=0.5)
        rows.append((f"weak at {aspect}, against another", weak, seer, is_first(aspect)))
    both, plain = setting.model(blind=("colour", "number")), setting.model()
    rows.append(("blind to colour and number", both, None, is_first("colour", "number")))
    rows.append(("the same, against another", both, seer, is_first("colour", "number")))
    rows.append(("nothing, and nothing found", plain, None, is_nothing))
    rows.append(("nothing, against another", plain, seer, is_nothing))
    counts: Counter = Counter()
    for name, run, against, check in rows:
        for truth in TRUTHS:
            counts[name, truth] += check(setting.search(run, truth, against))
    # Which image each caption was written for is all that it knows: every caption succeeds as often.
    even = setting.model(strength=0.0, instance=5.0)
    counts["nothing, every caption as hard", "original"] += is_nothing(setting.search(even, "original"))
    return counts


def red_dogs(seed: int) -> Counter:
    """Count whether a weakness at red dogs is found, in a world with enough of them."""
    setting = make_setting(seed, captions=2 * CAPTIONS)
    run = setting.model(weak=setting.world.meanings.states(noun="dog", colour="red"))
    return Counter({("weak at red dogs", truth): is_red_dogs(setting.search(run, truth)) for truth in TRUTHS})


def shown(counts: Counter, worlds: int) -> str:
    """Return the counts as lines of text."""
    names = dict.fromkeys(name for name, _ in counts)
    lines = [f"{'of ' + str(worlds) + ' worlds':36}{'original':>10}{'complete':>10}"]
    for name in names:
        cells = [str(counts[name, truth]) if (name, truth) in counts else "" for truth in TRUTHS]
        lines.append(f"{name:36}{cells[0]:>10}{cells[1]:>10}")
    return "\n".join(lines)


def search_worlds(worlds: int) -> Counter:
    """Return the counts of several worlds."""
    counts: Counter = Counter()
    for seed in range(worlds):
        for key, value in {**one_world(seed), **red_dogs(seed)}.items():
            counts[key] += int(value)
    return counts
