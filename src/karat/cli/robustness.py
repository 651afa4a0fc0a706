"""``karat robustness``: a run before and after changed queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def robustness(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="BEFORE AFTER...",
            help="The run on the captions, then the run on each file of changed queries: score tables, pairs "
            "of embedding tables (of changed queries, their vectors are enough), or ranked lists; "
            "{run_files}.",
            show_default=False,
        ),
    ],
    queries: Annotated[
        list[Path],
        options.option(
            "--queries",
            panel=options.INPUT,
            metavar="FILE",
            help="What karat perturb wrote; again for each further run, in the same order.",
            show_default=False,
        ),
    ],
    benchmark: options.BenchmarkName = "coco",
    name: options.Name = None,
    measure: options.Measure = None,
    per: Annotated[
        str | None,
        options.option(
            "--per",
            panel=options.SCORED,
            choices="robustness_units",
            help="What a query is: {robustness_units}; a set is an image's captions together. By default "
            "both, where scores can be averaged.",
            show_default=False,
        ),
    ] = None,
    truth: options.Truth = None,
    ties: options.Ties = "pessimistic",
    unjudged: options.Unjudged = "misses",
    interval_method: options.IntervalMethod = "percentile",
    level: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    similarity: options.Similarity = "dot",
    setting: options.Setting = None,
    json: options.Json = None,
    output: Annotated[Path | None, options.result_file("{robustness_files}.")] = None,
) -> None:
    """Show whether a model reads what was changed in its queries.

    Ranks and scores of the caption's own image, and every measure, before and after; on the changed queries
    and on all, per caption and per image's set of captions, with paired intervals over images. Controls,
    which keep the meaning, show how much the mere wording moves.
    """
    from karat.cli.show import keep, working
    from karat.perturbations import Robustness, robustness
    from karat.runs import Loading

    Robustness.check_path(output)
    with working("ranking the changed queries"):
        found = robustness(
            files, None, benchmark, list(queries), measure, per=per, truth=truth, ties=ties,
            unjudged=unjudged, interval_method=interval_method, level=level, resamples=resamples, seed=seed,
            loading=Loading(name, similarity=similarity), setting=parse_settings(setting),
        )  # fmt: skip
    keep(found, json, output)
