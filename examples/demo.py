"""``make demo``: a world whose truth is known, seven systems, and what labels make of them."""

import time
from pathlib import Path

import numpy as np

import karat
from karat.baselines import ImageTextModel
from karat.baselines.images import ImageFeatures
from karat.reports import PageOptions, write_report
from karat.runs import MatrixRun
from karat.scores import Comparison
from karat.stats import Intervals
from karat.world import World, make_world, simulate_systems

DEMO = Path(__file__).parent.parent / "demo"
LABELS, TRUTH = ("R@1", "original"), ("mAP@R", "complete")
IMAGES, TRAINED, CAPTIONS = 500, 1000, 5
SEED, TRAINING_SEED = 7, 8
"""The pictures that are scored, and those that the seventh system learns from: two worlds."""


def main(images: int = IMAGES, trained: int = TRAINED) -> None:
    """Make the world, score and compare the systems, write the report, tell the story."""
    begin = time.perf_counter()
    world = make_world(images, CAPTIONS, SEED)
    world.save(DEMO / "world")
    bench = karat.load_benchmark(DEMO / "world")
    model = learn(make_world(trained, CAPTIONS, TRAINING_SEED))
    model.save(DEMO / "model")
    pictures, captions = model.vectors(bench)
    runs = [*simulate_systems(world, SEED), MatrixRun((pictures @ captions.T).astype(np.float32), "kcca")]
    for run in runs:
        np.save(DEMO / f"{run.name}.npy", run.scores)
    found = karat.compare(runs, bench, intervals=Intervals(), samples=20_000)
    write_report(
        found, DEMO / "report.html", runs=runs, page=PageOptions("Six simulated systems and one that learned")
    )
    tell(world, found)
    print()
    tell_kcca(runs[-1], found, trained)
    print()
    print('Ask it: .venv/bin/karat search demo/model "a red dog" --in demo/world -o demo/found.html')
    print(f"Everything in one page: demo/report.html ({time.perf_counter() - begin:.0f} s)")


def learn(world: World) -> ImageTextModel:
    """Return a baseline that learned from the pixels and the captions of a world, and from nothing else."""
    # As large as the pictures are drawn, a point every five pixels. Things stand anywhere in them, so that
    # a histogram of the whole picture says more than a pyramid of its parts.
    features = ImageFeatures(side=168, points=32, sample_images=100, sample_points=250, cache=False)
    pictures = [world.picture(number) for number in range(len(world.scenes))]
    captions = np.reshape(world.texts, (len(pictures), -1)).tolist()
    return ImageTextModel(image="histogram", image_power=1, features=features).fit(pictures, captions)


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
    print(f"The labels say, by R@1:    {' > '.join(said.runs)}")
    print(f"The truth is, by mAP@R:    {' > '.join(true.runs)}")
    print()
    place = true.runs.index(winner) + 1
    print(f"The labels' winner is {winner}, {score(winner, *LABELS)}; in truth it is number {place}.")
    print(f"The best system is {best}, true {score(best, *TRUTH)}.")
    print(f"Of {len(pairs)} pairs of systems the labels order {wrong} wrongly.")
    for (low, high), names in shared_places(true.places).items():
        print(f"Places {low} to {high} are tied: {', '.join(names)} cannot be separated.")


def tell_kcca(run: MatrixRun, found: Comparison, trained: int) -> None:
    """Say what the system that learned is worth, beside chance."""
    bench = found.card.benchmark
    # Equal scores for everything, every order equally likely: the exact expectation of guessing.
    guess = MatrixRun(np.zeros_like(run.scores), "chance")
    cards = [karat.evaluate(one, bench, ["R@10"], ties="expected") for one in (run, guess)]
    ways = {"pictures for a caption": "t2i", "captions for a picture": "i2t"}
    said, true = (
        found.standing(name, truth=truth).runs.index(run.name) + 1 for name, truth in (LABELS, TRUTH)
    )
    print(f"Six are simulated. {run.name} is real: it learned from pixels and captions alone, those of")
    print(f"{trained:,} other pictures. By the labels it is number {said}, in truth number {true}.")
    print("How often its first ten hold a right answer, and how often ten guesses would:")
    print(f"{'':26}{'by the labels':^16}  {'in truth':^16}".rstrip())
    for words, way in ways.items():
        cells = []
        for truth in ("original", "complete"):
            own, chance = (100 * card.value("R@10", truth=truth, direction=way) for card in cards)
            cells.append(f"{own:5.1f}%  ({chance:4.1f}%)")
        print(f"  {words:<24}{cells[0]:^16}  {cells[1]:^16}".rstrip())
    best = found.standing(TRUTH[0], truth=TRUTH[1]).runs[0]
    for truth, words in (("original", "By the labels"), ("complete", "In truth")):
        own, other = (
            100 * found.card.value("R@1", truth=truth, direction="i2t", run=one) for one in (run.name, best)
        )
        shares = f"{own:.1f}% from {run.name}, {other:.1f}% from {best}"
        print(f"{words} a picture's first caption is right in {shares}.")


def shared_places(places: dict[str, tuple[int, int]]) -> dict[tuple[int, int], list[str]]:
    """Return the ranges of places that several systems share, with these systems."""
    groups: dict[tuple[int, int], list[str]] = {}
    for run, span in places.items():
        groups.setdefault(span, []).append(run)
    return {span: names for span, names in groups.items() if len(names) > 1}


if __name__ == "__main__":
    main()
