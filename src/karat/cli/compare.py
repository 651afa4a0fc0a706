"""``karat compare``: which run is better, and how certain that is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def compare(
    files: options.Files,
    benchmark: options.BenchmarkName = "coco",
    name: options.Name = None,
    measure: options.Measure = None,
    truth: options.Truth = None,
    direction: options.Direction = None,
    ties: options.Ties = "pessimistic",
    unjudged: options.Unjudged = "misses",
    like: options.Like = None,
    test: options.Test = "randomisation",
    alpha: options.Alpha = 0.05,
    correction: options.Correction = "column",
    margin: Annotated[
        float | None,
        options.option(
            "--margin", panel=options.SURE, help="Also say which runs differ by no more, in points or ranks."
        ),
    ] = None,
    power: options.Power = None,
    interval_method: options.IntervalMethod = "percentile",
    level: options.Level = 0.95,
    resamples: options.OptionalResamples = None,
    seed: options.Seed = 0,
    similarity: options.Similarity = "dot",
    setting: options.Setting = None,
    detail: Annotated[
        bool,
        options.option(
            "--detail", panel=options.OUTPUT, help="Show each direction, not only what combines both."
        ),
    ] = False,
    json: options.Json = None,
    output: Annotated[Path | None, options.result_file("{comparison_files}; html is a report.")] = None,
) -> None:
    """Show which run is better, and how certain that is.

    On the same queries: intervals, differences, corrected p-values, places. Queries are resampled and
    swapped by image, since the captions of one image are not independent; p-values are corrected by Holm's
    method over the pairs of runs of each measure, or of all that are shown. Runs that are not shown to
    differ are not shown to be equal: --margin says which are, --power what would have been found.
    """
    from karat._util import is_page
    from karat.cli.show import finish, working
    from karat.runs import Loading
    from karat.scores import Comparison
    from karat.scores import compare as compared

    Comparison.check_path(output)
    with working():
        comparison = compared(
            files, benchmark, measure, truth=truth, direction=direction, ties=ties, unjudged=unjudged,
            like=like, test=test, alpha=alpha, correction=correction, margin=margin, power=power,
            interval_method=interval_method, level=level, resamples=resamples, seed=seed,
            setting=parse_settings(setting), details=is_page(output),
            loading=Loading(name, similarity=similarity),
        )  # fmt: skip
    finish(replace(comparison, detail=detail), json, output)
