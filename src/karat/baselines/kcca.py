"""Kernel canonical correlation analysis: images and captions in one space.

`KCCA` is one model. `KCCAPath` is many, for several regularisations and numbers of dimensions at once; it
does the work for both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from karat._util import check_choice
from karat.baselines.estimator import Estimator
from karat.baselines.kcca_algebra import (
    SIDES,
    VIEWS,
    DecomposedSide,
    KCCAView,
    Solution,
    algebra,
    paired,
    solve,
)
from karat.baselines.kernel_matrix import as_floats, check_rows
from karat.errors import InputError
from karat.models import check_dimensions, cosines, nested_cosines
from karat.runs import EmbeddingRun, MatrixRun

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
        sides = [
            (side, rows) for side, rows in (("image", images), ("caption", captions)) if rows is not None
        ]
        if not sides:
            raise InputError("nothing to transform", fix="give images=, captions= or both")
        tables = [self._project(side, rows) for side, rows in sides]
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


class KCCAPath(Estimator):
    """KCCA for several κ, each with every number of dimensions, from two shared eigendecompositions.

    With the centred kernels K_x = U diag(a) U' and K_y = V diag(b) V', put
    α = U diag(a (a + κ))^−½ p and β = V diag(b (b + κ))^−½ q. Equation 3 of `KCCA` then reads

        maximise p' M q with p'p = q'q = 1,   M = diag(a / (a + κ))^½ U'V diag(b / (b + κ))^½

    so that all canonical directions are the singular vectors of M and the correlations its
    singular values. U, V and U'V do not depend on κ, and the first n directions are the same
    whatever n is. The singular vectors come from the eigenvectors of M M' or M'M, whichever is
    smaller, which is several times faster than a singular value decomposition; directions whose
    correlation rounding alone could have made (about 10⁻⁶, in single precision 10⁻²) are left out.

    Parameters
    ----------
    kappas
        The regularisations; those of Hodosh et al. (2013, §4.1.3) by default.
    n
        The most dimensions to keep; None for all there are.
    inputs, normalise, rank, device
        See `KCCA`.

    Attributes
    ----------
    solutions_
        By κ: the correlations and the directions.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.normal(size=(30, 2))
    >>> x, y = (np.c_[shared, rng.normal(size=(30, 2))] @ rng.normal(size=(4, 4)) for _ in range(2))
    >>> path = KCCAPath(kappas=(0.1, 1.0)).fit(x @ x.T, y @ y.T)
    >>> path.solutions_[0.1].correlations.round(2).tolist()
    [0.95, 0.7, 0.17, 0.02]
    >>> scores = {(kappa, n): table for kappa, n, table in path.scores(x @ x.T, y @ y.T, ns=(1, 2))}
    >>> sorted(scores)
    [(0.1, 1), (0.1, 2), (1.0, 1), (1.0, 2)]
    >>> model = path.model(kappa=1.0, n=2)
    >>> bool(np.allclose(model.similarity(x @ x.T, y @ y.T), scores[1.0, 2]))
    True
    """

    def __init__(
        self,
        kappas: Sequence[float] = (0.1, 0.5, 1.0, 5.0),
        n: int | None = None,
        *,
        inputs: str = "kernels",
        normalise: bool = True,
        rank: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.kappas = kappas
        self.n = n
        self.inputs = inputs
        self.normalise = normalise
        self.rank = rank
        self.device = device

    solutions_: dict[float, Solution]
    images_: KCCAView
    captions_: KCCAView

    def decompose(self, items: Any, what: str = "one side") -> DecomposedSide:
        """Return the eigendecomposition of one side, which `fit` takes in that side's place.

        Fits that share their images, say, then share that work. `inputs` must be the same; the two
        sides may have other ranks.
        """
        check_settings(1.0, self.n, self.rank, self.inputs)
        table = as_floats(items, what)
        return DecomposedSide(
            *VIEWS[self.inputs](table, what, self.normalise, self.rank, algebra(self.device))
        )

    def fit(self, images: Any, captions: Any) -> Self:
        """Learn from the kernels (or features) of paired items: row t of both is training item t."""
        kappas = [float(kappa) for kappa in self.kappas]
        if not kappas:
            raise InputError("no kappa was given", fix="give at least one")
        for kappa in kappas:
            check_settings(kappa, self.n, self.rank, self.inputs)
        compute = algebra(self.device)
        first, second = (
            side if isinstance(side, DecomposedSide) else self.decompose(side, what)
            for side, what in zip(paired(images, captions), SIDES)
        )
        views = first.view, second.view
        shared = compute.product(first.unit.T, second.unit)
        del first, second  # as large as the kernels
        variances = views[0].variance, views[1].variance
        solutions = {kappa: solve(shared, *variances, kappa, self.n, compute) for kappa in kappas}
        self.images_, self.captions_, self.solutions_ = *views, solutions
        return self

    def _solution(self, kappa: float) -> Solution:
        self.check_fitted()
        if float(kappa) not in self.solutions_:
            known = ", ".join(f"{fitted:g}" for fitted in self.solutions_)
            raise InputError(f"kappa {kappa:g} was not fitted", fix=f"choose one of {known}")
        return self.solutions_[float(kappa)]

    def model(self, kappa: float, n: int | None = None, power: float = 0.0) -> KCCA:
        """Return the fitted KCCA of one setting; `n` beyond what there is gives all there is."""
        solution = self._solution(kappa)
        model = KCCA(
            kappa, n, power=power, inputs=self.inputs, normalise=self.normalise, rank=self.rank,
            device=self.device,
        )  # fmt: skip
        check_settings(kappa, n, self.rank, self.inputs)
        compute = algebra(self.device)
        model.correlations_ = solution.correlations[:n]
        for side in ("image", "caption"):
            view, directions = getattr(self, f"{side}s_"), getattr(solution, f"{side}s")
            setattr(model, f"{side}_mean_", view.mean)
            setattr(model, f"{side}_weights_", compute.product(view.basis, directions[:, :n]))
        return model

    def scores(
        self,
        images: Any,
        captions: Any,
        ns: Sequence[int],
        kappas: Sequence[float] | None = None,
        power: float = 0.0,
    ) -> Iterator[tuple[float, int, np.ndarray]]:
        """Yield κ, n and the cosines of new images with new captions, for every κ and n.

        All n together take one matrix product per κ. An n beyond the number of dimensions of a κ
        gives the scores of all that it has.
        """
        self.check_fitted()
        most = check_dimensions(ns)[-1]
        solutions = [(float(k), self._solution(k)) for k in (self.solutions_ if kappas is None else kappas)]
        compute = algebra(self.device)
        x, y = (
            view.coordinates(rows, compute)
            for view, rows in ((self.images_, images), (self.captions_, captions))
        )
        for kappa, solution in solutions:
            weight = np.power(solution.correlations[:most], power).astype(x.dtype)
            first = compute.product(x, solution.images[:, :most]) * weight
            second = compute.product(y, solution.captions[:, :most]) * weight
            for n, table in nested_cosines(first, second, ns):
                yield kappa, n, table

    def runs(
        self,
        images: Any,
        captions: Any,
        settings: Sequence[tuple[float, int]],
        power: float = 0.0,
        ids: dict[str, Any] | None = None,
    ) -> list[MatrixRun]:
        """Return a run per setting (κ, n), in the given order; much cheaper than a `model` for each."""
        numbers: dict[float, set[int]] = {}
        for kappa, n in settings:
            numbers.setdefault(float(kappa), set()).add(int(n))
        tables: dict[tuple[float, int], np.ndarray] = {}
        for kappa, ns in sorted(numbers.items()):
            for _, n, table in self.scores(images, captions, sorted(ns), [kappa], power):
                tables[kappa, n] = table
        return [
            MatrixRun(tables[float(kappa), int(n)], f"kcca κ={kappa:g} n={n}", ids) for kappa, n in settings
        ]


def check_settings(kappa: float, n: int | None, rank: int | None = None, inputs: str = "kernels") -> None:
    """Raise where a parameter cannot be used."""
    check_choice(inputs, tuple(VIEWS), "inputs")
    if not (np.isfinite(kappa) and kappa > 0):
        raise InputError(f"kappa is {kappa}", fix="give a number above 0; without it KCCA fits any pairing")
    for name, value in (("n", n), ("rank", rank)):
        if value is not None and value < 1:
            raise InputError(f"{name} is {value}", fix="give a whole number of 1 or more, or None for all")
