"""``karat evaluate``: score runs on a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._util import check_choice, check_extension, check_writable
from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_files, parse_settings
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.scores import Scorecard

app = typer.Typer()


@app.command(cls=Command)
def evaluate(
    files: options.FilesOrModels = None,
    benchmark: options.BenchmarkName = "coco",
    name: options.Name = None,
    model: options.Models = None,
    weights: options.Weights = None,
    prompt: options.CaptionPrompt = None,
    precision: options.Precision = None,
    device: options.Device = None,
    batch: options.Batch = None,
    measure: options.Measure = None,
    truth: options.Truth = None,
    direction: options.Direction = None,
    ties: options.Ties = "pessimistic",
    unjudged: options.Unjudged = "misses",
    like: options.Like = None,
    text_only: options.TextOnly = None,
    phi: options.Phi = None,
    intervals: options.ScoreIntervals = False,
    interval_method: options.IntervalMethod = "percentile",
    level: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    label_uncertainty: options.LabelUncertainty = False,
    label_versions: options.LabelVersions = 200,
    seed: options.Seed = 0,
    ids: options.Ids = None,
    similarity: options.Similarity = "dot",
    transpose: options.Transpose = False,
    setting: options.Setting = None,
    json: options.Json = None,
    output: options.ScorecardFile = None,
    per_query: Annotated[
        Path | None,
        options.option(
            "--per-query", panel=options.OUTPUT, help="Write a value per query: .csv or .parquet."
        ),
    ] = None,
    threads: options.Threads = None,
    memory: options.Memory = None,
    checkpoint: options.Checkpoint = None,
    scheduler: options.SchedulerAddress = None,
    tls_ca: options.TlsCa = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
) -> None:
    """Score runs, what models returned, or models on a benchmark.

    In both directions, on every truth. Several runs are shown side by side in one table. Models are encoded
    once: a second time their vectors come from the cache.

    A bare table is read in the benchmark's own order of ids (`karat benchmarks coco --ids FILE`). On a
    benchmark of choices, such as winoground, a table is examples by images by captions, in this order.
    """
    from karat._util import is_page
    from karat.cli.show import finish, scoring
    from karat.models import DEVICES, load_model
    from karat.runs import Compute, Loading
    from karat.scores import Scorecard
    from karat.scores import evaluate as score

    for path in (json, output, per_query):
        check_writable(path)
    Scorecard.check_path(output)
    check_extension(per_query, (".csv", ".parquet"))
    # Without a model nothing else would look at it, and the pass would silently be the processor's.
    if device is not None:
        check_choice(device, DEVICES, "device")
    if not model:
        refuse_alone({"--weights": weights, "--prompt": prompt, "--precision": precision, "--batch": batch})
    models = [
        load_model(one, weights=weights, prompt=prompt, precision=precision, device=device, batch=batch)
        for one in model or ()
    ]
    runs = [*(files or ()), *models]
    if not runs:
        raise InputError("no run was given", fix="give the files of runs, or --model NAME")
    cluster = options.scheduler_of(scheduler, tls_ca, tls_cert, tls_key)
    with scoring(len(runs)) as (say, step, tiles):
        compute = Compute(
            threads=threads, memory=memory, checkpoint=checkpoint, device=device, scheduler=cluster,
            progress=step, tiles=tiles, says=say,
        )  # fmt: skip
        card = score(
            runs, benchmark, measure, truth=truth, direction=direction, ties=ties,
            unjudged=unjudged, like=like,
            intervals=intervals, interval_method=interval_method, level=level, resamples=resamples, seed=seed,
            label_uncertainty=label_uncertainty, label_versions=label_versions,
            loading=Loading(name, ids, similarity, transpose), text_only=text_only,
            phi=parse_files(phi), setting=parse_settings(setting),
            details=is_page(output), compute=compute,
        )  # fmt: skip
    check_computed(card)
    if per_query is not None:
        card.save(per_query, per_query=True)
    finish(card, json, output)


def refuse_alone(of_models: dict[str, object]) -> None:
    """Raise for the first option of models that is given without one."""
    for option, value in of_models.items():
        if value is not None:
            raise InputError(f"{option} without --model", fix="name the model that it is for: --model NAME")


def check_computed(card: Scorecard) -> None:
    """Raise where nothing has a value: the user of the command expects a number."""
    if all(column.value is None for column in card):
        why = next((note for note in card.notes if " has no value: " in note), card.notes[0])
        raise InputError(f"nothing could be computed: {why}", fix="karat inspect says more")
