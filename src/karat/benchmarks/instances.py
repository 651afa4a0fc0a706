"""Instances: the objects of COCO's ``instances_*.json``, with boxes, and with masks where these are known."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from karat._util import ID, NUMBER, TEXT, plural, read_json, read_lines, read_text, unguard
from karat.benchmarks.coco_records import box_of, by_id, image_of_entry, size_of
from karat.benchmarks.masks import Runs, read_mask
from karat.errors import InputError


@dataclass(frozen=True, eq=False)
class Instances:
    """Every annotated object of a set of images; `load_instances` reads it.

    Parameters
    ----------
    images, categories
        Their ids in ascending order, as COCO's evaluation takes them.
    names
        The names of the categories.
    sizes
        Height and width of each image, [I, 2].
    id
        Per instance, the id of its annotation.
    image, category
        Per instance, the index of its image and of its category.
    box
        Left, top, width and height in pixels, [n, 4].
    crowd
        Whether the annotation is a crowd: detections on it are ignored, it is never vetted.
    masks
        The mask of each instance; None where only its box is known, which is an instance not vetted yet.
    name
        Of the file.
    files
        The name of each image's file, where the file of the instances has them all; else empty.

    Examples
    --------
    >>> from karat.benchmarks import Instances
    >>> import numpy as np
    >>> one = Instances((7,), (1,), ("cat",), np.array([[10, 20]]), np.array([5]), np.array([0]),
    ...     np.array([0]), np.array([[0.0, 0, 4, 4]]), np.array([False]), (None,), "tiny")
    >>> one
    Instances(1 instance in 1 image, 0 with masks; tiny)
    """

    images: tuple[int | str, ...]
    categories: tuple[int | str, ...]
    names: tuple[str, ...]
    sizes: np.ndarray
    id: np.ndarray
    image: np.ndarray
    category: np.ndarray
    box: np.ndarray
    crowd: np.ndarray
    masks: tuple[Runs | None, ...]
    name: str = "instances"
    files: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.id)

    def __repr__(self) -> str:
        masks = sum(mask is not None for mask in self.masks)
        return (
            f"Instances({plural(len(self), 'instance')} in {plural(len(self.images), 'image')}, "
            f"{masks:,} with masks; {self.name})"
        )

    @cached_property
    def vetted(self) -> np.ndarray:
        """Per instance, whether its mask is known; crowds count as known."""
        return np.array([mask is not None for mask in self.masks], bool) | self.crowd

    @cached_property
    def digest(self) -> str:
        """A hash of the ids, boxes and masks: what annotators saw, and what their answers are about."""
        hashed = hashlib.sha256()
        for key, box, mask in zip(self.id.tolist(), self.box.tolist(), self.masks):
            hashed.update(repr((key, box, mask and mask["counts"])).encode())
        return hashed.hexdigest()

    def is_elsewhere(self, image: np.ndarray, instance: np.ndarray) -> np.ndarray:
        """Return per pair whether the outline of an instance cannot fit an image: a known wrong answer.

        The image has the same size, so that nothing gives the pair away, and no object of the category.
        """
        has = np.zeros((len(self.images), len(self.categories)), bool)
        has[self.image, self.category] = True
        alike = (self.sizes[image] == self.sizes[self.image[instance]]).all(axis=1)
        masked = self.vetted & ~self.crowd
        return alike & masked[instance] & ~has[image, self.category[instance]]

    def with_answers(self, approved: Mapping[int | str, bool]) -> Instances:
        """Return the instances with the answers of annotators, who saw each mask over its image.

        Parameters
        ----------
        approved
            By the id of an annotation, whether its mask is right. An approved mask is vetted. A rejected one,
            and one without an answer, is taken away: only the box remains, until a better mask is approved.

        Examples
        --------
        ``instances.with_answers({1774: True, 1775: False})`` has one vetted instance.
        """
        known = {key: at for at, key in enumerate(self.id.tolist())}
        for key, answer in approved.items():
            if key not in known or (answer and self.masks[known[key]] is None):
                what = "is not an annotation" if key not in known else "has no mask that could be approved"
                raise InputError(f"{key!r} {what}", where=self.name, fix="give ids of annotations with masks")
        keep = [bool(approved.get(key)) for key in self.id.tolist()]
        masks = tuple(
            mask if yes or crowd else None for mask, yes, crowd in zip(self.masks, keep, self.crowd)
        )
        return replace(self, masks=masks)


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
        group = entry.get("category_id", ID)
        if group not in kind:
            raise entry.wrong(f"has the unknown category {group}", "fix its category_id")
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
