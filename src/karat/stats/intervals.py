"""How intervals are to be made, and making them for many scores from the same draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from karat.stats.interval import METHODS, bca, check_level, percentile
from karat.stats.resampling import Resampling, check_count, check_seed, leave_one_out
from karat.validation import check_choice

Score = Callable[[np.ndarray], np.ndarray]
"""What scores are under weights [B, C]: [..., B]."""


@dataclass(frozen=True)
class Intervals:
    """The choices behind bootstrap intervals.

    Parameters
    ----------
    method
        "percentile", or "bca" (bias-corrected and accelerated).
    level
        How often an interval should hold.
    resamples, seed
        How many draws, and their seed.

    Examples
    --------
    >>> Intervals(method="BCa").shown, Intervals().level
    ('BCa', 0.95)
    """

    method: str = "percentile"
    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", check_choice(self.method, METHODS, "method of the intervals"))
        check_level(self.level)
        check_count("resamples", self.resamples, usual=10_000)
        check_seed(self.seed)

    @property
    def shown(self) -> str:
        """The method as people write it."""
        return {"bca": "BCa"}.get(self.method, self.method)

    def draw(self, score: Score, clusters: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return scores under every resample, [..., B], and, where the method needs it, with each
        cluster left out, [..., C]."""
        draws = drawn(score, Resampling(clusters, self.resamples, self.seed).blocks())
        return draws, drawn(score, leave_one_out(clusters)) if self.method == "bca" else None

    def ends(
        self, values: np.ndarray, draws: np.ndarray, jackknife: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the intervals of `values`, from what `draw` gave."""
        if jackknife is None:
            return percentile(draws, self.level)
        return bca(values, draws, jackknife, self.level)


def drawn(score: Score, blocks: Iterable[np.ndarray]) -> np.ndarray:
    """Return the scores under every row of weights, [..., B]."""
    return np.concatenate([score(weights) for weights in blocks], axis=-1)
