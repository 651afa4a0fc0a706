"""``karat evaluate``: score runs on a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_extension, check_writable, write_file
from karat.cli import scoring
from karat.cli.options import ListCommand

app = typer.Typer()


@app.command(cls=ListCommand)
def evaluate(
    files: scoring.Files,
    benchmark: scoring.BenchmarkName = "coco",
    names: scoring.Names = None,
    measures: scoring.Measures = None,
    truths: scoring.Truths = None,
    directions: scoring.Directions = None,
    ties: scoring.Ties = "pessimistic",
    unjudged: scoring.Unjudged = "misses",
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Add bootstrap intervals over images with their captions.")
    ] = False,
    method: scoring.Method = "percentile",
    level: scoring.Level = 0.95,
    resamples: scoring.Resamples = 10_000,
    seed: scoring.Seed = 0,
    ids: scoring.IdsFile = None,
    similarity: scoring.Similarity = "dot",
    transpose: scoring.Transpose = False,
    phi: scoring.Phi = None,
    setting: scoring.Setting = None,
    json: Annotated[Path | None, typer.Option(help="Write the records here as json.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write the table (.json, .csv, .parquet, .md, .tex), or a report (.html)."
        ),
    ] = None,
    per_query: Annotated[Path | None, typer.Option(help="Write a value per query: .csv or .parquet.")] = None,
    threads: scoring.Threads = None,
) -> None:
    """Score one or several runs, in both directions, on every truth of a benchmark.

    A bare table is read in the benchmark's own order of ids (`karat benchmarks coco --ids FILE`).
    """
    from karat.cli.report import is_page, save_report
    from karat.cli.show import print_notes, print_scorecard
    from karat.scores import SCORECARD_WRITERS
    from karat.stats import Intervals

    for path in (json, output, per_query):
        check_writable(path)
    check_extension(None if is_page(output) else output, (*SCORECARD_WRITERS, ".html"))
    check_extension(per_query, (".csv", ".parquet"))
    card, runs, suspicions = scoring.score_files(
        files, benchmark, names=names, measures=measures, truths=truths, directions=directions, ties=ties,
        unjudged=unjudged, setting=setting, phi=phi, threads=threads, ids=ids, similarity=similarity,
        transpose=transpose, intervals=Intervals(method, level, resamples, seed) if intervals else None,
    )  # fmt: skip
    if json is not None:
        write_file(json, lambda path: path.write_text(card.to_json(), encoding="utf-8"))
    if output is not None and is_page(output):
        save_report(card, output, runs, threads=threads)
    elif output is not None:
        card.save(output)
    if per_query is not None:
        card.save(per_query, per_query=True)
    print_scorecard(card)
    print_notes(suspicions)
