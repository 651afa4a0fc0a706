"""COCO's ``instances_*.json``, read, and its objects as captions, so that annotators can vet their masks.

The caption of an instance is the name of its category; the pair of an instance with its image is relevant if
its mask fits. Nothing is known about this at first.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from karat._util import NUMBER, TEXT, Param, read_json, read_lines, read_text, unguard
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.ids import Ids
from karat.benchmarks.image_files import locate_images
from karat.benchmarks.instances import Instances
from karat.benchmarks.judgments import Judgments, Provenance, Share
from karat.benchmarks.masks import read_mask
from karat.benchmarks.registry import Source, register
from karat.benchmarks.sides import KINDS, Direction, Side
from karat.benchmarks.sources.coco_json import box_of, by_id, category_of_entry, image_of_entry, size_of
from karat.benchmarks.truth import Truth
from karat.errors import InputError

APPROVED = "approved"
"""The truth with what is known beforehand about masks."""


def is_instances(path: str | Path) -> bool:
    """Return whether a file looks like COCO's instances: json with annotations and their categories."""
    file = Path(path)
    if not file.is_file() or ".json" not in file.suffixes:
        return False
    # The lists come in any order, and that of the images may be long.
    text = read_text(file)
    return '"annotations"' in text and '"categories"' in text


def load_instances(path: str | Path) -> Instances:
    """Read a file of COCO's form: images, categories, and annotations with boxes and, some or all, masks.

    Parameters
    ----------
    path
        A json file. An annotation without the key `segmentation` has a box only. Images without annotations
        count: what is detected there is wrong. A crowd without a mask raises.

    Raises
    ------
    InputError
        For ids that are unknown or not unique, broken run lengths, and boxes that are not four numbers.
    """
    file = Path(path)
    content = read_json(file)
    images = by_id(content.records("images"), "image")
    categories = by_id(content.records("categories"), "category")
    annotations = by_id(content.records("annotations"), "annotation")
    sizes = {key: (int(size_of(one, "height")), int(size_of(one, "width"))) for key, one in images.items()}
    image_ids, category_ids = (tuple(sorted(ids, key=order_of)) for ids in (images, categories))
    place = {key: at for at, key in enumerate(image_ids)}
    kind = {key: at for at, key in enumerate(category_ids)}
    rows = []
    for entry in annotations.values():
        key = image_of_entry(entry, images)
        group = category_of_entry(entry, categories)
        crowd = "iscrowd" in entry and bool(entry.get("iscrowd", NUMBER))
        has_mask = entry.fields.get("segmentation") is not None
        if crowd and not has_mask:
            raise entry.wrong("is a crowd without a 'segmentation'", "give its mask, or leave it out")
        box, mask = box_of(entry), read_mask(entry, *sizes[key]) if has_mask else None
        rows.append((place[key], kind[group], box, crowd, mask))
    if not rows:
        raise InputError("has no annotations", where=file, fix="give a file of instances")
    image, category, boxes, crowds, masks = zip(*rows)
    return Instances(
        image_ids,
        category_ids,
        tuple(categories[key].get("name", TEXT) for key in category_ids),
        np.array([sizes[key] for key in image_ids]),
        np.array(list(annotations)),
        np.array(image),
        np.array(category),
        np.array(boxes, dtype=np.float64),
        np.array(crowds, bool),
        masks,
        file.stem,
        tuple(images[key].get("file_name", TEXT) for key in image_ids)
        if all("file_name" in one for one in images.values())
        else (),
    )


def read_approvals(path: Path, instances: Instances) -> dict[int | str, bool]:
    """Return the answers of a csv or tsv file with the columns annotation and approved (1 or 0)."""
    lines = read_lines(path)
    mark = "\t" if "\t" in (lines or [""])[0] else ","
    head = [cell.strip().lower() for cell in (lines or [""])[0].split(mark)]
    if not {"annotation", "approved"} <= set(head):
        raise InputError(
            "has no columns 'annotation' and 'approved'", where=path, fix="name them in its first row"
        )
    whole = not isinstance(instances.id.tolist()[0], str)
    answers: dict[int | str, bool] = {}
    for number, line in enumerate(lines[1:], start=2):
        cells = dict(zip(head, (cell.strip() for cell in line.split(mark))))
        key, answer = unguard(cells.get("annotation", "")), cells.get("approved", "")
        if answer not in ("0", "1") or (whole and not key.isdigit()):
            raise InputError(
                f"row {number} is not an annotation and 1 or 0",
                where=path,
                fix="write 1 for an approved mask",
            )
        answers[int(key) if whole else key] = answer == "1"
    return answers


def order_of(key: int | str) -> tuple[bool, int | str]:
    """Return what sorts ids: numbers first."""
    return isinstance(key, str), key


def load(
    file: Path, images: Path | None = None, approved: Path | None = None, digest: str | None = None
) -> Benchmark:
    """Build the benchmark; raise where the masks are not those of the digest."""
    instances = load_instances(file)
    if digest is not None and digest != instances.digest:
        raise InputError(
            "has changed since annotators saw its masks", where=file, fix="restore the file, or pool it again"
        )
    if images is not None and not instances.files:
        raise InputError("has images without a file_name", where=file, fix="name the file of every image")
    known = {} if approved is None else read_approvals(approved, instances)
    instances.with_answers(known)
    return Benchmark(
        instances.name,
        Ids(list(instances.images), kind="image", files=instances.files or None),
        Ids(instances.id, kind="caption"),
        {APPROVED: truth_of(instances, known)},
        about=f"instances of {file.name}, for masks to be vetted",
        texts=[instances.names[category] for category in instances.category],
        image_paths=locate_images(images, instances.files),
        image_folder=None if images is None else str(images),
        instances=instances,
        sides=(KINDS["i"], Side("text", "object", "objects")),
    )


def truth_of(instances: Instances, known: dict[int | str, bool]) -> Truth:
    """Return the truth that lists the masks whose answer is known."""
    rows = np.array([at for at, key in enumerate(instances.id.tolist()) if key in known], np.int64)
    grade = np.array([known[key] for key in instances.id[rows].tolist()], np.float64)
    judgments = Judgments(
        instances.image[rows], rows, rating=grade, source=np.zeros(len(rows), np.int64),
        sources=[Provenance(APPROVED, "0 to 1", Share(top=1))],
    )  # fmt: skip
    queries: dict[Direction, np.ndarray] = {
        "i2t": np.arange(len(instances.images)),
        "t2i": np.arange(len(instances)),
    }
    return Truth(APPROVED, judgments, queries, about="masks whose answer is known")


register(
    Source(
        "instances",
        "objects of COCO's instances_*.json, whose masks annotators approve or reject",
        load,
        (
            Param("file", Path, "the file instances_*.json"),
            Param("images", Path, "the folder of the images: adds their paths", None),
            Param("approved", Path, "a csv file of known answers: annotation, approved (1 or 0)", None),
            Param("digest", str, "of the masks, which must not have changed", None),
        ),
    )
)
