"""The mean of the answers' grades: for yes and no, the share of yes."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.forms import Grouped
from karat.judging.quality.verdicts import AGGREGATIONS, ROUNDING, THRESHOLD, Aggregation


def graded_mean(grouped: Grouped, threshold: float = 0.5) -> dict[str, Any]:
    """Return the mean grade of each pair where it reaches the threshold, else 0.

    The final score of Hodosh et al. (2013, section 4.3.2) is this mean of yes (1) and no (0). The mean
    itself, below the threshold too, is `Aggregated.relevance`.
    """
    mean = grouped.shares @ grouped.grades
    return {
        "grade": np.where(mean >= threshold - ROUNDING, mean, 0.0),
        "rating": grouped.shares @ grouped.ratings,
        "relevance": mean,
    }


AGGREGATIONS.add(
    "mean",
    Aggregation("the mean of the answers' grades, 0 below the threshold", graded_mean, (THRESHOLD,)),
    ["graded-mean", "share"],
)
