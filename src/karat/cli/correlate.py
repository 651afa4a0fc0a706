"""``karat correlate``: which metrics order systems alike."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from karat.cli.options import ListCommand, split_names
from karat.validation import check_writable, write_file

app = typer.Typer()


@app.command(cls=ListCommand)
def correlate(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="A leaderboard (csv, tsv, Parquet: the first column names the system, the others are "
            "metrics), or json files of `karat evaluate --json`.",
            show_default=False,
        ),
    ],
    method: Annotated[str, typer.Option(help="tau (Kendall's tau-b), spearman or pearson.")] = "tau",
    metrics: Annotated[
        list[str] | None, typer.Option("--metrics", "-m", help="Only these columns, in this order.")
    ] = None,
    lower_is_better: Annotated[
        list[str] | None,
        typer.Option(help="Metrics where low is good; MedR and MeanR are known to be."),
    ] = None,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="List every pair with its interval.")
    ] = False,
    bca: Annotated[bool, typer.Option("--bca", help="BCa intervals instead of percentile ones.")] = False,
    level: Annotated[float, typer.Option(help="How often an interval should hold.")] = 0.95,
    resamples: Annotated[int, typer.Option(help="How often the systems are drawn.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    json: Annotated[Path | None, typer.Option(help="Write a record per pair here as json.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the table: .json, .csv or .md.")
    ] = None,
) -> None:
    """Show how alike every two metrics order the systems of a leaderboard.

    Systems are resampled for the intervals. Two metrics are compared on the systems that have both.
    """
    from karat.cli.show import console, print_layout
    from karat.scores.correlate import correlate as compute
    from karat.scores.correlation_table import check_format
    from karat.scores.tables import text_of
    from karat.stats.intervals import Intervals

    for path in (json, output):
        check_writable(path)
    check_format(output)
    table = compute(
        files,
        method,
        metrics=split_names(metrics),
        lower_is_better=split_names(lower_is_better) or (),
        intervals=Intervals("bca" if bca else "percentile", level, resamples, seed),
    )
    if json is not None:
        write_file(json, lambda path: path.write_text(table.to_json(), encoding="utf-8"))
    if output is not None:
        table.save(output)
    screen = console()
    print(f"{table.title}\n")
    for layout in (table.lay_out(), *([table.lay_out_pairs()] if intervals else [])):
        if screen.is_terminal:
            print_layout(layout, screen)
        else:
            print(text_of(layout))
        print()
    print("\n".join([*table.sentences(), "", table.how]))
    for note in table.notes:
        print(f"note: {note}", file=sys.stderr)
