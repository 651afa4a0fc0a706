"""Kernels of many items by a few of their columns: pivoted incomplete Cholesky."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from karat.baselines.estimator import Estimator
from karat.baselines.kernel_matrix import as_floats, check_rows
from karat.errors import InputError

INDEFINITE = 0.01
"""By how much of the largest diagonal entry an item may be explained beyond itself: by rounding alone."""


class IncompleteCholesky(Estimator):
    """Features whose inner products approximate a kernel, from `rank` of its columns.

    K ≈ G G', where G has one column per pivot item. The pivots are the items that the features so
    far explain least, so the error of the trace falls fastest (Fine and Scheinberg 2001; Bach and
    Jordan 2002). Hardoon et al. (2004) use the same under the name of partial Gram–Schmidt
    orthogonalisation. The full matrix is never made: memory is items × rank. With as many pivots as
    the kernel has rank, K = G G' up to rounding, and ``KCCA(inputs="features")`` of the features
    equals ``KCCA()`` of the kernels.

    Parameters
    ----------
    rank
        The most pivots.
    tolerance
        Stop when no item's unexplained part is above this share of the largest diagonal entry.
    block
        How many columns to request at once: the items with the largest unexplained parts. Of
        those, one whose part has fallen below half the largest of the rest waits for another
        block, so that no column is spent on what its neighbours explained already; 1 gives the
        textbook order of pivots.

    Attributes
    ----------
    pivots_
        The pivot items, in the order in which they were taken.
    features_
        G: one row per training item.
    residual_
        The share of the trace that the features do not explain.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(200, 3))
    >>> low = IncompleteCholesky(rank=10).fit(lambda pivots: x @ x[pivots].T, (x * x).sum(axis=1))
    >>> low.features_.shape, bool(np.allclose(low.features_ @ low.features_.T, x @ x.T))
    ((200, 3), True)
    >>> new = np.ones((1, 3))
    >>> bool(np.allclose(low.transform(new @ x[low.pivots_].T) @ low.features_.T, new @ x.T))
    True
    """

    def __init__(self, rank: int = 1000, *, tolerance: float = 1e-8, block: int = 32) -> None:
        self.rank = rank
        self.tolerance = tolerance
        self.block = block

    pivots_: np.ndarray
    features_: np.ndarray
    residual_: float

    def fit(self, columns: Callable[[np.ndarray], Any], diagonal: Any) -> Self:
        """Factor a kernel.

        Parameters
        ----------
        columns
            Called with an array of item indices; returns the kernel of all items (rows) with
            these (columns).
        diagonal
            The kernel of every item with itself.
        """
        if self.rank < 1 or self.block < 1:
            raise InputError(
                f"rank is {self.rank}, block is {self.block}", fix="give whole numbers of 1 or more"
            )
        left = check_diagonal(diagonal)
        size, trace = len(left), float(left.sum())
        scale = float(left.max())
        least = self.tolerance * scale
        # A row per pivot: each is filled and read as one stretch of memory.
        rows = np.empty((min(self.rank, size), size))
        pivots: list[int] = []
        while len(pivots) < len(rows):
            candidates = np.argsort(-left, kind="stable")[: self.block]
            candidates = candidates[left[candidates] > least]
            if not len(candidates):
                break
            block = check_columns(columns(candidates), size, len(candidates))
            self._factor(block, candidates, left, least, scale, rows, pivots)
        self.pivots_ = np.array(pivots, np.int64)
        self.features_ = rows[: len(pivots)].T
        self.residual_ = float(left.sum() / trace)
        return self

    def _factor(
        self,
        block: np.ndarray,
        candidates: np.ndarray,
        left: np.ndarray,
        least: float,
        scale: float,
        rows: np.ndarray,
        pivots: list[int],
    ) -> None:
        """Turn the columns of the candidates into features, the least explained first."""
        before = len(pivots)
        known = block.T - rows[:before, candidates].T @ rows[:before]
        waiting = list(range(len(candidates)))
        while waiting and len(pivots) < len(rows):
            best = max(waiting, key=lambda j: left[candidates[j]])
            part = left[candidates[best]]
            if part <= least or 2 * part < left.max():
                return
            waiting.remove(best)
            pivot, k = candidates[best], len(pivots)
            rows[k] = (known[best] - rows[before:k, pivot] @ rows[before:k]) / np.sqrt(part)
            # Exact by construction; rounding must neither bring a pivot back nor leave its row uneven.
            rows[k, pivots] = 0.0
            rows[k, pivot] = np.sqrt(part)
            left -= rows[k] ** 2
            left[[*pivots, pivot]] = 0.0
            if left.min() < -INDEFINITE * scale:
                raise InputError(
                    "the kernel is not positive semidefinite: its features would mean nothing",
                    fix="give KCCA the whole kernel, whose negative eigenvalues it drops",
                )
            np.maximum(left, 0.0, out=left)
            pivots.append(int(pivot))

    def transform(self, rows: Any) -> np.ndarray:
        """Return the features of new items from their kernel with the pivots, items × pivots."""
        from scipy.linalg import solve_triangular

        self.check_fitted()
        rows = check_rows(rows, len(self.pivots_), "the kernel with the pivots")
        return solve_triangular(self.features_[self.pivots_], rows.T, lower=True, check_finite=False).T


def check_diagonal(diagonal: Any) -> np.ndarray:
    """Return a copy of a kernel's diagonal in double precision, or raise."""
    values = as_floats(np.atleast_2d(np.asarray(diagonal)), "the diagonal")
    if len(values) != 1:
        raise InputError(
            f"has the shape {values.shape}", where="the diagonal", fix="give one number per item"
        )
    if values.min() < 0 or values.max() == 0:
        raise InputError(
            f"its numbers reach from {values.min():g} to {values.max():g}",
            where="the diagonal",
            fix="a kernel of an item with itself is not negative, and above 0 for some item",
        )
    return values[0].astype(np.float64, copy=True)


def check_columns(columns: Any, size: int, number: int) -> np.ndarray:
    """Return the columns of a callback, or raise where their shape is wrong."""
    table = as_floats(columns, "the columns of the kernel")
    if table.shape != (size, number):
        raise InputError(
            f"has the shape {table.shape}",
            where="the columns of the kernel",
            fix=f"return all {size:,} items (rows) with the {number} requested (columns)",
        )
    return table
