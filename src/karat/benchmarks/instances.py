"""Instances: the objects of COCO's ``instances_*.json``, with boxes, and with masks where these are known."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from karat._util import plural
from karat.benchmarks.masks import Runs
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
