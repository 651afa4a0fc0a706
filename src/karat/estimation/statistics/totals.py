"""Totals: a sum over all units, estimated from units that were drawn with known probabilities.

A score is such a sum, T = Σ y_i. A unit is a pair (y_i is its weight in the score times its label) or a
whole query (y_i is its value divided by the number of queries), and m_i is what is predicted of it. Batch b
draws from the units O_b that were open before it, unit i with the probability π_i given everything that
happened before, and

    T_b = Σ_{not in O_b} y_i + Σ_{O_b} m_i + Σ_{drawn} (y_i − m_i) / π_i

has the mean T given the past, whatever the predictions are worth. The estimate is Σ_b ω_b T_b, where the
ω_b add up to 1 and

    ω_b ∝ 1 / |O_{b+1}| − 1 / |O_b|,

the inverse of the variance of uniform draws without replacement. docs/estimate-intervals.md has the
sources, and why the variances of the batches add up.

A batch of which only a random part r is answered leaves units of unknown value behind, P_b, that no later
batch can draw. Later batches speak of the rest alone; the batch itself adds

    S_b = Σ_{P_b} m_i + Σ_{answered} (y_i − m_i) (1 − r) / r

to each of them. Its own error becomes that of ω_b T_b + Ω_b S_b, with Ω_b = Σ_{c > b} ω_c, and its π_i the
product of both chances.

Var(T_b | past) is estimated as Hájek (1964) and Deville (1999) do for designs of fixed size and high
entropy: Σ (1 − π_i) (d_i − A)² / (1 − Σ c_i²), with d_i = (y_i − m_i) / π_i, c_i ∝ 1 − π_i and
A = Σ c_i d_i, inside of every stratum.

Predictions are m_i = Σ_k β_k x_ik, with few columns x and the β that minimise the estimated variance. A
drawn unit is predicted with the β of the other units, which takes away the bias of fitting, and makes the
variance that of a jackknife.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from karat.estimation.statistics.draw import Draw

LABELS_PER_COLUMN = 10
"""How many drawn labels, counted by what they are worth, a further column of predictions needs."""
MOST_LEVERAGE = 0.5
"""How much of its own prediction one unit may make, where there is more than a mean to fit."""


@dataclass(frozen=True, eq=False)
class Units:
    """What a total is made of.

    Parameters
    ----------
    weight
        [runs, units]: how much a unit's value counts.
    value
        [runs or 1, units]: NaN where it is unknown.
    cluster
        Per unit, the number of its cluster, from 0; each is its own by default.
    share
        Per cluster, the part of the queries that it has; by default the part of the units.
    noise
        [draws, runs or 1, units]: by how much known values may be off, where annotators err.
    bias
        [runs or 1, units]: by how much they are off on average, where annotators err.
    versions
        [versions, runs or 1, known units]: other values that are possible since the annotators' error rates
        are not known exactly, or by how much they are higher.
    labels
        Whether values are labels, so that a sample may miss the few that are predicted wrongly.
    """

    weight: np.ndarray
    value: np.ndarray
    cluster: np.ndarray = None  # type: ignore[assignment]
    share: np.ndarray = None  # type: ignore[assignment]
    noise: np.ndarray = field(default_factory=lambda: np.zeros((1, 1, 1)))
    bias: np.ndarray | float = 0.0
    versions: np.ndarray = field(default_factory=lambda: np.zeros((0, 1, 1)))
    labels: bool = True

    def __post_init__(self) -> None:
        if self.cluster is None:
            object.__setattr__(self, "cluster", np.arange(self.weight.shape[1]))
        if self.share is None:
            object.__setattr__(self, "share", np.bincount(self.cluster) / max(len(self.cluster), 1))

    @property
    def known(self) -> np.ndarray:
        """Per unit, whether its value is known."""
        return ~np.isnan(self.value).any(axis=0)


@dataclass(frozen=True, eq=False)
class Totals:
    """Estimated totals of several runs, and all that their variances are made of.

    Parameters
    ----------
    value
        Per run.
    moves
        [runs, draws]: what each draw contributes; the sum of the squares of a run, or of the difference of
        two, is the variance of the design.
    single
        [runs, draws]: the same if the number of draws were not fixed.
    clusters
        [runs, clusters]: by how much each cluster moves the total away from what the others say.
    counted
        [units]: how often the value of each unit counts; the noise of labels enters with it.
    coefficients
        [runs, columns]: β, the mean over batches.
    free
        Degrees of freedom that strata and coefficients have used up.
    uncovered
        Per unit, whether neither its value nor a chance of being drawn is known.
    fitted
        [runs, units]: predicted values, as the last batch saw them.
    moved
        [versions, runs]: the totals under other error rates of the annotators.
    """

    units: Units
    value: np.ndarray
    moves: np.ndarray
    single: np.ndarray
    clusters: np.ndarray
    counted: np.ndarray
    coefficients: np.ndarray
    free: int
    uncovered: np.ndarray
    fitted: np.ndarray
    moved: np.ndarray


def draw_weights(draws: Sequence[Draw]) -> np.ndarray:
    """Return ω [draws, units]: 0 where a draw does not cover a unit.

    >>> every, rest = np.ones(4, bool), np.array([False, True, True, True])
    >>> first = Draw(np.array([0]), 1 / 4, covers=every, open=every)
    >>> second = Draw(np.array([1]), 1 / 3, covers=every, open=rest)
    >>> draw_weights([first, second])[:, 0].round(3).tolist()
    [0.333, 0.667]
    """
    covers = np.stack([draw.covers for draw in draws])
    kinds, kind = np.zeros((len(draws), 1), bool) | covers[:, :1], np.zeros(covers.shape[1], np.int64)
    if (covers != covers[:, :1]).any():
        kinds, kind = np.unique(covers, axis=1, return_inverse=True)
    weights = np.zeros(kinds.shape)
    for number in range(kinds.shape[1]):
        inside = kind == number
        for b in np.flatnonzero(kinds[:, number]).tolist():
            still = int((draws[b].open & inside).sum())
            drawn = int(inside[draws[b].rows].sum())
            if still == drawn:
                # Everything is known from here on: no other draw has to say anything.
                weights[:, number] = 0.0
                weights[b, number] = 1.0
                break
            weights[b, number] = 1.0 / (still - drawn) - 1.0 / still
    size = weights.sum(axis=0)
    return (weights / np.where(size > 0, size, 1.0))[:, kind.ravel()]


def pending_weights(omega: np.ndarray, draws: Sequence[Draw]) -> np.ndarray:
    """Return ω with that of pending units moved from later draws to the one that drew them.

    >>> half = Draw(np.array([0]), 0.25, pending=np.array([1]), rate=0.5)
    >>> pending_weights(np.full((2, 4), 0.5), [half, half])[:, :2].tolist()
    [[0.5, 1.0], [0.5, 0.0]]
    """
    omega = omega.copy()
    for b, draw in enumerate(draws):
        omega[b, draw.pending] = omega[b:, draw.pending].sum(axis=0)
        omega[b + 1 :, draw.pending] = 0.0
    return omega


def fit_columns(x: np.ndarray, y: np.ndarray, importance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the β of the columns [k, n] that minimise Σ importance (y − β x)², and the leverage of each y.

    >>> x = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 2.0]])
    >>> beta, leverage = fit_columns(x, np.array([1.0, 3.0, 5.0]), np.ones(3))
    >>> beta.round(3).tolist(), leverage.round(3).tolist()
    ([1.0, 2.0], [0.833, 0.333, 0.833])
    """
    if not len(x) or importance.sum() <= 0:
        return np.zeros(len(x)), np.zeros(x.shape[1])
    squares = (x * importance) @ x.T
    # A trace of a penalty: columns that say the same share their coefficient.
    squares += np.diag(1e-8 * np.maximum(np.diag(squares), 1e-300))
    inverse = np.linalg.inv(squares)
    return inverse @ ((x * importance) @ y), importance * (x * (inverse @ x)).sum(axis=0)


def kish(weight: np.ndarray) -> float:
    """Return how many equal weights are worth as much (Kish 1965).

    >>> kish(np.array([1.0, 1.0, 0.0]))
    2.0
    """
    squares = float((weight**2).sum())
    return float(np.abs(weight).sum()) ** 2 / squares if squares > 0 else 0.0


def fit_predictions(
    units: Units, columns: np.ndarray, rows: np.ndarray, probability: np.ndarray, here: int, ratio: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return fitted values [runs, units], β [runs, columns], and the errors of a draw's units [runs, here].

    Parameters
    ----------
    units, columns, ratio
        As in `estimate_totals`, the columns of one draw.
    rows, probability
        What was drawn until now; the last `here` of them are the draw's own.
    """
    runs = len(units.weight)
    value = np.broadcast_to(units.value, units.weight.shape)
    fitted, coefficients = np.zeros(units.weight.shape), np.zeros((runs, len(columns)))
    errors = np.empty((runs, here))
    # Pairs have one prediction for all runs, so that what two runs share cancels in their difference.
    together = len(units.value) == 1
    for r in range(1 if together else runs):
        size = np.abs(units.weight).sum(axis=0) if together else np.abs(units.weight[r])
        mine = size[rows] != 0
        at, pi = rows[mine], probability[mine]
        importance = size[at] / pi if ratio else size[at] ** 2 * (1 - pi) / pi
        most = 1 + int(kish(importance)) // LABELS_PER_COLUMN
        use = columns[:most, r] if len(columns) else np.zeros((0, units.weight.shape[1]))
        beta, pull = fit_columns(use[:, at], value[r, at], importance)
        while len(use) > 1 and pull.max() > MOST_LEVERAGE:
            # A few units decide what a column counts: the sample says nothing about it.
            use = use[:-1]
            beta, pull = fit_columns(use[:, at], value[r, at], importance)
        every = slice(None) if together else r
        coefficients[every, : len(beta)] = beta
        fitted[every] = beta @ use if len(beta) else 0.0
        own = rows[len(rows) - here :]
        error = value[r, own] - fitted[r, own]
        if not ratio:
            # As if every unit were predicted from the others alone.
            leverage = np.zeros(len(rows))
            leverage[mine] = pull
            error = error / (1 - np.minimum(leverage[len(rows) - here :], 0.9))
        errors[every] = error
    return fitted, coefficients, errors


def estimate_totals(
    units: Units, draws: Sequence[Draw], columns: Sequence[np.ndarray], ratio: bool = False
) -> Totals:
    """Estimate the total of every run.

    Parameters
    ----------
    units
        What is summed up.
    draws
        In order, as `answered` returns them.
    columns
        Per draw, [columns, runs or 1, units]: what predictions are made of.
    ratio
        Fit the first column alone, as Hájek's estimator does, instead of minimising the variance.
    """
    weight, known = units.weight, units.known
    runs, number = weight.shape
    y = weight * units.value
    plain = draw_weights(draws)
    omega = pending_weights(plain, draws)
    total, counted = np.zeros(weight.shape), np.zeros(number)
    fitted = np.zeros(weight.shape)
    coefficients = np.zeros((runs, len(columns[-1]) if len(columns) else 0))
    blank = np.zeros((runs, 0))
    moves, single, free = [blank], [blank], 0
    for b, draw in enumerate(draws):
        share, rows, pi = omega[b], draw.rows, draw.probability
        so_far = draws[: b + 1]
        fitted, beta, error = fit_predictions(
            units,
            columns[b],
            np.concatenate([one.rows for one in so_far]),
            np.concatenate([one.probability for one in so_far]),
            len(rows),
            ratio,
        )
        coefficients += beta * len(rows)
        d = weight[:, rows] * error / pi
        covered = share > 0
        before, inside = covered & ~draw.open, covered & draw.open
        inside[rows] = False
        total[:, before] += (share * weight * units.value)[:, before]
        total[:, inside] += (share * weight * fitted)[:, inside]
        own, later = share[rows], plain[b + 1 :, rows].sum(axis=0)
        left = later * (1 - draw.rate) / draw.rate
        total[:, rows] += own * (y[:, rows] + d * (1 - pi)) + left * d * pi
        counted[before] += share[before]
        counted[rows] += own / pi + left
        if len(rows):
            # The variance of both draws, that of the batch and that of its answered part.
            both = left * pi * (2 * own + later * pi / draw.rate)
            scale = np.sqrt(own**2 + both / np.where(pi < 1, 1 - pi, 1.0))
            together = rows if draw.unit == "pair" else draw.query
            names, first, member = np.unique(together, return_index=True, return_inverse=True)
            sums = np.stack([np.bincount(member, row, len(names)) for row in scale * d])
            move, strata = centred(sums, pi[first], draw.stratum[first])
            moves.append(move)
            single.append(sums * np.sqrt(1 - pi[first]))
            free += strata
    never = known & ~(omega.sum(axis=0) > 0)
    total[:, never] = y[:, never]
    counted[never] = 1.0
    could_be_drawn = ((omega > 0) & np.stack([draw.open for draw in draws])).any(axis=0)
    uncovered = ~known & ~could_be_drawn
    total[:, uncovered] = (weight * fitted)[:, uncovered]
    sums = np.stack([np.bincount(units.cluster, row, len(units.share)) for row in total])
    score = sums.sum(axis=1)
    return Totals(
        units,
        score,
        np.concatenate(moves, axis=1),
        np.concatenate(single, axis=1),
        sums - score[:, None] * units.share,
        counted,
        coefficients / max(sum(map(len, draws)), 1),
        free + max(coefficients.shape[1] - 1, 0),
        uncovered,
        fitted,
        # The total is linear in the values, as long as predictions stay.
        ((weight * counted)[:, known] * units.versions).sum(axis=-1),
    )


def centred(d: np.ndarray, probability: np.ndarray, stratum: np.ndarray) -> tuple[np.ndarray, int]:
    """Return what each draw contributes [runs, draws], by Hájek's and Deville's formula, and the strata.

    A stratum of one draw is merged with the next.

    >>> moves, strata = centred(np.array([[2.0, 6.0]]), np.full(2, 0.5), np.zeros(2, int))
    >>> float((moves**2).sum()), strata  # N² (1 − f) s² / n with N = 4, y = 1 and 3
    (8.0, 1)
    """
    _, part, count = np.unique(stratum, return_inverse=True, return_counts=True)
    # A new stratum begins where the draws since the last beginning are at least two, and two or more follow.
    begins, since = np.zeros(len(count), np.int64), 2
    for h in range(len(count)):
        begins[h] = since >= 2 and count[h:].sum() >= 2 and h > 0
        since = count[h] if begins[h] or h == 0 else since + count[h]
    part = np.cumsum(begins)[part]
    strata = int(part.max()) + 1
    rest = 1 - probability
    size = np.bincount(part, rest, strata)
    share = np.where(size[part] > 0, rest / np.where(size > 0, size, 1.0)[part], 0.0)
    middle = np.stack([np.bincount(part, row, strata) for row in share * d])
    lost = 1 - np.bincount(part, share**2, strata)
    scale = np.where(lost > 1e-12, 1 / np.where(lost > 1e-12, lost, 1.0), 1.0)
    return (d - middle[:, part]) * np.sqrt(rest * scale[part]), strata
