"""Kernel matrices: the checks at the border and centring in feature space."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from karat._util import check_table, not_finite
from karat.baselines.estimator import Estimator
from karat.errors import InputError


class KernelCentrer(Estimator):
    """Centre a kernel: the inner products of items less the mean of the training items.

    In feature space every item x becomes φ(x) − m, where m is the mean of the training items
    (Schölkopf, Smola and Müller 1998):

        K'(x, t) = K(x, t) − mean over t of K(x, t) − mean over s of K(s, t) + mean of K

    The means of new rows are taken over the training items, as those of training rows are.

    Attributes
    ----------
    mean_
        Per training item, its mean kernel value with all training items.
    grand_mean_
        The mean of `mean_`.

    Examples
    --------
    >>> kernel = np.array([[2.0, 1.0], [1.0, 4.0]])
    >>> KernelCentrer().fit(kernel).transform(kernel)
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    mean_: np.ndarray
    grand_mean_: float

    def fit(self, kernel: Any) -> Self:
        """Learn the means of a kernel of the training items with themselves."""
        kernel = check_kernel(kernel, "the kernel")
        # Sums in double precision: in single, the mean of many items is no longer exact enough.
        self.mean_ = kernel.mean(axis=0, dtype=np.float64)
        self.grand_mean_ = float(self.mean_.mean())
        return self

    def transform(self, rows: Any) -> np.ndarray:
        """Return centred rows: items by training items."""
        self.check_fitted()
        rows = check_rows(rows, len(self.mean_), "the kernel")
        row_mean = rows.mean(axis=1, dtype=np.float64)
        centred = rows - self.mean_.astype(rows.dtype)
        centred -= (row_mean - self.grand_mean_).astype(rows.dtype)[:, None]
        return centred


def as_floats(array: Any, what: str) -> np.ndarray:
    """Return a finite table of float32 or float64; nothing is copied where it is one already."""
    array = check_table(array, what)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float32 if array.dtype == np.float16 else np.float64)
    array = np.asarray(array)
    # A sum shows without a second table whether anything is not finite; only then is it looked for.
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(array.sum(dtype=np.float64))
    if suspicious:
        for row, column in np.argwhere(~np.isfinite(array)):
            raise not_finite(what, int(row), int(column), float(array[row, column]), array.dtype)
    return array


def check_rows(rows: Any, width: int, what: str) -> np.ndarray:
    """Return rows of new items, or raise where they do not have one column per column of training."""
    rows = as_floats(rows, what)
    if rows.shape[1] != width:
        raise InputError(
            f"has {rows.shape[1]:,} columns, but was trained with {width:,}",
            where=what,
            fix="give one row per new item, with the columns of the training table in their order",
        )
    return rows


def check_kernel(kernel: Any, what: str) -> np.ndarray:
    """Return a kernel of the training items with themselves: square, symmetric, finite."""
    kernel = as_floats(kernel, what)
    if kernel.shape[0] != kernel.shape[1]:
        raise InputError(
            f"has {kernel.shape[0]:,} rows and {kernel.shape[1]:,} columns",
            where=what,
            fix="give the kernel of the training items with themselves",
        )
    largest = float(np.abs(kernel).max())
    allowed = 1e3 * float(np.finfo(kernel.dtype).eps) * largest
    for begin in range(0, len(kernel), 512):
        gap = np.abs(kernel[begin : begin + 512] - kernel[:, begin : begin + 512].T)
        if gap.max() > allowed:
            row, column = np.unravel_index(int(gap.argmax()), gap.shape)
            raise InputError(
                f"is not symmetric: row {begin + row}, column {column} is {kernel[begin + row, column]}, "
                f"and row {column}, column {begin + row} is {kernel[column, begin + row]}",
                where=what,
                fix="compute both halves the same way, or average the table with its transpose",
            )
    return kernel
