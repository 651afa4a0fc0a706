"""``karat board report``: the report on models of which only numbers are known."""

from __future__ import annotations

from pathlib import Path

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def report(
    files: options.BoardFiles,
    output: options.Page = Path("report.html"),
    title: options.Title = None,
    metric: options.BoardMetric = None,
    lower_is_better: options.LowerIsBetter = None,
) -> None:
    """Write a report from a table of numbers alone.

    Who leads where, and whether the metrics agree.
    """
    from karat.board import report
    from karat.cli.show import as_typed, print_notes, say_where, working
    from karat.reports import PageOptions

    with working(f"writing {output.name}"):
        board = report(
            files, output=output, metric=metric, lower_is_better=lower_is_better or (),
            page=PageOptions(title, command=as_typed()),
        )  # fmt: skip
    say_where(output)
    print_notes(board.notes)
