"""Cosines of two tables of vectors, cut to several numbers of dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from karat.errors import InputError


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the cosine of every row of `first` with every row of `second`; 0 for a row of zeros.

    >>> cosines(np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([[1.0, 0.0]]))
    array([[0.6],
           [0. ]])
    """
    return unit(first) @ unit(second).T


def unit(table: np.ndarray) -> np.ndarray:
    """Return rows scaled to length 1; a row of zeros stays."""
    length = np.linalg.norm(table, axis=1)
    return table / np.where(length > 0, length, 1)[:, None]


def unit_sparse(rows: Any) -> Any:
    """Scale the rows of a sparse table to length 1, in place, and return it; a row of zeros stays.

    >>> from scipy.sparse import csr_array
    >>> unit_sparse(csr_array(np.array([[3.0, 4.0], [0.0, 0.0]]))).toarray()
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    length = np.sqrt(np.bincount(row, rows.data**2, minlength=rows.shape[0]))[row]
    rows.data = np.divide(rows.data, length, out=np.zeros_like(rows.data), where=length > 0)
    return rows


def nested_cosines(
    first: np.ndarray, second: np.ndarray, ns: Sequence[int]
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield n and the cosines in the first n dimensions, for ascending n.

    Inner products and lengths grow from one n to the next, so that all together cost one product.

    >>> x, y = np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]])
    >>> [(n, round(float(table[0, 0]), 3)) for n, table in nested_cosines(x, y, [2, 1])]
    [(1, 1.0), (2, 0.707)]
    """
    product = np.zeros((len(first), len(second)), first.dtype)
    squares = [np.zeros(len(table)) for table in (first, second)]
    before = 0
    for n in check_dimensions(ns):
        x, y = first[:, before:n], second[:, before:n]
        if x.shape[1]:
            product += x @ y.T
            for total, part in zip(squares, (x, y)):
                total += np.einsum("ij,ij->i", part, part, dtype=np.float64)
        before = n
        length = [np.sqrt(np.where(total > 0, total, 1)).astype(product.dtype) for total in squares]
        yield n, product / length[0][:, None] / length[1]


def check_dimensions(ns: Sequence[int]) -> list[int]:
    """Return numbers of dimensions, ascending, each once, or raise.

    >>> check_dimensions([5, 1, 5])
    [1, 5]
    """
    if not len(ns) or min(ns) < 1:
        raise InputError(f"the numbers of dimensions are {list(ns)}", fix="give whole numbers of 1 or more")
    return sorted({int(n) for n in ns})
