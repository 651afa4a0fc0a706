"""What all text kernels share: fitting, unknown words, saving, all pairs on threads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np

from karat._util import stage, thread_count
from karat.baselines.estimator import Estimator
from karat.baselines.text.encoded_captions import Captions, EncodedCaptions, encode
from karat.errors import InputError

"""Called with how many rows are done, and of how many."""
GROUP = 64
"""Items per group of rows."""
Fill = Callable[[int, int, int, np.ndarray], object]
"""Adds rows begin to end, columns from `left` on, to a block of zeros: fill(begin, end, left, block)."""


class TextKernel(Estimator, ABC):
    """A similarity of items by their captions.

    `fit` learns from the captions of training items, `kernel` compares items. Both take, per item, a list of
    captions, which are lists of words (:class:`karat.captions.system_words.SystemWords` makes them). A
    caption may be empty; an item must have one. Words that are not in the training captions match themselves,
    and weigh as much as a word of no training item.
    """

    learned: ClassVar[tuple[str, ...]] = ()
    """The arrays that `fit` sets, beside the words; a scalar is an array without dimensions."""

    vocabulary_: dict[str, int]

    @property
    def needs_tags(self) -> bool:
        """Whether `fit` needs parts of speech."""
        return False

    def fit(self, captions: Captions, tags: Captions | None = None) -> Self:
        """Learn from the captions of training items.

        Parameters
        ----------
        captions
            Per item its captions, each a sequence of words.
        tags
            The part of speech of every word ("n", "v" or anything else), for kernels that need it.
        """
        numbers: dict[str, int] = {}
        encoded = encode(captions, numbers)
        if not len(encoded):
            raise InputError("there are no training items", fix="give one or more")
        self._fit(encoded, numbers, captions, tags)
        self.vocabulary_ = numbers
        return self

    def kernel(
        self,
        a: Captions,
        b: Captions | None = None,
        *,
        threads: int | None = None,
    ) -> np.ndarray:
        """Return the kernel of every item of `a` with every item of `b`, or with every item of `a`.

        Parameters
        ----------
        a, b
            Per item its captions, each a sequence of words. Without `b`, half of the work is done and the
            result is exactly symmetric.
        threads
            How many to use; all processors by default.

        Returns
        -------
        float64 [items of a, items of b], without NaN: an item without words is 0 to all, unless the class
        says otherwise.
        """
        self.check_fitted()
        numbers = dict(self.vocabulary_)
        first = encode(a, numbers)
        second = None if b is None else encode(b, numbers)
        return self._kernel(first, second, len(numbers), threads)

    def state(self) -> dict[str, np.ndarray]:
        """Return what `fit` learned as plain arrays, to be saved in a npz or safetensors file."""
        self.check_fitted()
        words = [word.encode("utf-8", "surrogatepass") for word in self.vocabulary_]
        arrays = {name: np.asarray(getattr(self, f"{name}_")) for name in self.learned}
        return {
            "vocabulary": np.frombuffer(b"".join(words), np.uint8),
            "vocabulary_ends": np.cumsum([len(word) for word in words], dtype=np.int64),
            **arrays,
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> Self:
        """Take over what `state` returned, instead of fitting; returns the kernel itself."""
        names = ("vocabulary", "vocabulary_ends", *self.learned)
        missing = [name for name in names if name not in state]
        if missing:
            raise InputError(f"the state lacks {', '.join(missing)}", fix="give what state() returned")
        text = np.asarray(state["vocabulary"], np.uint8).tobytes()
        ends = [0, *np.asarray(state["vocabulary_ends"]).tolist()]
        words = [text[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise(ends)]
        self.vocabulary_ = {word: k for k, word in enumerate(words)}
        for name in self.learned:
            setattr(self, f"{name}_", np.asarray(state[name]))
        return self

    @abstractmethod
    def _fit(
        self, encoded: EncodedCaptions, numbers: dict[str, int], captions: Captions, tags: Captions | None
    ) -> None:
        """Check the parameters, then set the learned arrays; `numbers` may get more words."""

    @abstractmethod
    def _kernel(
        self,
        a: EncodedCaptions,
        b: EncodedCaptions | None,
        size: int,
        threads: int | None,
    ) -> np.ndarray:
        """Return the kernel; words are numbers below `size`, those of `vocabulary_` first."""


def cosine_normalised(sums: np.ndarray, own_a: np.ndarray, own_b: np.ndarray) -> np.ndarray:
    """Divide by the geometric mean of what the items of a row and of a column are to themselves, in place.

    Where one of them is 0, so is the result.

    >>> cosine_normalised(np.array([[2.0, 5.0]]), np.array([4.0]), np.array([1.0, 0.0]))
    array([[1., 0.]])
    """
    root_a, root_b = np.sqrt(own_a), np.sqrt(own_b)
    for row, root in zip(sums, root_a):
        # The product first: it is the same both ways, so that a symmetric table stays so.
        both = root * root_b
        np.divide(row, both, out=row, where=both > 0)
        row[both == 0] = 0.0
    return sums


def all_pairs(
    rows: int,
    columns: int | None,
    fill: Fill,
    threads: int | None = None,
    group: int = GROUP,
) -> np.ndarray:
    """Return what `fill` adds up for all rows and columns; without `columns`, they are the rows again.

    Rows are computed in groups, on several threads; half of them where rows and columns are the same.

    >>> def fill(begin, end, left, out):
    ...     out += np.arange(begin, end)[:, None] + np.arange(left, left + out.shape[1])
    >>> all_pairs(3, None, fill, group=2)
    array([[0., 1., 2.],
           [1., 2., 3.],
           [2., 3., 4.]])
    """
    if threads is not None and threads < 1:
        raise InputError(f"{threads} threads were requested", fix="give 1 or more")
    out = np.zeros((rows, rows if columns is None else columns))

    def fill_group(begin: int) -> int:
        end, left = min(begin + group, rows), begin if columns is None else 0
        # A separate block is one piece of memory: the kernels are compiled for that alone.
        block = np.zeros((end - begin, out.shape[1] - left))
        fill(begin, end, left, block)
        out[begin:end, left:] = block
        return end - begin

    with ThreadPoolExecutor(thread_count(threads)) as pool, stage("comparing captions", rows) as going:
        for finished in pool.map(fill_group, range(0, rows, group)):
            going.advance(finished)
    if columns is None:
        # What lies below the diagonal is what lies above it, also inside the groups.
        for begin in range(0, rows, group):
            end = min(begin + group, rows)
            out[begin:, begin:end] = np.tril(out[begin:end, begin:].T, -1) + np.triu(out[begin:, begin:end])
    return out


def own_values(items: int, fill: Callable[[int, np.ndarray], object]) -> np.ndarray:
    """Return what each item is to itself: `fill` adds it to a table of one cell.

    >>> def fill(i, cell):
    ...     cell += i**2
    >>> own_values(3, fill)
    array([0., 1., 4.])
    """
    values = np.zeros(items)
    for i in range(items):
        cell = np.zeros((1, 1))
        fill(i, cell)
        values[i] = cell[0, 0]
    return values
