"""Intervals: from estimated totals to scores, or differences of two, with the ends of their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat._util import check_choice
from karat.errors import InputError
from karat.estimation.statistics.draw import Draw, answered, known_from
from karat.estimation.statistics.totals import Totals, Units, estimate_totals, kish
from karat.stats import BORDER, FEWEST, Estimate, check_level, exact_share, unseen_share

TARGETS = {
    "test_set": "this test set: the score that fully vetted labels would give on these queries",
    "population": "queries like these: the score on other queries of the same kind",
}
"""What is estimated, in words."""
DRAWN_METHODS = ("difference", "hajek", "horvitz_thompson")
"""How drawn labels are used: to correct predictions, or alone."""
LEAST_FREE = 3.0
"""The fewest degrees of freedom that the spread of the contributions can lead to."""


class LabelEstimate(Estimate):
    """An estimate from labels; the effective number counts them by what they are worth (Kish 1965)."""

    def __repr__(self) -> str:
        return super().__repr__().replace(f" in {self.effective:,} clusters", f" worth {self.effective:,}")

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


def estimate_mean(
    label: np.ndarray,
    predicted: np.ndarray | None = None,
    probability: float | np.ndarray | None = None,
    *,
    weight: np.ndarray | None = None,
    minus: np.ndarray | None = None,
    stratum: np.ndarray | None = None,
    draws: Sequence[Draw] | None = None,
    cluster: np.ndarray | None = None,
    target: str = "test-set",
    method: str = "difference",
    level: float = 0.95,
) -> LabelEstimate:
    """Estimate the mean of labels of which a part is known, with an interval that follows from the draws.

    The statistics of `karat estimate` on plain arrays, without runs and benchmarks: of N units some were
    drawn at random with known probabilities, and labelled. T = Σ w_i m_i + Σ_drawn w_i (z_i − m_i) / π_i,
    with predictions m that are scaled to fit the drawn labels (Särndal, Swensson and Wretman 1992; PPI++,
    Angelopoulos, Duchi and Zrnic 2023); `karat.estimation.statistics.totals` has the derivation.

    Parameters
    ----------
    label
        Per unit, a number from 0 to 1, such as 1 for a relevant pair; NaN where it is not labelled.
    predicted
        Per unit, what is believed of its label: a machine judge, a model; [units], or [predictions, units].
        It must not have learned from the unit's own label. Wrong ones cost width; with ones that are nearly
        always right, few labels may give too narrow an interval (docs/estimate-arrays.md).
    probability
        With which probability each unit was drawn: one number, or one per unit, of which those of labelled
        units are read. By default labels are a simple random sample.
    weight
        How much each unit counts; 1 / N by default.
    minus
        Weights of a second score over the same units, which is subtracted: the estimate is of the difference.
    stratum
        Per unit, where a fixed number was drawn of each part.
    draws
        In place of `probability` and `stratum`, what was drawn, in order, where that happened in several
        steps, each from what was left.
    cluster
        Per unit, what it belongs to, such as its image; each is its own by default. For "population" alone.
    target
        "test-set": these N units. "population": what they are a sample of.
    method
        "difference", or without predictions "hajek" and "horvitz-thompson".
    level
        How often the interval should hold.

    Returns
    -------
    LabelEstimate

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> proxy = rng.random(2000)
    >>> label = (rng.random(2000) < proxy) * 1.0
    >>> label[rng.permutation(2000)[200:]] = np.nan
    >>> estimate_mean(label)
    0.47 (0.4035 to 0.5365, 95% difference, n = 200)
    >>> estimate_mean(label, proxy)
    0.4608 (0.4078 to 0.5137, 95% difference, n = 200)
    """
    kind = check_choice(method, DRAWN_METHODS, "method of the intervals")
    about = check_choice(target, list(TARGETS), "target")
    label = np.asarray(label, dtype=np.float64)
    known = ~np.isnan(label)
    if not known.any() or not ((label[known] >= 0) & (label[known] <= 1)).all():
        raise InputError(
            "labels are numbers from 0 to 1, NaN where there is none, and at least one is needed",
            fix="give 1 for what is relevant, 0 for what is not",
        )
    proxies = np.zeros((0, len(label))) if predicted is None else np.atleast_2d(predicted).astype(np.float64)
    if proxies.shape[1:] != label.shape or not np.isfinite(proxies).all():
        raise InputError(
            "predictions are not one finite number per unit", fix=f"give {len(label):,}, as many as labels"
        )
    rows = np.flatnonzero(known)
    if draws is None:
        chance = len(rows) / len(label) if probability is None else probability
        pi = np.broadcast_to(np.asarray(chance, dtype=np.float64), label.shape)[rows]
        draws = [Draw(rows, pi, -1 if stratum is None else np.asarray(stratum)[rows])]  # type: ignore[arg-type]
    since = known_from(len(label), rows, np.zeros(len(rows), np.int64), draws)
    told = list(answered(draws, since).values())
    if not told:
        raise InputError(
            "too few of what was drawn is labelled for an interval", fix=f"label {FEWEST} or more"
        )
    own = np.unique(np.arange(len(label)) if cluster is None else cluster, return_inverse=True)[1]
    weights = [np.full(len(label), 1 / len(label)) if weight is None else weight, minus]
    units = Units(np.array([some for some in weights if some is not None], np.float64), label[None], own)
    columns = np.concatenate([np.ones((1, len(label))), proxies if kind == "difference" else proxies[:0]])
    columns = columns[: 0 if kind == "horvitz_thompson" else None, None]
    totals = estimate_totals(units, told, [columns] * len(told), ratio=kind == "hajek")
    return interval(totals, 0, None if minus is None else 1, target=about, method=method, level=level)


def interval(
    totals: Totals, a: int, b: int | None = None, *, target: str, method: str, level: float
) -> LabelEstimate:
    """Return the total of a run, or the difference of two, with its interval.

    Parameters
    ----------
    totals
        As `estimate_totals` returns them.
    a, b
        The numbers of the runs; without `b` the total of one.
    target
        One of TARGETS.
    method
        How it was made, for the result.
    level
        How often the interval should hold.
    """
    check_level(level)
    units, value = totals.units, float(contrast(totals.value, a, b))
    weight = weight_of(units, a, b)
    known = units.known & (weight != 0)
    low, high = limits(totals, a, b, target)
    ends = interval_ends(totals, a, b, target, level)
    if known.sum() < FEWEST and (weight[~units.known] != 0).any():
        ends = (np.nan, np.nan)
    return LabelEstimate(
        float(np.clip(value, low, high)),
        *ends,
        level,
        method,
        int(known.sum()),
        round(kish(np.abs(weight * totals.counted)[known])),
    )


def contrast(per_run: np.ndarray, a: int, b: int | None) -> np.ndarray:
    """Return the row of a run, or the difference of two rows."""
    return per_run[a] if b is None else per_run[a] - per_run[b]


def weight_of(units: Units, a: int, b: int | None) -> np.ndarray:
    """Return how much each unit counts. Queries count for a difference as for a score: values differ."""
    return units.weight[a] if len(units.value) > 1 else contrast(units.weight, a, b)


def variance_of(totals: Totals, a: int, b: int | None, target: str) -> tuple[float, float]:
    """Return the variance of a total, or of a difference, and its degrees of freedom."""
    units = totals.units
    moves = contrast(totals.moves, a, b)
    design, free = spread(moves, len(moves) - totals.free, unseen=units.labels)
    parts = [(design, free)]
    if target == "population":
        clusters = contrast(totals.clusters, a, b)
        count = len(clusters)
        between, free = spread(clusters * np.sqrt(count / max(count - 1, 1)), count - 1)
        fixed = design - float((contrast(totals.single, a, b) ** 2).sum())
        parts = [(max(between + fixed, design), free)]
    else:
        noise = contrast((units.weight * units.noise).transpose(1, 0, 2), a, b)
        parts.append((float(((noise**2).mean(axis=0) * totals.counted).sum()), np.inf))
    # Subtracting the bias would add more to the variance, unless hundreds of queries are drawn.
    bias = (contrast(units.weight * units.bias, a, b) * totals.counted).sum()
    parts.append((float(bias) ** 2, np.inf))
    if len(totals.moved) > 1:
        parts.append((float(contrast(totals.moved.T, a, b).var(ddof=1)), len(totals.moved) - 1.0))
    total = sum(part for part, _ in parts)
    lost = sum(part**2 / freedom for part, freedom in parts)
    return total, total**2 / lost if lost > 0 else np.inf


def limits(totals: Totals, a: int, b: int | None, target: str) -> tuple[float, float]:
    """Return what the total, or the difference, can be at all."""
    units = totals.units
    if target == "population" or units.noise.any():
        return (0.0 if b is None else -1.0), 1.0
    sure = np.nansum(np.where(units.known, units.weight * units.value, 0.0), axis=1)
    rest = np.where(units.known, 0.0, units.weight)
    if b is None:
        return float(sure[a]), float(sure[a] + rest[a].sum())
    apart = float(sure[a] - sure[b])
    if len(units.value) > 1:
        return apart - float(rest[b].sum()), apart + float(rest[a].sum())
    rest = rest[a] - rest[b]
    return apart + float(np.minimum(rest, 0).sum()), apart + float(np.maximum(rest, 0).sum())


def interval_ends(totals: Totals, a: int, b: int | None, target: str, level: float) -> tuple[float, float]:
    """Return the ends of the interval."""
    from scipy.special import ndtri, stdtrit

    value, weight, known = (
        float(contrast(totals.value, a, b)),
        weight_of(totals.units, a, b),
        totals.units.known,
    )
    variance, free = variance_of(totals, a, b, target)
    tail = (1 + level) / 2
    t = float(stdtrit(max(free, 1.0), tail)) if np.isfinite(free) else float(ndtri(tail))
    low, high = limits(totals, a, b, target)
    if variance <= 1e-18:
        # No two draws differ in what they say: others may have gone unseen.
        labelled = int((known & (weight != 0)).sum())
        reach = unseen_share(max(labelled, 1), level) * float(np.abs(weight[~known]).sum())
        ends = value - reach, value + reach
    else:
        reach = t * np.sqrt(variance)
        ends = value - reach, value + reach
        inside = min(max(value, 0.0), 1.0)
        if b is None and 0 < inside < 1:
            size = inside * (1 - inside) / variance
            if size * min(inside, 1 - inside) < BORDER:
                ends = exact_share(inside, size * (float(ndtri(tail)) / t) ** 2, level)
    unknown = totals.uncovered
    if unknown.any():
        w = weight[unknown]
        m = np.clip(totals.fitted[a][unknown], 0.0, 1.0)
        ends = (
            ends[0] - float(np.maximum(w * m, w * (m - 1)).sum()),
            ends[1] + float(np.maximum(w * (1 - m), -w * m).sum()),
        )
    return max(low, ends[0]), min(high, ends[1])


def spread(moves: np.ndarray, most_free: float, unseen: bool = False) -> tuple[float, float]:
    """Return the sum of squares and its degrees of freedom, by its own variance (Satterthwaite 1946).

    Good predictions of labels leave many small errors and a few large ones, of which a sample may miss some.
    It then shows too small a variance, and too little doubt about it: the squares that it has look alike.
    With `unseen`, one more square like the largest is expected.

    >>> spread(np.array([1.0, -1.0, 1.0, -1.0]), 3)
    (4.0, 3.0)
    >>> moves = np.r_[3.0, np.ones(40)]
    >>> [round(spread(moves, 40, unseen)[1], 1) for unseen in (False, True)]
    [40.0, 33.5]
    """
    squares = moves**2
    total = float(squares.sum())
    apart = float((squares**2).sum()) - total**2 / max(len(moves), 1)
    if unseen:
        apart += float(squares.max(initial=0.0)) ** 2
    free = 2 * total**2 / apart if apart > 1e-12 * total**2 else np.inf
    return total, float(max(min(free, most_free), min(LEAST_FREE, max(most_free, 1.0))))
