"""PMRP over three thresholds: R-Precision under Plausible Match."""

from collections.abc import Sequence

import numpy as np

from karat.benchmarks import DIRECTIONS, Direction
from karat.measures.measure import ColumnKey, Combined, register
from karat.measures.r_precision import RPrecision


@register
class PlausibleMatchRPrecision(Combined):
    """PMRP: R-Precision with R of at most 50, averaged over both directions and ζ = 0, 1, 2.

    It needs the truths pm(z=0), pm(z=1) and pm(z=2), whatever truth it is computed on. ECCV Caption
    reports ζ = 2 alone: that is ``RP(cut=50)`` on ``pm(z=2)``.
    """

    name = "PMRP"
    formula = "mean over ζ ∈ {0, 1, 2} and both directions of (1/min(R, 50)) Σ_{i ≤ min(R, 50)} m_i"
    source = "Chun et al., CVPR 2021, with R cut at 50 as in ECCV Caption §4.1"
    plain = "R-Precision where an answer is right if it shows the same kinds of objects"
    linear = True

    def measures(self) -> Sequence[RPrecision]:
        """Return R-Precision with a cut R."""
        return [RPrecision(cut=50)]

    def parts(self, truth: str, directions: Sequence[Direction] = DIRECTIONS) -> Sequence[ColumnKey]:
        """Return the columns, those of one truth after those of another."""
        of_truth = super().parts
        return [part for zeta in (0, 1, 2) for part in of_truth(f"pm(z={zeta})", directions)]

    def combine(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """Return the mean."""
        return np.mean(np.stack(columns), axis=0)
