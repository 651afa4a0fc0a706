"""Small benchmarks with several captions per image, runs of chosen strength, and a literal recount."""

import numpy as np

import karat
from karat.benchmarks import Benchmark, Fold, Ids, Judgments, Provenance, Truth


def make_benchmark(n_images: int = 40, per_image: int = 3) -> Benchmark:
    image = np.repeat(np.arange(n_images), per_image)
    n = len(image)
    own = Judgments(image, np.arange(n), sources=[Provenance("original")])
    asked = {"i2t": np.arange(n_images), "t2i": np.arange(n)}
    halves = [Fold(str(k), np.arange(k, n_images, 2), np.flatnonzero(image % 2 == k)) for k in range(2)]
    truths = {"own": Truth("own", own, asked), "halves": Truth("halves", own, asked, folds=halves)}
    ids = Ids(range(n_images), kind="image"), Ids(range(1000, 1000 + n), kind="caption")
    return Benchmark("made", *ids, truths, caption_image=image)


def make_run(bench: Benchmark, signal: float, seed: int, name: str) -> karat.Run:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(bench.images.size, bench.captions.size))
    scores[bench.caption_image, np.arange(bench.captions.size)] += signal
    return karat.load_run(scores.astype(np.float32), name=name)


def recomputed(column, weights) -> float:
    """One column under image weights, by hand: repeat each query as often as its image was drawn."""
    if column.parts:
        parts = [recomputed(part, weights) for part in column.parts]
        return sum(parts) if str(column.measure) == "RSUM" else np.mean(parts)
    repeat = weights[column.cluster].astype(int)
    pool = np.median if str(column.measure) == "MedR" else np.mean
    folds = [np.repeat(column.values[column.fold == f], repeat[column.fold == f]) for f in set(column.fold)]
    return np.mean([pool(values) for values in folds])
