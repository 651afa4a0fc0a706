"""The default COCO family from embeddings of 512 dimensions, against one plain matrix product."""

import statistics

import numpy as np
from _harness import in_own_process, main, peak_mb, record, timed

import karat

DIMENSIONS = 512


def side() -> dict[str, float]:
    coco = karat.load_benchmark("coco")
    rng = np.random.default_rng(1)
    images = rng.standard_normal((5000, DIMENSIONS), dtype=np.float32)
    captions = images[coco.caption_image] + 4 * rng.standard_normal((25000, DIMENSIONS), dtype=np.float32)
    images /= np.linalg.norm(images, axis=1, keepdims=True)
    captions /= np.linalg.norm(captions, axis=1, keepdims=True)

    def family():
        return karat.evaluate(karat.load_run(images, captions), coco)

    family()
    ours, product = [], []
    for _ in range(5):
        ours.append(timed(family))
        product.append(timed(lambda: images @ captions.T))
    before_product = peak_mb()
    return {"karat": statistics.median(ours), "product": statistics.median(product), "mb": before_product}


def measure():
    in_own_process(__file__, "karat")  # compiles the kernels, once per machine
    found = in_own_process(__file__, "karat")
    what = "karat: check both tables, all 36 numbers; peer: one float32 product; medians of five"
    return [
        record(
            "coco family from embeddings", f"5000x25000x{DIMENSIONS}", found["karat"], what,
            peer="numpy product", peer_s=found["product"],
        )
    ]  # fmt: skip


if __name__ == "__main__":
    main(measure, {"karat": side})
