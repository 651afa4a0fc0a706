"""One side of KCCA: its training items as centred, uncorrelated coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.systems.centring import KernelCentrer, as_floats, check_kernel, check_rows
from karat.systems.kcca_arrays import Algebra
from karat.validation import InputError


@dataclass(frozen=True, eq=False)
class View:
    """The principal components of one side, from its kernel matrix or from its features.

    With the centred kernel K = U diag(a) U', the training items have the coordinates
    F = U diag(√a), since F F' = K; their columns are orthogonal with F'F = diag(a). A new item has
    the coordinates (row − mean) basis. The full centring of a new kernel row also subtracts a
    number from the whole row, which changes nothing here: the columns of the basis sum to 0.

    Parameters
    ----------
    mean, basis
        What turns a row of a new item into its coordinates.
    variance
        a: the sum of squares of each coordinate over the training items, descending.
    what
        The side, for messages.
    """

    mean: np.ndarray
    basis: np.ndarray
    variance: np.ndarray
    what: str

    def coordinates(self, rows: object, compute: Algebra) -> np.ndarray:
        """Return the coordinates of items, given by their rows."""
        table = check_rows(rows, len(self.mean), self.what)
        return compute.product((table - self.mean).astype(self.basis.dtype, copy=False), self.basis)


def view_of_kernel(
    kernel: object, what: str, normalise: bool, rank: int | None, compute: Algebra
) -> tuple[View, np.ndarray]:
    """Return the view of a kernel matrix of the training items with themselves, and U."""
    table = check_kernel(kernel, what)
    centrer = KernelCentrer().fit(table)
    centred = centrer.transform(table)
    values, vectors, total = leading(centred, float(np.abs(table).max()), what, rank, compute)
    scale = len(table) / total if normalise else 1.0
    variance = scale * values
    dtype = table.dtype
    basis = vectors * (scale / np.sqrt(variance)).astype(dtype)
    return View(centrer.mean_.astype(dtype), basis, variance, what), vectors


def view_of_features(
    features: object, what: str, normalise: bool, rank: int | None, compute: Algebra
) -> tuple[View, np.ndarray]:
    """Return the view of a table of features, whose kernel is their inner products, and U."""
    table = as_floats(features, what)
    dtype = table.dtype
    mean = table.mean(axis=0, dtype=np.float64).astype(dtype)
    centred = table - mean
    gram = compute.product(centred.T, centred)
    largest = float(np.einsum("ij,ij->i", table, table).max())
    values, vectors, total = leading(gram, largest, what, rank, compute)
    scale = len(table) / total if normalise else 1.0
    train = compute.product(centred, vectors / np.sqrt(values).astype(dtype))
    return View(mean, vectors * dtype.type(np.sqrt(scale)), scale * values, what), train


VIEWS = {"kernels": view_of_kernel, "features": view_of_features}
"""By what `fit` is given: what makes a view of it."""


def leading(
    matrix: np.ndarray, size: float, what: str, rank: int | None, compute: Algebra
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the positive eigenvalues of a centred matrix, descending, their vectors, and the sum of all.

    Eigenvalues that rounding alone could have made are no directions, and neither are negative
    ones: a kernel that is not semidefinite counts as the nearest one that is. `size` is the
    largest entry before centring, which rounding errors are in proportion to.
    """
    values, vectors = compute.eigh(matrix)
    values = values[::-1].astype(np.float64)
    eps = float(np.finfo(matrix.dtype).eps)
    noise = 10 * np.sqrt(len(matrix)) * eps * max(float(values[0]), size)
    kept = int(np.count_nonzero(values > noise))
    if kept == 0:
        raise InputError(
            "does not tell any two training items apart",
            where=what,
            fix="give at least two items that differ, and a kernel that is not constant",
        )
    total = float(values[:kept].sum())
    kept = kept if rank is None else min(kept, rank)
    return values[:kept], np.ascontiguousarray(vectors[:, ::-1][:, :kept]), total
