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
from karat.benchmarks.sides import KINDS, Direction, Grouping, Side
from karat.benchmarks.truth import Truth
from karat.errors import InputError

EXAMPLES = (Side("", "example", "examples"), "examples")
IMAGES = (KINDS["i"], "images with their examples")
"""What is resampled where no two examples share an image, and where some do."""


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
    check_examples(examples, where)
    numbers = numbered(image for example in examples for image in example.images)
    choices = tabulate(examples, numbers, shown, leave_out, measures)
    row, image, caption = np.nonzero(choices.known)
    own = Judgments(
        choices.images[row, image], choices.captions[row, caption],
        rating=choices.correct[row, image, caption].astype(float), sources=[Provenance(name)],
    )  # fmt: skip
    ids = [f"{example.name}#{k}" for example in examples for k in range(len(example.captions))]
    queries: dict[Direction, np.ndarray] = {"i2t": np.arange(len(numbers)), "t2i": np.arange(len(ids))}
    truth = Truth(ALL, own, queries, about="the pairs of each example that belong together, and the others")
    return Benchmark(
        name, Ids(list(numbers), kind="image"), Ids(ids, kind="caption"), {ALL: truth},
        # A caption that belongs to no image was written about the first of its example.
        np.repeat(choices.images[:, 0], [len(example.captions) for example in examples]),
        defaults={ALL: measures}, about=about, choices=choices,
        texts=[text for example in examples for text in example.captions],
        image_paths=None if image_folder is None else [str(image_folder / image) for image in numbers],
        image_folder=None if image_folder is None else str(image_folder),
        # Examples that share images are called by the first of them.
        groups=Grouping(*(IMAGES if choices.share_images else EXAMPLES), choices.examples, (None, None)),
    )  # fmt: skip


def check_examples(examples: Sequence[ChoiceExample], where: str | Path) -> None:
    """Raise where there is no example, two have one name, or one has no words."""
    if not examples:
        raise InputError("holds no example", where=where, fix=COMPLETE)
    check_unique_ids(np.array([example.name for example in examples]), "example", where)
    for example in examples:
        if not any(text.strip() for text in example.captions):
            raise InputError(f"example {example.name} has empty captions", where=where, fix="write them")


def tabulate(
    examples: Sequence[ChoiceExample],
    numbers: Mapping[str, int],
    shown: tuple[str, ...],
    leave_out: tuple[int, frozenset[str]],
    measures: tuple[str, ...],
) -> Choices:
    """Return examples as tables of the numbers of their images and captions."""
    sources = [example.photos or example.images for example in examples]
    photos = numbered(photo for own in sources for photo in own)
    ends = np.cumsum([len(example.captions) for example in examples])
    images = as_rows([numbers[image] for image in example.images] for example in examples)
    captions = as_rows(np.arange(end - len(example.captions), end) for example, end in zip(examples, ends))
    correct = np.zeros((*images.shape, captions.shape[1]), bool)
    for n, example in enumerate(examples):
        correct[n][tuple(zip(*example.correct))] = True
    fields = dict.fromkeys(key for example in examples for key in example.groups)
    groups = {key: np.array([example.groups.get(key, "") for example in examples]) for key in fields}
    return Choices(
        np.array([example.name for example in examples]), images, captions, correct, groups,
        tuple(key for key in shown if key in groups), leave_out, measures,
        as_rows([photos[photo] for photo in own] for own in sources),
    )  # fmt: skip


def as_rows(lists: Iterable[Sequence[int] | np.ndarray]) -> np.ndarray:
    """Return lists of numbers as the rows of a table; -1 where a list is shorter than the longest.

    >>> as_rows([[3, 4], [5]]).tolist()
    [[3, 4], [5, -1]]
    """
    rows = list(lists)
    table = np.full((len(rows), max(map(len, rows))), -1)
    for row, numbers in zip(table, rows):
        row[: len(numbers)] = numbers
    return table


def numbered(names: Iterable[str]) -> dict[str, int]:
    """Return the number of each name, in order of appearance."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}
