"""``karat encode``: a model's vectors of a benchmark's pictures and captions, as a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def encode(
    model: options.Model,
    benchmark: options.BenchmarkName,
    output: Annotated[
        Path, options.output("a run: a new folder, of safetensors files, or a file: {vector_files}.")
    ],
    weights: options.Weights = None,
    prompt: options.CaptionPrompt = None,
    precision: options.Precision = None,
    device: options.Device = None,
    batch: options.Batch = None,
    queries: options.ChangedCaptions = None,
    summarise: Annotated[
        str | None,
        options.option(
            "--summarise",
            panel=options.SCORED,
            metavar="HOW",
            show_default=False,
            help="For a model of texts, make one text of an image's captions first: extractive, "
            "joined, or transformers:FOLDER.",
        ),
    ] = None,
    setting: options.Setting = None,
) -> None:
    """Encode pictures and captions with a model, as a run.

    Vectors have length 1, so that plain products score them. A model of texts alone sees an image through its
    captions, without the one that asks, and gives a score table. Finished parts of a folder are kept when the
    work is interrupted: the same command continues it.
    """
    from karat.cli.show import print_notes, tell, working
    from karat.models import encode

    with working("encoding"):
        run = encode(
            model, benchmark, output=output, weights=weights, prompt=prompt, precision=precision,
            device=device, batch=batch, queries=queries, summarise=summarise, setting=parse_settings(setting),
        )  # fmt: skip
    for path in run.files:
        tell(f"wrote {path}")
    print_notes(run.notes)
