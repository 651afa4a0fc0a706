"""What Hodosh's systems are trained and tested on: Flickr8k's words, and its images as kernels.

Training items have five captions; dev and test items have caption number 2, the one that was judged.
"""

from collections.abc import Iterable
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from _hodosh_store import Told, digest, kept, tell, unpacked

import karat
from karat._util import reporting
from karat._util.cache import Arrays
from karat.baselines import DecomposedSide, KCCAPath, KCCAView
from karat.baselines.images import ImageFeatures, histogram_kernel, pyramid_kernel
from karat.baselines.text import tagged_words
from karat.benchmarks import Benchmark
from karat.captions.system_words import SystemWords

IMAGES = "images-256.tar"
TEXTS = ("Flickr8k.token.txt", *(f"Flickr_8k.{split}Images.txt" for split in ("train", "dev", "test")))
JUDGMENTS = ("ExpertAnnotations.txt", "CrowdFlowerAnnotations.txt")
KERNELS = {"pyramid": pyramid_kernel, "histogram": histogram_kernel}
POWER = 3.0
"""p of equation 6: the paper squares or cubes, by text kernel; here it is one for all."""

Items = list[list[tuple[str, ...]]]
Rows = dict[str, np.ndarray]


def needed(data: Path | None) -> str | None:
    """Return what is missing under `data`, as a note; None where all is there."""
    folder = None if data is None else data / "flickr8k"
    names = (*TEXTS, *JUDGMENTS, IMAGES)
    if folder is not None and all((folder / name).is_file() for name in names):
        return None
    return f"needs flickr8k/ with its captions, splits, judgments and {IMAGES} under --data"


class Flickr8k:
    """The three splits of Flickr8k, with all that is computed from them once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts_name = digest([folder / name for name in TEXTS])

    @cached_property
    def benches(self) -> dict[str, Benchmark]:
        """The splits; dev and test with caption number 2 alone."""
        return {
            split: karat.load_benchmark(
                "flickr8k", folder=self.folder, split=split, **({} if split == "train" else {"caption": 2})
            )
            for split in ("train", "dev", "test")
        }

    @cached_property
    def words(self) -> tuple[dict[str, Items], Items]:
        """The captions of every split as systems see them, and the parts of speech of the training's."""
        tell("tagging captions")
        captions = {split: references(bench) for split, bench in self.benches.items()}
        words = SystemWords().fit([text for own in captions["train"] for text in own])
        found = {split: tagged_words(words, items) for split, items in captions.items()}
        return {split: own for split, (own, _) in found.items()}, found["train"][1]

    @cached_property
    def images_name(self) -> str:
        """A name for the content of the images."""
        return digest([self.folder / IMAGES])

    @cached_property
    def counts(self) -> Rows:
        """The words of every split's images; the vocabularies come from training images."""
        names = {split: bench.images.values.tolist() for split, bench in self.benches.items()}
        every = [name for own in names.values() for name in own]
        folder = unpacked(self.folder / IMAGES, every, self.images_name)
        paths = {split: [folder / name for name in own] for split, own in names.items()}
        tell("finding the words of images")
        features = ImageFeatures().fit(paths["train"])
        rows = {}
        for split, own in paths.items():
            with reporting(Told(f"words of {split} images")):
                rows[split] = features.transform(own)
        return rows

    @lru_cache(maxsize=2)  # noqa: B019 - one object lives as long as the program
    def images(self, kind: str) -> tuple[DecomposedSide, Rows]:
        """Return the training images under one kernel, decomposed, and the rows of dev and test images."""
        stage = f"image kernel, {kind}"

        def make() -> Arrays:
            counts = self.counts
            tell(f"{stage}: comparing and decomposing")
            compare = KERNELS[kind]
            rows = {
                split: compare(own, None if split == "train" else counts["train"], power=POWER)
                for split, own in counts.items()
            }
            # In single precision, which takes half of the time and memory.
            side = KCCAPath().decompose(rows.pop("train").astype(np.float32))
            return {
                "mean": side.view.mean, "basis": side.view.basis, "variance": side.view.variance,
                "unit": side.unit, **{split: own.astype(np.float32) for split, own in rows.items()},
            }  # fmt: skip

        decides = [self.images_name, self.texts_name, kind, POWER, ImageFeatures().get_params()]
        found = kept(stage.replace(", ", "-").replace(" ", "-"), decides, make)
        view = KCCAView(found["mean"], found["basis"], found["variance"], stage)
        return DecomposedSide(view, found["unit"]), {split: found[split] for split in ("dev", "test")}


def references(bench: Benchmark) -> list[list[str]]:
    """Return the captions of every image that the benchmark's gallery has: not those kept beside it."""
    found: list[list[str]] = [[] for _ in range(bench.images.size)]
    for image, text in zip(np.asarray(bench.caption_image).tolist(), bench.texts or ()):
        found[image].append(text)
    return found


def first_captions(items: Iterable[list[tuple[str, ...]]]) -> Items:
    """Return items with their first caption alone.

    >>> first_captions([[("a", "dog"), ("dog",)]])
    [[('a', 'dog')]]
    """
    return [own[:1] for own in items]
