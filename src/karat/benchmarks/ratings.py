"""From a raw rating on its own scale to a grade in [0, 1], and where a rating came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Mapping(Protocol):
    """Turns raw ratings into grades: 0 is judged not relevant, (0, 1] is relevant."""

    def __call__(self, rating: np.ndarray) -> np.ndarray:
        """Return the grades of `rating`."""
        ...


@dataclass(frozen=True)
class Steps:
    """A grade for each threshold that a rating reaches; 0 below the first.

    Examples
    --------
    CxC counts a rating of 3 or more, on a scale from 0 to 5, as relevant:

    >>> Steps([(3, 1.0)])(np.array([2.9, 3.0, 5.0])).tolist()
    [0.0, 1.0, 1.0]

    ECCV Caption's answers, eq. E.4: "100% yes" (4) is 1, "partially yes" (3) is 0.5:

    >>> answers = Steps([(3, 0.5), (4, 1.0)])
    >>> answers(np.array([1, 2, 3, 4])).tolist(), str(answers)
    ([0.0, 0.0, 0.5, 1.0], 'from 3: 0.5, from 4: 1')
    """

    steps: Sequence[tuple[float, float]]

    def __call__(self, rating: np.ndarray) -> np.ndarray:
        """Return the grade of the highest threshold that each rating reaches."""
        steps = sorted(self.steps)
        reached = np.searchsorted([threshold for threshold, _ in steps], rating, side="right")
        return np.where(np.isnan(rating), np.nan, np.array([0.0, *(grade for _, grade in steps)])[reached])

    def __str__(self) -> str:
        return ", ".join(f"from {threshold:g}: {grade:g}" for threshold, grade in sorted(self.steps))


@dataclass(frozen=True)
class Share:
    """The rating as a share of the scale's top, 0 below a threshold.

    >>> Share(top=5, least=3)(np.array([2.9, 3.0, 5.0])).tolist()
    [0.0, 0.6, 1.0]
    """

    top: float
    least: float = 0.0

    def __call__(self, rating: np.ndarray) -> np.ndarray:
        """Return rating / top where the rating reaches `least`, else 0."""
        rating = np.asarray(rating, dtype=np.float64)
        return np.where(rating >= self.least, rating / self.top, 0.0)

    def __str__(self) -> str:
        return f"rating / {self.top:g}" + (f" from {self.least:g}" if self.least else "")


RELEVANT = Steps([(1, 1.0)])
"""The mapping of sources that only say yes (1) or no (0)."""


@dataclass(frozen=True)
class Provenance:
    """Who rated, on which scale, and how a rating becomes a grade.

    Parameters
    ----------
    name
        Short and unique among the sources of one table: "original", "cxc", a worker's id.
    scale
        The raw scale in words.
    mapping
        From rating to grade.
    """

    name: str
    scale: str = "1 relevant, 0 not"
    mapping: Mapping = RELEVANT
