"""``karat correlate``: which metrics order systems alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_extension, check_writable, write_file
from karat.cli import scoring
from karat.cli.options import ListCommand, split_names

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
    level: scoring.Level = 0.95,
    resamples: scoring.Resamples = 10_000,
    seed: scoring.Seed = 0,
    json: Annotated[Path | None, typer.Option(help="Write a record per pair here as json.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the table: .json, .csv or .md.")
    ] = None,
) -> None:
    """Show how alike every two metrics order the systems of a leaderboard.

    Systems are resampled for the intervals. Two metrics are compared on the systems that have both.
    """
    from karat.cli.show import console, print_notes, print_table
    from karat.scores import CORRELATION_WRITERS
    from karat.scores import correlate as compute
    from karat.stats import Intervals

    for path in (json, output):
        check_writable(path)
    check_extension(output, tuple(CORRELATION_WRITERS))
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
        print_table(layout, screen)
        print()
    print("\n".join([*table.sentences(), "", table.how]))
    print_notes(table.notes)
