"""``karat report``: one html file with everything that was found."""

from __future__ import annotations

from pathlib import Path

import typer

from karat._util import check_writable
from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_files, parse_settings

app = typer.Typer()


@app.command(cls=Command)
def report(
    files: options.Files,
    output: options.Page = Path("report.html"),
    benchmark: options.BenchmarkName = "coco",
    name: options.Name = None,
    title: options.Title = None,
    image_folder: options.ImageFolder = None,
    inline_images: options.InlineImages = 2.0,
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
    interval_method: options.IntervalMethod = "percentile",
    level: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    ids: options.Ids = None,
    similarity: options.Similarity = "dot",
    transpose: options.Transpose = False,
    setting: options.Setting = None,
    threads: options.Threads = None,
    memory: options.Memory = None,
    scheduler: options.SchedulerAddress = None,
    tls_ca: options.TlsCa = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
) -> None:
    """Write one html page with everything about one or several runs.

    It opens without a network. In it: a headline in plain words, scores with intervals, who beats whom, how
    places change from metric to metric, what unjudged labels leave open, every query, and the methods.
    """
    from karat.cli.show import as_typed, print_notes, progress, say_where, saying
    from karat.reports import PageOptions
    from karat.reports import report as write
    from karat.runs import Compute, Loading

    check_writable(output)
    cluster = options.scheduler_of(scheduler, tls_ca, tls_cert, tls_key)
    with saying() as say, progress(len(files), say) as step:
        page = PageOptions(title, image_folder, inline_images, as_typed())
        compute = Compute(threads=threads, memory=memory, progress=step, says=say, scheduler=cluster)
        found = write(
            files, benchmark, measure, output=output, page=page, truth=truth, direction=direction, ties=ties,
            unjudged=unjudged, like=like, test=test, samples=samples, alpha=alpha, correction=correction,
            interval_method=interval_method, level=level, resamples=resamples, seed=seed,
            text_only=text_only, phi=parse_files(phi), setting=parse_settings(setting),
            loading=Loading(name, ids, similarity, transpose), compute=compute,
        )  # fmt: skip
    say_where(output)
    print_notes(found.notes)
