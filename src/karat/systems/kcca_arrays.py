"""Where the linear algebra of KCCA runs: numpy on the processor, or PyTorch on a GPU."""

from __future__ import annotations

import importlib
from typing import Any, Protocol

import numpy as np

from karat.validation import MissingDataError, check_choice

DEVICES = ("cpu", "cuda")


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
    """Return what computes on `device`, or raise where it is not there.

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
