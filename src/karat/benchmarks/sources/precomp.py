"""Precomputed lists as VSE++ (Faghri et al., BMVC 2018) and SCAN have them: ``SPLIT_caps.txt``.

Each line is a caption, and the captions of an image follow each other. Which captions belong to one image
is taken from the first of these that says so:

- ``SPLIT_ids.txt`` with a line per caption, where the id of an image is repeated;
- ``SPLIT_ims.npy``, or ``SPLIT_ids.txt`` with a line per image: fewer rows than captions are the images, each
  with the same number of captions. As many rows as captions are images given five times where their
  features are the same in fives, else images with one caption each;
- five captions per image, where there is neither file.

Images are called by their id, else by their number; captions by ``SPLIT_caption_ids.txt``, else by their row.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from karat._util import Param, parsing, plural, read_lines, whole
from karat.benchmarks.benchmark import Benchmark, build
from karat.benchmarks.registry import Source, register
from karat.errors import InputError, MissingDataError

CAPTIONS = "_caps.txt"
REPEATED = 5
"""How often the lists of VSE++ give an image, once for each of its captions."""
LOOKED_AT = 20
"""The groups of rows that are compared; a feature file has gigabytes."""


def load(folder: Path, split: str = "test", per_image: int | None = None) -> Benchmark:
    """Build the benchmark."""
    path = folder / f"{split}{CAPTIONS}"
    if not path.is_file():
        splits = sorted(file.name.removesuffix(CAPTIONS) for file in folder.glob(f"*{CAPTIONS}"))
        fix = f"its splits are {', '.join(splits)}" if splits else f"give a folder with SPLIT{CAPTIONS}"
        raise MissingDataError(f"there is no {path.name}", where=folder, fix=fix)
    texts = read_lines(path)
    if not texts:
        raise InputError("holds no caption", where=path, fix="write one per line")
    ids = read_ids(folder / f"{split}_ids.txt")
    owner = owners(path, len(texts), ids, folder / f"{split}_ims.npy", per_image)
    first = np.unique(owner, return_index=True)[1]
    if ids is not None and len(ids) not in (len(texts), len(first)):
        raise InputError(
            f"{split}_ids.txt lists {plural(len(ids), 'id')} for {plural(len(first), 'image')}",
            where=folder,
            fix="write one line per image or one per caption",
        )
    per_caption = ids is not None and len(ids) == len(texts)
    images = np.arange(len(first)) if ids is None else np.array(ids)[first if per_caption else slice(None)]
    captions = read_ids(folder / f"{split}_caption_ids.txt")
    if captions is not None and len(captions) != len(texts):
        what = f"{split}_caption_ids.txt lists {plural(len(captions), 'id')} for {len(texts):,} captions"
        raise InputError(what, where=folder, fix="write one line per caption")
    return build(
        "precomp",
        images.tolist(),
        list(range(len(texts))) if captions is None else captions,
        images[owner].tolist(),
        texts,
        where=path,
        about=f"{split} split of the precomputed lists in {folder.resolve().name}",
    )


def read_ids(path: Path) -> list[str] | None:
    """Return the ids in a file, one per line, where there is one."""
    return [line.strip() for line in read_lines(path)] if path.exists() else None


def owners(
    path: Path, captions: int, ids: list[str] | None, features: Path, per_image: int | None
) -> np.ndarray:
    """Return the number of the image that each caption belongs to."""
    if per_image is None and ids is not None and len(set(ids)) < len(ids) == captions:
        numbers = {name: number for number, name in enumerate(dict.fromkeys(ids))}
        return np.array([numbers[name] for name in ids])
    if per_image is None:
        rows = read_features(features) if features.exists() else ids
        per_image = REPEATED
        if rows is not None and len(rows) != captions:
            per_image = captions // max(1, len(rows))
            if per_image * len(rows) != captions:
                what = f"lists {plural(captions, 'caption')} for {plural(len(rows), 'image')}"
                raise InputError(what, where=path, fix="give every image the same number of captions")
        elif rows is not None and not (isinstance(rows, np.ndarray) and in_groups(rows)):
            per_image = 1
    if not per_image or captions % per_image:
        what = f"lists {plural(captions, 'caption')}, which are not {per_image} for each image"
        raise InputError(what, where=path, fix="pass --set per_image=…")
    return np.arange(captions) // per_image


def read_features(path: Path) -> np.ndarray:
    """Return the features of a split without reading them."""
    with parsing(path, "is not a NumPy array", "save it again with numpy.save"):
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    if not rows.ndim or not rows.size:
        raise InputError(f"has the shape {rows.shape}", where=path, fix="give one row per image or caption")
    return rows


def in_groups(rows: np.ndarray) -> bool:
    """Whether features are the same in groups of five rows, by a look at some of them."""
    groups = len(rows) // REPEATED
    if not groups or len(rows) % REPEATED:
        return False
    looked_at = np.unique(np.linspace(0, groups - 1, LOOKED_AT).astype(int)) * REPEATED
    return all(bool((rows[at : at + REPEATED] == rows[at]).all()) for at in looked_at)


register(
    Source(
        "precomp",
        "precomputed lists of VSE++ and SCAN: SPLIT_caps.txt, and SPLIT_ids.txt and SPLIT_ims.npy if there",
        load,
        (
            Param("folder", Path, f"the folder of SPLIT{CAPTIONS}"),
            Param("split", str, "test, testall, dev, train or what the files are called", "test"),
            Param("per_image", whole, "captions per image; found out when left out", None),
        ),
        lambda folder: any(folder.glob(f"*{CAPTIONS}")),
    )
)
