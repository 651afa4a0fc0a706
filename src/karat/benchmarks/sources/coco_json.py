"""COCO's official files ``captions_*.json`` and ``instances_*.json`` (Lin et al., ECCV 2014).

Images come in the order of the file. Captions are grouped by image in that order, and within an image
in the order of the file, because the file itself lists them in no order at all. An ids file (what
``karat benchmarks show NAME --ids FILE`` writes) restricts both to a split and gives their order; one
without "captions" keeps every caption of its images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from karat._util import ID, LIST, NUMBER, TEXT, Param, Record, check_once, first_text, read_json
from karat.benchmarks.benchmark import Benchmark, build
from karat.benchmarks.image_files import locate_images
from karat.benchmarks.objects import Objects
from karat.benchmarks.registry import Source, register
from karat.errors import InputError

Id = int | str
SAME_SPLIT = "take both files from the same split"


def by_id(records: list[Record], kind: str) -> dict[Id, Record]:
    """Return records by their id, which must be unique."""
    ids = [record.get("id", ID) for record in records]
    if records:
        check_once(ids, f"{kind} id", lambda at: records[at].place, records[0].where)
    return dict(zip(ids, records))


def image_of_entry(entry: Record, images: dict[Id, Record]) -> Id:
    """Return the id of the image that an annotation belongs to."""
    image = entry.get("image_id", ID)
    if image not in images:
        raise entry.wrong(f"has the image_id {image}, which is not among the images", "fix it")
    return image


def category_of_entry(entry: Record, categories: dict[Id, Record]) -> Id:
    """Return the id of the category that an annotation states."""
    category = entry.get("category_id", ID)
    if category not in categories:
        raise entry.wrong(f"has the unknown category {category}", "fix its category_id")
    return category


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


def chosen(ids: Record, key: str, known: dict[Id, Record], where: Path) -> list[Id]:
    """Return the ids that an ids file lists under `key`; each must be in the captions file."""
    listed = ids.get(key, LIST)
    for number, value in enumerate(listed):
        if not isinstance(value, Id) or value not in known:
            raise ids.wrong(f"{key}[{number}] is not in {where.name}", SAME_SPLIT)
    check_once(listed, f"{key[:-1]} id", lambda at: f"{key}[{at}]", ids.where)
    return listed


def read_objects(path: Path, images: Sequence[Id]) -> Objects:
    """Return the objects of the benchmark's images; crowds, which have no single box, are left out.

    Boxes are divided by the sizes that this file states.
    """
    content = read_json(path)
    categories = by_id(content.records("categories"), "category")
    number = {category: n for n, category in enumerate(categories)}
    sizes = by_id(content.records("images"), "image")
    for name in images:
        if name not in sizes:
            raise InputError(f"does not list the image {name}", where=path, fix=SAME_SPLIT)
    place = {name: n for n, name in enumerate(images)}
    shares = {name: [size_of(sizes[name], key) for key in ("width", "height")] for name in place}
    image, category, box = [], [], []
    for entry in content.records("annotations"):
        name = image_of_entry(entry, sizes)
        if name not in place or ("iscrowd" in entry and entry.get("iscrowd", NUMBER)):
            continue
        image.append(place[name])
        category.append(number[category_of_entry(entry, categories)])
        box.append([side / whole for side, whole in zip(box_of(entry), shares[name] * 2)])
    names = tuple(record.get("name", TEXT) for record in categories.values())
    return Objects(names, np.array(image), np.array(category), np.array(box))


def load(
    file: Path, instances: Path | None = None, ids: Path | None = None, images: Path | None = None
) -> Benchmark:
    """Build the benchmark."""
    content = read_json(file)
    listed = by_id(content.records("images"), "image")
    captions = by_id(content.records("annotations"), "caption")
    image_of = {caption: image_of_entry(entry, listed) for caption, entry in captions.items()}
    split = read_json(ids) if ids else None
    names = chosen(split, "images", listed, file) if split else list(listed)
    if split and "captions" in split:
        order = chosen(split, "captions", captions, file)
        check_images(split, order, image_of, names)
    else:
        order = by_image(image_of, names)
    number = {caption: n for n, caption in enumerate(order)}
    in_file = np.array([number[caption] for caption in captions if caption in number], np.int64)
    texts = [captions[caption].get("caption", TEXT) for caption in order]
    named = images is not None or all("file_name" in listed[name] for name in names)
    files = [listed[name].get("file_name", TEXT) for name in names] if named else None
    benchmark = build(
        "coco-json",
        names,
        order,
        [image_of[caption] for caption in order],
        texts,
        where=file,
        about=f"COCO Caption, {file.name} (Lin et al. 2014)",
        image_paths=locate_images(images, files or []),
        image_files=files,
        caption_orders={f"in the order of {file.name}": in_file},
        image_folder=images,
    )
    return replace(benchmark, objects=read_objects(instances, names)) if instances else benchmark


def check_images(split: Record, order: list[Id], image_of: dict[Id, Id], images: list[Id]) -> None:
    """Raise where an ids file lists a caption without its image."""
    known = set(images)
    for caption in order:
        if image_of[caption] not in known:
            raise split.wrong(
                f"lists the caption {caption} without its image {image_of[caption]}", "add the image"
            )


def by_image(image_of: dict[Id, Id], images: list[Id]) -> list[Id]:
    """Return the captions of images in the order of these."""
    place = {image: n for n, image in enumerate(images)}
    order = [caption for caption, image in image_of.items() if image in place]
    return sorted(order, key=lambda caption: place[image_of[caption]])


def recognise(path: Path) -> bool:
    """Return whether a file begins like COCO's, without the domains of NoCaps."""
    start = first_text(path)
    keys = (('"images"', '"file_name"'), ('"annotations"', '"caption"'), ('"info"', '"licenses"'))
    return any(all(key in start for key in some) for some in keys) and '"domain"' not in start


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
        recognise,
        # val2014, train2014, val2017.
        ((40504, 202654), (82783, 414113), (5000, 25014)),
    )
)
