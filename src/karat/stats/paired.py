"""What a paired test returns."""

from __future__ import annotations

from dataclasses import dataclass

from karat.stats.estimate import how_many


@dataclass(frozen=True)
class PairedTest:
    """Whether two systems differ on the same queries.

    Parameters
    ----------
    difference
        The first system's score minus the second's.
    p
        How often a difference at least this large, in either direction, comes from chance alone.
    test
        Which test.
    n
        How many queries were compared.
    effective
        How many of them move independently: the clusters.

    Examples
    --------
    >>> PairedTest(0.021, 0.0131, "randomisation", 1000, 1000)
    difference +0.021, p = 0.0131 (randomisation, n = 1,000)
    """

    difference: float
    p: float
    test: str
    n: int
    effective: int

    def __repr__(self) -> str:
        made = f"{self.test}, {how_many(self.n, self.effective)}"
        return f"difference {self.difference:+.4g}, p = {self.p:.3g} ({made})"
