"""Paired tests and intervals: Fisher's randomisation against scipy, the bootstrap of a whole scorecard."""

import numpy as np
from _made import coco
from _stopwatch import in_own_process, main, median_time, peak_mb, record, sized, timed

QUERIES, SAMPLES = sized((1000, 100_000), (50, 200))


def two_systems() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    return tuple((rng.random(QUERIES) < share).astype(float) for share in (0.50, 0.53))


def randomisation() -> dict[str, float]:
    from karat.measures.aggregates import MEDIAN
    from karat.stats import randomisation_test

    first, second = two_systems()
    randomisation_test(first, second, samples=100)
    seconds = median_time(lambda: randomisation_test(first, second, samples=SAMPLES))
    ranks = [1 + np.floor(200 * np.random.default_rng(k).random(QUERIES) ** 2) for k in (1, 2)]
    randomisation_test(*ranks, aggregate=MEDIAN, samples=100)
    medians = median_time(lambda: randomisation_test(*ranks, aggregate=MEDIAN, samples=SAMPLES))
    return {"s": seconds, "medians": medians, "mb": peak_mb()}


def permutation() -> dict[str, float]:
    from scipy.stats import permutation_test

    first, second = two_systems()

    def difference(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return np.mean(a - b, axis=axis)

    def test(samples: int) -> None:
        permutation_test(
            (first, second), difference, permutation_type="samples", vectorized=True,
            n_resamples=samples, batch=1000,
        )  # fmt: skip

    test(100)
    return {"s": median_time(lambda: test(SAMPLES), repeats=3), "mb": peak_mb()}


def scorecard() -> dict[str, float]:
    import karat
    from karat.scores import with_intervals

    benchmark = coco()
    rng = np.random.default_rng(3)
    images, noise = (
        rng.standard_normal((side.size, 64), dtype=np.float32)
        for side in (benchmark.images, benchmark.captions)
    )
    captions = images[benchmark.caption_image] + 1.5 * noise
    card = karat.evaluate((images, captions), benchmark)
    ranks = karat.evaluate(
        (images, captions), benchmark, ["MedR"], truth=sized("coco-5k", "own"), direction="t2i"
    )
    before = peak_mb()
    seconds = timed(lambda: with_intervals(card))
    return {
        "s": seconds,
        "mb": peak_mb() - before,
        "bca": timed(lambda: with_intervals(card, "bca")),
        "median": timed(lambda: with_intervals(ranks)),
    }


def measure() -> list[dict]:
    ours, theirs, card = (in_own_process(__file__, side) for side in ("randomisation", "scipy", "scorecard"))
    return [
        record(
            "randomisation test of a mean",
            f"{QUERIES} x {SAMPLES}",
            ours,
            f"p-value of R@1 of two systems, {QUERIES:,} queries, {SAMPLES:,} random swaps; scipy in batches "
            "of 1,000, its faster setting; both after a warm-up",
            peer="scipy.stats.permutation_test",
            theirs=theirs,
        ),
        record(
            "randomisation test of a median",
            f"{QUERIES} x {SAMPLES}",
            ours["medians"],
            "the same for median ranks, both systems' medians taken anew in every swap",
        ),
        record(
            "intervals of a COCO scorecard",
            "36 columns",
            card,
            "percentile intervals of all 36 default columns, 10,000 resamples of 5,000 images with their "
            "captions; memory beyond what scoring held",
        ),
        record(
            "BCa intervals of a COCO scorecard", "36 columns", card["bca"], "the same, with the jackknife"
        ),
        record(
            "interval of a median rank",
            "25000 queries",
            card["median"],
            "MedR over 25,000 captions, 10,000 resamples; compiling or loading the kernel included",
        ),
    ]


if __name__ == "__main__":
    main(measure, {"randomisation": randomisation, "scipy": permutation, "scorecard": scorecard})
