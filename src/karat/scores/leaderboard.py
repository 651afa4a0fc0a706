"""A leaderboard: systems by metrics, from a table, from evaluate's records, or from Scorecards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import (
    MISSING,
    NUMBER,
    TEXT,
    Layout,
    Record,
    Result,
    check_once,
    or_none,
    plural,
    read_text,
)
from karat.benchmarks import is_direction
from karat.errors import InputError, KaratError, unknown_name
from karat.measures import parse_measure
from karat.runs import Fingerprint, made_with_of_runs, notes_on_making, read_made_with_of_runs
from karat.scores.scorecard import Scorecard
from karat.scores.table_file import read_cells

Columns = dict[tuple[str, str, str], dict[str, float]]
"""The values of runs by truth, measure and direction."""


@dataclass(frozen=True, eq=False)
class Leaderboard(Result):
    """The scores of many systems under many metrics.

    Parameters
    ----------
    systems, metrics
        Names of the rows and columns.
    values
        Systems by metrics, NaN where there is none.
    notes
        What a reader should know.

    Examples
    --------
    >>> board = Leaderboard(("a", "b"), ("R@1", "MedR"), np.array([[0.4, 3.0], [0.5, 2.0]]))
    >>> board, board.lower_is_better()
    (Leaderboard(2 systems, 2 metrics), ['MedR'])
    >>> print(board)
    system  R@1  MedR
    ──────  ───  ────
    a       0.4     3
    b       0.5     2
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    values: np.ndarray
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Leaderboard({plural(len(self.systems), 'system')}, {plural(len(self.metrics), 'metric')})"

    def records(self) -> list[dict[str, Any]]:
        """Return one record per system and metric; None where there is no value."""
        return [
            {"system": system, "metric": metric, "value": or_none(float(value))}
            for system, row in zip(self.systems, self.values)
            for metric, value in zip(self.metrics, row)
        ]

    def parts(self) -> list[Layout]:
        """Return systems by metrics, the best value of each metric marked."""
        low = self.lower_is_better()
        best = set()
        for k, (metric, column) in enumerate(zip(self.metrics, self.values.T), start=1):
            if not np.isnan(column).all():
                top = np.nanmin(column) if metric in low else np.nanmax(column)
                best |= {(int(row), k) for row in np.flatnonzero(column == top)}
        rows = [
            [system, *(MISSING if np.isnan(value) else f"{value:.4g}" for value in row)]
            for system, row in zip(self.systems, self.values)
        ]
        return [Layout(["system", *self.metrics], rows, best=best)]

    def place(self, metric: str) -> int:
        """Return the number of a metric's column."""
        if metric not in self.metrics:
            raise unknown_name("metric", metric, self.metrics, owner="the leaderboard")
        return self.metrics.index(metric)

    def lower_is_better(self) -> list[str]:
        """Return the metrics whose names say that low is good, such as "MedR" or "eccv MeanR"."""
        return [name for name in self.metrics if is_low(name) or is_low(measure_word(name))]


def measure_word(name: str) -> str:
    """Return the word of a metric's name that is its measure: the last, before the arrow of a direction.

    >>> measure_word("my MedR study R@1 t→i"), measure_word("eccv MeanR")
    ('R@1', 'MeanR')
    """
    words = [word for word in name.split() if not is_arrow(word)]
    return words[-1] if words else name


def is_arrow(word: str) -> bool:
    """Whether a word of a metric's name is a direction.

    >>> is_arrow("i→t"), is_arrow("q→d"), is_arrow("R@1")
    (True, True, False)
    """
    return "→" in word and is_direction(word.replace("→", "2"))


def is_low(name: str) -> bool:
    """Whether a name is that of a measure where low is good.

    >>> is_low("MedR"), is_low("R@1"), is_low("accuracy")
    (True, False, False)
    """
    try:
        return parse_measure(name).better == "low"
    except KaratError:
        return False


def read_leaderboard(*paths: str | Path) -> Leaderboard:
    """Read a table (csv, tsv, Parquet: the first column names the system) or evaluate's json records.

    A folder stands for the json files of scores in it.
    """
    files = [file for path in paths for file in in_folder(Path(path))]
    if all(path.suffix.lower() == ".json" for path in files):
        board = from_records([record for path in files for record in read_records(path)], files[0])
        return board.with_notes(making_notes([read_made_with_of_runs(made_with_of_runs(f)) for f in files]))
    if len(files) > 1:
        fix = "give one table, or json files of `karat evaluate --json`"
        raise InputError(f"there are {len(files)} files and not all are json", fix=fix)
    cells = read_cells(files[0])
    first, *rest = cells.frame.columns
    systems = cells.text(first)
    check_once(systems.tolist(), "system", lambda at: f"row {at + cells.first_row}", files[0])
    metrics = [name for name in rest if cells.holds_numbers(name)]
    if len(metrics) < 2:
        what = f"has {plural(len(metrics), 'column')} of numbers beside the systems' names"
        raise InputError(what, where=files[0], fix="give a row per system and a column per metric")
    left = [name for name in rest if name not in metrics]
    notes = (f"columns without numbers are left out: {', '.join(left)}",) if left else ()
    table = np.column_stack([cells.numbers(name) for name in metrics])
    return Leaderboard(tuple(map(str, systems)), tuple(metrics), table, notes)


def in_folder(path: Path) -> list[Path]:
    """Return a file, or the json files of scores in a folder."""
    if not path.is_dir():
        return [path]
    here = set(path.glob("*.json"))
    inside = sorted(here - {made_with_of_runs(file) for file in here})
    if not inside:
        fix = "put files of `karat evaluate --json` into it"
        raise InputError("has no json file", where=path, fix=fix)
    return inside


def read_records(path: Path) -> list[Record]:
    """Return the records of a file that `karat evaluate --json` wrote."""
    fix = "give what `karat evaluate --json` wrote"
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, KaratError):
            raise
        raise InputError(f"is not json ({str(error).splitlines()[0]})", where=path, fix=fix) from None
    if not isinstance(content, list) or not content:
        raise InputError("is not a list of records", where=path, fix=fix)
    return [Record(entry, f"[{number}]", path) for number, entry in enumerate(content)]


def from_scorecards(cards: Sequence[Scorecard]) -> Leaderboard:
    """Return the leaderboard of one or several scorecards."""
    rows = [Record(record, f"column {k}", "scorecard") for card in cards
            for k, record in enumerate(card.records())]  # fmt: skip
    return from_records(rows, "scorecard").with_notes(making_notes([card.made_with for card in cards]))


def making_notes(parts: Sequence[Mapping[str, Fingerprint]]) -> list[str]:
    """Return the notes on how the runs behind several files or scorecards were made."""
    return notes_on_making({run: made for part in parts for run, made in part.items()})


def from_records(records: Sequence[Record], where: str | Path) -> Leaderboard:
    """Return systems by metrics; directions are listed separately where a system lacks their mean."""
    listed = values_by_key(records)
    known = {key: {run: v for run, v in runs.items() if not np.isnan(v)} for key, runs in listed.items()}
    chosen, notes = choose_directions({key: runs for key, runs in known.items() if runs})
    if len(chosen) < 2:
        raise InputError(f"holds {plural(len(chosen), 'metric')}", where=where, fix="correlation needs two")
    several = len({truth for truth, _, _ in chosen}) > 1
    systems = systems_of(chosen)
    empty = {
        "systems": [run for run in systems_of(listed) if run not in systems],
        "metrics": [metric_name(*key, several) for key, runs in known.items() if not runs],
    }
    notes += [f"{what} without a value are left out: {', '.join(names)}"
              for what, names in empty.items() if names]  # fmt: skip
    columns = [[runs.get(system, np.nan) for system in systems] for runs in chosen.values()]
    metrics = tuple(metric_name(*key, several) for key in chosen)
    return Leaderboard(tuple(systems), metrics, np.array(columns).T, tuple(notes))


def values_by_key(records: Iterable[Record]) -> Columns:
    """Return the value of each run by truth, measure and direction; NaN where it is null."""
    listed: Columns = {}
    for record in records:
        run, truth, direction, measure = (
            record.get(key, TEXT) for key in ("run", "truth", "direction", "measure")
        )
        here = listed.setdefault((truth, measure, direction), {})
        if record.fields.get("value") is None:
            here.setdefault(run, np.nan)
            continue
        value = float(record.get("value", NUMBER))
        if not np.isfinite(value):
            raise record.wrong(f"has the value {value}", "give a finite number, or null")
        if or_none(here.get(run, np.nan)) not in (None, value):
            what = f"has two values of {measure} on {truth} for {run}"
            raise record.wrong(what, "give each run once, or rename one")
        here[run] = value
    return listed


def systems_of(columns: Columns) -> list[str]:
    """Return the systems that have a value in any of the columns."""
    return list(dict.fromkeys(run for runs in columns.values() for run in runs))


def choose_directions(by_key: Columns) -> tuple[Columns, list[str]]:
    """Return the columns to keep: the mean of both directions, or each where a system lacks it; and notes.

    >>> mean = {("t", "R@1", "i2t"): {"a": 0.1, "b": 0.3}, ("t", "R@1", "mean"): {"a": 0.2, "b": 0.4}}
    >>> list(choose_directions(mean)[0])
    [('t', 'R@1', 'mean')]
    >>> list(choose_directions(mean | {("t", "R@1", "t2i"): {"c": 0.3}})[0])
    [('t', 'R@1', 'i2t'), ('t', 'R@1', 't2i')]
    """
    chosen: Columns = {}
    notes = []
    for truth, measure in dict.fromkeys(key[:2] for key in by_key):
        columns = {key: runs for key, runs in by_key.items() if key[:2] == (truth, measure)}
        single = {key: runs for key, runs in columns.items() if is_direction(key[2])}
        whole = {key: runs for key, runs in columns.items() if not is_direction(key[2])}
        apart, summed = systems_of(single), systems_of(whole)
        lacking = [run for run in apart if run not in summed]
        if not (whole and lacking):
            chosen |= whole or single
            continue
        # A system of which only the mean is known keeps it.
        alone = not set(summed) <= set(apart)
        chosen |= columns if alone else single
        notes.append(
            f"the mean of both directions of {measure} on {truth} is missing for {', '.join(lacking)}: "
            f"the directions are listed {'as well' if alone else 'instead'}"
        )
    return chosen, notes


def metric_name(truth: str, measure: str, direction: str, several: bool) -> str:
    """Return the name of a column, with its truth where there are several.

    >>> metric_name("coco", "R@1", "i2t", True), metric_name("coco", "R@1", "mean", False)
    ('coco R@1 i→t', 'R@1')
    """
    arrow = [direction.replace("2", "→")] if is_direction(direction) else []
    return " ".join([*([truth] if several else []), measure, *arrow])


def as_leaderboard(source: Any) -> Leaderboard:
    """Return the leaderboard that something means: itself, a path or several, a Scorecard or several."""
    if isinstance(source, Leaderboard):
        return source
    entries = list(source) if isinstance(source, list | tuple) else [source]
    if entries and all(isinstance(entry, Scorecard) for entry in entries):
        return from_scorecards(entries)
    if entries and all(isinstance(entry, str | Path) for entry in entries):
        return read_leaderboard(*entries)
    raise InputError(
        f"{type(source).__name__} is not a leaderboard", fix="give a file, a Leaderboard or Scorecards"
    )
