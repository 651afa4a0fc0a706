"""A whole baseline: pictures and captions in, one space for both out, no pretrained model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from karat.benchmarks import Benchmark
from karat.captions.system_words import SystemWords
from karat.runs.embeddings import EmbeddingRun
from karat.systems.estimator import Estimator
from karat.systems.images import ImageFeatures, histogram_kernel, pyramid_kernel
from karat.systems.images.decoding import Source
from karat.systems.kcca import KCCA
from karat.systems.kcca_cosines import unit
from karat.systems.text import TextKernel, tagged_words, text_kernel
from karat.validation import InputError, check_choice

IMAGE_KERNELS = {"pyramid": pyramid_kernel, "histogram": histogram_kernel}
Says = Callable[[str], object]


class ImageTextModel(Estimator):
    """KCCA of image and text kernels (Hodosh et al. 2013), from picture files and plain captions.

    Parameters
    ----------
    text
        The text kernel: one of `karat.systems.text.TEXT_KERNELS`.
    image
        The image kernel: "pyramid" or "histogram".
    image_power
        The image kernel is raised to this power.
    kappa, n, weight
        KCCA's regularisation, its number of dimensions, and by which power of their correlation
        dimensions count.
    features
        What reads pictures; by default `ImageFeatures` as in the paper.

    Attributes
    ----------
    features_, words_, kernel_, kcca_
        The fitted parts.
    counts_, captions_
        The training items, which every new item is compared with.

    Examples
    --------
    >>> model = ImageTextModel(text="TRI5", kappa=0.5)
    >>> model
    ImageTextModel(text='TRI5', kappa=0.5)
    """

    def __init__(
        self,
        text: str = "BoW5",
        image: str = "pyramid",
        image_power: float = 3.0,
        kappa: float = 0.1,
        n: int = 50,
        weight: float = 1.0,
        features: ImageFeatures | None = None,
    ) -> None:
        self.text, self.image, self.image_power = text, image, image_power
        self.kappa, self.n, self.weight = kappa, n, weight
        self.features = features

    features_: ImageFeatures
    words_: SystemWords
    kernel_: TextKernel
    kcca_: KCCA
    counts_: np.ndarray
    captions_: list[list[tuple[str, ...]]]

    def fit(
        self, images: Sequence[Source], captions: Sequence[Sequence[str]], *, says: Says | None = None
    ) -> Self:
        """Learn from pictures and the captions of each.

        Parameters
        ----------
        images
            Paths of picture files, or arrays.
        captions
            Per picture its captions, one or more.
        says
            Called with a sentence before each part of the work.
        """
        check_choice(self.image, tuple(IMAGE_KERNELS), "image")
        kernel = text_kernel(self.text)
        check_items(images, captions)
        say = says or (lambda _: None)
        say(f"reading {len(captions):,} pictures")
        self.features_ = self.features or ImageFeatures()
        self.counts_ = self.features_.fit_transform(images)
        say("reading captions")
        self.words_ = SystemWords().fit([text for own in captions for text in own])
        self.captions_, tags = tagged_words(self.words_, captions)
        self.kernel_ = kernel.fit(self.captions_, tags if kernel.needs_tags else None)
        say("comparing all of them")
        by_image, by_text = self._image_rows(self.counts_), self.kernel_.kernel(self.captions_)
        say("finding the common space")
        self.kcca_ = KCCA(self.kappa, self.n, power=self.weight).fit(by_image, by_text)
        return self

    def encode_images(self, images: Sequence[Source]) -> np.ndarray:
        """Return the vectors of pictures; compare them with captions' by cosine."""
        self.check_fitted()
        return self.kcca_.transform(images=self._image_rows(self.features_.transform(images)))

    def encode_captions(self, captions: Sequence[str]) -> np.ndarray:
        """Return the vectors of captions; one without a known word is zero, and so equally far from all."""
        self.check_fitted()
        words = self.words_.transform(list(captions))
        rows = self.kernel_.kernel([[own] for own in words], self.captions_)
        vectors = self.kcca_.transform(captions=rows)
        known = self.kernel_.vocabulary_.keys()
        vectors[[known.isdisjoint(own) for own in words]] = 0.0
        return vectors

    def vectors(self, benchmark: Benchmark, *, says: Says | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the vectors of a benchmark's images and captions, of length 1 each (or 0)."""
        say = says or (lambda _: None)
        images, texts = pictures_of(benchmark), texts_of(benchmark)
        say(f"reading {len(images):,} pictures")
        first = self.encode_images(images)
        say(f"reading {len(texts):,} captions")
        return unit(first), unit(self.encode_captions(texts))

    def run(self, benchmark: Benchmark, name: str = "kcca", *, says: Says | None = None) -> EmbeddingRun:
        """Return the images and captions of a benchmark that has both, as a run."""
        return EmbeddingRun(*self.vectors(benchmark, says=says), name)

    def search(
        self, query: str, images: Sequence[Source], top: int = 10, *, says: Says | None = None
    ) -> list[tuple[int, float]]:
        """Return the numbers of the pictures that fit a sentence best, with their cosines.

        Nothing is found for a sentence none of whose words was in the training captions.
        """
        sentence = unit(self.encode_captions([query]))[0]
        if not sentence.any():
            return []
        (says or (lambda _: None))(f"reading {len(images):,} pictures")
        scores = unit(self.encode_images(images)) @ sentence
        best = np.argsort(-scores, kind="stable")[:top]
        return [(int(image), float(scores[image])) for image in best]

    def _image_rows(self, counts: np.ndarray) -> np.ndarray:
        # The training pictures with themselves take half of the work.
        other = None if counts is self.counts_ else self.counts_
        compare = IMAGE_KERNELS[self.image]
        return compare(counts, other, levels=self.features_.levels, power=self.image_power)

    def save(self, folder: str | Path) -> None:
        """Write everything into a folder, as json, npz and safetensors."""
        from karat.systems.model_files import save_model

        self.check_fitted()
        save_model(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> ImageTextModel:
        """Return what `save` wrote, after checking it; nothing in it is executed."""
        from karat.systems.model_files import load_model

        return load_model(Path(folder))


def check_items(images: Sequence[Source], captions: Sequence[Sequence[str]]) -> None:
    """Raise unless every picture has a caption and there are two pictures or more."""
    if len(images) != len(captions):
        raise InputError(f"{len(images):,} pictures and captions of {len(captions):,}", fix="give as many")
    if len(images) < 2:
        raise InputError("there are fewer than two pictures", fix="a common space needs many")
    bare = [number for number, own in enumerate(captions) if not own]
    if bare:
        raise InputError(f"picture number {bare[0]} has no caption", fix="give it one, or leave it out")


def pictures_of(benchmark: Benchmark) -> list[str]:
    """Return the picture files of a benchmark, or raise."""
    if not benchmark.image_paths:
        fix = "load it with its pictures, for flickr8k images=FOLDER"
        raise InputError(f"{benchmark.name} does not say where its pictures are", fix=fix)
    return list(benchmark.image_paths)


def texts_of(benchmark: Benchmark) -> list[str]:
    """Return the captions of a benchmark, or raise."""
    if benchmark.texts is None:
        raise InputError(f"{benchmark.name} has no captions", fix="load it with its captions")
    return list(benchmark.texts)
