"""Vectors that are equal or nearly parallel, found in blocks of products."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from karat._util import track
from karat.duplicates.pairs import MOST_PAIRS
from karat.errors import InputError

ROWS, COLUMNS = 1024, 16_384
"""Of a block of products: 64 MB."""
SLACK = 1e-5
"""How far a cosine in single precision may be off, with room to spare."""


def row_keys(table: Any) -> list[bytes | None]:
    """Return a key per row, equal for equal rows; None for a row of zeros, which is no vector."""
    keys: list[bytes | None] = []
    for begin in range(0, len(table), COLUMNS):
        # In one type, whatever the tables are kept in; adding 0 turns −0 into 0.
        block = np.ascontiguousarray(table[begin : begin + COLUMNS], np.float64) + 0.0
        keys += [blake2b(row, digest_size=16).digest() if row.any() else None for row in block]
    return keys


def unit_rows(table: Any) -> np.ndarray:
    """Return rows of length 1 in single precision; a row of zeros stays."""
    rows = np.asarray(table, np.float32)
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return (rows / np.where(length > 0, length, 1.0)[:, None]).astype(np.float32)


def close_rows(table: Any, least: float, other: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs of rows whose cosine is `least` or more, and their cosines.

    Of one table every pair once, the earlier row first; else rows of `table` with rows of `other`. Products
    are made in single precision, block by block; a pair that comes near is computed again in double
    precision, so that the result does not depend on the blocks.

    >>> table = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.1]])
    >>> first, second, cosine = close_rows(table, 0.9)
    >>> first.tolist(), second.tolist(), cosine.round(3).tolist()
    ([0], [2], [0.999])
    """
    rows = unit_rows(table)
    columns = rows if other is None else unit_rows(other)
    found: list[tuple[np.ndarray, ...]] = []
    total = 0
    for top in track(range(0, len(rows), ROWS), "comparing blocks of vectors"):
        for left in range(0 if other is not None else top, len(columns), COLUMNS):
            block = rows[top : top + ROWS] @ columns[left : left + COLUMNS].T
            first, second = np.divmod(np.flatnonzero(block >= least - SLACK), block.shape[1])
            first, second = first + top, second + left
            if other is None:
                first, second = first[first < second], second[first < second]
            if (total := total + len(first)) > MOST_PAIRS:
                raise InputError(
                    f"more than {MOST_PAIRS:,} pairs have a similarity of {least:g} or more",
                    fix="give a higher threshold; or all vectors of the model are alike",
                )
            cosine = np.einsum("ij,ij->i", rows[first].astype(np.float64), columns[second].astype(np.float64))
            keep = cosine >= least
            found.append((first[keep], second[keep], np.minimum(cosine[keep], 1.0)))
    empty = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    first, second, cosine = (np.concatenate(parts) for parts in zip(empty, *found))
    order = np.lexsort((second, first))
    return first[order], second[order], cosine[order]
