"""``karat leaderboard``: the report on systems of which only numbers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_writable
from karat.cli.options import ListCommand, split_names
from karat.cli.report import Title, as_typed, say_where
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=ListCommand)
def leaderboard(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="A table (csv, tsv, Parquet: the first column names the system, the others are metrics), "
            "json files of `karat evaluate --json`, or a folder of such files.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The html file to write.")] = Path(
        "report.html"
    ),
    title: Title = None,
    metrics: Annotated[
        list[str] | None, typer.Option("--metrics", "-m", help="Only these columns, in this order.")
    ] = None,
    lower_is_better: Annotated[
        list[str] | None, typer.Option(help="Metrics where low is good; MedR and MeanR are known to be.")
    ] = None,
) -> None:
    """Write one html file about a table of numbers: who leads where, and whether the metrics agree."""
    from karat.cli.show import print_notes, waiting
    from karat.reports import check_target, marked_low, write_report
    from karat.scores import choose, read_leaderboard

    check_target(output)
    check_writable(output)
    board = read_leaderboard(*in_folders(files))
    chosen = split_names(metrics)
    if chosen is not None:
        board = choose(board, chosen)
    board = marked_low(board, split_names(lower_is_better) or [])
    with waiting(f"writing {output.name}"):
        write_report(board, output, title=title, command=as_typed())
    say_where(output)
    print_notes(board.notes)


def in_folders(paths: list[Path]) -> list[Path]:
    """Return the files that were given, a folder standing for the json files in it."""
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(path.glob("*.json"))
        if not inside:
            raise InputError(
                "has no json file", where=path, fix="put files of `karat evaluate --json` into it"
            )
        found += inside
    return found
