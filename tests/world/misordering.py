"""How often do original labels put two systems in the wrong order?

Run as a program (``python -m tests.world.misordering``), it computes the figures of docs/world.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

import karat
from karat.world import SYSTEMS, System, make_world, simulate_systems

Pair = tuple[str, str]


@dataclass(frozen=True)
class Orders:
    """For each pair of systems, in how many worlds the original labels contradict the complete truth."""

    wrong: dict[Pair, int]
    worlds: int

    @property
    def share(self) -> float:
        """The share of all comparisons that are wrong."""
        return sum(self.wrong.values()) / (len(self.wrong) * self.worlds)


def both_directions(card: karat.Scorecard, name: str, measure: str, truth: str) -> float:
    """The mean over image-to-text and text-to-image."""
    return float(np.mean([card.value(measure, truth=truth, direction=d, run=name) for d in ("i2t", "t2i")]))


def compare_orders(
    seeds: Iterable[int],
    images: int = 200,
    systems: Sequence[System] = SYSTEMS,
    measures: tuple[str, str] = ("R@1", "mAP@R"),
) -> Orders:
    """Order systems by a measure on the original labels and by another on the complete truth."""
    wrong = {(a.name, b.name): 0 for a, b in combinations(systems, 2)}
    worlds = 0
    for seed in seeds:
        world = make_world(images=images, captions=5, seed=seed)
        runs = simulate_systems(world, seed=seed, systems=systems)
        card = karat.evaluate(runs, world.benchmark(), sorted(set(measures)))
        worlds += 1
        labelled, true = (
            {s.name: both_directions(card, s.name, measure, truth) for s in systems}
            for measure, truth in zip(measures, ("original", "complete"))
        )
        for a, b in wrong:
            wrong[a, b] += (labelled[a] > labelled[b]) != (true[a] > true[b])
    return Orders(wrong, worlds)


def close_pair(seeds: Sequence[int], images: int = 200) -> dict[tuple[str, str], float]:
    """How often two systems of strength 4.0 and 4.3 come out in the wrong order, by measure and truth.

    Nothing but their strength tells them apart, so the right order is known without any labels.
    """
    systems = (System("stronger", 4.3), System("weaker", 4.0))
    errors = {(measure, truth): 0.0 for truth in ("original", "complete") for measure in ("R@1", "mAP@R")}
    for seed in seeds:
        world = make_world(images=images, captions=5, seed=seed)
        card = karat.evaluate(simulate_systems(world, seed, systems), world.benchmark(), ["R@1", "mAP@R"])
        for measure, truth in errors:
            stronger, weaker = (both_directions(card, s.name, measure, truth) for s in systems)
            errors[measure, truth] += (stronger <= weaker) / len(seeds)
    return errors


if __name__ == "__main__":
    for measures in (("R@1", "mAP@R"), ("R@1", "R@1"), ("mAP@R", "mAP@R")):
        found = compare_orders(range(100), measures=measures)
        print("by original {} against complete {}: {:.1%} of all comparisons".format(*measures, found.share))
        for (a, b), times in found.wrong.items():
            print(f"    {a:14} {b:14} {times:4} of {found.worlds}")
    for (measure, truth), share in close_pair(range(100)).items():
        print(f"strength 4.3 not before 4.0 by {truth} {measure}: {share:.0%}")
