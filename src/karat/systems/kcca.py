"""Kernel canonical correlation analysis: images and captions in one space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from karat.runs.embeddings import EmbeddingRun
from karat.systems.centring import check_rows
from karat.systems.estimator import Estimator
from karat.systems.kcca_cosines import cosines
from karat.validation import InputError, check_choice

LEARNED = ("correlations_", "image_mean_", "image_weights_", "caption_mean_", "caption_weights_")


class KCCA(Estimator):
    """Regularised kernel canonical correlation analysis of paired items.

    Finds α and β that maximise (Hodosh et al. 2013, eq. 3; Hardoon et al. 2004)

        α' K_x K_y β / √((α' K_x² α + κ α' K_x α) (β' K_y² β + κ β' K_y β))

    for centred kernels K_x and K_y, then the next pair with α_i' (K_x² + κ K_x) α_j = 0, and so on.
    Each direction is scaled to α' (K_x² + κ K_x) α = 1, and the correlations are the values of the
    quotient, so they are below 1 by as much as κ shrinks them. This is the stationarity condition
    (K_x + κI)⁻¹ K_y (K_y + κI)⁻¹ K_x α = ρ² α; no partial Gram–Schmidt is needed, see `KCCAPath`.

    Parameters
    ----------
    kappa
        κ > 0. With `normalise`, it compares with eigenvalues of mean size about 1.
    n
        How many dimensions; None for all. Where there are fewer, because there are fewer items or
        a kernel is singular, those there are (`n_`).
    power
        Both sides' dimensions are multiplied by their correlation to this power before cosines
        are taken: 0 is the paper's plain cosine, 1 trusts strong dimensions more.
    inputs
        "kernels": `fit` takes two training × training kernels and `transform` rows new × training.
        "features": both take feature tables, items × features, for kernels of inner products and
        for `IncompleteCholesky`; κ means the same.
    normalise
        Divide each centred kernel by the mean of its diagonal first (the sum of its positive
        eigenvalues over the number of items), which makes one κ suit both.
    rank
        Keep only this many leading eigenvectors of each kernel.
    device
        "cpu", or "cuda" where PyTorch finds a GPU.

    Attributes
    ----------
    correlations_
        One per dimension, descending.
    image_mean_, image_weights_, caption_mean_, caption_weights_
        A new item's vector is (row − mean) weights.

    Notes
    -----
    Computed in the precision of the inputs, float32 or float64. Negative eigenvalues of a kernel
    that is not semidefinite are dropped. A constant kernel, or a single item, raises.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(50, 3))
    >>> y = x @ rng.normal(size=(3, 3)) + 0.1 * rng.normal(size=(50, 3))
    >>> model = KCCA(kappa=0.1, n=3).fit(x[:40] @ x[:40].T, y[:40] @ y[:40].T)
    >>> model.transform(images=x[40:] @ x[:40].T).shape
    (10, 3)
    >>> scores = model.similarity(x[40:] @ x[:40].T, y[40:] @ y[:40].T)
    >>> int((scores.argmax(axis=1) == np.arange(10)).sum())
    10
    """

    def __init__(
        self,
        kappa: float = 0.1,
        n: int | None = None,
        *,
        power: float = 0.0,
        inputs: str = "kernels",
        normalise: bool = True,
        rank: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.kappa = kappa
        self.n = n
        self.power = power
        self.inputs = inputs
        self.normalise = normalise
        self.rank = rank
        self.device = device

    correlations_: np.ndarray
    image_mean_: np.ndarray
    image_weights_: np.ndarray
    caption_mean_: np.ndarray
    caption_weights_: np.ndarray

    @property
    def n_(self) -> int:
        """How many dimensions there are."""
        self.check_fitted()
        return len(self.correlations_)

    def fit(self, images: Any, captions: Any) -> Self:
        """Learn from the kernels (or features) of paired items: row t of both is training item t."""
        from karat.systems.kcca_path import KCCAPath

        path = KCCAPath(
            (self.kappa,), self.n, inputs=self.inputs, normalise=self.normalise, rank=self.rank,
            device=self.device,
        )  # fmt: skip
        model = path.fit(images, captions).model(self.kappa, self.n)
        for name in LEARNED:
            setattr(self, name, getattr(model, name))
        return self

    def transform(self, images: Any = None, captions: Any = None) -> Any:
        """Return the vectors of new items: of the side that is given, or a pair of tables for both.

        Rows are items; columns are the training items (or the features) in their order.
        """
        self.check_fitted()
        given = [
            (side, rows) for side, rows in (("image", images), ("caption", captions)) if rows is not None
        ]
        if not given:
            raise InputError("nothing to transform", fix="give images=, captions= or both")
        tables = [self._project(side, rows) for side, rows in given]
        return tables[0] if len(tables) == 1 else tuple(tables)

    def _project(self, side: str, rows: Any) -> np.ndarray:
        mean, weights = getattr(self, f"{side}_mean_"), getattr(self, f"{side}_weights_")
        table = check_rows(rows, len(mean), f"the {side} side")
        centred = (table - mean).astype(weights.dtype, copy=False)
        return (centred @ weights) * np.power(self.correlations_, self.power).astype(weights.dtype)

    def similarity(self, images: Any, captions: Any) -> np.ndarray:
        """Return the cosine of every image with every caption (eq. 4)."""
        return cosines(*self.transform(images, captions))

    def run(
        self, images: Any, captions: Any, name: str = "kcca", ids: dict[str, Any] | None = None
    ) -> EmbeddingRun:
        """Return new images and captions as a run, scored by the cosine of their vectors."""
        first, second = self.transform(images, captions)
        return EmbeddingRun(first, second, name, "cosine", ids)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return what was learned as plain arrays, to be saved; see `from_arrays`."""
        self.check_fitted()
        return {name: getattr(self, name) for name in LEARNED}

    @classmethod
    def from_arrays(cls, params: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        """Return the fitted model with these parameters (`get_params`) and arrays (`to_arrays`)."""
        missing = [name for name in LEARNED if name not in arrays]
        if missing:
            raise InputError(f"has no {missing[0]}", where="the saved KCCA", fix="save it with to_arrays")
        model = cls(**params)
        for name in LEARNED:
            setattr(model, name, np.asarray(arrays[name]))
        return model


def check_settings(kappa: float, n: int | None, rank: int | None, inputs: str) -> None:
    """Raise where a parameter cannot be used."""
    check_choice(inputs, ("kernels", "features"), "inputs")
    if not (np.isfinite(kappa) and kappa > 0):
        raise InputError(f"kappa is {kappa}", fix="give a number above 0; without it KCCA fits any pairing")
    for name, value in (("n", n), ("rank", rank)):
        if value is not None and value < 1:
            raise InputError(f"{name} is {value}", fix="give a whole number from 1, or None for all")
