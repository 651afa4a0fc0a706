"""What is known of the concepts of images beyond their names: colours, numbers, sizes, positions, relations.

A fact is about one concept (the dogs are brown) or about two (the dog is left of the ball). Facts of two
images are compared where both say something about the same concepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

FACT_KINDS = {
    "colour": "colours of the same concept",
    "number": "how many there are of the same concept",
    "size": "words for the size of the same concept",
    "position": "left, right, above or below, from the boxes of two concepts",
    "relation": "how two concepts relate, from scene graphs",
}
"""The kinds of facts, in words."""
NOTHING = -1
"""The second concept of a fact about one."""
MOST_ROWS = 1 << 21
"""Facts that are compared at once."""


@dataclass(frozen=True, eq=False)
class ImageFacts:
    """The facts of one kind of all images; `make_facts` makes them.

    Parameters
    ----------
    code
        Image, first concept, second concept and value of each fact in one number, sorted, each once.
    n_concepts
        How many concepts there are.
    values
        What is said, as text.
    """

    code: np.ndarray
    n_concepts: int
    values: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.code)

    @property
    def topics(self) -> int:
        """How many things a fact can be about."""
        return self.n_concepts * (self.n_concepts + 1)

    @cached_property
    def about(self) -> np.ndarray:
        """The things that facts are about, each with its image, as sorted numbers."""
        return np.unique(self.code // len(self.values)) if len(self) else self.code

    def of_image(self, image: int) -> list[tuple[int, int, str]]:
        """Return the facts of an image: first concept, second concept (or −1) and what is said."""
        step = self.topics * len(self.values)
        begin, end = np.searchsorted(self.code, [image * step, (image + 1) * step])
        topic, value = np.divmod(self.code[begin:end] - image * step, len(self.values) or 1)
        first, second = np.divmod(topic, self.n_concepts + 1)
        return [
            (a, b - 1, self.values[v]) for a, b, v in zip(first.tolist(), second.tolist(), value.tolist())
        ]

    def compare(
        self,
        ground: np.ndarray,
        retrieved: np.ndarray,
        mentioned: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return, per pair of images, how many facts of the first can be compared, and how many agree.

        A fact can be compared where the second image has a fact of this kind about the same concepts; it
        agrees where one of them says the same.

        Parameters
        ----------
        ground, retrieved
            The images of each pair.
        mentioned
            Per pair, compressed, the concepts that count; None for all.
        """
        compared, agreeing = np.zeros(len(ground), np.int64), np.zeros(len(ground), np.int64)
        if not len(self):
            return compared, agreeing
        step = self.topics * len(self.values)
        begin, end = np.searchsorted(self.code, [ground * step, (ground + 1) * step])
        ends = np.cumsum(end - begin)
        cuts = np.searchsorted(ends, np.arange(0, ends[-1] if len(ends) else 0, MOST_ROWS), side="right")
        for first, last in pairwise([*np.unique(np.r_[0, cuts]).tolist(), len(ground)]):
            length = (end - begin)[first:last]
            pair = np.repeat(np.arange(first, last), length)
            offset = np.arange(len(pair)) - np.repeat(np.cumsum(length) - length, length)
            fact = self.code[begin[pair] + offset] + (retrieved[pair] - ground[pair]) * step
            known = found(self.about, fact // len(self.values))
            if mentioned is not None:
                one, two = np.divmod(fact % step // len(self.values), self.n_concepts + 1)
                ptr, concept = mentioned
                listed = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)) * self.n_concepts + concept
                known &= found(listed, pair * self.n_concepts + one)
                known &= (two == 0) | found(listed, pair * self.n_concepts + np.maximum(two - 1, 0))
            compared += np.bincount(pair[known], minlength=len(ground))
            same = known & found(self.code, fact)
            agreeing += np.bincount(pair[same], minlength=len(ground))
        return compared, agreeing


def found(known: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return whether each number is among sorted ones.

    >>> found(np.array([2, 5]), np.array([5, 9, 1])).tolist()
    [True, False, False]
    """
    if not len(known):
        return np.zeros(len(asked), bool)
    return known[np.minimum(np.searchsorted(known, asked), len(known) - 1)] == asked


def make_facts(
    image: Sequence[int] | np.ndarray,
    first: Sequence[int] | np.ndarray,
    second: Sequence[int] | np.ndarray,
    said: Sequence[str] | np.ndarray,
    n_concepts: int,
) -> ImageFacts:
    """Return facts; a repeated one counts once.

    Parameters
    ----------
    image, first, second
        Per fact, its image and its concepts as numbers; the second is `NOTHING` where it is about one.
    said
        Per fact, what it says.
    n_concepts
        How many concepts there are.

    Examples
    --------
    >>> colours = make_facts([0, 0, 1], [2, 3, 2], [-1, -1, -1], ["red", "blue", "red"], 4)
    >>> colours.of_image(0)
    [(2, -1, 'red'), (3, -1, 'blue')]
    >>> [counts.tolist() for counts in colours.compare(np.array([0, 1]), np.array([1, 1]))]
    [[1, 1], [1, 1]]
    """
    values, value = np.unique(np.asarray(said, dtype=str), return_inverse=True)
    parts = [np.asarray(part, dtype=np.int64) for part in (image, first, second)]
    topic = (parts[0] * n_concepts + parts[1]) * (n_concepts + 1) + parts[2] + 1
    code = np.unique(topic * max(len(values), 1) + value)
    return ImageFacts(code, n_concepts, tuple(values.tolist()))


def position_facts(ptr: np.ndarray, concept: np.ndarray, box: np.ndarray, n_concepts: int) -> ImageFacts:
    """Return where the concepts of an image are relative to each other.

    Left, right, above and below hold where the centre of neither box lies within the extent of the other.

    Parameters
    ----------
    ptr, concept
        Per image, compressed, its concepts.
    box
        Per concept of an image, the left, top, width and height of its largest box.
    n_concepts
        How many concepts there are.

    Examples
    --------
    >>> box = np.array([[0.0, 0.0, 0.2, 0.2], [0.7, 0.05, 0.2, 0.2]])
    >>> position_facts(np.array([0, 2]), np.array([0, 1]), box, 2).of_image(0)
    [(0, 1, 'left of')]
    """
    image = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    later = ptr[image + 1] - np.arange(len(concept)) - 1
    one = np.repeat(np.arange(len(concept)), later)
    two = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(later) - later, later)
    rows = []
    for axis, words in enumerate((("left of", "right of"), ("above", "below"))):
        centre, extent = box[:, axis] + box[:, axis + 2] / 2, box[:, axis + 2]
        apart = centre[one] - centre[two]
        clear = np.flatnonzero(np.abs(apart) > np.maximum(extent[one], extent[two]) / 2)
        rows.append((clear, np.array(words)[(apart[clear] > 0).astype(int)]))
    place = np.concatenate([clear for clear, _ in rows])
    said = np.concatenate([words for _, words in rows])
    return make_facts(image[one[place]], concept[one[place]], concept[two[place]], said, n_concepts)
