"""karat's own folder format for benchmarks: Parquet tables and one json file, versioned.

    benchmark.json          format, version, name, about, defaults, categories, their synsets, the
                            objects' attributes, and each truth's name, about, whether it is
                            complete, and sources (or rule); truth number k owns the tables -k
    images.parquet          id, gallery, path
    captions.parquet        id, gallery, text, image (row of the image it was written for, or -1)
    other-captions.parquet  image (row), text: captions of images that are not in the gallery
    judgments-k.parquet     image, caption (rows), source (number), rating
    queries-k.parquet       direction, row
    folds-k.parquet         fold (number), side ("images" or "captions"), row
    objects.parquet         image (row), category (number), left, top, width, height, and a column
                            "attribute-NAME" for each attribute

Rows with `gallery` false are known to judgments only. Paths of images are relative to the folder.
Texts, other captions, paths, objects, synsets and attributes may be absent; a truth is complete, or made by
a machine, only where it says so.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.image_paths import kept_paths
from karat.benchmarks.plausible import PlausibleMatch
from karat.benchmarks.ratings import Mapping, Share, Steps
from karat.benchmarks.truth import DIRECTIONS, Truth
from karat.validation import InputError

FORMAT, VERSION = "karat-benchmark", 1
HEAD = "benchmark.json"
OTHERS = "other-captions.parquet"
BOX = ("left", "top", "width", "height")
TEXT = ("path", "text", "direction", "side")
ATTRIBUTE = "attribute-"


def save_benchmark(benchmark: Benchmark, folder: str | Path) -> None:
    """Write a benchmark into a folder, which is made when it does not exist.

    Paths of images are kept where the images lie inside that folder.

    Examples
    --------
    >>> import tempfile
    >>> from karat.benchmarks import Ids, Judgments, Provenance, read_benchmark
    >>> own = Judgments([0, 1], [0, 1], sources=[Provenance("original")])
    >>> truth = Truth("own", own, {"i2t": np.arange(2), "t2i": np.arange(2)})
    >>> tiny = Benchmark("tiny", Ids([1, 2], kind="image"), Ids([3, 4], kind="caption"), {"own": truth})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_benchmark(tiny, folder)
    ...     read_benchmark(folder)
    Benchmark('tiny': 2 images, 2 captions; truths own)
    """
    truths = [describe_truth(truth) for truth in benchmark.truths.values()]
    folder = make_folder(folder)
    remove_old(folder / HEAD)
    for number, truth in enumerate(benchmark.truths.values()):
        write_truth(truth, folder, number)
    n_images, n_captions = len(benchmark.images), len(benchmark.captions)
    image = np.full(n_captions, -1)
    if benchmark.caption_image is not None:
        image[: benchmark.captions.size] = benchmark.caption_image
    gallery = {
        kind: np.arange(len(ids)) < ids.size
        for kind, ids in (("i", benchmark.images), ("c", benchmark.captions))
    }
    write(folder / "images.parquet", id=benchmark.images.values, gallery=gallery["i"],
          path=padded(kept_paths(benchmark.image_paths, folder), n_images))  # fmt: skip
    write(folder / "captions.parquet", id=benchmark.captions.values, gallery=gallery["c"],
          text=padded(benchmark.texts, n_captions), image=image)  # fmt: skip
    if benchmark.other_texts is not None:
        image = np.repeat(np.arange(len(benchmark.other_texts)), [len(own) for own in benchmark.other_texts])
        write(folder / OTHERS, image=image, text=[text for own in benchmark.other_texts for text in own])
    if benchmark.objects is not None:
        things = benchmark.objects
        boxes = dict(zip(BOX, things.box.T))
        named = {ATTRIBUTE + name: texts.tolist() for name, texts in things.attributes.items()}
        write(folder / "objects.parquet", image=things.image, category=things.category, **boxes, **named)
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": benchmark.name,
        "about": benchmark.about,
        "defaults": {name: list(measures) for name, measures in benchmark.defaults.items()},
        "categories": None if benchmark.objects is None else list(benchmark.objects.categories),
        "truths": truths,
    }
    if benchmark.other_texts is not None:
        head["other_captions"] = True
    if benchmark.objects is not None and benchmark.objects.synsets is not None:
        head["synsets"] = list(benchmark.objects.synsets)
    if benchmark.objects is not None and benchmark.objects.attributes:
        head["attributes"] = list(benchmark.objects.attributes)
    # Last, and an old one was removed first, so that a folder with this file is complete.
    (folder / HEAD).write_text(json.dumps(head, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def make_folder(folder: str | Path) -> Path:
    """Make a folder where there is none yet."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"no folder can be made there ({error.strerror})", where=folder) from None
    return folder


def remove_old(head: Path) -> None:
    """Remove the file that makes a folder look complete, before other files of the folder are replaced."""
    try:
        head.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot be replaced ({error.strerror})", where=head) from None


def describe_truth(truth: Truth) -> dict[str, Any]:
    """Return what the head says of a truth."""
    described: dict[str, Any] = {
        "name": truth.name,
        "about": truth.about,
        "folds": [f.name for f in truth.folds],
    }
    described |= {trait: True for trait in ("complete", "machine") if getattr(truth, trait)}
    if truth.judgments is not None:
        described["sources"] = [
            {"name": s.name, "scale": s.scale, "mapping": describe_mapping(s.mapping)}
            for s in truth.judgments.sources
        ]
    elif isinstance(truth.rule, PlausibleMatch):
        described["rule"] = {"kind": "plausible", "zeta": truth.rule.zeta}
    else:
        raise InputError(
            f"truth {truth.name!r} is a rule of {type(truth.rule).__name__}",
            fix="only Plausible Match is kept",
        )
    return described


def describe_mapping(mapping: Mapping) -> dict[str, Any]:
    """Return a mapping as data."""
    if isinstance(mapping, Steps):
        return {"steps": [list(step) for step in mapping.steps]}
    if isinstance(mapping, Share):
        return {"share": {"top": mapping.top, "least": mapping.least}}
    raise InputError(f"a mapping of {type(mapping).__name__} cannot be saved", fix="use Steps or Share")


def write_truth(truth: Truth, folder: Path, number: int) -> None:
    """Write the tables of one truth."""
    if truth.judgments is not None:
        rows = truth.judgments
        write(folder / f"judgments-{number}.parquet", image=rows.image, caption=rows.caption,
              source=rows.source, rating=rows.rating)  # fmt: skip
    asked = {d: np.asarray(truth.queries.get(d, np.zeros(0)), dtype=np.int64) for d in DIRECTIONS}
    write(
        folder / f"queries-{number}.parquet",
        direction=np.repeat(DIRECTIONS, [len(asked[d]) for d in DIRECTIONS]),
        row=np.concatenate([asked[d] for d in DIRECTIONS]),
    )
    sides = [
        (k, side, getattr(fold, side))
        for k, fold in enumerate(truth.folds)
        for side in ("images", "captions")
    ]
    if sides:
        lengths = [len(rows) for _, _, rows in sides]
        write(
            folder / f"folds-{number}.parquet",
            fold=np.repeat([k for k, _, _ in sides], lengths),
            side=np.repeat([side for _, side, _ in sides], lengths),
            row=np.concatenate([rows for _, _, rows in sides]),
        )


def padded(values: Any, length: int) -> list[str | None]:
    """Return texts for every row; None for rows without."""
    known = [] if values is None else [str(value) for value in values]
    return [*known, *[None] * (length - len(known))]


def write(file: Path, **columns: Any) -> None:
    """Write one table."""
    import polars as pl

    kinds = {name: pl.String if name in TEXT or name.startswith(ATTRIBUTE) else None for name in columns}
    table = pl.DataFrame(
        {name: pl.Series(name, column, dtype=kinds[name]) for name, column in columns.items()}
    )
    table.write_parquet(file)
