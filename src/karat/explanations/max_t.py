"""Max-T: which of many columns go with a value, with p-values corrected for how many were looked at.

Westfall and Young's max-T (Resampling-Based Multiple Testing, 1993): the values of whole clusters are dealt
out anew, the largest of all standardised statistics is noted each time, and a column counts only if it is
above what these largest ones reach in all but 5% of the deals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._util import track
from karat.errors import InputError
from karat.stats import check_count, check_level, check_seed

BLOCK = 1 << 23
"""How many numbers are held at a time."""


def check_whole(name: str, value: object, largest_value: int | None = None) -> None:
    """Raise unless a number is whole, from 1 on."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < 1 or (largest_value is not None and value > largest_value):  # type: ignore[operator]
        reach = f"from 1 to {largest_value}" if largest_value else "from 1 on"
        raise InputError(f"{name} is {value!r}", fix=f"give a whole number {reach}")


@dataclass(frozen=True)
class MaxT:
    """How a search is corrected for its many columns: its level, and how often values are dealt out."""

    level: float = 0.95
    deals: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_level(self.level)
        check_count("deals", self.deals, usual=1000)
        check_seed(self.seed)


@dataclass(frozen=True, eq=False)
class Controls:
    """What is held constant: an orthonormal basis of columns, the constant among them.

    Parameters
    ----------
    basis
        [queries, number of controls].

    Examples
    --------
    >>> flag = np.array([[1.0, 1.0, 0.0, 0.0]])
    >>> Controls.of(flag).without(np.array([[1.0, 3.0, 5.0, 6.0]])).round(6).tolist()
    [[-1.0, 1.0, -0.5, 0.5]]
    """

    basis: np.ndarray

    @classmethod
    def of(cls, columns: np.ndarray) -> Controls:
        """Return the controls of columns [number, queries], and the constant."""
        size = columns.shape[1]
        return cls(np.full((size, 1), 1 / np.sqrt(size))).extended(columns)

    def extended(self, columns: np.ndarray) -> Controls:
        """Return the controls with further columns; those that follow from others are left out."""
        basis = self.basis
        for column in columns.astype(np.float64):
            left = column
            # Twice, since once leaves rounding errors (Kahan and Parlett).
            for _ in range(2):
                left = left - basis @ (basis.T @ left)
            length = np.linalg.norm(left)
            if length > 1e-6 * np.linalg.norm(column):
                basis = np.c_[basis, left / length]
        return Controls(basis)

    def without(self, rows: np.ndarray) -> np.ndarray:
        """Return rows [..., queries] less what the controls explain of them."""
        return rows - (rows @ self.basis) @ self.basis.T


@dataclass(frozen=True, eq=False)
class Noise:
    """How values spread around what is expected: their variance, and the covariance inside a cluster.

    Parameters
    ----------
    variance, covariance
        Of single queries, and of two queries of one cluster.
    cluster
        The number of each query's cluster, from 0.
    clusters
        How many there are.
    groups, between
        Queries with a common error, booleans [groups, queries] as compressed rows, and its variance.

    Examples
    --------
    Two captions of each of two images, which fail and succeed together:

    >>> noise = Noise.of(np.array([-0.5, -0.5, 0.5, 0.5]), np.array([0, 0, 1, 1]))
    >>> round(noise.variance, 3), round(noise.covariance, 3)
    (0.333, 0.333)
    """

    variance: float
    covariance: float
    cluster: np.ndarray
    clusters: int
    groups: Any = None
    between: float = 0.0

    @classmethod
    def of(cls, residual: np.ndarray, cluster: np.ndarray, controls: int = 1) -> Noise:
        """Return the noise of residuals."""
        clusters = int(cluster.max()) + 1
        sums, sizes = np.bincount(cluster, residual, clusters), np.bincount(cluster, minlength=clusters)
        scale = len(residual) / max(1, len(residual) - controls)
        pairs = (sizes * (sizes - 1)).sum()
        squares = float((residual**2).sum())
        covariance = ((sums**2).sum() - squares) / pairs * scale if pairs else 0.0
        return cls(squares / len(residual) * scale, float(covariance), cluster, clusters)

    def grouped(self, groups: Any, residual: np.ndarray, controls: Controls) -> Noise:
        """Return the noise with a common error of the queries of each group.

        Its variance is that which makes Σ z² over the groups what it is (method of moments):
        E z² = 1 + between · Σ over groups of (shared queries)² / error², without what is held constant.
        """
        error = self.error(groups, controls)
        # Groups that are held constant themselves have no error.
        left = np.flatnonzero(error**2 > 1e-6 * self.variance * np.diff(groups.indptr))
        if not len(left):
            return self
        groups, error = groups[left], error[left]
        along = groups @ controls.basis
        shared = (groups @ groups.T).toarray() - along @ along.T
        excess = ((groups @ residual / error) ** 2 - 1).sum()
        between = excess / ((shared**2).sum(axis=1) / error**2).sum()
        return replace(self, groups=groups, between=max(0.0, float(between)))

    def error(self, columns: Any, controls: Controls) -> np.ndarray:
        """Return the standard deviation of Σ column · residual of columns without their controls, [S].

        The columns are booleans [S, Q] as scipy's compressed rows: most of them hold few queries.
        """
        along = columns @ controls.basis
        squares = np.maximum(np.diff(columns.indptr) - (along**2).sum(axis=1), 0)
        variance = self.variance * squares
        if self.covariance > 0 and self.clusters < columns.shape[1]:
            # Σ over clusters of (number inside − what the controls explain)², multiplied out.
            number = columns @ self._members()
            base = cluster_sums(controls.basis.T, self.cluster, self.clusters)
            together = np.asarray(number.multiply(number).sum(axis=1)).ravel()
            together = together - 2 * (along * (number @ base.T)).sum(axis=1)
            together += ((along @ (base @ base.T)) * along).sum(axis=1)
            variance = variance + self.covariance * np.maximum(together - squares, 0)
        if self.between > 0:
            shared = (columns @ self.groups.T).toarray() - along @ (self.groups @ controls.basis).T
            variance = variance + self.between * (shared**2).sum(axis=1)
        return np.sqrt(variance)

    def _members(self) -> Any:
        """Return which queries each cluster has, as a sparse table [Q, C]."""
        from scipy.sparse import csr_array

        size = len(self.cluster)
        return csr_array((np.ones(size), self.cluster, np.arange(size + 1)), shape=(size, self.clusters))


def compressed(columns: np.ndarray) -> Any:
    """Return booleans [S, Q] as compressed rows of ones."""
    from scipy.sparse import csr_array

    size = columns.shape[1]
    places = np.flatnonzero(columns)
    ptr = np.searchsorted(places, size * np.arange(len(columns) + 1))
    return csr_array((np.ones(len(places), np.float32), places % size, ptr), shape=columns.shape)


def cluster_sums(columns: np.ndarray, cluster: np.ndarray, clusters: int) -> np.ndarray:
    """Return the sums of columns [S, Q] over clusters, [S, C].

    >>> cluster_sums(np.array([[1.0, 2.0, 4.0]]), np.array([1, 0, 1]), 2).tolist()
    [[2.0, 5.0]]
    """
    order = np.argsort(cluster, kind="stable")
    begin = np.searchsorted(cluster[order], np.arange(clusters))
    return np.add.reduceat(columns[:, order], begin, axis=1)


def deals(values: np.ndarray, cluster: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """Return values dealt out anew, [queries, number].

    The values of a cluster go together to another cluster of the same size, in a new order.

    >>> dealt = deals(np.array([1.0, 2.0, 8.0, 9.0]), np.array([0, 0, 1, 1]), 50, np.random.default_rng(0))
    >>> sorted(np.unique(dealt[:2].sum(axis=0)).tolist())
    [3.0, 17.0]
    """
    out = np.empty((number, len(values)), np.float32)
    order = np.argsort(cluster, kind="stable")
    sizes = np.bincount(cluster)
    begin = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]).tolist():
        places = order[begin[sizes == size][:, None] + np.arange(size)]
        own = values[places].astype(np.float32)
        for deal in range(number):
            rows = own[rng.permutation(len(own))]
            out[deal, places] = rng.permuted(rows, axis=1) if size > 1 else rows
    return np.ascontiguousarray(out.T)


def blocks(slices: int, width: int) -> Iterator[slice]:
    """Yield parts of the slices of which so many numbers each fit in memory."""
    step = max(1, BLOCK // max(1, width))
    for begin in range(0, slices, step):
        yield slice(begin, begin + step)


def largest(
    rows: Any, residual: np.ndarray, controls: Controls, noise: Noise, correction: MaxT
) -> tuple[np.ndarray, np.ndarray]:
    """Return the standardised statistic of every column, and the largest absolute one in each deal.

    Parameters
    ----------
    rows
        Booleans [slices, queries], `compressed`.
    residual
        The values without what the controls explain.
    controls, noise
        What is held constant, and how the residuals spread.
    correction
        How many deals, and their seed.

    Returns
    -------
    z, top
        Per column [slices], and per deal [number].
    """
    number = correction.deals
    dealt = deals(residual, noise.cluster, number, np.random.default_rng(correction.seed))
    # What the controls explain of the dealt values by chance goes, as it went from the values themselves.
    basis = controls.basis.astype(np.float32)
    dealt -= basis @ (basis.T @ dealt)
    error = noise.error(rows, controls)
    scale = np.where(error > 1e-6, 1 / np.maximum(error, 1e-12), 0.0)
    top = np.zeros(number)
    for part in track(list(blocks(rows.shape[0], number)), "searching"):
        reached = np.abs(rows[part] @ dealt) * scale[part, None]
        np.maximum(top, reached.max(axis=0), out=top)
    return (rows @ residual) * scale, top


def critical_value(top: np.ndarray, level: float) -> float:
    """Return what the largest statistic exceeds in all deals but 1 − level of them.

    >>> critical_value(np.arange(1.0, 20.0), 0.95)
    19.0
    """
    rank = int(np.ceil(level * (len(top) + 1))) - 1
    if rank >= len(top):
        fewest = int(np.ceil(level / (1 - level)))
        raise InputError(
            f"{len(top)} deals cannot show anything at a level of {level:g}", fix=f"give {fewest}"
        )
    return float(np.sort(top)[rank])


def corrected_p(z: np.ndarray, top: np.ndarray) -> np.ndarray:
    """Return p-values corrected for the search: (b + 1) / (m + 1), with b deals that reach further.

    >>> corrected_p(np.array([1.0, 5.0]), np.array([2.0, 3.0, 0.5])).tolist()
    [0.75, 0.25]
    """
    reach = len(top) - np.searchsorted(np.sort(top), np.abs(z), side="left")
    return (reach + 1) / (len(top) + 1)
