"""``karat compare``: which run is better, and how sure is that?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_extension, check_writable, plural, write_file
from karat.cli import scoring
from karat.cli.options import ListCommand

app = typer.Typer()


@app.command(cls=ListCommand)
def compare(
    files: scoring.Files,
    benchmark: scoring.BenchmarkName = "coco",
    names: scoring.Names = None,
    measures: scoring.Measures = None,
    truths: scoring.Truths = None,
    directions: scoring.Directions = None,
    detail: Annotated[
        bool, typer.Option("--detail", help="Show each direction, not only what sums up both.")
    ] = False,
    test: scoring.Test = "randomisation",
    samples: scoring.Samples = 100_000,
    alpha: scoring.Alpha = 0.05,
    method: scoring.Method = "percentile",
    level: scoring.Level = 0.95,
    resamples: scoring.Resamples = 10_000,
    seed: scoring.Seed = 0,
    ties: scoring.Ties = "pessimistic",
    unjudged: scoring.Unjudged = "misses",
    ids: scoring.IdsFile = None,
    similarity: scoring.Similarity = "dot",
    transpose: scoring.Transpose = False,
    phi: scoring.Phi = None,
    setting: scoring.Setting = None,
    json: Annotated[
        Path | None, typer.Option(help="Write everything as json: scores, differences, places, method.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the differences (.csv, .parquet), all (.md, .json), or a report (.html).",
        ),
    ] = None,
    threads: scoring.Threads = None,
) -> None:
    """Compare runs on the same queries: intervals, differences, corrected p-values, places.

    Queries are resampled and swapped by image, since the captions of one image are not independent;
    p-values are corrected by Holm's method over the pairs of runs of each measure.
    """
    from karat.cli.report import is_page, save_report
    from karat.cli.show import print_comparison, print_notes, waiting
    from karat.scores import COMPARISON_WRITERS, check_choices
    from karat.scores import compare as compare_runs
    from karat.stats import Intervals

    for path in (json, output):
        check_writable(path)
    check_extension(None if is_page(output) else output, (*COMPARISON_WRITERS, ".html"))
    # Wrong choices show before large files are read.
    check_choices(test, alpha, samples, seed)
    intervals = Intervals(method, level, resamples, seed)
    card, runs, suspicions = scoring.score_files(
        files, benchmark, names=names, measures=measures, truths=truths, directions=directions, ties=ties,
        unjudged=unjudged, setting=setting, phi=phi, threads=threads, ids=ids, similarity=similarity,
        transpose=transpose, fewest=2,
    )  # fmt: skip
    with waiting(f"comparing {plural(len(card.runs), 'run')}"):
        found = compare_runs(card, test=test, alpha=alpha, intervals=intervals, samples=samples, seed=seed)
    if json is not None:
        write_file(json, lambda path: path.write_text(found.to_json(), encoding="utf-8"))
    if output is not None and is_page(output):
        save_report(found, output, runs, threads=threads)
    elif output is not None:
        found.save(output)
    print_comparison(found, detail)
    print_notes(suspicions)
