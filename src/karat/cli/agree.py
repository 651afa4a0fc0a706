"""``karat agree``: how far raters agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from karat._util import plural
from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_numbers
from karat.errors import InputError

app = typer.Typer()
TABLES = (".csv", ".tsv", ".txt", ".parquet")
"""What tables of people's answers end in."""


@app.command(cls=Command)
def agree(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="One or two tables of ratings (csv, tsv, txt, Parquet): image, caption and a column per "
            "rater; or image, caption, rater, rating; or Flickr8k's or CxC's own files.",
            show_default=False,
        ),
    ],
    missing: Annotated[
        str,
        options.option(
            "--missing",
            panel=options.SCORED,
            choices="missing_pairs",
            help="Pairs of the first table that the second does not list: {missing_pairs}.",
        ),
    ] = "left-out",
    first_from: Annotated[
        list[str] | None,
        options.option(
            "--first-from",
            panel=options.SCORED,
            metavar="X",
            help="Thresholds of the first table; all by default.",
        ),
    ] = None,
    second_from: Annotated[
        list[str] | None,
        options.option(
            "--second-from",
            panel=options.SCORED,
            metavar="X",
            help="Thresholds of the second table.",
        ),
    ] = None,
    rater: options.Rater = None,
    resample: options.Resample = "item",
    intervals: options.ThresholdIntervals = None,
    interval_method: options.IntervalMethod = "percentile",
    level: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    json: options.Json = None,
) -> None:
    """Show how far raters agree.

    One table: its raters, by Krippendorff's alpha and Cohen's kappa. Two tables: joined on image and
    caption, each cut into yes and no at every threshold of its scale, kappa of every two thresholds.
    `karat captions agree` compares scores with ratings.
    """
    from karat.cli.show import keep, working
    from karat.scores import agree
    from karat.stats import Intervals

    if len(files) > 2:
        raise InputError(plural(len(files), "table"), fix="give one or two")
    chosen = Intervals(interval_method, level, resamples, seed)
    with working("drawing resamples"):
        found = agree(
            *files, rater=rater, missing=missing, first_from=parse_numbers(first_from, "--first-from"),
            second_from=parse_numbers(second_from, "--second-from"), resample=resample, intervals=chosen,
        )  # fmt: skip
    keep(replace(found, show_intervals=intervals), json)
