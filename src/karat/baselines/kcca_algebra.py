"""The linear algebra of KCCA: two sides are decomposed, then solved together for each regularisation.

A side, of images or of captions, is a kernel matrix or a table of features with one training item per row.
Its eigendecomposition (`DecomposedSide`) does not depend on the other side nor on the regularisation. `solve`
finds the canonical directions (`Solution`) in the coordinates of both. All of it runs where `algebra` says:
numpy on the processor, or PyTorch on a GPU.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from karat._util import check_choice
from karat.baselines.kernel_matrix import KernelCentrer, as_floats, check_kernel, check_rows
from karat.errors import InputError, MissingDataError

DEVICES = ("cpu", "cuda")
SIDES = ("the image side", "the caption side")


@dataclass(frozen=True, eq=False)
class KCCAView:
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


@dataclass(frozen=True, eq=False)
class DecomposedSide:
    """One side of the training items after its eigendecomposition; see `KCCAPath.decompose`.

    Parameters
    ----------
    view
        What turns new rows into coordinates.
    unit
        U, the eigenvectors: the training items' coordinates with columns of length 1.
    """

    view: KCCAView
    unit: np.ndarray

    def __len__(self) -> int:
        return len(self.unit)


def paired(images: Any, captions: Any) -> tuple[np.ndarray | DecomposedSide, np.ndarray | DecomposedSide]:
    """Return both sides in one precision, or raise where they do not have as many rows.

    A side that is decomposed stays as it is, and its precision is the other's.
    """
    sides = [
        side if isinstance(side, DecomposedSide) else as_floats(side, what)
        for side, what in zip((images, captions), SIDES)
    ]
    first, second = sides
    if len(first) != len(second):
        raise InputError(
            f"{len(first):,} images are paired with {len(second):,} captions",
            fix="give both in the order of the pairs, one row per pair",
        )
    settled = [side.unit.dtype for side in sides if isinstance(side, DecomposedSide)]
    dtype = np.result_type(*(settled or [side.dtype for side in sides if isinstance(side, np.ndarray)]))
    first, second = (
        side if isinstance(side, DecomposedSide) else side.astype(dtype, copy=False) for side in sides
    )
    return first, second


def view_of_kernel(
    kernel: object, what: str, normalise: bool, rank: int | None, compute: Algebra
) -> tuple[KCCAView, np.ndarray]:
    """Return the view of a kernel matrix of the training items with themselves, and U."""
    table = check_kernel(kernel, what)
    centrer = KernelCentrer().fit(table)
    centred = centrer.transform(table)
    values, vectors, total = leading(centred, float(np.abs(table).max()), what, rank, compute)
    scale = len(table) / total if normalise else 1.0
    variance = scale * values
    dtype = table.dtype
    basis = vectors * (scale / np.sqrt(variance)).astype(dtype)
    return KCCAView(centrer.mean_.astype(dtype), basis, variance, what), vectors


def view_of_features(
    features: object, what: str, normalise: bool, rank: int | None, compute: Algebra
) -> tuple[KCCAView, np.ndarray]:
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
    return KCCAView(mean, vectors * dtype.type(np.sqrt(scale)), scale * values, what), train


VIEWS = {"kernels": view_of_kernel, "features": view_of_features}
"""By what `fit` is given: what makes a view of it."""


def leading(
    matrix: np.ndarray, size: float, what: str, rank: int | None, compute: Algebra
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the positive eigenvalues of a centred matrix, descending, their vectors, and the sum of all.

    Eigenvalues that rounding alone could have made are not directions, nor are negative ones: a
    kernel that is not semidefinite counts as the nearest one that is. `size` is the largest entry
    before centring, which rounding errors are in proportion to.
    """
    values, vectors = compute.eigh(matrix)
    values = values[::-1].astype(np.float64)
    eps = float(np.finfo(matrix.dtype).eps)
    noise = 10 * np.sqrt(len(matrix)) * eps * max(float(values[0]), size)
    rank_of_matrix = int(np.count_nonzero(values > noise))
    if rank_of_matrix == 0:
        raise InputError(
            "does not distinguish any two training items",
            where=what,
            fix="give at least two items that differ, and a kernel that is not constant",
        )
    total = float(values[:rank_of_matrix].sum())
    number = rank_of_matrix if rank is None else min(rank_of_matrix, rank)
    return values[:number], np.ascontiguousarray(vectors[:, ::-1][:, :number]), total


@dataclass(frozen=True, eq=False)
class Solution:
    """The canonical directions of one κ, in the coordinates of the two views, best first."""

    correlations: np.ndarray
    images: np.ndarray
    captions: np.ndarray


def solve(
    shared: np.ndarray, a: np.ndarray, b: np.ndarray, kappa: float, n: int | None, compute: Algebra
) -> Solution:
    """Return the first `n` directions, all where it is None; see `karat.baselines.KCCAPath`.

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
    number = int(np.count_nonzero(squares > noise))
    if number == 0:
        raise InputError(
            "the two sides have no direction in common", fix="check that both list the same items"
        )
    number = number if n is None else min(number, n)
    correlations = np.sqrt(squares[:number])
    first = vectors[:, ::-1][:, :number]
    # Signs are free: the largest part of each direction is made positive, whatever LAPACK chose.
    first = first * np.sign(first[np.abs(first).argmax(axis=0), np.arange(number)])
    second = compute.product(m.T, first) / correlations.astype(dtype)
    p, q = (second, first) if swapped else (first, second)
    return Solution(
        np.minimum(correlations, 1.0),
        p / np.sqrt(a + kappa).astype(dtype)[:, None],
        q / np.sqrt(b + kappa).astype(dtype)[:, None],
    )


class Algebra(Protocol):
    """The two operations that take nearly all of the time; arrays in and out are numpy's."""

    def eigh(self, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues, ascending, and eigenvectors of a symmetric matrix."""

    def product(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return a matrix product."""


class OnProcessor:
    """numpy, that is LAPACK and BLAS."""

    def eigh(self, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues, ascending, and eigenvectors of a symmetric matrix."""
        values, vectors = np.linalg.eigh(matrix)
        return values, vectors

    def product(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return a matrix product."""
        return first @ second


class OnGPU:
    """PyTorch: each matrix travels to the device and back, which is little beside the work on it."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def put(self, array: np.ndarray) -> Any:
        """Return an array on the device."""
        return self.torch.from_numpy(np.ascontiguousarray(array)).to("cuda")

    def eigh(self, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues, ascending, and eigenvectors of a symmetric matrix."""
        values, vectors = self.torch.linalg.eigh(self.put(matrix))
        return values.cpu().numpy(), vectors.cpu().numpy()

    def product(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return a matrix product."""
        return (self.put(first) @ self.put(second)).cpu().numpy()


def algebra(device: str) -> Algebra:
    """Return what computes on `device`, or raise where it is not available.

    >>> type(algebra("cpu")).__name__
    'OnProcessor'
    """
    if check_choice(device, DEVICES, "device") == "cpu":
        return OnProcessor()
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise MissingDataError(
            "device='cuda' needs PyTorch", fix="pip install torch, or take device='cpu'"
        ) from None
    if not torch.cuda.is_available():
        raise MissingDataError("PyTorch finds no GPU here", fix="take device='cpu'")
    return OnGPU(torch)
