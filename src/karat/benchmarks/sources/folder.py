"""A plain folder of images with captions: captions.csv, captions.jsonl, or a txt file per image."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

from karat._util import Param, check_once, read_text
from karat.benchmarks.benchmark import Benchmark, build
from karat.benchmarks.image_files import IMAGES, find_images
from karat.benchmarks.registry import Source, register
from karat.benchmarks.sources import xm3600
from karat.errors import InputError, MissingDataError

TABLES = ("captions.csv", "captions.jsonl")
Row = tuple[str, str | None, str]
"""Image, caption id or None, caption."""


def load(folder: Path) -> Benchmark:
    """Build the benchmark of a folder.

    Images are the files with an image's extension, at any depth, sorted by path; an image's id is
    its path in the folder. A caption's id is the one that its table gives, else ``IMAGE#NUMBER``.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise MissingDataError("there is no such folder", where=folder, fix="give a folder of images")
    images = find_images(folder)
    tables = [name for name in TABLES if (folder / name).is_file()]
    if len(tables) == 2:
        raise InputError("has captions.csv and captions.jsonl", where=folder, fix="keep one of them")
    where = folder / tables[0] if tables else folder
    reader = {"captions.csv": read_csv, "captions.jsonl": read_jsonl}.get(tables[0] if tables else "")
    rows = list(reader(where) if reader else read_texts(folder, images))
    known = set(images)
    captions, seen = [], dict.fromkeys(images, 0)
    for number, (image, caption_id, _) in enumerate(rows, start=1):
        if image not in known:
            raise InputError(
                f"caption {number} names the image {image!r}, which is not in the folder",
                where=where,
                fix="name images by their path in the folder",
            )
        captions.append(caption_id or f"{image}#{seen[image]}")
        seen[image] += 1
    check_once(captions, "caption id", lambda at: f"caption {at + 1}", where)
    return build(
        folder.resolve().name,
        images,
        captions,
        [image for image, _, _ in rows],
        [text for _, _, text in rows],
        where=where,
        about=f"images and captions of the folder {folder}",
        image_paths=[str(folder / image) for image in images],
        image_folder=folder,
    )


def read_csv(path: Path) -> Iterator[Row]:
    """Yield the rows of a csv with the columns image, caption and perhaps caption_id."""
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        columns = reader.fieldnames or []
        missing = [name for name in ("image", "caption") if name not in columns]
        if missing:
            raise InputError(
                f"has no column {missing[0]!r}", where=path, fix="its first row names image, caption"
            )
        for row in reader:
            if row["image"] is None or row["caption"] is None or None in row:
                fix = "give every row as many cells as the first; quote captions that hold commas"
                raise InputError(f"row {reader.line_num} is not a caption", where=path, fix=fix)
            yield row["image"], row.get("caption_id") or None, row["caption"]
    except csv.Error as error:
        raise InputError(
            f"row {reader.line_num} is not csv ({error})", where=path, fix="quote captions"
        ) from None


def read_jsonl(path: Path) -> Iterator[Row]:
    """Yield the captions of json lines with ``image`` and ``caption`` or a list of ``captions``."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            texts = record["captions"] if "captions" in record else [record["caption"]]
            rows = [(str(record["image"]), record.get("caption_id"), text) for text in texts]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            fix = 'write {"image": "a.jpg", "caption": "…"}'
            raise InputError(f"row {number} is not a caption", where=path, fix=fix) from None
        if not all(isinstance(text, str) for _, _, text in rows):
            raise InputError(f"row {number} has a caption that is not text", where=path, fix="write text")
        yield from ((image, None if key is None else str(key), text) for image, key, text in rows)


def read_texts(folder: Path, images: list[str]) -> Iterator[Row]:
    """Yield the lines of each image's txt file, an image without one being never described."""
    for image in images:
        beside = (folder / image).with_suffix(".txt")
        if beside.is_file():
            yield from ((image, None, line.strip()) for line in read_text(beside).split("\n") if line.strip())


def recognise(folder: Path) -> bool:
    """Return whether a folder looks like images with captions."""
    if xm3600.recognise(folder):
        return False
    return any((folder / name).is_file() for name in TABLES) or any(
        path.suffix.lower() in IMAGES and path.with_suffix(".txt").is_file() for path in folder.iterdir()
    )


register(
    Source(
        "folder",
        "a plain folder of images with captions.csv, captions.jsonl, or a txt file per image",
        load,
        (Param("folder", Path, "the folder"),),
        recognise,
    )
)
