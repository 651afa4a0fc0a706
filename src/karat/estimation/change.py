"""The expected change of an estimate when one pair is vetted: what strategies rank pairs by.

Vetting row j moves the estimate from E[Q] to E[Q | z_j = 1] with probability p_j, and to E[Q | z_j = 0]
otherwise. With D_j the difference of the two, the expected absolute change (eq. 10 of Active testing, the
probabilities of other rows kept) is

    p_j (1 − p_j) |D_j| + (1 − p_j) p_j |D_j| = 2 p_j (1 − p_j) |D_j|.
"""

from __future__ import annotations

import numpy as np

from karat.estimation.expectation import (
    Array,
    Seed,
    check_drawable,
    form_of,
    label_draws,
    score_labels,
    without_unknown,
)
from karat.measures import Measure, Ranked


def expected_change(ranked: Ranked, measure: Measure, *, draws: int = 256, rng: Seed = 0) -> Array:
    """Return, per row, the expected absolute change of its query's expected value when it is vetted.

    Exact where the measure has a closed form (P@K: eq. 11 of Active testing; AP, RP, mAP@R, Recall@K, R@K,
    MRR). For every other measure it is twice the covariance of value and label over draws, which is much
    noisier: rows without any influence get about 1.6 sd(Q) √(p (1 − p) / draws).

    Parameters
    ----------
    ranked
        Its `grade` is the probability that the row is relevant.
    measure, draws, rng
        As in `expected_values`.

    Returns
    -------
    numpy.ndarray
        Per row; 0 where the label is certain, NaN where the query's value depends on an unknown probability.

    Examples
    --------
    >>> from karat.measures import parse_measure
    >>> ranked = Ranked.from_places([[1, 2, 9]], [[0.5, 1.0, 0.5]], size=10)
    >>> expected_change(ranked, parse_measure("P@2")).tolist()
    [0.25, 0.0, 0.0]
    """
    return np.abs(signed_change(ranked, measure, draws=draws, rng=rng))


def signed_change(ranked: Ranked, measure: Measure, *, draws: int = 256, rng: Seed = 0) -> Array:
    """Return the expected change with the sign that it has where the row turns out to be relevant.

    So the changes of two runs can be subtracted. See `expected_change`.
    """
    form = form_of(ranked, measure)
    used = np.ones(len(ranked.grade), bool) if form is None else form.used
    known, unknown = without_unknown(ranked, used)
    p = known.grade
    if form is None:
        change = 2 * covariances(known, measure, draws, rng)
    else:
        change = 2 * p * (1 - p) * form.expect(known, change=True)[1]
    return np.where(ranked.spread(unknown), np.nan, change)


def covariances(ranked: Ranked, measure: Measure, draws: int, rng: Seed) -> Array:
    """Return the covariance of each row's label and its query's value, which is p (1 − p) D, from draws."""
    check_drawable(measure)
    values_sum = np.zeros(ranked.n_queries)
    labels_sum, products = np.zeros(len(ranked.grade)), np.zeros(len(ranked.grade))
    for labels in label_draws(ranked.grade, draws, rng):
        values = score_labels(ranked, measure, labels)
        values_sum += values.sum(axis=0)
        labels_sum += labels.sum(axis=0)
        products += np.einsum("ij,ij->j", ranked.spread(values), labels)
    open_labels = ranked.grade * (1 - ranked.grade) > 0
    sums = products - ranked.spread(values_sum / draws) * labels_sum
    return np.where(open_labels, sums, 0.0) / max(1, draws - 1)


def printed_change(ranked: Ranked, relevant: Array | None = None) -> Array:
    """Return eq. 12 of Active testing as printed, for comparison: r_j p_j (1 − p_j) / N.

    r_j is the number of unvetted rows before row j (0 < p < 1), divided by its place. The derivation in the
    supplement takes the expectation of the signed change, which is zero; what remains comes from a misplaced
    bracket. It is 0 for the first unvetted row, where vetting changes AP most.

    Parameters
    ----------
    ranked
        Its `grade` is the probability that the row is relevant.
    relevant
        Per query, N; by default Σ p.

    Examples
    --------
    >>> ranked = Ranked.from_places([[1, 2]], [[0.5, 0.5]], size=10)
    >>> printed_change(ranked).tolist()
    [0.0, 0.125]
    """
    p = ranked.grade
    number = ranked.sum(p) if relevant is None else np.asarray(relevant, dtype=np.float64)
    unvetted = ((p > 0) & (p < 1)).astype(np.float64)
    running = np.cumsum(unvetted) - unvetted
    before = running - ranked.spread(np.r_[running, 0.0][ranked.ptr[:-1]])
    inverse = np.divide(1, number, out=np.zeros(len(number)), where=number > 0)
    return ranked.spread(inverse) * before / (ranked.start + 1) * p * (1 - p)
