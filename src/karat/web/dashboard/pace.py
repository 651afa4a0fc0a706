"""How fast answers come, and when the last will be there: a range, since people come and go."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

HOUR, DAY = 3600.0, 86_400.0
WINDOWS = (("the last hour", HOUR, 12), ("the last day", DAY, 24))
"""What is looked at, in how many parts."""
LEAST = 10
"""From so many answers on a pace is told."""
SURE = 1.96


def pace(times: np.ndarray, left: int, now: float) -> list[dict[str, Any]]:
    """Return, for each window, the answers an hour and when all will be there, both as ranges.

    Answers do not come one by one: a person brings many, or none. So the count's variance is taken as a
    multiple of a Poisson count's, the multiple from how unequal the window's parts are, and at least 1. The
    range is 95% and speaks of the pace in the window alone: nobody knows who comes tomorrow.

    Parameters
    ----------
    times
        When people answered, in seconds since 1970.
    left
        How many answers are still to come.
    now
        The time.

    Examples
    --------
    >>> steady = 10_000 - 30.0 * np.arange(120)
    >>> hour = pace(steady, 240, 10_000.0)[0]
    >>> round(hour["rate"]), [round((hour[end] - 10_000) / 60) for end in ("soonest", "latest")]
    (120, [100, 144])
    >>> pace(steady[:5], 240, 10_000.0)
    []
    """
    found = []
    for name, span, parts in WINDOWS:
        inside = times[(times > now - span) & (times <= now)]
        if len(inside) < LEAST:
            continue
        counts = np.histogram(inside, parts, (now - span, now))[0]
        # Before the first answer ever there was nothing to count.
        started = counts[np.argmax(counts > 0) :] if inside.min() <= times.min() else counts
        lasted = span * len(started) / parts
        spread = max(1.0, float(started.var(ddof=1) / started.mean())) if len(started) > 1 else 1.0
        factor = math.exp(SURE * math.sqrt(spread / len(inside)))
        rate = len(inside) / lasted
        found.append(
            {
                "window": name, "rate": rate * HOUR, "low": rate / factor * HOUR,
                "high": rate * factor * HOUR,
                "soonest": now + left / (rate * factor), "latest": now + left / (rate / factor),
            }
        )  # fmt: skip
    return found


def by_part(times: np.ndarray, now: float, span: float, parts: int) -> list[int]:
    """Return how many answers came in each part of the time up to now, the oldest first.

    >>> by_part(np.array([1.0, 9.0, 9.5]), 10.0, 10.0, 2)
    [1, 2]
    """
    inside = times[(times > now - span) & (times <= now)]
    return np.histogram(inside, parts, (now - span, now))[0].tolist()
