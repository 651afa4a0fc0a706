"""COCO's official files ``captions_*.json`` and ``instances_*.json`` (Lin et al., ECCV 2014).

Images come in the order of the file. Captions are grouped by image in that order, and within an image
in the order of the file, because the file itself lists them in no order at all. An ids file (what
``karat benchmarks NAME --ids FILE`` writes) restricts both to a split and gives their order; one
without "captions" keeps every caption of its images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.objects import Objects
from karat.benchmarks.reading import (
    ID,
    LIST,
    NUMBER,
    TEXT,
    Record,
    build,
    check_once,
    find_images,
    read_json,
)
from karat.benchmarks.sources import Source, register
from karat.registry import Param
from karat.validation import InputError

SAME_SPLIT = "take both files from the same split"


def by_id(records: list[Record], kind: str) -> dict[int | str, Record]:
    """Return records by their id, each of which stands once."""
    ids = [record.get("id", ID) for record in records]
    if records:
        check_once(ids, f"{kind} id", lambda at: records[at].place, records[0].where)
    return dict(zip(ids, records))


def image_of_entry(entry: Record, images: dict[int | str, Record]) -> int | str:
    """Return the id of the image that an annotation belongs to."""
    image = entry.get("image_id", ID)
    if image not in images:
        raise entry.wrong(f"has the image_id {image}, which is not among the images", "mend it")
    return image


def chosen(ids: Record, key: str, known: dict[int | str, Record], where: Path) -> list[int | str]:
    """Return the ids that an ids file lists under `key`; each must be in the captions file."""
    listed = ids.get(key, LIST)
    for number, one in enumerate(listed):
        if not isinstance(one, int | str) or one not in known:
            raise ids.wrong(f"{key}[{number}] is not in {where.name}", SAME_SPLIT)
    check_once(listed, f"{key[:-1]} id", lambda at: f"{key}[{at}]", ids.where)
    return listed


def read_objects(path: Path, images: Sequence[int | str]) -> Objects:
    """Return the objects of the benchmark's images; crowds, which have no box of their own, are left out.

    Boxes are divided by the sizes that this file states.
    """
    content = read_json(path)
    categories = by_id(content.records("categories"), "category")
    number = {one: n for n, one in enumerate(categories)}
    sizes = by_id(content.records("images"), "image")
    for one in images:
        if one not in sizes:
            raise InputError(f"does not list the image {one}", where=path, fix=SAME_SPLIT)
    place = {one: n for n, one in enumerate(images)}
    shares = {one: [size_of(sizes[one], key) for key in ("width", "height")] for one in place}
    image, category, box = [], [], []
    for entry in content.records("annotations"):
        one = image_of_entry(entry, sizes)
        if one not in place or ("iscrowd" in entry and entry.get("iscrowd", NUMBER)):
            continue
        if entry.get("category_id", ID) not in number:
            raise entry.wrong(
                f"has the unknown category {entry.get('category_id', ID)}", "mend its category_id"
            )
        image.append(place[one])
        category.append(number[entry.get("category_id", ID)])
        box.append([side / whole for side, whole in zip(box_of(entry), shares[one] * 2)])
    names = tuple(record.get("name", TEXT) for record in categories.values())
    return Objects(names, np.array(image), np.array(category), np.array(box))


def size_of(image: Record, key: str) -> float:
    """Return an image's width or height."""
    size = image.get(key, NUMBER)
    if not 1 <= size < 1e9:
        raise image.wrong(f"has an impossible {key!r}", "give its pixels")
    return size


def box_of(entry: Record) -> list[float]:
    """Return left, top, width and height in pixels."""
    box = entry.get("bbox", LIST)
    good = len(box) == 4 and all(type(side) in (int, float) and abs(side) < 1e9 for side in box)
    if not good or min(box[2:]) < 0:
        raise entry.wrong("has no readable 'bbox'", "give [left, top, width, height] in pixels")
    return box


def load(
    file: Path, instances: Path | None = None, ids: Path | None = None, images: Path | None = None
) -> Benchmark:
    """Build the benchmark."""
    content = read_json(file)
    listed = by_id(content.records("images"), "image")
    captions = by_id(content.records("annotations"), "caption")
    image_of = {one: image_of_entry(entry, listed) for one, entry in captions.items()}
    split = read_json(ids) if ids else None
    names = chosen(split, "images", listed, file) if split else list(listed)
    place = {one: n for n, one in enumerate(names)}
    if split and "captions" in split:
        order = chosen(split, "captions", captions, file)
        for one in order:
            if image_of[one] not in place:
                raise split.wrong(
                    f"lists the caption {one} without its image {image_of[one]}", "add the image"
                )
    else:
        kept = [one for one in captions if image_of[one] in place]
        order = sorted(kept, key=lambda one: place[image_of[one]])
    benchmark = build(
        "coco-json",
        names,
        order,
        [image_of[one] for one in order],
        [captions[one].get("caption", TEXT) for one in order],
        where=file,
        about=f"COCO Caption, {file.name} (Lin et al. 2014)",
        image_paths=find_images(
            images, [listed[one].get("file_name", TEXT) for one in names] if images else []
        ),
    )
    return replace(benchmark, objects=read_objects(instances, names)) if instances else benchmark


register(
    Source(
        "coco-json",
        "COCO's official captions_*.json, with the objects of instances_*.json where given",
        load,
        (
            Param("file", Path, "the file captions_*.json"),
            Param("instances", Path, "the file instances_*.json of the same split: adds objects", None),
            Param(
                "ids", Path, 'a json file {"images": […], "captions": […]}: only these, in this order', None
            ),
            Param("images", Path, "the folder of the images: adds their paths", None),
        ),
    )
)
