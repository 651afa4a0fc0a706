"""``karat board correlate``: which metrics order models alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def correlate(
    files: options.BoardFiles,
    coefficient: Annotated[
        str,
        options.option(
            "--coefficient",
            panel=options.SCORED,
            choices="coefficients",
            help="How alike two orders are: {coefficients}.",
        ),
    ] = "tau",
    metric: options.BoardMetric = None,
    lower_is_better: options.LowerIsBetter = None,
    intervals: Annotated[bool, options.intervals("a list of all pairs of metrics.")] = False,
    interval_method: options.IntervalMethod = "percentile",
    level: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    json: options.Json = None,
    output: Annotated[Path | None, options.result_file("{correlation_files}.")] = None,
) -> None:
    """Show which metrics order models alike.

    Every two metrics of a leaderboard. Systems are resampled for the intervals. Two metrics are compared on
    the systems that have both.
    """
    from karat.board import correlate
    from karat.cli.show import keep, working
    from karat.scores import CorrelationTable
    from karat.stats import Intervals

    CorrelationTable.check_path(output)
    chosen = Intervals(interval_method, level, resamples, seed)
    with working("drawing resamples"):
        table = correlate(
            files, coefficient, metric=metric, lower_is_better=lower_is_better or (), intervals=chosen
        )
    keep(replace(table, detail=intervals), json, output)
