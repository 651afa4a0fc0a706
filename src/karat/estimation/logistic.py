"""Logistic regression as the estimators need it: an intercept per query, refitted after every batch.

scikit-learn gives the same coefficients (one column per query, its `C`), but every refit pays for checking
its input and for a general solver. Here the intercepts are eliminated from Newton's steps, so that a step
costs hardly more with 10,000 queries than with ten; and the spread of the intercepts can be learned.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat._util import Param, one_of, positive

STEPS = 50
TOLERANCE = 1e-10
"""Newton's steps end when one promises to improve the objective by less than this."""
SMALLEST, LARGEST = 1e-4, 25.0
"""Limits of a learned variance."""
FEWEST = 8
"""How many vetted pairs a query needs to get a model of its own."""


BY = Param(
    "by",
    one_of("pooled", "query"),
    f"pooled: one model for all queries, each with an intercept; query: one for each that has {FEWEST} "
    "vetted pairs of both labels",
    "pooled",
)
C = Param(
    "C", positive, "the variance of the coefficients' normal prior; a small one is a strong penalty", 1.0
)


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """A fitted model: the logit of a row is its query's intercept plus slope · features.

    Parameters
    ----------
    intercept
        Of each query.
    slope
        Of each feature.
    spread
        The variance of the intercepts around their mean, given or learned.
    """

    intercept: np.ndarray
    slope: np.ndarray
    spread: float

    def logit(self, x: np.ndarray, query: np.ndarray) -> np.ndarray:
        """Return the logits of rows [n, F] of given queries."""
        return self.intercept[query] + x @ self.slope


def sigmoid(logit: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(−logit)), without overflow.

    >>> sigmoid(np.array([0.0, -1000.0])).tolist()
    [0.5, 0.0]
    """
    return 0.5 * (1.0 + np.tanh(0.5 * logit))


def fit_logistic(
    x: np.ndarray,
    z: np.ndarray,
    query: np.ndarray,
    queries: int,
    *,
    variance: float = 1.0,
    spread: float = 1.0,
    learn_spread: bool = False,
) -> LogisticFit:
    """Fit the logit of z as mean + intercept of the query + slope · x, by penalised maximum likelihood.

    Parameters
    ----------
    x, z
        Features [n, F] and labels; both labels occur.
    query, queries
        The query of each row, and how many there are. Queries without rows get the mean.
    variance
        Of the normal prior of the slopes: scikit-learn's C.
    spread
        The same of the intercepts; 0 gives all queries the same. The mean has no penalty.
    learn_spread
        Choose the spread by the data: the fixed point of Σ b² / (number of intercepts that the data
        determine), which maximises the marginal likelihood (MacKay 1992; Fellner 1986).

    Examples
    --------
    >>> x, z = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> fit = fit_logistic(x, z, np.zeros(4, int), 1, spread=0)
    >>> fit.slope.round(3).tolist(), fit.intercept.round(3).tolist()
    ([0.453], [-0.679])
    """
    z = np.asarray(z, dtype=np.float64)
    seen, group = np.unique(query, return_inverse=True)
    share = z.mean()
    dense = np.column_stack([np.ones(len(z)), x])
    ridge = np.r_[0.0, np.full(x.shape[1], 1.0 / variance)]
    state = np.zeros(dense.shape[1]), np.zeros(len(seen))
    state[0][0] = np.log(share / (1.0 - share))
    rounds = 12 if learn_spread and len(seen) > 1 else 1
    for turn in range(rounds):
        coef, shift, uncertain = maximise(dense, z, group, ridge, spread, state)
        if turn < rounds - 1:
            determined = len(seen) - (uncertain / spread).sum()
            learned = np.clip((shift @ shift) / max(determined, 1e-9), SMALLEST, LARGEST)
            if abs(np.log(learned / spread)) < 0.01:
                break
            spread, state = float(learned), (coef, shift)
    intercept = np.full(queries, coef[0])
    intercept[seen] += shift
    return LogisticFit(intercept, coef[1:], spread)


def maximise(
    dense: np.ndarray,
    z: np.ndarray,
    group: np.ndarray,
    ridge: np.ndarray,
    spread: float,
    start: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the coefficients, the intercepts around their mean, and the variances of these."""
    coef, shift = (part.copy() for part in start)
    groups = len(shift)

    def objective(coef: np.ndarray, shift: np.ndarray) -> tuple[float, np.ndarray]:
        logit = dense @ coef + shift[group]
        penalty = 0.5 * (ridge @ coef**2) + (0.5 * (shift @ shift) / spread if spread else 0.0)
        return float(z @ logit - np.logaddexp(0.0, logit).sum() - penalty), logit

    value, logit = objective(coef, shift)
    for _ in range(STEPS):
        p = sigmoid(logit)
        weight = p * (1.0 - p)
        slope = dense.T @ (z - p) - ridge * coef
        hessian = (dense.T * weight) @ dense + np.diag(ridge + 1e-10)
        if spread:
            own = np.bincount(group, weight, groups) + 1.0 / spread
            own_slope = np.bincount(group, z - p, groups) - shift / spread
            # [G, F + 1]: how the intercept of a query and the other coefficients depend on each other.
            mixed = np.stack([np.bincount(group, weight * column, groups) for column in dense.T], axis=1)
            scaled = mixed / own[:, None]
            reduced = np.linalg.inv(hessian - mixed.T @ scaled)
            step = reduced @ (slope - scaled.T @ own_slope)
            shift_step = own_slope / own - scaled @ step
            gain = slope @ step + own_slope @ shift_step
        else:
            step = np.linalg.solve(hessian, slope)
            shift_step = np.zeros(groups)
            gain = slope @ step
        length = 1.0
        while True:
            new = objective(coef + length * step, shift + length * shift_step)
            if new[0] >= value + 1e-4 * length * gain or length < 1e-6:
                break
            length /= 2
        coef, shift = coef + length * step, shift + length * shift_step
        value, logit = new
        if gain < TOLERANCE:
            break
    if not spread:
        return coef, shift, shift
    return coef, shift, 1.0 / own + np.einsum("gf,fh,gh->g", scaled, reduced, scaled)


def fit_each(
    x: np.ndarray, z: np.ndarray, query: np.ndarray, queries: int, *, variance: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a model of its own for each query; return intercepts [Q] and slopes [Q, F].

    A query whose vetted pairs do not hold both labels gets NaN.

    Examples
    --------
    >>> x, z = np.array([[0.0], [1.0], [2.0], [3.0], [0.0]]), np.array([0, 1, 0, 1, 1])
    >>> intercept, slope = fit_each(x, z, np.array([0, 0, 0, 0, 1]), 2)
    >>> slope.round(3).tolist()
    [[0.453], [nan]]
    """
    z = np.asarray(z, dtype=np.float64)
    order = np.argsort(query, kind="stable")
    positives, rows = np.bincount(query, z, queries), np.bincount(query, minlength=queries)
    both = (positives > 0) & (positives < rows)
    order = order[both[query[order]]]
    width = x.shape[1] + 1
    coef = np.full((queries, width), np.nan)
    if len(order):
        dense = np.column_stack([np.ones(len(order)), x[order]])
        z, group = z[order], np.cumsum(both)[query[order]] - 1
        first = np.flatnonzero(np.r_[True, np.diff(group) > 0])
        ridge = np.r_[0.0, np.full(width - 1, 1.0 / variance)]
        now = np.zeros((len(first), width))
        share = positives[both] / rows[both]
        now[:, 0] = np.log(share / (1.0 - share))

        def objective(now: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            logit = np.einsum("nf,nf->n", dense, now[group])
            gain = np.add.reduceat(z * logit - np.logaddexp(0.0, logit), first)
            return gain - 0.5 * (now**2 @ ridge), logit

        value, logit = objective(now)
        for _ in range(STEPS):
            p = sigmoid(logit)
            slope = np.add.reduceat((z - p)[:, None] * dense, first) - ridge * now
            outer = (p * (1.0 - p))[:, None, None] * dense[:, :, None] * dense[:, None, :]
            step = np.linalg.solve(np.add.reduceat(outer, first) + np.diag(ridge + 1e-10), slope[:, :, None])[
                :, :, 0
            ]
            gain = (slope * step).sum(1)
            length = np.ones(len(first))
            while True:
                new_value, logit = objective(now + length[:, None] * step)
                short = (new_value < value + 1e-4 * length * gain) & (length > 1e-6)
                if not short.any():
                    break
                length[short] /= 2
            now, value = now + length[:, None] * step, new_value
            if (gain < TOLERANCE).all():
                break
        coef[both] = now
    return coef[:, 0], coef[:, 1:]


def fitted_probabilities(
    x: np.ndarray,
    query: np.ndarray,
    queries: int,
    rows: np.ndarray,
    z: np.ndarray,
    *,
    by: str = "pooled",
    variance: float = 1.0,
    learn_spread: bool = False,
) -> np.ndarray:
    """Return the probability that each candidate is relevant, by a model that is fitted to the vetted rows.

    Parameters
    ----------
    x, query, queries
        The features [J, F] and the query of every candidate; how many queries there are.
    rows, z
        The candidates to learn from, and their labels. Where all are the same there is no slope to learn: all
        candidates get the same probability, with half a label of each kind added.
    by, variance, learn_spread
        See `BY` and `fit_logistic`. The intercepts have the variance of the slopes unless it is learned.
    """
    if z.min() == z.max():
        return np.full(len(x), (z.sum() + 0.5) / (len(z) + 1))
    seen = x[rows], z, query[rows], queries
    pooled = fit_logistic(*seen, variance=variance, spread=variance, learn_spread=learn_spread)
    logit = pooled.logit(x, query)
    if by == "query":
        intercept, slope = fit_each(*seen, variance=variance)
        own = np.isfinite(intercept) & (np.bincount(query[rows], minlength=queries) >= FEWEST)
        logit = np.where(own[query], intercept[query] + np.einsum("jf,jf->j", x, slope[query]), logit)
    return sigmoid(logit)
