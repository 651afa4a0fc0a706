"""The default COCO family, 36 numbers, from one 5,000 × 25,000 float32 matrix, against eccv_caption; and from
embeddings of 512 dimensions, against one plain matrix product.
"""

import statistics
import warnings

import numpy as np
from _made import coco
from _stopwatch import SMOKE, in_own_process, main, median_time, peak_mb, peer_side, record, timed

import karat

RECALLS = ("coco_5k_recalls", "coco_1k_recalls", "cxc_recalls")
DIMENSIONS = 512


def make_scores(benchmark: karat.Benchmark) -> np.ndarray:
    """A matrix in which each caption scores high with its own image, most of the time."""
    rng = np.random.default_rng(1)
    captions = benchmark.captions.size
    scores = rng.random((benchmark.images.size, captions), dtype=np.float32)
    scores[benchmark.caption_image, np.arange(captions)] += rng.random(captions, dtype=np.float32)
    return scores


def from_scores() -> dict[str, float]:
    scores = make_scores(coco())

    def family() -> karat.Scorecard:
        return karat.evaluate(karat.load_run(scores, benchmark=coco()), coco())

    first = timed(family)
    later = median_time(family)
    found = {"first": first, "later": later, "mb": peak_mb(), "matrix_mb": scores.nbytes / 2**20}
    return found if SMOKE else found | {"check": family().value("mAP@R", truth="eccv", direction="i2t")}


def from_embeddings() -> dict[str, float]:
    benchmark = coco()
    rng = np.random.default_rng(1)
    images, noise = (
        rng.standard_normal((side.size, DIMENSIONS), dtype=np.float32)
        for side in (benchmark.images, benchmark.captions)
    )
    captions = images[benchmark.caption_image] + 4 * noise
    images /= np.linalg.norm(images, axis=1, keepdims=True)
    captions /= np.linalg.norm(captions, axis=1, keepdims=True)

    def family() -> karat.Scorecard:
        return karat.evaluate(karat.load_run(images, captions), benchmark)

    family()
    ours, product = zip(*((timed(family), timed(lambda: images @ captions.T)) for _ in range(5)))
    return {"s": statistics.median(ours), "product": statistics.median(product)}


def eccv_side() -> dict[str, float]:
    benchmark = coco()
    scores = make_scores(benchmark)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from eccv_caption import Metrics

        metric = Metrics()
    found: dict[str, dict] = {}

    def rankings() -> None:
        images, captions = benchmark.images.gallery, benchmark.captions.gallery
        i2t = captions[np.argsort(-scores, axis=1)]
        found["i2t"] = {image: row.tolist() for image, row in zip(images.tolist(), i2t)}
        t2i = images[np.argsort(-scores.T, axis=1)]
        found["t2i"] = {caption: row.tolist() for caption, row in zip(captions.tolist(), t2i)}

    def metrics() -> None:
        targets = (*RECALLS, "eccv_r1", "eccv_rprecision", "eccv_map_at_r")
        found["all"] = metric.compute_all_metrics(
            found["i2t"], found["t2i"], target_metrics=targets, Ks=(1, 5, 10)
        )

    rank_s, metric_s = timed(rankings), timed(metrics)
    check = found["all"]["eccv_map_at_r"]["i2t"]
    return {"rank": rank_s, "metrics": metric_s, "mb": peak_mb(), "check": check}


def measure() -> list[dict]:
    in_own_process(__file__, "karat")  # compiles the kernels, once per machine
    ours, embeddings = in_own_process(__file__, "karat"), in_own_process(__file__, "embeddings")
    benchmark = coco()
    size = f"{benchmark.images.size}x{benchmark.captions.size}"
    later = (
        "karat: median of five calls with the matrix in memory, ids and truths loaded each time; "
        f"peak memory {ours['mb'] / ours['matrix_mb']:.2f} times the matrix"
    )
    first = "karat: first call in a new process, kernels from the disk cache"
    full, alone = "full rankings, metrics", "metrics alone"
    # It knows no other ids than COCO's, and takes a minute for them.
    theirs = peer_side("eccv_caption", __file__, "eccv", smoke=False)
    peers: dict[str, dict | None] = {full: None, alone: None}
    if theirs:
        assert abs(ours["check"] - theirs["check"]) < 1e-9, (ours["check"], theirs["check"])
        for what, seconds in ((full, theirs["rank"] + theirs["metrics"]), (alone, theirs["metrics"])):
            peers[what] = {"s": seconds, "mb": theirs["mb"]}
    records = [
        record(
            f"coco family, {name}", size, {"s": ours[call], "mb": ours["mb"]}, f"{what}; peer: {peer}",
            peer="eccv_caption", theirs=peers[peer],
        )
        for name, call, what, peer in (
            ("with rankings", "later", later, full),
            ("metrics alone", "later", later, alone),
            ("first call", "first", first, full),
        )
    ]  # fmt: skip
    what = "karat: check both tables, all 36 numbers; peer: one float32 product; medians of five"
    name, size = "coco family from embeddings", f"{size}x{DIMENSIONS}"
    product = embeddings["product"]
    return [*records, record(name, size, embeddings["s"], what, peer="numpy product", theirs=product)]


if __name__ == "__main__":
    main(measure, {"karat": from_scores, "embeddings": from_embeddings, "eccv": eccv_side})
