"""``karat encode``: a model's vectors of a benchmark's pictures and captions, as a run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.choices import vector_files
from karat.cli.command import Command
from karat.cli.options import parse_settings
from karat.errors import InputError

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
    from karat.benchmarks import load_benchmark
    from karat.cli.show import print_notes, saying
    from karat.models import encode as encode_benchmark
    from karat.models import load_model, notes_on
    from karat.runs import EmbeddingRun, MatrixRun, check_target, convert, writer_of

    folder = None if output.suffix else output
    if folder is None:
        check_holds_vectors(output, writer_of(output).holds)
    else:
        check_target(folder)
    encoder = load_model(
        model, weights=weights, prompt=prompt, precision=precision, device=device, batch=batch
    )
    bench = load_benchmark(benchmark, **parse_settings(setting))
    changed = options.read_changed(queries, bench)
    with saying() as say:
        run = encode_benchmark(encoder, bench, queries=changed, summarise=summarise, folder=folder, says=say)
    if folder is not None:
        print(f"wrote {folder}")
    else:
        assert isinstance(run, EmbeddingRun | MatrixRun)
        tables = (run.images, run.captions) if isinstance(run, EmbeddingRun) else (run.scores,)
        for path in convert(
            *tables, target=output, ids=run.ids, similarity="cosine", made_with=run.made_with
        ):
            print(f"wrote {path}")
    print_notes(notes_on(encoder, summarise, run))


def check_holds_vectors(path: Path, kinds: Iterable[str]) -> None:
    """Raise before the work starts where a file holds ranked lists alone."""
    if not {"scores", "embeddings"} & {*kinds}:
        what = f"a {path.suffix} file holds ranked lists, not vectors or scores"
        fix = f"use one of {', '.join(vector_files())}; karat convert makes lists of it"
        raise InputError(what, where=path, fix=fix)
