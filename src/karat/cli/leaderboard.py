"""``karat leaderboard``: the report on models of which only numbers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_writable
from karat.cli import options
from karat.cli.command import Command
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=Command)
def leaderboard(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="A table (csv, tsv, Parquet: the first column names the system, the others are metrics), "
            "json files of `karat evaluate --json`, or a folder of such files.",
            show_default=False,
        ),
    ],
    output: options.Page = Path("report.html"),
    title: options.Title = None,
    metric: options.BoardMetric = None,
    lower_is_better: options.LowerIsBetter = None,
) -> None:
    """Write a report from a table of numbers alone.

    Who leads where, and whether the metrics agree.
    """
    from karat.cli.show import as_typed, print_notes, say_where, waiting
    from karat.reports import PageOptions, check_target, marked_low, write_report
    from karat.scores import read_leaderboard, select_metrics

    check_target(output)
    check_writable(output)
    board = read_leaderboard(*in_folders(files))
    if metric:
        board = select_metrics(board, metric)
    board = marked_low(board, lower_is_better or [])
    with waiting(f"writing {output.name}"):
        write_report(board, output, page=PageOptions(title, command=as_typed()))
    say_where(output)
    print_notes(board.notes)


def in_folders(paths: list[Path]) -> list[Path]:
    """Return the given files; a folder means the json files of scores in it."""
    from karat.runs import made_with_of_runs

    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        found_here = set(path.glob("*.json"))
        inside = sorted(found_here - {made_with_of_runs(file) for file in found_here})
        if not inside:
            raise InputError(
                "has no json file", where=path, fix="put files of `karat evaluate --json` into it"
            )
        found += inside
    return found
