"""Word counts of pictures as the image side reads them: square roots, projected on principal components."""

from __future__ import annotations

from typing import Self

import numpy as np

from karat.errors import InputError

COMPONENTS = 1000


class CountProjection:
    """The principal components of the square roots of counts by `karat.baselines.images.ImageFeatures`.

    Roots make inner products of histograms the Hellinger kernel; cells count by the weight of their level, as
    in the pyramid kernel.

    Parameters
    ----------
    components
        How many are kept; at most one less than there are pictures.

    Attributes
    ----------
    mean_, axes_
        The mean of the roots, and the components, float32 [width] and float16 [width, components].

    Examples
    --------
    >>> counts = np.random.default_rng(0).poisson(3, (8, 21 * 4))
    >>> CountProjection(3).fit(counts, levels=3).transform(counts).shape
    (8, 3)
    """

    mean_: np.ndarray
    axes_: np.ndarray
    levels_: int

    def __init__(self, components: int = COMPONENTS) -> None:
        if components < 1:
            raise InputError(f"components is {components}", fix="give 1 or more")
        self.components = components

    def fit(self, counts: np.ndarray, levels: int = 3) -> Self:
        """Find the components of training pictures' counts, which have `levels` levels."""
        from scipy.linalg import eigh

        self.levels_ = levels
        roots = self._roots(counts)
        self.mean_ = roots.mean(0)
        roots -= self.mean_
        size = len(roots)
        kept = max(1, min(self.components, size - 1))
        values, vectors = eigh(roots @ roots.T, subset_by_index=[size - kept, size - 1])
        values, vectors = np.maximum(values[::-1], 1e-12), vectors[:, ::-1]
        self.axes_ = (roots.T @ (vectors / np.sqrt(values))).astype(np.float16)
        return self

    def transform(self, counts: np.ndarray) -> np.ndarray:
        """Return the components of pictures, float32."""
        return (self._roots(counts) - self.mean_) @ self.axes_.astype(np.float32)

    def _roots(self, counts: np.ndarray) -> np.ndarray:
        from karat.baselines.images import level_weights

        cells = (4**self.levels_ - 1) // 3
        weights = np.repeat(level_weights(self.levels_), 4 ** np.arange(self.levels_))
        roots = np.sqrt(np.asarray(counts, np.float32)).reshape(len(counts), cells, -1)
        roots *= np.sqrt(weights).astype(np.float32)[:, None]
        return roots.reshape(len(counts), -1)
