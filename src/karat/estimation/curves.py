"""Curves: errors of estimated scores against the number of vetted labels, with their tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import (
    MISSING,
    Band,
    BandPanel,
    Layout,
    Part,
    Result,
    band_chart,
    check_choice,
    plural,
)
from karat.benchmarks import Direction, direction_title
from karat.errors import InputError
from karat.estimation.query_means import mean_defined
from karat.estimation.score_estimate import OF_MASKS, TARGETS, as_json
from karat.measures import Measure, parse_measures

if TYPE_CHECKING:
    import plotly.graph_objects as go

SHOWN_EFFORTS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
"""The shares of vetted pairs that tables show."""
CLOSE = (0.02, 0.01, 0.005)
"""How far from the true score is close enough, for tables."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Errors of one method against effort, one row per repetition.

    Parameters
    ----------
    method
        Its name.
    effort
        The share of the pairs that the measure looks at which was vetted by then, [B].
    estimate
        Estimated scores, [times, B, runs]; NaN where nothing is defined.
    error
        The mean over queries of the absolute error, averaged over runs, [times, B]: errors of opposite
        sign do not cancel.
    error_before
        The same before the estimator learned from the batch.
    """

    method: str
    effort: np.ndarray
    estimate: np.ndarray
    error: np.ndarray
    error_before: np.ndarray

    def at(self, effort: float) -> int:
        """Return the first batch after which this share was vetted; the last one where none was."""
        return min(int(np.searchsorted(self.effort, effort - 1e-9)), len(self.effort) - 1)


@dataclass(frozen=True, eq=False)
class Simulated:
    """The curves of one measure in one direction.

    Parameters
    ----------
    measure, direction
        What was estimated.
    runs
        The names of the runs.
    truth, noisy
        Per run, the true score, and the score by the noisy labels.
    candidates, looked_at
        How many pairs may be vetted, and at how many of these the measure looks.
    recall
        The share of all positives of the vetted truth that are candidates.
    curves
        One per method.
    noisy_error
        The error per query of the score by the noisy labels, where nothing is vetted.
    queries, pairs
        How many queries there are, and how many pairs they form with all items that are ranked.
    unit, per
        What is vetted, and what has a value: a pair and a query, or an instance and a category, which has no
        direction.
    """

    measure: Measure
    direction: Direction | None
    runs: tuple[str, ...]
    truth: np.ndarray
    noisy: np.ndarray
    candidates: int
    looked_at: int
    recall: float
    curves: tuple[Curve, ...]
    noisy_error: float = float("nan")
    queries: int = 0
    pairs: int = 0
    unit: str = "pair"
    per: str = "query"

    @property
    def target(self) -> str:
        """What is estimated, in words."""
        return TARGETS["test_set"] if self.unit == "pair" else OF_MASKS

    @property
    def all_of(self) -> str:
        """What the score is a mean over: queries or categories."""
        return {"query": "queries", "category": "categories"}[self.per]

    @property
    def way(self) -> str:
        """The direction in words, or what was detected."""
        return "detections" if self.direction is None else direction_title(self.direction)

    @property
    def title(self) -> str:
        """The measure and the direction."""
        return f"{self.measure} {self.way}"

    def score_error(self, curve: Curve) -> np.ndarray:
        """Return, per repetition and batch, the absolute error of the score, averaged over runs."""
        return mean_defined(np.abs(curve.estimate - self.truth))

    def enough(self, curve: Curve, within: float) -> float | None:
        """Return the effort from which on the score is off by at most `within`, in the mean of repetitions.

        None where it never is.
        """
        close = mean_defined(self.score_error(curve).T) <= within + 1e-12
        at = len(close) - int(np.argmin(close[::-1])) if not close.all() else 0
        return float(curve.effort[at]) if at < len(close) else None

    def gaps(self, curve: Curve) -> tuple[np.ndarray, np.ndarray]:
        """Return, per repetition and batch, the squared error of the gaps and the share of wrong orders.

        Means over all pairs of runs; an estimate of 0 for a gap that is not 0 counts half, and pairs of runs
        that are truly equal do not count. NaN where there is one run only.
        """
        pairs = list(combinations(range(len(self.runs)), 2))
        if not pairs:
            nothing = np.full(curve.error.shape, np.nan)
            return nothing, nothing
        first, second = (list(side) for side in zip(*pairs))
        true = self.truth[first] - self.truth[second]
        guess = curve.estimate[..., first] - curve.estimate[..., second]
        squared = (guess - true) ** 2
        wrong = np.where(guess == 0, 0.5, np.sign(guess) != np.sign(true))
        wrong = np.where(np.isnan(guess) | (true == 0), np.nan, wrong)
        return mean_defined(squared), mean_defined(wrong)


@dataclass(frozen=True, eq=False)
class Simulation(Result):
    """How errors fall with the number of vetted labels; `simulate` makes it.

    Parameters
    ----------
    results
        One per measure and direction.
    times
        How many repetitions.
    noisy, vetted
        The names of the truths.
    notes
        What a reader should know.
    """

    results: tuple[Simulated, ...]
    times: int
    noisy: str
    vetted: str
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return one record per method and batch; numbers are means over repetitions, with deviations."""
        out = []
        for result in self.results:
            for curve in result.curves:
                squared, wrong = result.gaps(curve)
                bias = mean_defined(curve.estimate - result.truth)
                for b, effort in enumerate(curve.effort):
                    out.append(
                        {
                            "measure": str(result.measure),
                            "direction": result.direction,
                            "method": curve.method,
                            "effort": float(effort),
                            "labels": round(float(effort) * result.looked_at),
                            "error": as_json(mean_defined(curve.error[:, b])),
                            "error_sd": as_json(deviation(curve.error[:, b])),
                            "error_before": as_json(mean_defined(curve.error_before[:, b])),
                            "bias": as_json(mean_defined(bias[:, b])),
                            "error_of_mean": as_json(mean_defined(result.score_error(curve)[:, b])),
                            "squared_gap_error": as_json(mean_defined(squared[:, b])),
                            "wrong_order": as_json(mean_defined(wrong[:, b])),
                            "defined": float((~np.isnan(curve.error[:, b])).mean()),
                        }
                    )
        return out

    def parts(self) -> Sequence[Part]:
        """Return, per measure and direction, how many labels were enough, and errors against effort."""
        pairs = any(result.unit == "pair" for result in self.results)
        target = (
            f"{TARGETS['test_set']}.\nPairs outside the candidates count as not relevant"
            if pairs
            else OF_MASKS
        )
        head = (
            f"Vetting simulated {plural(self.times, 'time')}: noisy labels {self.noisy}, true labels "
            f"{self.vetted}.\nEstimated for {target}.\n"
            "Errors in points of percent: mean ± standard deviation over repetitions."
        )
        return [head, *(part for result in self.results for part in result_parts(result))]

    def plot(
        self, measure: str | None = None, *, direction: str | None = None, show: str = "error"
    ) -> go.Figure:
        """Return a plotly figure of errors or scores against the share of vetted pairs.

        Lines are means over repetitions, one per method; bands are one standard deviation to each side.

        Parameters
        ----------
        measure, direction
            One; all by default, a panel for each.
        show
            "error": the mean absolute error per query; "score": the estimated score of each run, with the
            true one; "wrong-order": how often pairs of runs are in the wrong order.
        """
        show = check_choice(show, ("error", "score", "wrong_order"), "show")
        wanted = None if measure is None else str(parse_measures([measure])[0])
        chosen = [
            one
            for one in self.results
            if wanted in (None, str(one.measure)) and direction in (None, one.direction)
        ]
        if not chosen:
            raise InputError(f"nothing was simulated for {measure or direction}", fix="print the simulation")
        panels = [panel for one in chosen for panel in band_panels(one, show)]
        if not panels:
            raise InputError("there is one run only, so no order", fix='show="error" or show="score"')
        about = f"Means over {plural(self.times, 'repetition')}; bands: one standard deviation to each side."
        return band_chart(panels, "Vetting simulated", about)


def band_panels(result: Simulated, show: str) -> list[BandPanel]:
    """Return what a figure draws of one measure in one direction."""
    x = f"{result.unit}s vetted, percent"

    def panel(title: str, y: str, values: Sequence[np.ndarray], levels: Mapping[str, float]) -> BandPanel:
        bands = [
            Band(curve.method, *(list(map(as_json, part)) for part in (100 * curve.effort, *spread_of(each))))
            for curve, each in zip(result.curves, values)
        ]
        return BandPanel(title, x, y, bands, {name: 100 * level for name, level in levels.items()})

    if show == "error":
        errors = [curve.error for curve in result.curves]
        return [
            panel(
                result.title, f"error per {result.per}, points", errors, {"noisy labels": result.noisy_error}
            )
        ]
    if show == "wrong_order":
        if len(result.runs) < 2:
            return []
        wrong = [result.gaps(curve)[1] for curve in result.curves]
        return [panel(result.title, "pairs of runs in the wrong order, percent", wrong, {})]
    return [
        panel(
            f"{result.title}, {run}",
            "estimated score, percent",
            [curve.estimate[..., at] for curve in result.curves],
            {"true score": result.truth[at], "by the noisy labels": result.noisy[at]},
        )
        for at, run in enumerate(result.runs)
    ]


def spread_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean of each batch over repetitions in percent, and one standard deviation to each side."""
    mean = 100 * mean_defined(values.T)
    apart = 100 * np.array([deviation(column) for column in values.T])
    return mean, mean - apart, mean + apart


def result_parts(result: Simulated) -> list[Part]:
    """Return the tables of one measure in one direction."""
    scores = [
        f"{run} truly scores {100 * true:.2f}, by the noisy labels {100 * noisy:.2f}."
        for run, true, noisy in zip(result.runs, result.truth, result.noisy)
    ]
    about = [
        f"{result.title}: {result.looked_at:,} {result.unit}s to vet are 100% of the effort.",
        f"{result.candidates:,} candidates hold {100 * result.recall:.1f}% of all that is relevant."
        if result.unit == "pair"
        else f"The score is the mean over {result.queries:,} categories.",
        *scores,
    ]
    efforts = shown_efforts(result)
    head = ["method", *(f"{100 * effort:.0f}%" for effort in efforts)]
    counts = [f"({result.unit}s vetted)", *(f"{round(effort * result.looked_at):,}" for effort in efforts)]

    def errors(title: str, values: Sequence[np.ndarray], spread: bool = True) -> Layout:
        rows = [error_row(curve, efforts, each, spread) for curve, each in zip(result.curves, values)]
        return Layout(head, [counts, *rows], title=title)

    tables: list[Part] = [
        "\n".join(about),
        Layout(
            ["method", *(f"{100 * within:g} {'point' if within == 0.01 else 'points'}" for within in CLOSE)],
            [
                [curve.method, *(shown_effort(result, result.enough(curve, within)) for within in CLOSE)]
                for curve in result.curves
            ],
            title=f"{result.unit.capitalize()}s to vet until the mean score is off by no more than:",
        ),
        errors(f"Mean absolute error per {result.per}:", [curve.error for curve in result.curves]),
        errors("Error of the mean score:", [result.score_error(curve) for curve in result.curves]),
    ]
    if len(result.runs) > 1:
        tables.append(
            errors(
                "Pairs of runs in the wrong order, percent:",
                [result.gaps(curve)[1] for curve in result.curves],
                spread=False,
            )
        )
    return tables


def shown_effort(result: Simulated, effort: float | None) -> str:
    """Return an effort as a number of pairs and a share."""
    return MISSING if effort is None else f"{round(effort * result.looked_at):,} ({100 * effort:.0f}%)"


def shown_efforts(result: Simulated) -> list[float]:
    """Return the efforts that tables show: batches near the usual ones, as far as every curve reaches."""
    reached = min(float(curve.effort[-1]) for curve in result.curves)
    chosen = [effort for effort in SHOWN_EFFORTS if effort <= reached + 1e-9] or [reached]
    first = result.curves[0]
    return [float(first.effort[at]) for at in sorted({first.at(effort) for effort in chosen})]


def error_row(curve: Curve, efforts: Sequence[float], error: np.ndarray, spread: bool = True) -> list[str]:
    """Return a row of a table: the method and its errors at some efforts."""
    cells = []
    for effort in efforts:
        column = error[:, curve.at(effort)]
        if np.isnan(column).all():
            cells.append(MISSING)
            continue
        # Narrow enough for seven efforts side by side in a terminal.
        deviant = f"±{100 * deviation(column):.2f}" if spread else ""
        cells.append(f"{100 * mean_defined(column):.2f}{deviant}")
    return [curve.method, *cells]


def deviation(values: np.ndarray) -> float:
    """Return the standard deviation of what is defined; NaN for nothing."""
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1)) if len(known) > 1 else (0.0 if len(known) else float("nan"))
