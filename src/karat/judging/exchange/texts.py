"""Columns of texts in which most stand many times: each different one is kept, and looked at, once."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np


class Texts:
    """A column of texts.

    Parameters
    ----------
    values
        The different texts.
    code
        Of each row, the place of its text among them.

    Examples
    --------
    >>> column = Texts.of(["yes", "no", "yes"])
    >>> column.values, column.code.tolist(), column[2]
    (['yes', 'no'], [0, 1, 0], 'yes')
    >>> column.map(len).tolist()
    [3, 2, 3]
    """

    def __init__(self, values: list[str], code: np.ndarray) -> None:
        self.values, self.code = values, code

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Return a column from the text of each row."""
        values = list(dict.fromkeys(texts))
        place = {one: at for at, one in enumerate(values)}
        return cls(values, np.fromiter(map(place.__getitem__, texts), np.int64, len(texts)))

    @classmethod
    def empty(cls, rows: int) -> Texts:
        """Return a column that says nothing."""
        return cls([""], np.zeros(rows, np.int64))

    def __len__(self) -> int:
        return len(self.code)

    def __getitem__(self, row: int) -> str:
        return self.values[self.code[row]]

    def __iter__(self) -> Iterator[str]:
        return map(self.values.__getitem__, self.code.tolist())

    def map(self, turn: Callable[[str], float], dtype: Any = np.int64) -> np.ndarray:
        """Return a number for each row, worked out once for each different text."""
        return (
            np.array([turn(one) for one in self.values], dtype=dtype)[self.code]
            if len(self)
            else np.zeros(0, dtype)
        )

    def turned(self, turn: Callable[[str], str]) -> Texts:
        """Return the column with every text turned into another; two may become one."""
        turned = Texts.of([turn(one) for one in self.values])
        return Texts(turned.values, turned.code[self.code])

    def first(self, wrong: Callable[[str], bool]) -> int | None:
        """Return the first row whose text is wrong; None when all are right."""
        bad = np.flatnonzero([wrong(one) for one in self.values])
        rows = np.flatnonzero(np.isin(self.code, bad)) if len(bad) else bad
        return int(rows[0]) if len(rows) else None

    def where(self, rows: np.ndarray) -> Texts:
        """Return only some rows, given as booleans."""
        used, code = np.unique(self.code[rows], return_inverse=True)
        return Texts([self.values[one] for one in used.tolist()], code)


@contextmanager
def no_collecting() -> Iterator[None]:
    """Keep Python from looking for cycles: among millions of objects that takes as long as making them."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
