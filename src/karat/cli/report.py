"""``karat report``: one html file with everything that was found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def report(
    files: options.Files,
    output: options.Page = Path("report.html"),
    benchmark: options.BenchmarkName = "coco",
    name: options.Name = None,
    title: options.Title = None,
    image_folder: options.ImageFolder = None,
    inline_images: Annotated[
        float,
        options.option(
            "--inline-images",
            min=0,
            panel=options.OUTPUT,
            help="Megabytes of small pictures in the file; more are linked.",
        ),
    ] = 2.0,
    measure: options.Measure = None,
    truth: options.Truth = None,
    direction: options.Direction = None,
    ties: options.Ties = "pessimistic",
    unjudged: options.Unjudged = "misses",
    like: options.Like = None,
    test: options.Test = "randomisation",
    alpha: options.Alpha = 0.05,
    correction: options.Correction = "column",
    interval_method: options.IntervalMethod = "percentile",
    level: options.Level = 0.95,
    resamples: options.OptionalResamples = None,
    seed: options.Seed = 0,
    similarity: options.Similarity = "dot",
    setting: options.Setting = None,
) -> None:
    """Write one html page with everything about one or several runs.

    It opens without a network. In it: a headline in plain words, scores with intervals, who beats whom, how
    places change from metric to metric, what unjudged labels leave open, every query, and the methods.
    """
    from karat.cli.show import as_typed, print_notes, say_where, working
    from karat.reports import PageOptions
    from karat.reports import report as write
    from karat.runs import Loading

    with working():
        written = write(
            files, benchmark, measure, output=output, truth=truth, direction=direction, ties=ties,
            unjudged=unjudged, like=like, test=test, alpha=alpha, correction=correction,
            interval_method=interval_method, level=level, resamples=resamples, seed=seed,
            setting=parse_settings(setting), loading=Loading(name, similarity=similarity),
            page=PageOptions(title, image_folder, inline_images, as_typed()),
        )  # fmt: skip
    say_where(output)
    print_notes(written.notes)
