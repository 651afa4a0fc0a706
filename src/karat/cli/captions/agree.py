"""``karat captions agree``: how far any score agrees with people's ratings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_numbers, parse_settings

app = typer.Typer()


@app.command(cls=Command)
def agree(
    ratings: Annotated[
        Path,
        typer.Argument(
            metavar="RATINGS",
            help="A table of ratings, as karat agree reads it: csv, tsv, txt or Parquet.",
            show_default=False,
        ),
    ],
    score: Annotated[
        list[str],
        options.option(
            "--score",
            panel=options.SCORED,
            choices="metrics",
            show_default=False,
            help="Which: original (the benchmark's own pairs), runs, tables of image, caption, score, or "
            "caption metrics: {metrics}.",
        ),
    ],
    benchmark: options.OptionalBenchmark = None,
    setting: options.Setting = None,
    leave_out: options.LeaveOut = False,
    similarity: options.Similarity = "dot",
    rater: options.Rater = None,
    rating_from: Annotated[
        list[str] | None,
        options.option(
            "--rating-from",
            panel=options.SCORED,
            metavar="X",
            help="Thresholds of the ratings; all by default.",
        ),
    ] = None,
    score_from: Annotated[
        list[str] | None,
        options.option(
            "--score-from",
            panel=options.SCORED,
            metavar="X",
            help="Thresholds of the scores; by default all, or nine.",
        ),
    ] = None,
    resample: options.Resample = "image",
    intervals: options.ThresholdIntervals = None,
    interval_method: options.IntervalMethod = "percentile",
    level: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    json: options.Json = None,
) -> None:
    """Show how far scores agree with people's ratings.

    Pearson, Spearman and Kendall of every score with the mean ratings, and the best kappa of the two, each
    cut into yes and no.
    """
    from karat.captions import agree
    from karat.cli.show import keep, working
    from karat.runs import Loading
    from karat.stats import Intervals

    chosen = Intervals(interval_method, level, resamples, seed)
    with working("comparing scores with ratings"):
        found = agree(
            ratings, score, benchmark, leave_out=leave_out, rater=rater,
            rating_from=parse_numbers(rating_from, "--rating-from"),
            score_from=parse_numbers(score_from, "--score-from"), resample=resample, intervals=chosen,
            loading=Loading(similarity=similarity), setting=parse_settings(setting),
        )  # fmt: skip
    keep(replace(found, show_intervals=intervals), json)
