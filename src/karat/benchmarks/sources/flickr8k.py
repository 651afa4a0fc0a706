"""Flickr8k in its original files, with its expert and crowd judgments.

Hodosh, Young and Hockenmaier, JAIR 2013. Their protocol ranks the 1,000 test images against caption
number 2 of each (``caption=2``), the only one that was judged. Three decisions:

- The crowd's yes-share counts as relevant from 0.5 on. The paper writes 0.66, two of three judges,
  but some pairs had more judges; 0.5 gives exactly the 2,031 extra pairs of §4.3.2. An image's own
  caption is always relevant, even where the crowd rejected it (21 of 721 times).
- Experts rate from 1 to 4, and the mean of the three is the raw rating (§4.2.1). From 3 on ("minor
  mistakes") a pair has the grade 0.5; from 11/3 on (two of three found no mistake, one a minor one)
  it has 1. The truth is what the experts said, no more: own captions that they did not see stay
  unjudged, so 594 test images have no relevant caption and are left out of its means.
- Judgments of pairs outside the chosen split or caption number are left out; a truth without
  any is left out.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from karat._util import Param, check_choice, check_once, read_rows, whole
from karat.benchmarks.benchmark import ORIGINAL, RECALLS, Benchmark, build
from karat.benchmarks.image_files import locate_images
from karat.benchmarks.judgments import Judgments, Provenance, Steps
from karat.benchmarks.registry import Source, register
from karat.benchmarks.sides import Direction
from karat.benchmarks.truth import Truth
from karat.errors import InputError, MissingDataError

ALL = "all"
SPLITS = ("train", "dev", "test", ALL)
TOKENS, EXPERT, CROWD = "Flickr8k.token.txt", "ExpertAnnotations.txt", "CrowdFlowerAnnotations.txt"
NOT_AN_IMAGE = "2258277193_586949ec62.jpg.1"
"""Listed with five captions, but no such image was ever distributed."""
SAME_DOWNLOAD = "take both files from the same download"

NUMBER = re.compile("0|[1-9][0-9]{0,8}")
BY_EXPERTS = Provenance(
    "expert", "1 (unrelated) to 4 (perfect), mean of three judges", Steps(((3.0, 0.5), (11 / 3, 1.0)))
)
BY_CROWD = Provenance("crowd", "share of workers who said yes", Steps(((0.5, 1.0),)))


def read_captions(path: Path) -> dict[str, dict[int, str]]:
    """Return the captions of every image by their number; the name without an image is left out."""
    rows = read_rows(path, 2)
    check_once((label for label, _ in rows), "caption", lambda at: f"row {at + 1}", path)
    captions: dict[str, dict[int, str]] = {}
    for row, (label, text) in enumerate(rows, start=1):
        image, _, number = label.rpartition("#")
        if not (image and NUMBER.fullmatch(number)):
            raise InputError(
                f"row {row} has the caption id {label!r}", where=path, fix="write it as image.jpg#number"
            )
        captions.setdefault(image, {})[int(number)] = text
    captions.pop(NOT_AN_IMAGE, None)
    return captions


def read_split(folder: Path, split: str, captions: dict[str, dict[int, str]]) -> list[str]:
    """Return the images of a split in the order of its file, or all that have captions.

    Each must have captions. 91 images of the distributed files are in no split.
    """
    if split == ALL:
        return list(captions)
    path = folder / f"Flickr_8k.{split}Images.txt"
    images = [cells[0] for cells in read_rows(path, 1)]
    check_once(images, "image", lambda at: f"row {at + 1}", path)
    for row, image in enumerate(images, start=1):
        if image not in captions:
            raise InputError(
                f"row {row} names {image!r}, which has no caption in {TOKENS}",
                where=path,
                fix=SAME_DOWNLOAD,
            )
    return images


def read_annotations(
    path: Path, captions: dict[str, dict[int, str]]
) -> tuple[list[str], list[str], np.ndarray]:
    """Return image, caption id and the three numbers of every row of an annotation file.

    Of ``ExpertAnnotations.txt`` these are the scores of three judges, of ``CrowdFlowerAnnotations.txt``
    the share of yes, the number of yes and the number of no.
    """
    rows = read_rows(path, 5)
    pairs = [(image, caption) for image, caption, *_ in rows]
    check_once((" with ".join(pair) for pair in pairs), "pair", lambda at: f"row {at + 1}", path)
    known = {f"{image}#{number}" for image, listed in captions.items() for number in listed}
    scores = []
    for row, (image, caption, *numbers) in enumerate(rows, start=1):
        for name, names in ((image, captions), (caption, known)):
            if name not in names:
                raise InputError(f"row {row} names {name!r}, not in {TOKENS}", where=path, fix=SAME_DOWNLOAD)
        try:
            scores.append([float(number) for number in numbers])
        except ValueError:
            raise InputError(
                f"row {row} has a score that is not a number", where=path, fix="fix or remove the row"
            ) from None
    return [image for image, _ in pairs], [caption for _, caption in pairs], np.array(scores)


def expert_ratings(path: Path, scores: np.ndarray) -> np.ndarray:
    """Return the mean of each row's three scores."""
    check_rows(path, np.isin(scores, (1, 2, 3, 4)).min(axis=1), "scores", "an expert's score is 1, 2, 3 or 4")
    return scores.sum(axis=1) / 3


def crowd_ratings(path: Path, numbers: np.ndarray) -> np.ndarray:
    """Return yes / (yes + no) of each row, which must be the share in the file."""
    share, yes, no = numbers.T
    counted = (yes >= 0) & (no >= 0) & (yes + no > 0) & np.isfinite(yes + no)
    check_rows(path, counted, "numbers of yes and no", "at least one annotator answered")
    rating = yes / (yes + no)
    check_rows(path, np.abs(share - rating) < 1e-6, "share of yes", "it is yes / (yes + no)")
    return rating


def check_rows(path: Path, good: np.ndarray, what: str, fix: str) -> None:
    """Raise on the first row that is not good."""
    if not good.all():
        raise InputError(f"row {int(np.argmin(good)) + 1} has impossible {what}", where=path, fix=fix)


def load(
    folder: Path, split: str = "test", caption: int | None = None, images: Path | None = None
) -> Benchmark:
    """Build the benchmark."""
    split = check_choice(split, SPLITS, "split")
    if not folder.is_dir():
        raise MissingDataError("there is no such folder", where=folder, fix=f"give the folder of {TOKENS}")
    captions = read_captions(folder / TOKENS)
    names = read_split(folder, split, captions)
    if caption is not None:
        check_caption(caption, names, captions, folder / TOKENS)
    gallery = [
        (image, number) for image in names for number in sorted(captions[image]) if caption in (None, number)
    ]
    part = "all images" if split == ALL else f"{split} split"
    benchmark = build(
        "flickr8k",
        names,
        [f"{image}#{number}" for image, number in gallery],
        [image for image, _ in gallery],
        [captions[image][number] for image, number in gallery],
        where=folder / TOKENS,
        about=f"Flickr8k, {part} (Hodosh, Young and Hockenmaier 2013)",
        image_paths=locate_images(images, names),
        image_files=names,
        image_folder=images,
    )
    truths = {**benchmark.truths, **judged_truths(folder, captions, benchmark)}
    defaults = {**benchmark.defaults, "crowd": (*RECALLS, "RP"), "expert": ("nDCG@10",)}
    other_texts = None
    if caption is not None:
        other_texts = [
            [text for number, text in sorted(captions[image].items()) if number != caption] for image in names
        ]
    return replace(
        benchmark,
        truths=truths,
        defaults={name: defaults[name] for name in truths},
        other_texts=other_texts,
    )


def check_caption(caption: int, names: list[str], captions: dict[str, dict[int, str]], path: Path) -> None:
    """Raise where an image has no caption of this number."""
    for image in names:
        if caption not in captions[image]:
            raise InputError(
                f"image {image} has no caption number {caption}",
                where=path,
                fix=f"it has {', '.join(map(str, sorted(captions[image])))}",
            )


def judged_truths(
    folder: Path, captions: dict[str, dict[int, str]], benchmark: Benchmark
) -> dict[str, Truth]:
    """Return what experts and the crowd said of the benchmark's pairs, as far as there are files."""
    truths = {}
    own = benchmark.truths[ORIGINAL].judgments
    for file, by, ratings, about in (
        (EXPERT, BY_EXPERTS, expert_ratings, "three experts' mean from 1 to 4, relevant from 3 on"),
        (CROWD, BY_CROWD, crowd_ratings, "own captions, and pairs that half of the crowd or more accepted"),
    ):
        path = folder / file
        if not path.exists():
            continue
        rated_images, rated_captions, numbers = read_annotations(path, captions)
        rating = ratings(path, numbers)
        pictures, labels = benchmark.images.find(rated_images), benchmark.captions.find(rated_captions)
        here = (pictures >= 0) & (labels >= 0)
        if not here.any():
            continue
        pictures, labels = pictures[here], labels[here]
        judged = Judgments(pictures, labels, rating=rating[here], sources=[by])
        if by is BY_CROWD and own is not None:
            judged = own.merge(judged)
        queries: dict[Direction, np.ndarray] = {"i2t": np.unique(pictures), "t2i": np.unique(labels)}
        truths[by.name] = Truth(by.name, judged, queries, about=about)
    return truths


register(
    Source(
        "flickr8k",
        "Flickr8k in its original files, with the truths original, expert and crowd",
        load,
        (
            Param("folder", Path, f"the folder of {TOKENS}, the split files and the annotations"),
            Param("split", str, "train, dev, test, or all: the 8,091 images with captions", "test"),
            Param("caption", whole, "only this caption of each image (Hodosh: 2); all when left out", None),
            Param("images", Path, "the folder of the images: adds their paths", None),
        ),
        lambda folder: (folder / TOKENS).is_file(),
        ((1000, 5000), (6000, 30000), (8091, 40455)),
    )
)
