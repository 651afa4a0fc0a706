"""Objects seen in images: a category and a box each, and whatever else is known about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from karat.errors import InputError


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
    synsets
        The WordNet sense of each category, such as "dog.n.01", where it is known.
    attributes
        By name, a text per object: its colour, its size.

    Examples
    --------
    >>> things = Objects(("dog", "ball"), [1, 0], [0, 1], [[0, 0, 0.5, 1], [0.2, 0.2, 0.1, 0.1]])
    >>> things.class_vectors(3).astype(int).tolist()
    [[0, 1], [1, 0], [0, 0]]
    >>> seen = Objects(("dog",), [1, 0], [0, 0], np.zeros((2, 4)), attributes={"colour": ["red", "blue"]})
    >>> seen.attributes["colour"].tolist()              # sorted by image, like everything else
    ['blue', 'red']
    """

    categories: tuple[str, ...]
    image: np.ndarray
    category: np.ndarray
    box: np.ndarray
    synsets: tuple[str, ...] | None = None
    attributes: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        image = np.asarray(self.image, dtype=np.int32)
        category = np.asarray(self.category, dtype=np.int32)
        if ((category < 0) | (category >= len(self.categories))).any():
            raise InputError("an object's category is out of range")
        if self.synsets is not None and len(self.synsets) != len(self.categories):
            raise InputError(
                f"{len(self.synsets)} synsets for {len(self.categories)} categories", fix="give one each"
            )
        attributes = {name: np.asarray(texts, dtype=str) for name, texts in self.attributes.items()}
        for name, texts in attributes.items():
            if texts.shape != image.shape:
                raise InputError(f"attribute {name!r} has {texts.size} values for {len(image)} objects")
        order = np.argsort(image, kind="stable")
        box = np.asarray(self.box, dtype=np.float32).reshape(len(image), 4)
        for name, column in (("image", image), ("category", category), ("box", box)):
            # Frozen from outside, set once here.
            object.__setattr__(self, name, column[order])
        object.__setattr__(self, "attributes", {name: texts[order] for name, texts in attributes.items()})

    def __len__(self) -> int:
        return len(self.image)

    def class_vectors(self, n_images: int) -> np.ndarray:
        """Return which categories each image shows, as booleans [n_images, n_categories]."""
        vectors = np.zeros((n_images, len(self.categories)), bool)
        vectors[self.image, self.category] = True
        return vectors
