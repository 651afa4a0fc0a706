"""The canonical directions for one regularisation, in the coordinates of both views."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.systems.kcca_arrays import Algebra
from karat.validation import InputError


@dataclass(frozen=True, eq=False)
class Solution:
    """The canonical directions of one κ, in the coordinates of the two views, best first."""

    correlations: np.ndarray
    images: np.ndarray
    captions: np.ndarray


def solve(
    shared: np.ndarray, a: np.ndarray, b: np.ndarray, kappa: float, n: int | None, compute: Algebra
) -> Solution:
    """Return the first `n` directions, all where it is None; see `karat.systems.KCCAPath`.

    Parameters
    ----------
    shared
        U'V: how the unit coordinates of the two views go together.
    a, b
        The views' variances, descending.
    kappa, n, compute
        The regularisation, the most directions, and what computes.
    """
    dtype = shared.dtype
    left, right = np.sqrt(a / (a + kappa)), np.sqrt(b / (b + kappa))
    m = shared * left.astype(dtype)[:, None] * right.astype(dtype)
    swapped = m.shape[0] > m.shape[1]
    m = m.T if swapped else m
    squares, vectors = compute.eigh(compute.product(m, m.T))
    squares = squares[::-1].astype(np.float64)
    noise = 10 * np.sqrt(len(squares)) * float(np.finfo(dtype).eps) * (left[0] * right[0]) ** 2
    kept = int(np.count_nonzero(squares > noise))
    if kept == 0:
        raise InputError(
            "the two sides have no direction in common", fix="check that both list the same items"
        )
    kept = kept if n is None else min(kept, n)
    correlations = np.sqrt(squares[:kept])
    first = vectors[:, ::-1][:, :kept]
    # Signs are free: the largest part of each direction is made positive, whatever LAPACK chose.
    first = first * np.sign(first[np.abs(first).argmax(axis=0), np.arange(kept)])
    second = compute.product(m.T, first) / correlations.astype(dtype)
    p, q = (second, first) if swapped else (first, second)
    return Solution(
        np.minimum(correlations, 1.0),
        p / np.sqrt(a + kappa).astype(dtype)[:, None],
        q / np.sqrt(b + kappa).astype(dtype)[:, None],
    )
