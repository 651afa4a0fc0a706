"""``karat agree``: how far raters agree, and how far any score agrees with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._util import check_choice, check_writable, plural
from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_numbers, parse_settings
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.runs import Loading
    from karat.scores import Agreement, Ratings, ScoreAgreement

app = typer.Typer()
TABLES = (".csv", ".tsv", ".txt", ".parquet")
"""What tables of ratings end in."""


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
    score: Annotated[
        list[str] | None,
        options.option(
            "--score",
            panel=options.SCORED,
            choices="metrics",
            help="Compare these with the ratings: original (the benchmark's own pairs), runs, tables of "
            "image, caption, score, or caption metrics: {metrics}.",
        ),
    ] = None,
    benchmark: options.OptionalBenchmark = None,
    setting: options.Setting = None,
    leave_out: options.LeaveOut = False,
    similarity: options.Similarity = "dot",
    ids: options.Ids = None,
    transpose: options.Transpose = False,
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
            help="Thresholds of the second table, or of the scores.",
        ),
    ] = None,
    rater: Annotated[
        list[str] | None,
        options.option("--rater", panel=options.INPUT, help="With one table: only these raters, or columns."),
    ] = None,
    resample: Annotated[
        str | None,
        options.option(
            "--resample",
            panel=options.SURE,
            choices="resampled",
            help="What to resample for intervals, {resampled}: item by default, image with --score.",
        ),
    ] = None,
    intervals: Annotated[
        bool | None,
        options.intervals(
            "in the table of thresholds; by default where they fit.", "--intervals/--no-intervals"
        ),
    ] = None,
    interval_method: options.IntervalMethod = "percentile",
    level: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    json: options.Json = None,
) -> None:
    """Show how far raters agree, or a score with raters.

    One table: its raters, by Krippendorff's alpha and Cohen's kappa. Two tables: joined on image and
    caption, each cut into yes and no at every threshold of its scale, kappa of every two thresholds.
    With --score: Pearson, Spearman and Kendall of every score with the mean ratings, and the best kappa.
    """
    from karat.cli.show import show, write_json
    from karat.runs import Loading
    from karat.scores import RESAMPLED, read_ratings
    from karat.scores import agree as compute
    from karat.stats import Intervals

    check_writable(json)
    if resample is not None:
        check_choice(resample, RESAMPLED, "resample")
    choices: dict[str, Any] = {
        "first_from": parse_numbers(first_from, "--first-from"),
        "second_from": parse_numbers(second_from, "--second-from"),
        "resample": resample or ("image" if score else "item"),
        "intervals": Intervals(interval_method, level, resamples, seed),
    }
    found: Agreement | ScoreAgreement
    if score:
        if missing != "left-out":
            raise InputError("--missing with --score", fix="a pair without a score is always left out")
        loading = Loading(None, ids, similarity, transpose)
        found = against_scores(
            read_ratings(only_table(files), rater), score, benchmark, setting, leave_out, loading, choices
        )
    else:
        for option, given in (("--benchmark", benchmark), ("--set", setting), ("--leave-out", leave_out)):
            if given:
                raise InputError(f"{option} without --score", fix="name a score, such as --score cider")
        if len(files) > 2:
            raise InputError(plural(len(files), "table"), fix="give one or two")
        if len(files) == 2 and rater:
            raise InputError("--rater with two tables", fix="give one table, or leave it out")
        first = read_ratings(files[0], rater)
        found = compute(first, None if len(files) == 1 else files[1], missing=missing, **choices)
    show(replace(found, show_intervals=intervals), quiet=write_json(found, json))


def only_table(files: list[Path]) -> Path:
    """Return the one table of ratings that scores are compared with, or raise."""
    for path in files:
        if path.suffix.lower() not in TABLES:
            raise InputError(
                f"{path} is not a table of ratings", fix=f"give a file that ends in {', '.join(TABLES)}"
            )
    if len(files) > 1:
        raise InputError(f"{len(files)} tables of ratings with --score", fix="separate scores by commas")
    return files[0]


def against_scores(
    ratings: Ratings,
    sources: list[str],
    benchmark: str | None,
    setting: list[str] | None,
    leave_out: bool,
    loading: Loading,
    choices: dict[str, Any],
) -> ScoreAgreement:
    """Return how far scores agree with ratings."""
    from karat.benchmarks import load_benchmark
    from karat.captions import collect_scores
    from karat.cli.show import waiting
    from karat.scores import locate, score_agreement

    bench = None if benchmark is None else load_benchmark(benchmark, **parse_settings(setting))
    located = locate(ratings, bench)
    with waiting("scoring the rated pairs"):
        scores = collect_scores(located, sources, bench, leave_out=leave_out, loading=loading)
    with waiting("drawing resamples"):
        found = score_agreement(located.ratings, scores, original=located.original, **choices)
    return replace(found, notes=(*located.notes, *found.notes))
