"""KCCA for many regularisations and numbers of dimensions at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from karat.runs import MatrixRun
from karat.systems.centring import as_floats
from karat.systems.estimator import Estimator
from karat.systems.kcca import KCCA, check_settings
from karat.systems.kcca_arrays import algebra
from karat.systems.kcca_cosines import check_dimensions, nested_cosines
from karat.systems.kcca_sides import SIDES, Decomposed, paired
from karat.systems.kcca_solve import Solution, solve
from karat.systems.kcca_views import VIEWS, View
from karat.validation import InputError


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
    images_: View
    captions_: View

    def decompose(self, items: Any, what: str = "one side") -> Decomposed:
        """Return the eigendecomposition of one side, which `fit` takes in that side's place.

        Fits that share their images, say, then share that work. `inputs` must be the same; the two
        sides may have other ranks.
        """
        check_settings(1.0, self.n, self.rank, self.inputs)
        table = as_floats(items, what)
        return Decomposed(*VIEWS[self.inputs](table, what, self.normalise, self.rank, algebra(self.device)))

    def fit(self, images: Any, captions: Any) -> Self:
        """Learn from the kernels (or features) of paired items: row t of both is training item t."""
        kappas = [float(kappa) for kappa in self.kappas]
        if not kappas:
            raise InputError("no kappa was given", fix="give at least one")
        for kappa in kappas:
            check_settings(kappa, self.n, self.rank, self.inputs)
        compute = algebra(self.device)
        first, second = (
            side if isinstance(side, Decomposed) else self.decompose(side, what)
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
            known = ", ".join(f"{one:g}" for one in self.solutions_)
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
        wanted = {(float(kappa), int(n)) for kappa, n in settings}
        tables: dict[tuple[float, int], np.ndarray] = {}
        for kappa in sorted({kappa for kappa, _ in wanted}):
            ns = [n for one, n in wanted if one == kappa]
            for _, n, table in self.scores(images, captions, ns, [kappa], power):
                tables[kappa, n] = table
        return [
            MatrixRun(tables[float(kappa), int(n)], f"kcca κ={kappa:g} n={n}", ids) for kappa, n in settings
        ]
