"""How time grows with the number of scores, from a matrix and from embeddings."""

import numpy as np
from _harness import main, median_time, record

import karat
from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth


def benchmark(n_images: int) -> Benchmark:
    """Five captions an image, and as many more positives as ECCV Caption and CxC add."""
    rng = np.random.default_rng(1)
    own = np.repeat(np.arange(n_images), 5)
    more = rng.permuted(np.tile(np.arange(n_images), 6))
    pairs = np.unique(
        np.c_[np.r_[own, more], np.r_[np.arange(5 * n_images), rng.integers(0, 5 * n_images, len(more))]],
        axis=0,
    )
    truth = Truth(
        "own",
        Judgments(pairs[:, 0], pairs[:, 1], sources=[Provenance("own")]),
        {"i2t": np.arange(n_images), "t2i": np.arange(5 * n_images)},
    )
    return Benchmark(
        "growth", Ids(range(n_images), kind="image"), Ids(range(5 * n_images), kind="caption"), {"own": truth}
    )


def measure():
    records = []
    rng = np.random.default_rng(1)
    for share in (0.25, 0.5, 1.0):
        n = round(5000 * share**0.5)
        bench = benchmark(n)
        scores = rng.random((n, 5 * n), dtype=np.float32)
        images, captions = (rng.standard_normal((rows, 512), dtype=np.float32) for rows in (n, 5 * n))
        for name, tables in (("growth, matrix", (scores,)), ("growth, embeddings", (images, captions))):
            run = karat.load_run(*tables)
            karat.evaluate(run, bench)
            seconds = median_time(lambda run=run, bench=bench: karat.evaluate(run, bench))
            rate = n * 5 * n / seconds / 1e6
            records.append(
                record(
                    name,
                    f"{n}x{5 * n}",
                    seconds,
                    f"{share:g} of the scores; {rate:.0f} million scores a second",
                )
            )
    return sorted(records, key=lambda r: r["name"])


if __name__ == "__main__":
    main(measure, {})
