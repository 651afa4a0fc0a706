"""A whole baseline: pictures and captions in, one space for both out, no pretrained model.

On disk it is a folder: what was chosen as json, what was learned as arrays; nothing in it is executed.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from karat._util import (
    TEXT_FORMATS,
    Result,
    check_choice,
    check_folder,
    fill_folder,
    parsing,
    plural,
    read_description,
    read_head,
    require,
    say,
    write_file,
)
from karat.baselines.estimator import Estimator
from karat.baselines.images import ImageFeatures, check_power, histogram_kernel, pyramid_kernel
from karat.baselines.kcca import KCCA, LEARNED, check_settings
from karat.baselines.text import TextKernel, encode, tagged_words, text_kernel
from karat.benchmarks import Benchmark, as_benchmark
from karat.captions import SystemWords, references_of
from karat.errors import InputError, MissingDataError
from karat.models import MODEL_FORMATS, MODEL_HEAD, Source, as_encoder, unit
from karat.runs import EmbeddingRun, check_npz

IMAGE_KERNELS = {"pyramid": pyramid_kernel, "histogram": histogram_kernel}
FORMAT, VERSION = "karat-image-text-model", 1
ARRAYS, WORDS = "model.npz", "words.json"
CHOSEN = ("text", "image", "image_power", "kappa", "n", "weight")
ENCODED = ("words", "start", "first")
AGAIN = "fit it again with karat fit"


class ImageTextModel(Estimator):
    """KCCA of image and text kernels (Hodosh et al. 2013), from picture files and plain captions.

    Parameters
    ----------
    text
        The text kernel: one of `karat.baselines.text.TEXT_KERNELS`.
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
    left_out_, folder_
        How many pictures without a caption `karat.fit` left out, and where it wrote the model.

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
    left_out_: int = 0
    folder_: Path | None = None

    def fit(self, images: Sequence[Source], captions: Sequence[Sequence[str]]) -> Self:
        """Learn from pictures and the captions of each.

        Parameters
        ----------
        images
            Paths of picture files, or arrays.
        captions
            Per picture its captions, one or more.
        """
        self.check_installed()
        self.check_parameters()
        kernel = text_kernel(self.text)
        check_items(images, captions)
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

    @staticmethod
    def check_installed() -> None:
        """Raise, before the work starts, where a package or data that it needs is missing."""
        from karat.lexicon import find_wordnet

        require("PIL", "cv2", "sklearn", "threadpoolctl", extra_name="models")
        find_wordnet()

    def check_parameters(self) -> None:
        """Raise, before pictures are read, for a parameter that cannot be used."""
        check_choice(self.image, tuple(IMAGE_KERNELS), "image")
        text_kernel(self.text)
        check_power(self.image_power)
        check_settings(self.kappa, self.n)

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

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of captions: `encode_captions`, as `karat.load_model` calls it."""
        return self.encode_captions(texts)

    def unknown_words(self, text: str) -> list[str]:
        """Return the words of a text that no training caption has."""
        words = self.words_.transform([text])[0]
        return [word for word in dict.fromkeys(words) if word not in self.kernel_.vocabulary_]

    def vectors(self, benchmark: Benchmark) -> tuple[np.ndarray, np.ndarray]:
        """Return the vectors of a benchmark's images and captions, of length 1 each (or 0)."""
        self.check_installed()
        images, texts = benchmark.needed_image_paths, benchmark.needed_texts
        first = self.encode_images(images)
        say(f"reading {len(texts):,} captions")
        return unit(first), unit(self.encode_captions(texts))

    def run(self, benchmark: Benchmark, name: str = "kcca") -> EmbeddingRun:
        """Return the images and captions of a benchmark that has both, as a run."""
        return EmbeddingRun(*self.vectors(benchmark), name)

    def search(self, query: str, images: Sequence[Source], top: int = 10) -> list[tuple[int, float]]:
        """Return the numbers of the pictures that fit a sentence best, with their cosines.

        Nothing is found for a sentence none of whose words was in the training captions.
        """
        return as_encoder(self).search(query, images, top)

    def _image_rows(self, counts: np.ndarray) -> np.ndarray:
        # The training pictures with themselves take half of the work.
        training = None if counts is self.counts_ else self.counts_
        compare = IMAGE_KERNELS[self.image]
        return compare(counts, training, levels=self.features_.levels, power=self.image_power)

    def summary(self) -> FitSummary:
        """Return what it was fitted to, and how strongly both sides are correlated."""
        self.check_fitted()
        correlations = tuple(map(float, self.kcca_.correlations_))
        return FitSummary(
            self.text,
            self.image,
            len(self.captions_),
            self.kcca_.n_,
            correlations,
            self.left_out_,
            self.folder_,
        )

    def save(self, folder: str | Path) -> None:
        """Write everything into a folder, as json, npz and safetensors."""
        self.check_fitted()
        save_model(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> ImageTextModel:
        """Return what `save` wrote, after checking it; nothing in it is executed."""
        return read_model(Path(folder))


@dataclass(frozen=True)
class FitSummary(Result):
    """What a baseline was fitted to.

    Parameters
    ----------
    text, image
        The kernels.
    pictures, dimensions
        How many pictures it was fitted to, and the dimensions of the common space.
    correlations
        Of both sides, per dimension.
    left_out
        How many pictures had no caption.
    folder
        Where it was written.
    """

    text: str
    image: str
    pictures: int
    dimensions: int
    correlations: tuple[float, ...] = field(repr=False)
    left_out: int = 0
    folder: Path | None = None
    formats = TEXT_FORMATS

    @property
    def notes(self) -> tuple[str, ...]:
        """How many pictures were left out."""
        left = self.left_out
        return (f"{plural(left, 'picture')} without a caption left out",) if left else ()

    def records(self) -> list[dict[str, Any]]:
        """Return one record per dimension: how strongly both sides are correlated."""
        return [{"dimension": k, "correlation": value} for k, value in enumerate(self.correlations, start=1)]

    def parts(self) -> list[str]:
        """Return what it was fitted to, where it is, and what to do next."""
        strongest = ", ".join(f"{value:.2f}" for value in self.correlations[:3])
        lines = [
            f"fitted {self.text} and {self.image} to {plural(self.pictures, 'picture')}: {self.dimensions} "
            f"dimensions, strongest correlations {strongest}"
        ]
        if self.folder is not None:
            place = shlex.quote(str(self.folder))
            lines += [f"wrote {self.folder}", f'try: karat search {place} "a dog on a beach" --in PICTURES']
        return ["\n".join(lines)]


def fit(
    benchmark: Benchmark | str | Path,
    *,
    output: str | Path | None = None,
    text: str = "BoW5",
    image: str = "pyramid",
    image_power: float = 3.0,
    kappa: float = 0.1,
    n: int = 50,
    setting: Mapping[str, Any] | None = None,
) -> ImageTextModel:
    """Return a baseline trained on the pictures and captions of a benchmark, without a pretrained model.

    Pictures without a caption are left out. The model's `run` scores a benchmark, `search` finds pictures,
    `save` writes it.

    Parameters
    ----------
    benchmark
        One with captions and picture files, its name or its folder.
    output
        The folder that the model is written into; by default none.
    text, image, image_power, kappa, n
        As `ImageTextModel` takes them.
    setting
        Settings of a benchmark that is given by name, as `karat.load_benchmark` takes them.

    Examples
    --------
    >>> import karat
    >>> model = karat.fit("my-photos")  # doctest: +SKIP
    >>> model.search("a dog on a beach", ["1.jpg", "2.jpg"])  # doctest: +SKIP
    """
    model = ImageTextModel(text, image, image_power, kappa, n)
    model.check_parameters()
    if output is not None:
        check_folder(Path(output))
    model.check_installed()
    benchmark = as_benchmark(benchmark, setting)
    benchmark.check_image_text()
    pictures, captions = benchmark.needed_image_paths, references_of(benchmark)
    used = [k for k, own in enumerate(captions) if own]
    model.fit([pictures[k] for k in used], [captions[k] for k in used])
    model.left_out_ = len(captions) - len(used)
    if output is not None:
        model.save(output)
        model.folder_ = Path(output)
    return model


def save_model(model: ImageTextModel, folder: Path) -> None:
    """Write the files of a fitted model into a folder, which is made if need be; all of them, or none."""
    fill_folder(folder, lambda draft: write_model(model, draft), last=[MODEL_HEAD])


def write_model(model: ImageTextModel, folder: Path) -> None:
    """Write all files of a fitted model."""
    model.features_.save(folder)
    captions = encode(model.captions_, dict(model.kernel_.vocabulary_))
    arrays = {
        "counts": model.counts_,
        **{f"caption_{name}": getattr(captions, name) for name in ENCODED},
        **{f"text_{name}": table for name, table in model.kernel_.state().items()},
        **{f"kcca_{name}": table for name, table in model.kcca_.to_arrays().items()},
    }
    head = {
        "format": FORMAT,
        "version": VERSION,
        "parameters": {name: getattr(model, name) for name in CHOSEN},
        "kcca": model.kcca_.get_params(),
    }
    write_file(folder / ARRAYS, lambda path: np.savez_compressed(path, allow_pickle=False, **arrays))
    write_json(folder / WORDS, model.words_.state())
    write_json(folder / MODEL_HEAD, head)


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a dictionary as json."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_file(path, lambda target: target.write_text(text, encoding="utf-8"))


def read_model(folder: Path) -> ImageTextModel:
    """Return the model of a folder, after checking its files."""
    for name in (MODEL_HEAD, ARRAYS, WORDS):
        if not (folder / name).is_file():
            raise MissingDataError(
                f"there is no {name}", where=folder, fix="give a folder that karat fit wrote"
            )
    with parsing(folder / MODEL_HEAD, "is not a description of a model", AGAIN):
        head = read_head(folder / MODEL_HEAD, FORMAT, VERSION)
        model = ImageTextModel(**{name: head["parameters"][name] for name in CHOSEN})
        kcca = {name: head["kcca"][name] for name in KCCA().get_params()}
    model.features_ = ImageFeatures.load(folder)
    with parsing(folder / WORDS, "does not contain the words of a model", AGAIN):
        model.words_ = SystemWords().restore(read_description(folder / WORDS))
    with parsing(folder / ARRAYS, "does not contain the arrays of a model", AGAIN):
        check_npz(folder / ARRAYS)
        # Opened here, since numpy leaves a damaged file open.
        with (folder / ARRAYS).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        model.kernel_ = text_kernel(model.text).restore(
            {name.removeprefix("text_"): table for name, table in arrays.items() if name.startswith("text_")}
        )
        model.kcca_ = KCCA.from_arrays(kcca, {name: arrays[f"kcca_{name}"] for name in LEARNED})
        model.counts_ = arrays["counts"]
        model.captions_ = decoded(model, *(arrays[f"caption_{name}"] for name in ENCODED))
        items = {len(model.counts_), len(model.captions_), len(model.kcca_.image_mean_)}
        if len(items) > 1 or model.counts_.shape[1] != model.features_.n_features_out_:
            raise InputError("its parts do not belong together", where=folder / ARRAYS, fix=AGAIN)
    return model


def decoded(
    model: ImageTextModel, words: np.ndarray, start: np.ndarray, first: np.ndarray
) -> list[list[tuple[str, ...]]]:
    """Return the training captions as words again."""
    spelt = list(model.kernel_.vocabulary_)
    captions = [tuple(spelt[word] for word in words[begin:end].tolist()) for begin, end in pairwise(start)]
    return [captions[begin:end] for begin, end in pairwise(first.tolist())]


def check_items(images: Sequence[Source], captions: Sequence[Sequence[str]]) -> None:
    """Raise unless every picture has a caption and there are two pictures or more."""
    if len(images) != len(captions):
        raise InputError(f"{len(images):,} pictures and captions of {len(captions):,}", fix="give as many")
    if len(images) < 2:
        raise InputError("there are fewer than two pictures", fix="a common space needs many")
    bare = [number for number, own in enumerate(captions) if not own]
    if bare:
        raise InputError(f"picture number {bare[0]} has no caption", fix="give it one, or leave it out")


def load_installed(folder: Path) -> ImageTextModel:
    """Return the model of a folder, after checking that what it needs is installed."""
    ImageTextModel.check_installed()
    return read_model(folder)


MODEL_FORMATS.add(FORMAT, load_installed)
