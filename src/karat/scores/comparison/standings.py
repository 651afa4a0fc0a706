"""Differences between runs, and where the runs stand: who beats whom, places, ties for first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat.measures import Named
from karat.scores.scorecard import Scorecard
from karat.stats import place_intervals, stars, tied_for_first, who_beats_whom


@dataclass(frozen=True)
class Difference:
    """Two runs on one measure, truth and direction.

    Parameters
    ----------
    truth, direction, measure, first, second
        What is compared.
    difference, low, high
        The first run's value minus the second's, with its interval.
    p, corrected
        Of the paired test, as it is and after Holm's correction over the pairs of this column.
    better
        The run with the better value, whatever the test says; None when they are equal.
    equivalent
        Whether the runs are shown to differ by no more than a margin; None where no margin was given.
    detectable
        The smallest difference that the test would find with a given power; None where none was given.
    """

    truth: str
    direction: str
    measure: Named
    first: str
    second: str
    difference: float
    low: float | None
    high: float | None
    p: float | None
    corrected: float | None
    better: str | None
    equivalent: bool | None = None
    detectable: float | None = None

    @property
    def stars(self) -> str:
        """Hodosh's notation for the corrected p-value: * ≤ 0.1, ** ≤ 0.05, *** ≤ 0.01."""
        return "" if self.corrected is None else stars(self.corrected)

    def record(self) -> dict[str, Any]:
        """Return it as plain data; what was not asked for has no key."""
        optional = {"equivalent", "detectable"}
        record = {key: value for key, value in vars(self).items() if key not in optional or value is not None}
        return {**record, "measure": str(self.measure)}


@dataclass(frozen=True, eq=False)
class Standing:
    """Where the runs stand on one measure, truth and direction.

    Parameters
    ----------
    truth, direction, measure, runs
        What, and the runs that have a value, best first.
    beats
        Whether each run is significantly better than each other, bool [R, R].
    tested
        Whether the test could be used on this column; if not, no run is called first.
    """

    truth: str
    direction: str
    measure: Named
    runs: tuple[str, ...]
    beats: np.ndarray
    tested: bool = True

    @property
    def first(self) -> tuple[str, ...]:
        """The runs that no other beats: none of them is shown to be worse than the first.

        That is not a proof that they are equal. If there is one only, each other run is beaten, but not
        necessarily by this one.
        """
        if not self.tested:
            return ()
        return tuple(run for run, tied in zip(self.runs, tied_for_first(self.beats)) if tied)

    @property
    def places(self) -> dict[str, tuple[int, int]]:
        """The best and the worst place that each run can have; none where nothing was tested."""
        if not self.tested:
            return {}
        return {
            run: (int(low), int(high)) for run, (low, high) in zip(self.runs, place_intervals(self.beats))
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one record per run as plain data."""
        places = self.places
        if not self.tested:
            return []
        return [
            {
                "truth": self.truth,
                "direction": self.direction,
                "measure": str(self.measure),
                "run": run,
                "best_place": places[run][0],
                "worst_place": places[run][1],
                "tied_for_first": run in self.first,
                "beats": [beaten for beaten, wins in zip(self.runs, self.beats[k]) if wins],
            }
            for k, run in enumerate(self.runs)
        ]


def reverse(difference: Difference) -> Difference:
    """Return the second run minus the first."""

    def minus(number: float | None) -> float | None:
        return None if number is None else -number

    return replace(
        difference,
        first=difference.second,
        second=difference.first,
        difference=-difference.difference,
        low=minus(difference.high),
        high=minus(difference.low),
    )


def standings(card: Scorecard, differences: Sequence[Difference], alpha: float) -> list[Standing]:
    """Return who beats whom, column by column."""
    groups: dict[tuple[str, str, str], list[Difference]] = {}
    for pair in differences:
        groups.setdefault((pair.truth, pair.direction, str(pair.measure)), []).append(pair)
    out = []
    for (truth, direction, name), group in groups.items():
        measure = group[0].measure
        value = {}
        for run in dict.fromkeys(run for pair in group for run in (pair.first, pair.second)):
            value[run] = card.column(name, truth=truth, direction=direction, run=run).value or 0.0
        runs = tuple(sorted(value, key=lambda run: value[run], reverse=measure.better == "high"))
        at = {run: k for k, run in enumerate(runs)}
        gain, p = np.zeros((len(runs), len(runs))), np.ones((len(runs), len(runs)))
        for pair in group:
            a, b = at[pair.first], at[pair.second]
            sign = 1 if pair.better == pair.first else -1
            gain[a, b], gain[b, a] = sign * abs(pair.difference), -sign * abs(pair.difference)
            p[a, b] = p[b, a] = np.nan if pair.corrected is None else pair.corrected
        tested = not np.isnan(p).any()
        out.append(Standing(truth, direction, measure, runs, who_beats_whom(gain, p, alpha), tested))
    return out
