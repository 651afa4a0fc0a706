"""Estimated scores: one column per measure and direction, with what other estimators say beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import MISSING, Layout, Mark, Panel, Part, Result, forest
from karat.benchmarks import Benchmark, Direction, direction_title
from karat.errors import InputError
from karat.estimation.candidates import Candidates, VettedLabels
from karat.estimation.estimator import LabelEstimator
from karat.estimation.query_means import mean_defined
from karat.estimation.relevance import without_grade
from karat.estimation.statistics import TARGETS
from karat.measures import Measure, parse_measures, show_value

if TYPE_CHECKING:
    import plotly.graph_objects as go

OF_MASKS = "this test set: the score that the masks of all instances would give"
"""The same for detections."""
OTHERS = {"naive": "noisy label", "sample_mean": "sample mean", "vetted_only": "vetted only"}
"""The estimates that stand beside the chosen one, and what tables call them."""


@dataclass(frozen=True, eq=False)
class EstimatedColumn:
    """One measure in one direction, estimated for every run.

    Parameters
    ----------
    measure, direction
        What was estimated.
    candidates, labels
        Which pairs have uncertain labels, and what is vetted.
    probability
        Per candidate, the probability that it is relevant; vetted ones have their label.
    values
        Expected values per run and query.
    spread
        Per run, the standard deviation of its score if the probabilities are right; NaN where some are
        unknown.
    draws
        Scores [draws, runs] under labels drawn from the probabilities, the same draws for all runs.
    naive, sample_mean, vetted_only
        Per run, the score by other estimators: what the noisy labels say, the mean of the vetted pairs, and
        the queries that are vetted completely; NaN where it is not defined.
    """

    measure: Measure
    direction: Direction
    candidates: Candidates
    labels: VettedLabels
    probability: np.ndarray
    values: np.ndarray
    spread: np.ndarray
    draws: np.ndarray
    naive: np.ndarray
    sample_mean: np.ndarray
    vetted_only: np.ndarray

    @property
    def scores(self) -> np.ndarray:
        """Per run, the estimated score."""
        return mean_defined(self.values)

    @property
    def looked_at(self) -> np.ndarray:
        """Per candidate, whether the measure looks at it."""
        return self.candidates.matter(without_grade(self.measure))

    @property
    def title(self) -> str:
        """The measure and the direction."""
        return f"{self.measure} {direction_title(self.direction)}"

    def marks(self, estimator: str) -> list[Mark]:
        """Return what a figure draws: per run, its estimate with the spread, and the others."""
        marks = []
        for at, run in enumerate(self.candidates.runs):
            for series, values in {
                estimator: self.scores, **{name: getattr(self, key) for key, name in OTHERS.items()}
            }.items():  # fmt: skip
                value, spread = values[at], self.spread[at] if series == estimator else np.nan
                if not np.isnan(value):
                    ends = (None, None) if np.isnan(spread) else (value - spread, value + spread)
                    text = show_value(self.measure, value)
                    if not np.isnan(spread):
                        text += f" ± {show_value(self.measure, spread)}"
                    low, high = (None if end is None else 100 * float(end) for end in ends)
                    marks.append(Mark(run, 100 * float(value), low, high, text, series, series == estimator))
        return marks

    def records(self, target: str, estimator: str) -> list[dict[str, Any]]:
        """Return one record per run."""
        matter = self.looked_at
        same = {
            "direction": self.direction,
            "measure": str(self.measure),
            "estimator": estimator,
            "target": target.replace("_", "-"),
        }
        counts = {
            "queries": int((~np.isnan(self.values)).any(axis=0).sum()),
            "candidates": self.candidates.count(matter),
            "vetted": self.candidates.count(matter & self.labels.vetted),
        }
        columns = zip(
            self.candidates.runs, self.scores, self.spread, self.naive, self.sample_mean, self.vetted_only
        )
        names = ("value", "spread", "naive", "sample_mean", "vetted_only")
        return [
            {"run": run, **same, **{n: as_json(v) for n, v in zip(names, numbers)}, **counts}
            for run, *numbers in columns
        ]


@dataclass(frozen=True, eq=False)
class ScoreEstimate(Result):
    """Estimated scores, with what they rest on; `estimate` makes it.

    Parameters
    ----------
    columns
        One per measure and direction.
    estimator
        How labels became probabilities.
    target
        What is estimated, a key of `TARGETS`.
    noisy, vetted
        The names of the truths.
    notes
        What a reader should know.
    benchmark
        Of the runs: what it holds is shown.
    """

    columns: tuple[EstimatedColumn, ...]
    estimator: LabelEstimator
    target: str
    noisy: str
    vetted: str
    notes: tuple[str, ...] = ()
    benchmark: Benchmark | None = None

    def value(self, measure: str, run: str | None = None, direction: str | None = None) -> float:
        """Return one estimated score; `run` and `direction` may be left out where there is one only.

        Raises where several fit.
        """
        wanted = str(parse_measures([measure])[0])
        numbers = [
            score
            for column in self.columns
            if str(column.measure) == wanted and direction in (None, column.direction)
            for name, score in zip(column.candidates.runs, column.scores)
            if run in (None, name)
        ]
        if len(numbers) != 1:
            raise InputError(
                f"{len(numbers)} estimates of {measure} fit",
                fix="name the measure, the run and the direction",
            )
        return float(numbers[0])

    def records(self) -> list[dict[str, Any]]:
        """Return one record per run, measure and direction."""
        return [
            record for column in self.columns for record in column.records(self.target, str(self.estimator))
        ]

    def differences(self) -> list[dict[str, Any]]:
        """Return one record per pair of runs: the estimated gap, its spread, and how often it is above 0.

        A gap of 0 counts half.
        """
        records = []
        for column in self.columns:
            for a, b in combinations(range(len(column.candidates.runs)), 2):
                # Rounded, so that equal scores are equal.
                drawn = (column.draws[:, a] - column.draws[:, b]).round(12)
                records.append(
                    {
                        "first": column.candidates.runs[a],
                        "second": column.candidates.runs[b],
                        "direction": column.direction,
                        "measure": str(column.measure),
                        "value": as_json(column.scores[a] - column.scores[b]),
                        "spread": as_json(np.std(drawn)),
                        "first_ahead": as_json((1 + np.sign(drawn).mean()) / 2),
                    }
                )
        return records

    def plot(self, measure: str | None = None, *, direction: str | None = None) -> go.Figure:
        """Return a plotly figure of the estimates with their spread, and of what other estimators say.

        Parameters
        ----------
        measure, direction
            One; all by default, a panel for each.
        """
        wanted = None if measure is None else str(parse_measures([measure])[0])
        columns = [
            column
            for column in self.columns
            if wanted in (None, str(column.measure)) and direction in (None, column.direction)
        ]
        if not columns:
            raise InputError(f"nothing was estimated for {measure or direction}", fix="print the estimates")
        panels = [Panel(column.title, "percent", column.marks(str(self.estimator))) for column in columns]
        panels = [panel for panel in panels if panel.marks]
        if not panels:
            raise InputError("no estimate is defined", fix="vet more pairs, or choose another estimator")
        return forest(
            panels,
            f"Estimated for {TARGETS[self.target].partition(':')[0]}",
            "Lines: one standard deviation to each side, if the probabilities are right.",
            "choose a measure or a direction",
        )

    def parts(self) -> Sequence[Part]:
        """Return the sentence on what is estimated, the scores, and the gaps between runs."""
        head = (
            f"Estimated for {TARGETS[self.target]}.\nEstimator {self.estimator}, noisy labels {self.noisy}, "
            f"vetted labels {self.vetted}. Percent ± one standard deviation."
        )
        by_name = {str(column.measure): column.measure for column in self.columns}

        def shown(record: dict[str, Any], key: str) -> str:
            return show_value(by_name[record["measure"]], record[key])

        def with_spread(record: dict[str, Any]) -> str:
            spread = "" if record["spread"] is None else f" ± {shown(record, 'spread')}"
            return f"{shown(record, 'value')}{spread}"

        rows = [
            [
                record["run"],
                direction_title(record["direction"]),
                record["measure"],
                with_spread(record),
                *(shown(record, other) for other in OTHERS),
                f"{record['vetted']:,} of {record['candidates']:,}",
            ]
            for record in self.records()
        ]
        titles = ["run", "direction", "measure", "estimate", *OTHERS.values(), "vetted pairs"]
        legend = (
            "noisy label: where a pair is not vetted; sample mean: there the share of relevant vetted pairs;"
            "\nvetted only: queries without an unvetted pair; vetted pairs: of those the measure looks at"
        )
        parts: list[Part] = [head, Layout(titles, rows, labels=3, legend=legend)]
        gaps = self.differences()
        if gaps:
            lines = [
                [
                    f"{gap['first']} − {gap['second']}",
                    direction_title(gap["direction"]),
                    gap["measure"],
                    with_spread(gap),
                    MISSING if gap["first_ahead"] is None else f"{100 * gap['first_ahead']:.0f}%",
                ]
                for gap in gaps
            ]
            parts.append(
                Layout(
                    ["gap", "direction", "measure", "estimate", "first ahead"],
                    lines,
                    labels=3,
                    legend="first ahead: how often the first run scores higher, over labels drawn from the "
                    "probabilities",
                )
            )
        return parts


def as_json(value: Any) -> float | None:
    """Return a number as json holds it: None where it is not finite."""
    return float(value) if np.isfinite(value) else None
