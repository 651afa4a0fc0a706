"""Detections: what an instance segmentation model returned, in the form of COCO's result files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from karat._util import ID, NUMBER, Record, plural, read_json_list
from karat.benchmarks import Instances, box_of, mask_boxes, read_mask
from karat.errors import InputError

KINDS = ("masks", "boxes")
"""What detections may be."""


@dataclass(frozen=True, eq=False)
class Detections:
    """Objects that a model saw in the images of `Instances`, each with a score; `load_detections` reads it.

    Parameters
    ----------
    name
        Of the run.
    instances
        Of which images.
    image, category
        Per detection, their indices in `instances`.
    score
        How sure the model is.
    box
        Left, top, width and height, [n, 4]; the tight boxes of masks.
    masks
        One per detection, or None where these are boxes.
    """

    name: str
    instances: Instances
    image: np.ndarray
    category: np.ndarray
    score: np.ndarray
    box: np.ndarray
    masks: tuple[dict, ...] | None = None

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        return f"Detections({plural(len(self), 'detection')} with {self.kind}; {self.name})"

    @property
    def kind(self) -> str:
        """What the detections are: "masks" or "boxes"."""
        return KINDS[0] if self.masks is not None else KINDS[1]


def load_detections(path: str | Path, instances: Instances, name: str | None = None) -> Detections:
    """Read a COCO result file: a list of objects with image_id, category_id, score, and a mask or a box.

    Parameters
    ----------
    path
        A json file.
    instances
        What it is about.
    name
        Of the run; that of the file by default.

    Raises
    ------
    InputError
        For unknown images and categories, scores that are not finite, broken run lengths, and a file in which
        some detections have masks and others boxes alone.
    """
    file = Path(path)
    entries = [Record(entry, f"[{place}]", file) for place, entry in enumerate(read_json_list(file))]
    if not entries:
        raise InputError("has no detections", where=file, fix="give the results of a model")
    place = {key: at for at, key in enumerate(instances.images)}
    kind = {key: at for at, key in enumerate(instances.categories)}
    masked = "segmentation" in entries[0]
    image, category, score = [], [], []
    boxes: list[list[float]] = []
    masks: list[dict] = []
    for entry in entries:
        key, group = entry.get("image_id", ID), entry.get("category_id", ID)
        if key not in place or group not in kind:
            what = f"image_id {key}" if key not in place else f"category_id {group}"
            raise entry.wrong(
                f"has the unknown {what}", f"take the detections of the images of {instances.name}"
            )
        if ("segmentation" in entry) != masked:
            has, first = ("a mask", "a box alone") if not masked else ("no mask", "one")
            raise entry.wrong(
                f"has {has}, and the first detection has {first}", "give masks and boxes in two files"
            )
        sure = entry.get("score", NUMBER)
        if not np.isfinite(sure):
            raise entry.wrong(f"has the score {sure}", "give a finite number")
        image.append(place[key])
        category.append(kind[group])
        score.append(float(sure))
        if masked:
            masks.append(read_mask(entry, *instances.sizes[place[key]].tolist()))
        else:
            boxes.append(box_of(entry))
    return Detections(
        name or file.stem,
        instances,
        np.array(image),
        np.array(category),
        np.array(score),
        mask_boxes(masks) if masked else np.array(boxes, dtype=np.float64),
        tuple(masks) if masked else None,
    )
