"""Pyramid kernels of all pairs of pictures, and the features that they compare.

The peer of the kernel is scipy's city-block distance: for histograms of equal totals, the sum of minima is
the total minus half the distance, so that it solves the same task in compiled code (float64, one thread). The
peer of the descriptors is OpenCV's SIFT at the same points. Pictures and counts are made; the time of the
features does not depend much on what a picture shows.
"""

import io
import os
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _stopwatch import in_own_process, main, peak_mb, record, sized, timed

from karat.baselines.images import ImageFeatures, pyramid_kernel
from karat.baselines.images.descriptors import centres, sift_points
from karat.baselines.images.pyramid import cells, level_weights, pyramid_counts

SIZES, POINTS, LEVELS = (128, 256, 256), sized(64, 8), 3
GROWTH = sized((500, 1_000, 2_000, 6_000), (8, 16))
PAIRED = GROWTH[0]
PICTURES, SIFTED = sized((200, 20), (4, 1))


def made_counts(pictures: int) -> np.ndarray:
    """Return pyramids of words that are unevenly common and differ between pictures, as real ones do."""
    rng = np.random.default_rng(0)
    rows = np.empty((pictures, cells(LEVELS) * sum(SIZES)), np.uint16)
    for k in range(pictures):
        words = [size * rng.random((POINTS, POINTS)) ** rng.uniform(1, 3) for size in SIZES]
        rows[k] = pyramid_counts(np.stack(words).astype(np.int64), SIZES, LEVELS)
    return rows


def made_picture(seed: int) -> np.ndarray:
    """Return noise with the spectrum of photographs, 256 x 192."""
    rng = np.random.default_rng(seed)
    y, x = np.fft.fftfreq(192)[:, None, None], np.fft.fftfreq(256)[:, None]
    spectrum = np.fft.fft2(rng.normal(size=(192, 256, 3)), axes=(0, 1)) / np.maximum(np.hypot(x, y), 1 / 256)
    noise = np.fft.ifft2(spectrum, axes=(0, 1)).real
    return (127 + 50 * noise / noise.std()).clip(0, 255).astype(np.uint8)


def kernel(pictures: int) -> dict[str, float]:
    """Time the kernel alone, compiled before."""
    counts = made_counts(pictures)
    pyramid_kernel(counts[:5], power=3)
    return {"s": timed(lambda: pyramid_kernel(counts, power=3)), "mb": peak_mb()}


def cityblock(pictures: int) -> dict[str, float]:
    """Time scipy on the same task, and check that it is the same."""
    from scipy.spatial.distance import cdist

    counts = made_counts(pictures)
    ours = pyramid_kernel(counts, power=3)
    begin = time.perf_counter()
    # Columns carry their weights, so that one distance serves all levels.
    weights = np.repeat(level_weights(LEVELS), [4**level * sum(SIZES) for level in range(LEVELS)])
    fractions = counts * (weights / (len(SIZES) * POINTS**2))
    found = (1 - cdist(fractions, fractions, "cityblock") / 2) ** 3
    taken = time.perf_counter() - begin
    assert np.abs(found - ours).max() < 1e-9
    return {"s": taken, "mb": peak_mb()}


def features() -> dict[str, float]:
    """Time `transform` on jpeg files, without and with the cache."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        os.environ["KARAT_CACHE"] = f"{folder}/cache"
        files = [Path(folder) / f"{seed}.jpg" for seed in range(PICTURES)]
        for seed, file in enumerate(files):
            held = io.BytesIO()
            Image.fromarray(made_picture(seed)).save(held, "JPEG", quality=90)
            file.write_bytes(held.getvalue())
        begin = time.perf_counter()
        model = ImageFeatures(sample_images=sized(50, 3)).fit(files)
        fitted = time.perf_counter()
        model.transform(files)
        done = time.perf_counter()
        model.transform(files)
        return {
            "s": done - fitted, "fit": fitted - begin, "again": time.perf_counter() - done, "mb": peak_mb(),
        }  # fmt: skip


def sift(side: str) -> dict[str, float]:
    """Time descriptors at all points of some pictures, on one thread."""
    import cv2

    cv2.setNumThreads(1)
    pictures = [made_picture(seed) for seed in range(SIFTED)]
    at = [
        cv2.KeyPoint(float(x), float(y), 4 / 1.5, 0)
        for y in centres(192, POINTS)
        for x in centres(256, POINTS)
    ]
    peer = cv2.SIFT_create()
    begin = time.perf_counter()
    for picture in pictures:
        if side == "karat":
            sift_points(picture, POINTS)
        else:
            peer.compute(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), at)
    return {"s": time.perf_counter() - begin, "mb": peak_mb()}


SIDES: dict[str, Any] = {
    **{f"kernel-{pictures}": partial(kernel, pictures) for pictures in GROWTH},
    "cityblock": partial(cityblock, PAIRED),
    "features": features,
    "sift-karat": partial(sift, "karat"),
    "sift-opencv": partial(sift, "opencv"),
}


def measure():
    run = partial(in_own_process, __file__)
    records = []
    for pictures in GROWTH:
        compared: dict[str, Any] = {}
        what = "pyramid kernel to the power 3 from counts over 13,440 bins, compiled before; all processors"
        if pictures == PAIRED:
            compared = {"peer": "scipy cdist", "theirs": run("cityblock")}
            what += "; the peer: city-block distance of weighted fractions, one thread, equal to 1e-9"
        size, ours = f"{pictures}x{pictures}", run(f"kernel-{pictures}")
        records.append(record("pyramid kernel", size, ours, what, **compared))
    found = run("features")
    what = (
        f"decoding, colour, texture and SIFT words of jpeg files: {PICTURES / found['s']:.0f} images/s; "
        f"fit on 50 of them {found['fit']:.1f} s; from the cache {PICTURES / found['again']:.0f} images/s"
    )
    records.append(record("image features", f"{PICTURES} images", found, what))
    what = (
        "descriptors at 4,096 points of 20 pictures, one thread; the peer: OpenCV's SIFT at the same points"
    )
    size, theirs = f"{SIFTED} images", run("sift-opencv")
    records.append(record("dense SIFT", size, run("sift-karat"), what, peer="OpenCV", theirs=theirs))
    return records


if __name__ == "__main__":
    main(measure, SIDES)
