"""nocaps (Agrawal et al., ICCV 2019): COCO's format with a domain for every image.

The images of ``nocaps_val_4500_captions.json`` are in-domain, near-domain or out-domain, by whether their
objects are among COCO's. ``original`` ranks all of them; each domain is a truth with one fold, which ranks
its own images and captions alone. Images and captions are called by their ids in the file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from karat._util import TEXT, Param, first_text, read_json
from karat.benchmarks.benchmark import ORIGINAL, Benchmark
from karat.benchmarks.registry import Source, register
from karat.benchmarks.sides import Direction
from karat.benchmarks.sources import coco_json
from karat.benchmarks.truth import Fold, Truth

DOMAIN = "domain"


def load(file: Path, images: Path | None = None) -> Benchmark:
    """Build the benchmark."""
    bench = coco_json.load(file, images=images)
    # The benchmark has the images in the order of the file.
    domains = np.array([image.get(DOMAIN, TEXT) for image in read_json(file).records("images")])
    original = bench.truths[ORIGINAL]
    truths = {ORIGINAL: original}
    for domain in sorted(set(domains.tolist())):
        chosen = domains == domain
        fold = Fold(domain, np.flatnonzero(chosen), np.flatnonzero(chosen[bench.caption_image]))
        queries: dict[Direction, np.ndarray] = {
            "i2t": np.intersect1d(original.queries["i2t"], fold.images),
            "t2i": fold.captions,
        }
        # A domain whose images have no caption is ranked among all images only.
        if len(fold.captions):
            about = f"the {domain} images and their captions alone"
            truths[domain] = Truth(domain, original.judgments, queries, [fold], about=about)
    return replace(
        bench,
        name="nocaps",
        truths=truths,
        defaults=dict.fromkeys(truths, bench.defaults[ORIGINAL]),
        about=f"nocaps, {file.name} (Agrawal et al. 2019)",
    )


def recognise(path: Path) -> bool:
    """Return whether a file begins like COCO's with domains."""
    start = first_text(path) if path.is_file() else ""
    return '"images"' in start and f'"{DOMAIN}"' in start


register(
    Source(
        "nocaps",
        "nocaps_val_4500_captions.json, with a truth for each domain besides the original",
        load,
        (
            Param("file", Path, "the file, COCO's format with a domain for every image"),
            Param("images", Path, "the folder of the images: adds their paths", None),
        ),
        recognise,
    )
)
