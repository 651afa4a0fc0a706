"""The area under the ROC curve: how often what is looked for scores higher than what is not."""

from __future__ import annotations

import numpy as np

from karat.errors import InputError
from karat.stats.estimate import Estimate
from karat.stats.resampling import check_level


def auroc(scores: np.ndarray, positive: np.ndarray, level: float = 0.95) -> Estimate:
    """Return the area under the ROC curve with the interval of DeLong, DeLong and Clarke-Pearson (1988).

    The interval is symmetric on the scale of log odds, so that it stays between 0 and 1. Ties count one half.

    Parameters
    ----------
    scores
        Higher ones for what is looked for; NaN are left out.
    positive
        Per score, whether it is looked for.
    level
        Of the interval.

    Examples
    --------
    >>> auroc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    0.75 (0.06932 to 0.9918, 95% DeLong, n = 4)
    """
    from scipy.stats import norm, rankdata

    check_level(level)
    scores, positive = np.asarray(scores, float), np.asarray(positive, bool)
    known = ~np.isnan(scores)
    high, low = scores[known & positive], scores[known & ~positive]
    m, n = len(high), len(low)
    if m < 2 or n < 2:
        raise InputError(f"{m} are looked for and {n} are not", fix="give at least two of each")
    ranks = rankdata(np.r_[high, low])
    # The share of the others that each one beats.
    above = (ranks[:m] - rankdata(high)) / n
    below = 1 - (ranks[m:] - rankdata(low)) / m
    area = float(above.mean())
    spread = np.sqrt(above.var(ddof=1) / m + below.var(ddof=1) / n)
    inside = min(max(area, 0.5 / (m * n)), 1 - 0.5 / (m * n))
    odds = np.log(inside / (1 - inside))
    step = norm.ppf(0.5 + level / 2) * spread / (inside * (1 - inside))
    ends = 1 / (1 + np.exp(-np.array([odds - step, odds + step])))
    return Estimate(area, float(ends[0]), float(ends[1]), level, "DeLong", m + n, m + n)
