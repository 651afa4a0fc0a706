"""What a comparison found: scores with intervals, differences, places, who is tied for first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from karat.measures import Combined, Named, parse_measure
from karat.scores.scorecard import Scorecard
from karat.stats.holm import stars
from karat.stats.places import place_intervals, tied_for_first, who_beats_whom
from karat.validation import InputError, unknown_name


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

    @property
    def stars(self) -> str:
        """Hodosh's notation for the corrected p-value: * ≤ 0.1, ** ≤ 0.05, *** ≤ 0.01."""
        return "" if self.corrected is None else stars(self.corrected)

    def record(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**vars(self), "measure": str(self.measure)}


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
        Whether the test could be used on this column; if not, nobody is said to be first.
    """

    truth: str
    direction: str
    measure: Named
    runs: tuple[str, ...]
    beats: np.ndarray
    tested: bool = True

    @property
    def first(self) -> tuple[str, ...]:
        """The runs that nobody beats: tied for first place."""
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
                "beats": [other for other, wins in zip(self.runs, self.beats[k]) if wins],
            }
            for k, run in enumerate(self.runs)
        ]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several runs on the same queries.

    Parameters
    ----------
    card
        The scorecard, with intervals.
    differences
        Every pair of runs on every column.
    test, alpha, samples, seed
        The paired test, the level of its decisions, and its draws.
    standings
        Who beats whom on every column.
    """

    card: Scorecard
    differences: Sequence[Difference]
    test: str
    alpha: float
    samples: int
    seed: int
    standings: Sequence[Standing] = field(init=False)
    _index: dict[tuple[str, ...], Difference] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        index = {(d.truth, d.direction, str(d.measure), d.first, d.second): d for d in self.differences}
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "standings", standings(self.card, self.differences, self.alpha))

    def difference(
        self, first: str, second: str, measure: str, *, truth: str | None = None, direction: str = "mean"
    ) -> Difference:
        """Return one difference, the first run minus the second."""
        column = self.card.column(measure, truth=truth, direction=direction, run=first)
        place = (column.truth, column.direction, str(column.measure))
        if (*place, first, second) in self._index:
            return self._index[*place, first, second]
        if (*place, second, first) in self._index:
            return reverse(self._index[*place, second, first])
        raise unknown_name("run", second, [run for run in self.card.runs if run != first])

    def standing(self, measure: str, *, truth: str | None = None, direction: str | None = None) -> Standing:
        """Return where the runs stand on one column; of both directions together unless one is named."""
        name = str(parse_measure(measure))
        direction = direction or ("both" if isinstance(parse_measure(measure), Combined) else "mean")
        found = [
            s
            for s in self.standings
            if str(s.measure) == name and s.direction == direction and truth in (None, s.truth)
        ]
        if len(found) != 1:
            known = ", ".join(f"{s.measure} {s.direction} on {s.truth}" for s in self.standings)
            raise InputError(f"{measure} {direction} names {len(found)} columns", fix=f"choose from {known}")
        return found[0]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data: scores, differences, places, and how they were made."""
        intervals = self.card.intervals
        return {
            "scores": self.card.records(),
            "differences": [found.record() for found in self.differences],
            "places": [record for standing in self.standings for record in standing.records()],
            "method": {
                "benchmark": self.card.benchmark.name,
                "ties": self.card.ties,
                "unjudged": self.card.unjudged,
                "intervals": None if intervals is None else asdict(intervals),
                "test": self.test,
                "samples": self.samples,
                "seed": self.seed,
                "alpha": self.alpha,
                "correction": "Holm, over the pairs of runs of each column",
            },
        }

    def to_json(self) -> str:
        """Return `to_dict` as json."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"

    def __str__(self) -> str:
        from karat.scores.comparison_tables import to_text

        return to_text(self)

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.card.runs)} on {self.card.benchmark.name}, {self.test})"

    def save(self, path: str | Path) -> None:
        """Write it; the extension says how: json for everything, csv, parquet or md for the differences."""
        from karat.scores.comparison_tables import write

        write(self, Path(path))


def reverse(found: Difference) -> Difference:
    """Return the second run minus the first."""

    def minus(number: float | None) -> float | None:
        return None if number is None else -number

    return Difference(
        found.truth, found.direction, found.measure, found.second, found.first, -found.difference,
        minus(found.high), minus(found.low), found.p, found.corrected, found.better,
    )  # fmt: skip


def standings(card: Scorecard, differences: Sequence[Difference], alpha: float) -> list[Standing]:
    """Return who beats whom, column by column."""
    groups: dict[tuple[str, str, str], list[Difference]] = {}
    for found in differences:
        groups.setdefault((found.truth, found.direction, str(found.measure)), []).append(found)
    out = []
    for (truth, direction, name), group in groups.items():
        measure = group[0].measure
        value = {}
        for run in dict.fromkeys(run for found in group for run in (found.first, found.second)):
            value[run] = card.column(name, truth=truth, direction=direction, run=run).value or 0.0
        runs = tuple(sorted(value, key=lambda run: value[run], reverse=measure.better == "high"))
        at = {run: k for k, run in enumerate(runs)}
        gain, p = np.zeros((len(runs), len(runs))), np.ones((len(runs), len(runs)))
        for found in group:
            a, b = at[found.first], at[found.second]
            sign = 1 if found.better == found.first else -1
            gain[a, b], gain[b, a] = sign * abs(found.difference), -sign * abs(found.difference)
            p[a, b] = p[b, a] = np.nan if found.corrected is None else found.corrected
        tested = not np.isnan(p).any()
        out.append(Standing(truth, direction, measure, runs, who_beats_whom(gain, p, alpha), tested))
    return out
