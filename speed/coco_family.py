"""The default COCO family, 36 numbers from one 5,000 × 25,000 float32 matrix, against eccv_caption."""

import warnings

import numpy as np
from _harness import in_own_process, main, peak_mb, record, timed

SIZE = "5000x25000"
RECALLS = ("coco_5k_recalls", "coco_1k_recalls", "cxc_recalls")


def make_scores(coco) -> np.ndarray:
    """A matrix in which each caption scores high with its own image, most of the time."""
    rng = np.random.default_rng(1)
    scores = rng.random((5000, 25000), dtype=np.float32)
    scores[coco.caption_image, np.arange(25000)] += rng.random(25000, dtype=np.float32)
    return scores


def karat_side() -> dict[str, float]:
    import karat

    scores = make_scores(karat.load_benchmark("coco"))
    matrix_mb = scores.nbytes / 2**20

    def family():
        return karat.evaluate(karat.load_run(scores), karat.load_benchmark("coco"))

    first = timed(family)
    later = sorted(timed(family) for _ in range(5))[2]
    card = family()
    value = card.value("mAP@R", truth="eccv", direction="i2t")
    return {"first": first, "later": later, "mb": peak_mb(), "matrix_mb": matrix_mb, "check": value}


def eccv_side() -> dict[str, float]:
    import karat

    coco = karat.load_benchmark("coco")
    scores = make_scores(coco)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from eccv_caption import Metrics

        metric = Metrics()
    found: dict[str, dict] = {}

    def rankings():
        images, captions = coco.images.gallery, coco.captions.gallery
        i2t = captions[np.argsort(-scores, axis=1)]
        found["i2t"] = {image: row.tolist() for image, row in zip(images.tolist(), i2t)}
        t2i = images[np.argsort(-scores.T, axis=1)]
        found["t2i"] = {caption: row.tolist() for caption, row in zip(captions.tolist(), t2i)}

    def metrics():
        found["all"] = metric.compute_all_metrics(
            found["i2t"],
            found["t2i"],
            target_metrics=(*RECALLS, "eccv_r1", "eccv_rprecision", "eccv_map_at_r"),
            Ks=(1, 5, 10),
        )

    rank_s = timed(rankings)
    metric_s = timed(metrics)
    return {
        "rank": rank_s,
        "metrics": metric_s,
        "mb": peak_mb(),
        "check": found["all"]["eccv_map_at_r"]["i2t"],
    }


def measure():
    in_own_process(__file__, "karat")  # compiles the kernels, once per machine
    ours = in_own_process(__file__, "karat")
    theirs = in_own_process(__file__, "eccv")
    assert abs(ours["check"] - theirs["check"]) < 1e-9, (ours["check"], theirs["check"])
    ours_includes = (
        "karat: median of five calls with the matrix in memory, ids and truths loaded each time; "
        f"peak memory {ours['mb'] / ours['matrix_mb']:.2f} times the matrix"
    )

    def against_peer(name, karat_s, peer_s, what):
        return record(
            name,
            SIZE,
            karat_s,
            what,
            karat_mb=ours["mb"],
            peer="eccv_caption",
            peer_s=peer_s,
            peer_mb=theirs["mb"],
        )

    everything = theirs["rank"] + theirs["metrics"]
    return [
        against_peer(
            "coco family, with rankings",
            ours["later"],
            everything,
            f"{ours_includes}; peer: full rankings, metrics",
        ),
        against_peer(
            "coco family, metrics alone",
            ours["later"],
            theirs["metrics"],
            f"{ours_includes}; peer: metrics alone",
        ),
        against_peer(
            "coco family, first call",
            ours["first"],
            everything,
            "karat: first call in a new process, kernels from the disk cache; peer: full rankings, metrics",
        ),
    ]


if __name__ == "__main__":
    main(measure, {"karat": karat_side, "eccv": eccv_side})
