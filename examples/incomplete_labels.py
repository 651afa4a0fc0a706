"""What measures for incomplete labels make of a sampled pool, where the whole truth is known.

Six simulated systems search the captions of a known-truth world. The first 50 results of each make a pool,
of which a share is judged: drawn at random, or by two strata, the first 10 results of any system at three
times the rate of the rest. Prints how far each measure is from AP or nDCG when all of the pool is judged, in
points, as the mean over systems and draws of the absolute error; in parentheses, how many of the 15 pairs of
systems it puts in the wrong order; and the residual of RBP.
"""

import numpy as np

import karat
from karat.benchmarks import Benchmark, Judgments, PoolDesign, Provenance, Truth
from karat.world import make_world, simulate_systems

IMAGES, CAPTIONS, SEED = 200, 5, 7
DEEP, SHALLOW, DRAWS = 50, 10, 20
RATES = (0.1, 0.2, 0.3, 0.5)
RANDOM = {"AP": "AP", "bpref": "AP", "AP′": "AP", "infAP": "AP", "statAP": "AP"}
RANDOM |= {"nDCG": "nDCG", "nDCG′": "nDCG", "infNDCG": "nDCG"}
STRATA = {"AP": "AP", "AP′": "AP", "infAP": "AP", "xinfAP": "AP", "statAP": "AP", "infNDCG": "nDCG"}
"""Measures, each with what it is compared with."""
RBP = "RBP(p=0.8)"


def make_pool(runs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return image and caption of each pooled pair, and its stratum: 1 for the first results."""
    stratum = np.zeros(runs[0].scores.shape, int)
    for depth, number in ((DEEP, 2), (SHALLOW, 1)):
        for run in runs:
            first = np.argpartition(-run.scores, depth, axis=1)[:, :depth]
            np.put_along_axis(stratum, first, number, axis=1)
    image, caption = np.nonzero(stratum)
    return image, caption, stratum[image, caption]


def sample(image: np.ndarray, stratum: np.ndarray, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Return which pairs are judged: of every image and stratum as many as `rate` says, at least one."""
    chosen = np.zeros(len(image), bool)
    wanted = {}
    for query in np.unique(image):
        rows = [np.flatnonzero((image == query) & (stratum == number)) for number in np.unique(stratum)]
        sizes = [len(part) for part in rows]
        if len(rows) == 2:
            # Three times the rate in the first stratum, the same number of labels together.
            base = rate * sum(sizes) / (3 * sizes[0] + sizes[1])
            wanted = {0: min(3 * base, 1.0)}
            wanted[1] = (rate * sum(sizes) - wanted[0] * sizes[0]) / max(sizes[1], 1)
        for part, own in enumerate(rows):
            if len(own):
                number = max(1, round(wanted.get(part, rate) * len(own)))
                chosen[rng.choice(own, min(number, len(own)), replace=False)] = True
    return chosen


def benchmark(world, relevant, image, caption, stratum, judged) -> Benchmark:
    """Return the world's images and captions with the labels of a sample."""
    known = world.benchmark()
    labels = Judgments(
        image[judged],
        caption[judged],
        rating=relevant[judged],
        sources=[Provenance("sample")],
        design=PoolDesign("i2t", "stratum", image, caption, stratum),
    )
    truth = Truth("sample", labels, {"i2t": np.unique(image)})
    return Benchmark("world", known.images, known.captions, {"sample": truth})


def values(runs, bench, measures, what: str = "value") -> dict[str, np.ndarray]:
    """Return, per measure, the value of each run, or a bound of it."""
    card = karat.evaluate(runs, bench, list(measures), direction="i2t")
    columns = {name: [card.column(name, direction="i2t", run=run.name) for run in runs] for name in measures}
    return {name: np.array([getattr(column, what) for column in own]) for name, own in columns.items()}


def main() -> None:
    """Print the tables."""
    world = make_world(IMAGES, CAPTIONS, SEED)
    runs = simulate_systems(world, SEED)
    image, caption, stratum = make_pool(runs)
    relevant = world.pair_relevance(image, caption).astype(float)
    one, everything = np.ones_like(stratum), np.ones(len(image), bool)

    def labels(parts: np.ndarray, judged: np.ndarray) -> Benchmark:
        return benchmark(world, relevant, image, caption, parts, judged)

    share = relevant.sum() / world.relevance().sum()
    print(f"{len(image):,} pooled pairs, with {share:.1%} of all relevant pairs of the world")
    full = values(runs, labels(one, everything), ["AP", "nDCG", RBP])
    for name, row in full.items():
        print(f"{name}, all judged: " + ", ".join(f"{run.name} {100 * v:.1f}" for run, v in zip(runs, row)))
    first, second = np.triu_indices(len(runs), 1)
    for title, targets, parts in (("random", RANDOM, one), ("two strata", STRATA, stratum)):
        print(f"\n| {title} | " + " | ".join(f"{rate:.0%} judged" for rate in RATES) + " |")
        print("|---|" + "---|" * len(RATES))
        cells: dict[str, list[str]] = {name: [] for name in [*targets, f"residual of {RBP}"]}
        for rate in RATES:
            rng = np.random.default_rng([SEED, round(100 * rate)])
            samples = [labels(parts, sample(image, parts, rate, rng)) for _ in range(DRAWS)]
            drawn = [values(runs, bench, targets) for bench in samples]
            for name, target in targets.items():
                errors = [np.abs(made[name] - full[target]).mean() for made in drawn]
                order = np.sign(full[target][first] - full[target][second])
                wrong = [(np.sign(made[name][first] - made[name][second]) != order).sum() for made in drawn]
                cells[name].append(f"{100 * np.mean(errors):.1f} ({np.mean(wrong):.1f})")
            low, high = (values(runs, samples[0], [RBP], f"{end}_bound")[RBP] for end in ("lower", "upper"))
            assert ((low <= full[RBP]) & (full[RBP] <= high)).all()
            cells[f"residual of {RBP}"].append(f"{100 * (high - low).mean():.1f}")
        for name, row in cells.items():
            print(f"| {name} | " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
