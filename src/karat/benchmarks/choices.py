"""Choices: the examples of a benchmark that asks which of a few captions belongs to which of a few images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from karat.errors import unknown_name

ALL = "all"
"""The truth of every example."""


@dataclass(frozen=True, eq=False)
class Choices:
    """Examples, each a small table of images by captions, some cells of which belong together.

    Examples may have different numbers of images and captions: what an example does not have is −1.

    Parameters
    ----------
    examples
        Their ids, [N].
    images, captions
        Per example, indices into the benchmark's images [N, I] and captions [N, C].
    correct
        Whether a caption belongs to an image, [N, I, C].
    groups
        What examples are distinguished by, such as "tag": per example, the value.
    shown
        Which of `groups` are scored by default, besides all examples together.
    leave_out
        The smallest number of examples of a group that counts in Macro, and the groups that never do.
    measures
        What is computed by default; where it is empty, every measure that compares images with captions
        and has something to decide.
    photos
        Per example, the numbers of the photos that its images were cut from, [N, I]; by default the images
        themselves. Examples that share a photo are not independent.

    Examples
    --------
    >>> two = Choices(np.array(["a", "b"]), np.array([[0, 1], [2, 3]]), np.array([[0, 1], [2, 3]]),
    ...     np.tile(np.eye(2, dtype=bool), (2, 1, 1)), {"tag": np.array(["Object", "Relation"])})
    >>> two.names("tag"), two.members("tag=Object").tolist()
    (['tag=Object', 'tag=Relation'], [0])
    """

    examples: np.ndarray
    images: np.ndarray
    captions: np.ndarray
    correct: np.ndarray
    groups: Mapping[str, np.ndarray]
    shown: tuple[str, ...] = ()
    leave_out: tuple[int, frozenset[str]] = (1, frozenset())
    measures: tuple[str, ...] = ()
    photos: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Examples, images and captions, of which an example may have fewer."""
        return self.correct.shape

    @cached_property
    def known(self) -> np.ndarray:
        """Whether an example has a cell of the table, [N, I, C]."""
        return (self.images >= 0)[:, :, None] & (self.captions >= 0)[:, None, :]

    def names(self, field: str) -> list[str]:
        """Return the names of a field's groups, as truths are called: ``tag=Object``."""
        return [f"{field}={value}" for value in np.unique(self.groups[field]).tolist() if value != ""]

    def expand(self, name: str) -> list[str]:
        """Return the truths that a name means: itself, or all groups of a field."""
        if name in self.groups:
            return self.names(name)
        self.members(name)
        return [name]

    def members(self, name: str) -> np.ndarray:
        """Return the indices of the examples of a truth."""
        if name == ALL:
            return np.arange(len(self))
        field, _, value = name.partition("=")
        if field not in self.groups or value == "" or not (self.groups[field] == value).any():
            known = [ALL, *self.groups, *(group for each in self.groups for group in self.names(each))]
            raise unknown_name("truth", name, known)
        return np.flatnonzero(self.groups[field] == value)

    @cached_property
    def clusters(self) -> np.ndarray:
        """Per example, a number that examples share which have a photo in common, directly or by others."""
        photos = self.images if self.photos is None else self.photos
        first = np.arange(len(self))
        # Each pass hands the smallest number on to examples that share a photo, until nothing changes.
        rows, columns = np.nonzero(photos >= 0)
        photo = photos[rows, columns]
        while True:
            smallest = np.full(int(photo.max()) + 1, len(self))
            np.minimum.at(smallest, photo, first[rows])
            lower = first.copy()
            np.minimum.at(lower, rows, smallest[photo])
            if (lower == first).all():
                return first
            first = lower

    @property
    def share_images(self) -> bool:
        """Whether an image, or a photo, occurs in several examples."""
        return len(np.unique(self.clusters)) < len(self)

    def shape_shown(self) -> str:
        """Return how a table of scores is shaped, in words."""
        count, images, captions = self.shape
        if images == 1:
            return f"{count:,} examples by {captions} captions"
        return f"{count:,} examples by {images} images by {captions} captions"

    def summary(self) -> list[dict[str, Any]]:
        """Return one record for all examples and for each group that is scored by default."""
        names = [ALL, *(name for field in self.shown for name in self.names(field))]
        rows = []
        for name in names:
            members = self.members(name)
            images, captions = self.images[members], self.captions[members]
            rows.append({
                "truth": name,
                "examples": len(members),
                "images": len(np.unique(images[images >= 0])),
                "captions": len(np.unique(captions[captions >= 0])),
            })  # fmt: skip
        return rows
