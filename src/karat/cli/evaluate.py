"""``karat evaluate``: score runs on a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._util import check_extension
from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_files, parse_settings
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.scores import Scorecard

app = typer.Typer()


@app.command(cls=Command)
def evaluate(
    files: Annotated[list[Path] | None, options.run_files("Optional with --model.")] = None,
    benchmark: options.BenchmarkName = "coco",
    name: options.Name = None,
    model: Annotated[
        list[str] | None,
        options.option(
            "--model",
            panel=options.MODEL,
            metavar="MODEL",
            show_default=False,
            help="A model to encode and score, besides runs: a folder, hf:FOLDER, open_clip:FOLDER, "
            "sentence:FOLDER, or your own module:function.",
        ),
    ] = None,
    measure: options.Measure = None,
    truth: options.Truth = None,
    direction: options.Direction = None,
    ties: options.Ties = "pessimistic",
    unjudged: options.Unjudged = "misses",
    like: options.Like = None,
    text_only: Annotated[
        str | None,
        options.option(
            "--text-only",
            panel=options.SCORED,
            metavar="CONTROL",
            show_default=False,
            help="Of choices, a control without images: length, ngram:captions.txt, a file of scores, or "
            "none.",
        ),
    ] = None,
    phi: options.Phi = None,
    intervals: options.ScoreIntervals = False,
    interval_method: options.IntervalMethod = "percentile",
    level: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    label_uncertainty: Annotated[
        bool,
        options.option(
            "--label-uncertainty",
            panel=options.SURE,
            help="Draw labels from their probabilities, too: intervals then hold for queries and labels.",
        ),
    ] = False,
    seed: options.Seed = 0,
    similarity: options.Similarity = "dot",
    setting: options.Setting = None,
    json: options.Json = None,
    output: options.ScorecardFile = None,
    per_query: Annotated[
        Path | None,
        options.option(
            "--per-query",
            panel=options.OUTPUT,
            callback=options.check_file,
            help="Write a value per query: .csv or .parquet.",
        ),
    ] = None,
) -> None:
    """Score runs, what models returned, or models on a benchmark.

    In both directions, on every truth. Several runs are shown side by side in one table. Models are encoded
    once: a second time their vectors come from the cache.

    A bare table is read in the benchmark's own order of ids (`karat benchmarks show coco --ids FILE`). On a
    benchmark of choices, such as winoground, a table is examples by images by captions, in this order.
    """
    from karat._util import is_page
    from karat.cli.show import finish, working
    from karat.models import load_model
    from karat.runs import Loading
    from karat.scores import Scorecard
    from karat.scores import evaluate as score

    Scorecard.check_path(output)
    check_extension(per_query, (".csv", ".parquet"))
    runs = [*(files or ()), *map(load_model, model or ())]
    if not runs:
        raise InputError("no run was given", fix="give the files of runs, or --model NAME")
    with working():
        card = score(
            runs, benchmark, measure, truth=truth, direction=direction, ties=ties, unjudged=unjudged,
            like=like, intervals=intervals, interval_method=interval_method, level=level,
            resamples=resamples, label_uncertainty=label_uncertainty, seed=seed, text_only=text_only,
            phi=parse_files(phi), setting=parse_settings(setting), details=is_page(output),
            loading=Loading(name, similarity=similarity),
        )  # fmt: skip
    check_computed(card)
    if per_query is not None:
        card.save(per_query, per_query=True)
    finish(card, json, output)


def check_computed(card: Scorecard) -> None:
    """Raise where nothing has a value: the user of the command expects a number."""
    if all(column.value is None for column in card):
        why = next((note for note in card.notes if " has no value: " in note), card.notes[0])
        raise InputError(f"nothing could be computed: {why}", fix="karat inspect says more")
