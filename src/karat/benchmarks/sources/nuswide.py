"""NUS-WIDE (Chua et al., CIVR 2009): 81 tags of Flickr photos, from one archive of packed labels.

A tag is a caption: the captions are the names of the concepts, and a tag asks for its images.

- ``gt`` has the official labels. People labelled every image for every concept, so it is complete.
- ``keyword`` has the search word that each image was crawled with, a real noisy tag: an image has one, which
  may be wrong, and its other tags are unjudged. It covers the concepts that are search words too (71 of the
  81) and is known for the test images alone.

The archive holds ``concepts``; ``train_ids`` and ``test_ids``, which are Flickr's; ``train_packed`` and
``test_packed``, the labels as ``numpy.packbits(labels, axis=1)`` gives them; and ``test_folder``, the search
words.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from karat._util import COMPLETE, Arrays, Param, check_choice, check_unique_ids, parsing
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.ids import Ids
from karat.benchmarks.judgments import Judgments, Provenance
from karat.benchmarks.registry import Source, find_file, register
from karat.benchmarks.sides import KINDS, Direction, Grouping, Side
from karat.benchmarks.truth import Truth
from karat.errors import InputError, MissingDataError

FILE = "nuswide_gt81.npz"
SPLITS = ("train", "test")
ALL, KEYWORD = "all", "keyword"
BOTH = "both"
TAG = Side("text", "tag", "tags")
BROKEN = ("is not a complete npz file", f"give {FILE}")
MEASURES = ("P@48", "AP")
"""Precision@48, averaged over tags, is the measure of Nguyen, Ramanan and Fowlkes (2018)."""


def load(file: Path | None = None, split: str = "test", tags: str = ALL, direction: str = "t2i") -> Benchmark:
    """Build the benchmark."""
    split = check_choice(split, SPLITS, "split")
    tags = check_choice(tags, (ALL, KEYWORD), "tags")
    both = check_choice(direction, ("t2i", BOTH), "direction") == BOTH
    path = find_file("nuswide", "file", FILE) if file is None else file
    concepts, ids, labels, words = read_arrays(path, split)
    searched = np.isin(concepts, words)
    chosen = np.flatnonzero(searched) if tags == KEYWORD else np.arange(len(concepts))
    if not len(chosen):
        raise InputError("has no concept that is a search word too", where=path, fix="pass tags=all")
    names = concepts[chosen]
    truths = {
        "gt": Truth(
            "gt",
            Judgments(*np.nonzero(labels[:, chosen]), sources=[Provenance("official")]),
            asking(np.arange(len(ids)), np.arange(len(names)), both),
            about="the official labels, of every image for every tag",
            complete=True,
        )
    }
    if split == "test" and searched.any():
        image, tag = np.nonzero(words[:, None] == names)
        truths[KEYWORD] = Truth(
            KEYWORD,
            Judgments(image, tag, sources=[Provenance("search word", "1 for the word of the crawl")]),
            asking(image, np.flatnonzero(searched[chosen]), both),
            about="the search word that each image was crawled with, a noisy tag; others are unjudged",
        )
    return Benchmark(
        "nuswide",
        Ids(image_names(ids), kind="image"),
        Ids(names, kind="caption"),
        truths,
        defaults=dict.fromkeys(truths, MEASURES),
        about=f"NUS-WIDE, {split} images and their tags (Chua et al. 2009)",
        sides=(KINDS["i"], TAG),
        # A tag belongs to no image.
        groups=Grouping(TAG, TAG.many, ids, (np.arange(len(ids)), None)),
        texts=names.tolist(),
    )


def asking(images: np.ndarray, tags: np.ndarray, both: bool) -> dict[Direction, np.ndarray]:
    """Return the queries of a truth: tags, and images where both directions are asked for."""
    return {"i2t": images, "t2i": tags} if both else {"t2i": tags}


def read_arrays(path: Path, split: str) -> tuple[np.ndarray, ...]:
    """Return the concepts; a split's ids and labels, images by concepts; the test part's search words."""
    wanted = {
        "concepts": ("U", 1),
        f"{split}_ids": ("i", 1),
        f"{split}_packed": ("u", 2),
        "test_folder": ("U", 1),
    }
    if not path.is_file():
        raise MissingDataError("there is no such file", where=path, fix=f"give {FILE}")
    with parsing(path, *BROKEN), path.open("rb") as handle, np.load(handle, allow_pickle=False) as stored:
        arrays: Arrays = {name: stored[name] for name in wanted if name in stored.files}
    for name, (kind, dimensions) in wanted.items():
        if name not in arrays:
            raise InputError(f"has no array {name}", where=path, fix=COMPLETE)
        found = arrays[name]
        if (found.dtype.kind, found.ndim) != (kind, dimensions) or not found.size:
            what = f"has an array {name} of type {found.dtype} and shape {found.shape}"
            raise InputError(what, where=path, fix=COMPLETE)
    concepts, ids, packed, words = arrays.values()
    check_unique_ids(concepts, "concept", path)
    shape = (len(ids), -(-len(concepts) // 8))
    if packed.dtype != np.uint8 or packed.shape != shape or (split == "test" and len(words) != len(ids)):
        raise InputError(
            f"has {split}_packed of type {packed.dtype} and shape {packed.shape} and {len(words):,} words "
            f"for {len(ids):,} images and {len(concepts):,} concepts",
            where=path,
            fix=f"pack the labels into bytes of shape {shape}, and give every test image a word",
        )
    return concepts, ids, np.unpackbits(packed, axis=1, count=len(concepts)), words


def image_names(ids: np.ndarray) -> np.ndarray:
    """Return the ids as text, with their row where an id is there more than once.

    The test part has one photo twice, with other labels; of 20,003 train images the id is unknown, −1.

    >>> image_names(np.array([17, -1, 5, -1])).tolist()
    ['17', '-1#1', '5', '-1#3']
    """
    _, place, count = np.unique(ids, return_inverse=True, return_counts=True)
    names = ids.astype(str).astype(object)
    for row in np.flatnonzero(count[place] > 1).tolist():
        names[row] += f"#{row}"
    return names.astype(str)


def recognise(path: Path) -> bool:
    """Return whether a file is an npz archive with such labels."""
    if not zipfile.is_zipfile(path):
        return False
    with parsing(path, *BROKEN), zipfile.ZipFile(path) as archive:
        return {"concepts.npy", "test_packed.npy"} <= set(archive.namelist())


register(
    Source(
        "nuswide",
        f"NUS-WIDE's tags as captions, from {FILE}, with the truths gt and keyword",
        load,
        (
            Param("file", Path, f"{FILE}; by default nuswide/{FILE} in the folder KARAT_DATA", None),
            Param("split", str, "test or train", "test"),
            Param("tags", str, "all 81, or keyword: the 71 that are search words too", ALL),
            Param("direction", str, "what asks: t2i (tags), or both (tags and images)", "t2i"),
        ),
        recognise,
        ((107859, 81), (107859, 71), (161789, 81), (161789, 71)),
    )
)
