"""Interval estimates: scores and differences of runs with what they rest on, and which run beats which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import Layout, Part, Result, or_none
from karat.benchmarks import direction_title
from karat.estimation.statistics import TARGETS, LabelEstimate
from karat.measures import Measure, show_value

VERDICTS = ("yes", "no", "not yet")
"""Whether one run beats another."""


@dataclass(frozen=True, repr=False)
class IntervalEstimate(LabelEstimate):
    """A score, or the difference of two, with its interval.

    Parameters
    ----------
    run, other
        Whose score; `other` is the run that is subtracted, None for a score.
    measure, direction, target
        What was estimated.
    weight
        The coefficients of the predictions: λ, one for each proxy. 0: they do not help. 1: they count fully.
    candidates
        How many pairs, or queries, have a label that counts.
    notes
        What a reader should know.
    """

    run: str = ""
    other: str | None = None
    measure: str = ""
    direction: str = ""
    target: str = "test_set"
    weight: tuple[float, ...] = ()
    candidates: int = 0
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str | None:
        """Whether the first run beats the other: "yes", "no" or "not yet"; None for a score."""
        if self.other is None:
            return None
        if self.low > 0:
            return VERDICTS[0]
        return VERDICTS[1] if self.high <= 0 else VERDICTS[2]

    def record(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "run": self.run,
            "other": self.other,
            "direction": self.direction,
            "measure": self.measure,
            "target": self.target.replace("_", "-"),
            "method": self.method,
            "value": or_none(float(self.value)),
            "low": or_none(float(self.low)),
            "high": or_none(float(self.high)),
            "level": self.level,
            "labels": self.n,
            "effective": self.effective,
            "candidates": self.candidates,
            "weight": ", ".join(f"{number:.3g}" for number in self.weight),
            "verdict": self.verdict,
        }


@dataclass(frozen=True, eq=False)
class IntervalEstimates(Result):
    """Scores and differences with intervals; `interval_estimates` makes it. It is a sequence of the scores.

    Parameters
    ----------
    scores
        One per run.
    differences
        One per pair of runs, the first minus the second.
    measure
        What was estimated.
    notes
        What a reader should know.
    """

    scores: tuple[IntervalEstimate, ...]
    differences: tuple[IntervalEstimate, ...]
    measure: Measure
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[IntervalEstimate]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, number: int) -> IntervalEstimate:
        return self.scores[number]

    def records(self) -> list[dict[str, Any]]:
        """Return one record per run and per pair of runs."""
        return [estimate.record() for estimate in (*self.scores, *self.differences)]

    def parts(self) -> Sequence[Part]:
        """Return the sentence on what is estimated, the scores, and which run beats which."""
        first = self.scores[0]
        brackets = f"{100 * first.level:g}% intervals, {first.method}"
        if first.method == "bounds":
            brackets = "bounds, the lowest and the highest that unknown labels allow"
        head = f"Estimated for {TARGETS[first.target]}. In brackets: {brackets}."

        def shown(estimate: IntervalEstimate) -> str:
            value = "–" if np.isnan(estimate.value) else show_value(self.measure, estimate.value)
            if np.isnan(estimate.low):
                return f"{value} (no interval)"
            ends = (show_value(self.measure, end) for end in (estimate.low, estimate.high))
            return f"{value} ({' to '.join(ends)})"

        def rests(estimate: IntervalEstimate) -> list[str]:
            return [f"{estimate.n:,} of {estimate.candidates:,}", f"{estimate.effective:,}"]

        rows = [
            [one.run, direction_title(one.direction), one.measure, shown(one), *rests(one)]
            for one in self.scores
        ]
        titles = ["run", "direction", "measure", "estimate", "labels", "worth"]
        parts: list[Part] = [head, Layout(titles, rows, labels=3)]
        if self.differences:
            lines = [
                [f"{one.run} beats {one.other}", one.verdict or "", shown(one), *rests(one)]
                for one in self.differences
            ]
            parts.append(Layout(["", "", "difference", "labels", "worth"], lines, labels=2))
        return parts
