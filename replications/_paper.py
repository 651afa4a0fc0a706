"""What the replications share: published tables as data, records, and the command line.

A record is ``{"table", "row", "column", "paper", "ours", "note"}``, numbers in the paper's own units;
``paper`` is null where the text at hand lost the number, ``ours`` where the data at hand cannot answer,
and the note says why.
"""

import argparse
import csv
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from karat._util.files import check_writable, write_file
from karat.errors import InputError, KaratError
from karat.scores import Leaderboard
from karat.stats import Intervals

TABLES = Path(__file__).parent / "tables"
Records = list[dict[str, Any]]
POINTS = Intervals(resamples=1)
"""Where intervals are not part of a table: one resample is the cheapest."""


def read_table(name: str, table: str | None = None) -> list[dict[str, str]]:
    """Return the rows of a file of published tables by the names of its columns: all, or those of one."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as handle:
        return [line for line in csv.DictReader(handle) if table in (None, line.get("table"))]


def number(cell: str) -> float | None:
    """Return a printed number, None where the cell is empty."""
    return float(cell) if cell else None


def record(
    table: str, row: str, column: str, paper: float | None, ours: float | None, note: str = ""
) -> dict[str, Any]:
    """Return one record of the contract."""
    return {"table": table, "row": row, "column": column, "paper": paper, "ours": ours, "note": note}


def beside(
    published: Iterable[Mapping[str, str]], ours: Mapping[tuple[str, str, str], tuple[float | None, str]]
) -> Records:
    """Return published numbers (table, row, column, paper) beside ours and our notes, by the same keys."""
    out = []
    for line in published:
        value, note = ours[line["table"], line["row"], line["column"]]
        out.append(record(line["table"], line["row"], line["column"], number(line["paper"]), value, note))
    return out


def show(records: Records) -> str:
    """Return the records as a table: paper, ours, their difference, and the notes once each below."""
    notes: dict[str, int] = {}
    head = ("table", "row", "column", "paper", "ours", "differs", "note")
    lines = [head]
    for one in records:
        paper, ours = one["paper"], one["ours"]
        apart = "" if paper is None or ours is None else f"{ours - paper:+.4g}"
        mark = str(notes.setdefault(one["note"], len(notes) + 1)) if one["note"] else ""
        shown = ["—" if value is None else f"{value:.6g}" for value in (paper, ours)]
        lines.append((one["table"], one["row"], one["column"], *shown, apart, mark))
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    text = [
        "  ".join(
            cell.ljust(width) if k < 3 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([*text, "", *(f"{mark}: {note}" for note, mark in notes.items())]).rstrip()


def chosen(makers: Mapping[str, Callable[[Path | None], Records]], table: str | None) -> list[str]:
    """Return which tables are asked for: "10" means 10a and 10b."""
    if table is None:
        return list(makers)
    found = [name for name in makers if table in (name, re.sub(r"(?<=\d)[a-z]$", "", name))]
    if not found:
        raise InputError(f"there is no table {table!r}", fix=f"choose one of {', '.join(makers)}")
    return found


def main(
    makers: Mapping[str, Callable[[Path | None], Records]],
    about: str | None,
    leaderboard: Callable[[], Leaderboard] | None = None,
) -> None:
    """Parse the command line, compute, print or write the records; exit code 2 for wrong input.

    Where the paper has a leaderboard, ``--report FILE`` writes karat's report on it instead.
    """
    parser = argparse.ArgumentParser(description=(about or "").split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of real data; by default KARAT_DATA")
    parser.add_argument("--json", type=Path, help="write the records here instead of printing them")
    parser.add_argument("--table", help=f"one of {', '.join(makers)}")
    if leaderboard is not None:
        parser.add_argument("--report", type=Path, help="write a report on the paper's models, .html")
    asked = parser.parse_args()
    data = asked.data or (Path(os.environ["KARAT_DATA"]) if os.environ.get("KARAT_DATA") else None)
    try:
        check_writable(asked.json)
        if leaderboard is not None and asked.report is not None:
            from karat.reports import PageOptions, write_report

            page = PageOptions((about or "").split(":")[0])
            print(f"wrote {write_report(leaderboard(), asked.report, page=page)}")
            return
        if data is not None and not data.is_dir():
            raise InputError("there is no such folder", where=data, fix="give the folder of the data")
        records = [one for name in chosen(makers, asked.table) for one in makers[name](data)]
        if asked.json is None:
            print(show(records))
        else:
            text = json.dumps(records, indent=1, ensure_ascii=False) + "\n"
            write_file(asked.json, lambda path: path.write_text(text, encoding="utf-8"))
    except KaratError as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(2)
