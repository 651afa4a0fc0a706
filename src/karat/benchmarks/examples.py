"""Examples of choices as sources read them, and the benchmark that they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from karat._util import COMPLETE, check_unique_ids
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.choices import ALL, Choices
from karat.benchmarks.ids import Ids
from karat.benchmarks.judgments import Judgments, Provenance
from karat.benchmarks.truth import Direction, Truth
from karat.errors import InputError


@dataclass(frozen=True)
class ChoiceExample:
    """A few images and captions, and which belong together.

    Parameters
    ----------
    name
        Its id; captions are called ``NAME#0``, ``NAME#1``, ….
    images
        The ids of its images; one that several examples have is the same image.
    captions
        The texts of its captions.
    correct
        Pairs of an image and a caption that belong together, as places in the lists.
    groups
        What it is distinguished by.
    photos
        What its images were cut from, where several images may be cut from one photo.
    """

    name: str
    images: Sequence[str]
    captions: Sequence[str]
    correct: Sequence[tuple[int, int]]
    groups: Mapping[str, str] = field(default_factory=dict)
    photos: Sequence[str] = ()


def build_choices(
    name: str,
    examples: Sequence[ChoiceExample],
    *,
    where: str | Path,
    about: str,
    measures: tuple[str, ...] = (),
    shown: tuple[str, ...] = (),
    leave_out: tuple[int, frozenset[str]] = (1, frozenset()),
    image_folder: Path | None = None,
) -> Benchmark:
    """Return a benchmark of choices; see `Choices` for what the parameters are.

    Its one listed truth has the pairs that belong together as relevant, and the other pairs of an example as
    judged not relevant.

    >>> pair = ChoiceExample("0", ["a.jpg", "b.jpg"],
    ...     ["a cup on a mat", "a mat on a cup"], [(0, 0), (1, 1)])
    >>> bench = build_choices("cups", [pair], where="cups.json", about="")
    >>> bench, bench.choices.shape
    (Benchmark('cups': 2 images, 2 captions; truths all), (1, 2, 2))
    """
    if not examples:
        raise InputError("holds no example", where=where, fix=COMPLETE)
    check_unique_ids(np.array([example.name for example in examples]), "example", where)
    for example in examples:
        if not any(text.strip() for text in example.captions):
            raise InputError(f"example {example.name} has empty captions", where=where, fix="write them")
    numbers = numbered(image for example in examples for image in example.images)
    photo_numbers = numbered(photo for example in examples for photo in example.photos or example.images)
    ids = [f"{example.name}#{k}" for example in examples for k in range(len(example.captions))]
    shape = (
        len(examples),
        max(len(example.images) for example in examples),
        max(len(example.captions) for example in examples),
    )
    images, photos = np.full(shape[:2], -1), np.full(shape[:2], -1)
    captions = np.full((shape[0], shape[2]), -1)
    correct = np.zeros(shape, bool)
    first = 0
    for n, example in enumerate(examples):
        images[n, : len(example.images)] = [numbers[image] for image in example.images]
        sources = example.photos or example.images
        photos[n, : len(sources)] = [photo_numbers[photo] for photo in sources]
        captions[n, : len(example.captions)] = first + np.arange(len(example.captions))
        correct[n][tuple(zip(*example.correct))] = True
        first += len(example.captions)
    fields = dict.fromkeys(key for example in examples for key in example.groups)
    groups = {key: np.array([example.groups.get(key, "") for example in examples]) for key in fields}
    choices = Choices(
        np.array([example.name for example in examples]), images, captions, correct, groups,
        tuple(key for key in shown if key in groups), leave_out, measures, photos,
    )  # fmt: skip
    row, image, caption = np.nonzero(choices.known)
    own = Judgments(
        images[row, image], captions[row, caption],
        rating=correct[row, image, caption].astype(float), sources=[Provenance(name)],
    )  # fmt: skip
    queries: dict[Direction, np.ndarray] = {"i2t": np.arange(len(numbers)), "t2i": np.arange(len(ids))}
    truth = Truth(ALL, own, queries, about="the pairs of each example that belong together, and the others")
    return Benchmark(
        name, Ids(list(numbers), kind="image"), Ids(ids, kind="caption"), {ALL: truth},
        # A caption that belongs to no image was written about the first of its example.
        np.repeat(images[:, 0], (captions >= 0).sum(axis=1)),
        defaults={ALL: measures}, about=about, choices=choices,
        texts=[text for example in examples for text in example.captions],
        image_paths=None if image_folder is None else [str(image_folder / image) for image in numbers],
        image_folder=None if image_folder is None else str(image_folder),
    )  # fmt: skip


def numbered(names: Iterable[str]) -> dict[str, int]:
    """Return the number of each name, in order of appearance."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}
