"""``make demo``: a world whose truth is known, six systems, and what labels make of them."""

import time
from pathlib import Path

import numpy as np

import karat
from karat.reports import write_report
from karat.scores import Comparison
from karat.stats import Intervals
from karat.world import World, make_world, simulate_systems

DEMO = Path(__file__).parent.parent / "demo"
LABELS, TRUTH = ("R@1", "original"), ("mAP@R", "complete")


def main() -> None:
    """Make the world, score and compare the systems, write the report, tell the story."""
    begin = time.perf_counter()
    world = make_world(images=500, captions=5, seed=7)
    world.save(DEMO / "world")
    runs = simulate_systems(world, seed=7)
    for run in runs:
        np.save(DEMO / f"{run.name}.npy", run.scores)
    found = karat.compare(runs, karat.load_benchmark(DEMO / "world"), intervals=Intervals(), samples=20_000)
    write_report(found, DEMO / "report.html", runs=runs, title="Six simulated systems")
    tell(world, found)
    print(f"\nEverything in one page: demo/report.html ({time.perf_counter() - begin:.0f} s)")


def tell(world: World, found: Comparison) -> None:
    """Say in a few lines what the labels claim and what is true."""
    said, true = (found.standing(measure, truth=truth) for measure, truth in (LABELS, TRUTH))
    winner, best = said.runs[0], true.runs[0]

    def score(run: str, measure: str, truth: str) -> str:
        one = found.card.estimate(measure, truth=truth, run=run)
        return f"{measure} {100 * one.value:.1f}% ({100 * one.low:.1f} to {100 * one.high:.1f})"

    pairs = [(a, b) for k, a in enumerate(true.runs) for b in true.runs[k + 1 :]]
    wrong = sum(said.runs.index(a) > said.runs.index(b) for a, b in pairs)
    listed, known = len(world.texts), int(world.positives[1].sum())
    print(f"{len(world.scenes)} drawn pictures with {listed:,} captions; every right answer is known.")
    print(f"The labels of a usual benchmark would list {listed:,} of the {known:,} true pairs.")
    print()
    print(f"What those labels say, by R@1:  {' > '.join(said.runs)}")
    print(f"What is true, by mAP@R:         {' > '.join(true.runs)}")
    print()
    place = true.runs.index(winner) + 1
    print(f"The labels' winner is {winner}, {score(winner, *LABELS)}; in truth it is number {place}.")
    print(f"The best system is {best}, true {score(best, *TRUTH)}.")
    print(f"Of {len(pairs)} pairs of systems the labels order {wrong} wrongly.")
    for (low, high), names in shared_places(true.places).items():
        print(f"Places {low} to {high} are tied: {', '.join(names)} cannot be told apart.")


def shared_places(places: dict[str, tuple[int, int]]) -> dict[tuple[int, int], list[str]]:
    """Return the ranges of places that several systems share, with these systems."""
    groups: dict[tuple[int, int], list[str]] = {}
    for run, span in places.items():
        groups.setdefault(span, []).append(run)
    return {span: names for span, names in groups.items() if len(names) > 1}


if __name__ == "__main__":
    main()
