"""``karat compare``: which run is better, and how certain that is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_writable
from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_files, parse_settings

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
    text_only: options.TextOnly = "none",
    phi: options.Phi = None,
    test: options.Test = "randomisation",
    samples: options.Samples = 100_000,
    alpha: options.Alpha = 0.05,
    correction: options.Correction = "column",
    margin: options.Margin = None,
    power: options.Power = None,
    intervals: Annotated[
        bool, options.intervals("below the scores in LaTeX, by default.", "--intervals/--no-intervals")
    ] = True,
    interval_method: options.IntervalMethod = "percentile",
    level: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    ids: options.Ids = None,
    similarity: options.Similarity = "dot",
    transpose: options.Transpose = False,
    setting: options.Setting = None,
    detail: Annotated[
        bool,
        options.option(
            "--detail", panel=options.OUTPUT, help="Show each direction, not only what combines both."
        ),
    ] = False,
    json: options.Json = None,
    output: Annotated[Path | None, options.output("{comparison_files}; html is a report.")] = None,
    threads: options.Threads = None,
    scheduler: options.SchedulerAddress = None,
    tls_ca: options.TlsCa = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
) -> None:
    """Show which run is better, and how certain that is.

    On the same queries: intervals, differences, corrected p-values, places. Queries are resampled and
    swapped by image, since the captions of one image are not independent; p-values are corrected by Holm's
    method over the pairs of runs of each measure, or of all that are shown. Runs that are not shown to
    differ are not shown to be equal: --margin says which are, --power what would have been found.
    """
    from karat._util import is_page
    from karat.cli.show import finish, progress
    from karat.runs import Compute, Loading
    from karat.scores import Comparison
    from karat.scores import compare as compare_runs

    for path in (json, output):
        check_writable(path)
    Comparison.check_path(output)
    cluster = options.scheduler_of(scheduler, tls_ca, tls_cert, tls_key)
    with progress(len(files)) as step:
        compute = Compute(threads=threads, progress=step, scheduler=cluster)
        comparison = compare_runs(
            files, benchmark, measure, truth=truth, direction=direction, ties=ties, unjudged=unjudged,
            like=like, test=test, samples=samples, alpha=alpha, correction=correction, margin=margin,
            power=power, interval_method=interval_method, level=level, resamples=resamples, seed=seed,
            loading=Loading(name, ids, similarity, transpose), text_only=text_only,
            phi=parse_files(phi), setting=parse_settings(setting),
            details=is_page(output), compute=compute,
        )  # fmt: skip
    finish(replace(comparison, detail=detail, show_intervals=intervals), json, output)
