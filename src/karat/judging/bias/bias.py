"""The bias of labels towards the models that suggested them: B_Θ, self bias and non-self bias.

ECCV Caption, appendix E.3. s_Θ(φ) is the score of model φ on the labels that the models Θ would have
produced; the labels of all models together are taken as the truth:

    B_Θ = 1/n Σ_φ |s_Θ(φ) − s_All(φ)|                                        (E.5)

Self bias is the same mean over the models in Θ, non-self bias over the others.

Notes
-----
Under R@1 a model's first item is always among its own suggestions, so that s_Θ(φ) = s_All(φ) for φ in Θ and
its self bias is 0. Table E.1a shows this (within 0.1) for PVSE, VSRN and PCME, but not for ViLT (62.0 against
72.4) and CLIP (49.3 against 64.3): either the rankings that were scored are not those that were pooled, or
part of their suggestions was never judged. The table does not show whether the original positives belong to
every column, since they would be on both sides of that comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from karat._util import MISSING, Layout, bar, ends, or_none
from karat.errors import InputError
from karat.stats import Estimate, divide

BAR = 24
"""The length of the longest bar of a curve."""


ROUNDING = 1e-9
"""Sums in another order differ in the last digits: a shorter interval is a point."""
KINDS = ("bias", "self_bias", "other_bias")
"""The kinds of bias: of all models, of those in the subset, and of the others."""


@dataclass(frozen=True)
class CurvePoint:
    """The mean bias over all subsets of one size (figure E.2); None where no subset has one.

    A subset without any label has no bias; this happens only where queries without a label are left out. The
    ends of the intervals are None where there are none.
    """

    size: int
    subsets: int
    bias: float | None
    self_bias: float | None
    other_bias: float | None
    bias_low: float | None = None
    bias_high: float | None = None
    self_bias_low: float | None = None
    self_bias_high: float | None = None
    other_bias_low: float | None = None
    other_bias_high: float | None = None


@dataclass(frozen=True, eq=False)
class BiasIntervals:
    """The intervals of the bias of each subset, and of the mean over the subsets of each size.

    Parameters
    ----------
    low, high
        The ends for each subset, [kinds, subsets]; NaN where there is no bias. The kinds are `KINDS`.
    size_low, size_high
        The ends for each size, from the smallest, [kinds, sizes].
    """

    low: np.ndarray
    high: np.ndarray
    size_low: np.ndarray
    size_high: np.ndarray


@dataclass(frozen=True, eq=False)
class BiasTable:
    """Scores on the labels of each subset of models, and their bias.

    Parameters
    ----------
    systems
        The names of the models.
    inside
        Which models are in each subset, [subsets, models].
    scores
        s_Θ(φ), [subsets, models].
    reference
        s_All(φ), or any other score to compare with, [models].
    intervals
        The intervals of the bias, where the values of single queries are known.
    """

    systems: tuple[str, ...]
    inside: np.ndarray
    scores: np.ndarray
    reference: np.ndarray
    intervals: BiasIntervals | None = None

    def __repr__(self) -> str:
        return f"BiasTable({len(self.inside)} subsets of {', '.join(self.systems)})"

    @cached_property
    def signed(self) -> np.ndarray:
        """s_Θ(φ) − reference, [subsets, models]."""
        return self.scores - self.reference

    @property
    def size(self) -> np.ndarray:
        """How many models each subset has."""
        return self.inside.sum(axis=1)

    @cached_property
    def biases(self) -> np.ndarray:
        """All kinds of bias of each subset, [kinds, subsets]."""
        return over_models(np.abs(self.signed), self.inside)

    @property
    def bias(self) -> np.ndarray:
        """B_Θ of each subset (eq. E.5)."""
        return self.biases[0]

    @property
    def self_bias(self) -> np.ndarray:
        """The bias of the scores of models in each subset; NaN for the empty subset."""
        return self.biases[1]

    @property
    def other_bias(self) -> np.ndarray:
        """The bias of the scores of models outside each subset; NaN for the subset of all."""
        return self.biases[2]

    def names(self, subset: int) -> tuple[str, ...]:
        """Return the models of a subset."""
        return tuple(name for name, inside in zip(self.systems, self.inside[subset]) if inside)

    def curve(self) -> list[CurvePoint]:
        """Return the mean bias by the number of models (figure E.2), with its intervals."""
        out = []
        for number, size in enumerate(np.unique(self.size).tolist()):
            rows = self.size == size
            means = map(or_none, mean_values(self.biases[:, rows]).tolist())
            made = self.intervals
            ends = {} if made is None else named_ends(made.size_low[:, number], made.size_high[:, number])
            out.append(CurvePoint(size, int(rows.sum()), *means, **ends))
        return out

    def least(self, size: int) -> int:
        """Return which subset of a size has the least bias; the first one if several have it."""
        rows = np.flatnonzero(self.size == size)
        if not len(rows):
            raise InputError(f"there is no subset of {size} models", fix="choose another size")
        return int(rows[np.argmin(np.nan_to_num(self.bias[rows], nan=np.inf))])

    def records(self) -> list[dict[str, Any]]:
        """Return a record per subset: the scores on its labels, and its bias with its intervals."""
        made = self.intervals
        return [
            {"systems": list(self.names(row)), "scores": self._named(self.scores[row])}
            | {name: or_none(value) for name, value in zip(KINDS, self.biases[:, row].tolist())}
            | ({} if made is None else named_ends(made.low[:, row], made.high[:, row]))
            for row in range(len(self.inside))
        ]

    def signed_records(self) -> list[dict[str, Any]]:
        """Return a record per subset: its scores minus the reference."""
        return [
            {"systems": list(self.names(row)), "signed": self._named(self.signed[row])}
            for row in range(len(self.inside))
        ]

    def _named(self, values: np.ndarray) -> dict[str, float | None]:
        return {name: or_none(value) for name, value in zip(self.systems, values.tolist())}


def bias_from_table(scores_by_subset: Mapping[Iterable[str] | str, Mapping[str, float]]) -> BiasTable:
    """Return the bias of published scores, or of your own.

    Parameters
    ----------
    scores_by_subset
        For each subset of models, one name or several, the score of every model on its labels. The set of all
        models must be among them.

    Examples
    --------
    Three of the five models of ECCV Caption's table E.1a:

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
        raise InputError("there are no scores", fix="give the scores on the labels of each subset")
    systems = tuple(rows[-1][1])
    for subset, scores in rows:
        if set(scores) != set(systems) or not subset <= set(systems):
            raise InputError(
                f"the scores on the labels of {', '.join(sorted(subset)) or 'no model'} are of other models",
                fix=f"give the scores of {', '.join(systems)}",
            )
    if rows[-1][0] != set(systems):
        raise InputError(
            "there are no scores on the labels of all models", fix="add them: bias is measured against them"
        )
    if len({subset for subset, _ in rows}) < len(rows):
        raise InputError("a subset is a duplicate", fix="give each subset once")
    inside = np.array([[name in subset for name in systems] for subset, _ in rows])
    values = np.array([[float(scores[name]) for name in systems] for _, scores in rows])
    return BiasTable(systems, inside, values, values[-1])


def over_models(values: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return the means over all models, those in each subset, and the others: [kinds, subsets, ...].

    Parameters
    ----------
    values
        A number for each subset and model, [subsets, models, ...]; further axes are resamples.
    inside
        Which models are in each subset, [subsets, models].

    Examples
    --------
    >>> over_models(np.array([[0.0, 3.0]]), np.array([[True, False]])).ravel().tolist()
    [1.5, 0.0, 3.0]
    """
    return np.stack([mean_where(values, models) for models in (np.ones_like(inside), inside, ~inside)])


def mean_where(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Return the mean of the selected values of each row; NaN where none is selected.

    >>> mean_where(np.array([[1.0, 3.0], [1.0, 3.0]]), np.array([[True, True], [False, False]])).tolist()
    [2.0, nan]
    """
    where = where.reshape(where.shape + (1,) * (values.ndim - 2))
    count = where.sum(axis=1)
    total = np.where(where, values, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def named_ends(low: np.ndarray, high: np.ndarray) -> dict[str, float | None]:
    """Return the ends of the intervals of every kind of bias by name: "bias_low", "bias_high", …"""
    return {
        f"{kind}_{side}": or_none(value)
        for kind, *ends in zip(KINDS, low.tolist(), high.tolist())
        for side, value in zip(("low", "high"), ends)
    }


def mean_values(values: np.ndarray) -> np.ndarray:
    """Return the mean of what is defined along the last axis; NaN where nothing is.

    >>> mean_values(np.array([[1.0, np.nan], [0.5, 0.0]])).tolist()
    [1.0, 0.25]
    """
    known = ~np.isnan(values)
    return divide(np.where(known, values, 0.0).sum(axis=-1), known.sum(axis=-1))


def percent(value: float | None, sign: bool = False) -> str:
    """Return a share in percent, a dash for None or NaN.

    >>> percent(0.1234), percent(-0.02, sign=True), percent(-1e-9), percent(None)
    ('12.34', '−2.00', '0.00', '—')
    """
    if value is None or np.isnan(value):
        return MISSING
    # Adding 0 turns a negative zero into a plain one.
    return f"{round(100 * value, 2) + 0.0:{'+' if sign else ''}.2f}".replace("-", "−")


def with_interval(estimate: Estimate) -> str:
    """Return a difference in points with its interval."""
    if np.isnan(estimate.low):
        return f"{percent(estimate.value, sign=True)} (no interval)"
    ends = " to ".join(percent(end, sign=True) for end in (estimate.low, estimate.high))
    return f"{percent(estimate.value, sign=True)} ({ends})"


def bias_with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """Return a bias in points with its interval; where this is a point or missing, the bias alone.

    >>> bias_with_interval(0.0951, 0.081, 0.1094), bias_with_interval(0.0, 0.0, 0.0)
    ('9.5 (8.1–10.9)', '0.0')
    >>> bias_with_interval(0.0951, None, None), bias_with_interval(None, None, None)
    ('9.51', '—')
    """
    if value is None or low is None or high is None:
        return percent(value)
    return f"{100 * value:.1f}" + (f" ({ends(100 * low, 100 * high, 1)})" if high - low > ROUNDING else "")


def score_layout(table: BiasTable, title: str, true: Sequence[float] | None = None) -> Layout:
    """Return the scores on the labels of no model, of each one alone, and of all (tables E.1a and E.1b)."""
    size = table.size
    rows = [k for k in range(len(size)) if size[k] in (0, len(table.systems)) or size[k] == 1]
    heads = ["original" if not size[k] else "all" if size[k] > 1 else table.names(k)[0] for k in rows]
    if len(table.systems) == 1:
        heads[-1] = "all"
    columns = [table.scores[k] for k in rows]
    if true is not None:
        heads.append("truth")
        columns.append(np.asarray(true))
    best = {
        (int(model), 1 + k)
        for k, column in enumerate(columns)
        for model in np.flatnonzero(column == column.max())
    }
    cells = [
        [name, *(percent(column[model]) for column in columns)] for model, name in enumerate(table.systems)
    ]
    return Layout(["model", *heads], cells, best=best, title=f"{title}: scores on the labels of each model")


def shown_bias(point: CurvePoint, kind: str = "bias") -> str:
    """Return one kind of bias of a point of the curve, with its interval."""
    return bias_with_interval(*(getattr(point, f"{kind}{end}") for end in ("", "_low", "_high")))


def curve_layout(table: BiasTable, title: str, against: BiasTable | None = None) -> Layout:
    """Return the mean bias by the number of models (figure E.2), and the subset with the least bias."""
    head = ["models", "subsets", "bias", "", "self", "non-self"]
    distance = None if against is None else {point.size: shown_bias(point) for point in against.curve()}
    curve = table.curve()
    most = max((point.bias or 0.0 for point in curve), default=0.0) or 1.0
    rows = []
    for point in curve:
        names = table.names(table.least(point.size))
        least = "" if point.size in (0, len(table.systems)) else " + ".join(names)
        cells = [shown_bias(point, kind) for kind in KINDS]
        cells.insert(1, bar((point.bias or 0.0) / most, BAR))
        from_truth = [] if distance is None else [distance[point.size]]
        rows.append([str(point.size), f"{point.subsets:,}", *cells, *from_truth, least])
    if against is not None:
        head.append("from truth")
    return Layout([*head, "least bias"], rows, title=f"{title}: bias by the number of models")
