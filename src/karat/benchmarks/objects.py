"""Objects seen in images: a category and a box each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.validation import InputError


@dataclass(frozen=True, eq=False)
class Objects:
    """Every object of every image of a benchmark, sorted by image.

    Parameters
    ----------
    categories
        The names of the categories.
    image, category
        Per object, the index of its image and of its category.
    box
        Per object, left, top, width and height as shares of the image, shape [N, 4].

    Examples
    --------
    >>> things = Objects(("dog", "ball"), [1, 0], [0, 1], [[0, 0, 0.5, 1], [0.2, 0.2, 0.1, 0.1]])
    >>> things.class_vectors(3).astype(int).tolist()
    [[0, 1], [1, 0], [0, 0]]
    """

    categories: tuple[str, ...]
    image: np.ndarray
    category: np.ndarray
    box: np.ndarray

    def __post_init__(self) -> None:
        image = np.asarray(self.image, dtype=np.int32)
        category = np.asarray(self.category, dtype=np.int32)
        if ((category < 0) | (category >= len(self.categories))).any():
            raise InputError("an object's category is out of range")
        order = np.argsort(image, kind="stable")
        box = np.asarray(self.box, dtype=np.float32).reshape(len(image), 4)
        for name, column in (("image", image), ("category", category), ("box", box)):
            # Frozen from outside, set once here.
            object.__setattr__(self, name, column[order])

    def __len__(self) -> int:
        return len(self.image)

    def class_vectors(self, n_images: int) -> np.ndarray:
        """Return which categories each image shows, as booleans [n_images, n_categories]."""
        vectors = np.zeros((n_images, len(self.categories)), bool)
        vectors[self.image, self.category] = True
        return vectors
