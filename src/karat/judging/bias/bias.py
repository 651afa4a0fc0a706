"""The bias that the choice of systems put into labels: B_Θ, self bias and non-self bias.

ECCV Caption, appendix E.3. s_Θ(φ) is the score of system φ on the labels that the systems Θ would have
produced; the labels of all systems together stand for the truth:

    B_Θ = 1/n Σ_φ |s_Θ(φ) − s_All(φ)|                                        (E.5)

Self bias is the same mean over the systems in Θ, non-self bias over the others.

Notes
-----
Under R@1 a system's first item is always among its own suggestions, so that s_Θ(φ) = s_All(φ) for φ in Θ and
its self bias is 0. Table E.1a shows that (within 0.1) for PVSE, VSRN and PCME, and not for ViLT (62.0 against
72.4) and CLIP (49.3 against 64.3): the rankings that were scored were not those that were pooled, or part of
their suggestions was never judged. Whether the original positives belong to every column cannot be told from
the table, since they would be on both sides of that comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from karat.errors import InputError
from karat.judging.bias.bias_means import mean_of, mean_where, number


@dataclass(frozen=True)
class CurvePoint:
    """The mean bias over all subsets of one size (figure E.2); None where there is none to average.

    Subsets without any label, which exist only where queries without one are left out, have no bias.
    """

    size: int
    subsets: int
    bias: float | None
    self_bias: float | None
    other_bias: float | None


@dataclass(frozen=True, eq=False)
class BiasTable:
    """Scores under the labels of each subset, and the bias that follows.

    Parameters
    ----------
    systems
        Their names.
    inside
        Which systems are in each subset, [subsets, systems].
    scores
        s_Θ(φ), [subsets, systems].
    reference
        s_All(φ), or any other score that is to be compared with, [systems].
    """

    systems: tuple[str, ...]
    inside: np.ndarray
    scores: np.ndarray
    reference: np.ndarray

    def __repr__(self) -> str:
        return f"BiasTable({len(self.inside)} subsets of {', '.join(self.systems)})"

    @cached_property
    def signed(self) -> np.ndarray:
        """s_Θ(φ) − reference, [subsets, systems]."""
        return self.scores - self.reference

    @property
    def size(self) -> np.ndarray:
        """How many systems each subset has."""
        return self.inside.sum(axis=1)

    @property
    def bias(self) -> np.ndarray:
        """B_Θ of each subset (eq. E.5)."""
        return mean_where(np.abs(self.signed), np.ones_like(self.inside))

    @property
    def self_bias(self) -> np.ndarray:
        """The bias onto the systems of each subset; NaN for the subset of none."""
        return mean_where(np.abs(self.signed), self.inside)

    @property
    def other_bias(self) -> np.ndarray:
        """The bias onto the systems outside each subset; NaN for all systems."""
        return mean_where(np.abs(self.signed), ~self.inside)

    def names(self, subset: int) -> tuple[str, ...]:
        """Return the systems of a subset."""
        return tuple(name for name, there in zip(self.systems, self.inside[subset]) if there)

    def curve(self) -> list[CurvePoint]:
        """Return the mean bias by the number of systems (figure E.2)."""
        out = []
        for size in np.unique(self.size).tolist():
            rows = self.size == size
            means = [mean_of(part[rows]) for part in (self.bias, self.self_bias, self.other_bias)]
            out.append(CurvePoint(size, int(rows.sum()), *means))
        return out

    def least(self, size: int) -> int:
        """Return which subset of a size has the least bias; the first of several."""
        rows = np.flatnonzero(self.size == size)
        if not len(rows):
            raise InputError(f"there is no subset of {size} systems", fix="ask for another size")
        return int(rows[np.argmin(np.nan_to_num(self.bias[rows], nan=np.inf))])

    def records(self) -> list[dict[str, Any]]:
        """Return a record per subset: the scores on its labels, and its bias."""
        columns = {"bias": self.bias, "self_bias": self.self_bias, "other_bias": self.other_bias}
        return [
            {"systems": list(self.names(row)), "scores": self._named(self.scores[row])}
            | {name: number(values[row]) for name, values in columns.items()}
            for row in range(len(self.inside))
        ]

    def signed_records(self) -> list[dict[str, Any]]:
        """Return a record per subset: its scores less the reference."""
        return [
            {"systems": list(self.names(row)), "signed": self._named(self.signed[row])}
            for row in range(len(self.inside))
        ]

    def _named(self, values: np.ndarray) -> dict[str, float | None]:
        return {name: number(value) for name, value in zip(self.systems, values)}


def bias_from_table(scores_by_subset: Mapping[Iterable[str] | str, Mapping[str, float]]) -> BiasTable:
    """Return the bias of published or own scores.

    Parameters
    ----------
    scores_by_subset
        For each subset of systems, a name or several, the score of every system on its labels. The set of all
        systems must be among them.

    Examples
    --------
    Three of the five systems of ECCV Caption's table E.1a would have:

    >>> table = bias_from_table({
    ...     "PVSE": {"PVSE": 76.5, "VSRN": 68.0, "PCME": 67.7},
    ...     "VSRN": {"PVSE": 63.6, "VSRN": 80.1, "PCME": 64.3},
    ...     ("PVSE", "VSRN", "PCME"): {"PVSE": 76.6, "VSRN": 80.1, "PCME": 77.4},
    ... })
    >>> table.bias.round(2).tolist(), table.self_bias.round(2).tolist()
    ([7.3, 8.7, 0.0], [0.1, 0.0, 0.0])
    """
    rows = [
        (frozenset([key] if isinstance(key, str) else key), scores)
        for key, scores in scores_by_subset.items()
    ]
    rows.sort(key=lambda row: len(row[0]))
    if not rows:
        raise InputError("there are no scores", fix="give those under the labels of each subset")
    systems = tuple(rows[-1][1])
    for subset, scores in rows:
        if set(scores) != set(systems) or not subset <= set(systems):
            raise InputError(
                f"the scores under {', '.join(sorted(subset)) or 'no system'} are of other systems",
                fix=f"give those of {', '.join(systems)}",
            )
    if rows[-1][0] != set(systems):
        raise InputError(
            "there are no scores on the labels of all systems", fix="add them: bias is told from these"
        )
    if len({subset for subset, _ in rows}) < len(rows):
        raise InputError("a subset stands twice", fix="give each once")
    inside = np.array([[name in subset for name in systems] for subset, _ in rows])
    values = np.array([[float(scores[name]) for name in systems] for _, scores in rows])
    return BiasTable(systems, inside, values, values[-1])
