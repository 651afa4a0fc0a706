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
    output: Annotated[Path, options.output("a run, {run_targets}.")],
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
    captions, without the one that asks, and gives a score table.
    """
    from karat.benchmarks import load_benchmark
    from karat.cli.show import print_notes, saying
    from karat.models import encode as encode_benchmark
    from karat.models import load_model, notes_on
    from karat.runs import EmbeddingRun, convert, writer_of

    writer_of(output)
    encoder = load_model(model)
    bench = load_benchmark(benchmark, **parse_settings(setting))
    changed = options.read_changed(queries, bench)
    with saying() as say:
        run = encode_benchmark(encoder, bench, queries=changed, summarise=summarise, says=say)
    tables = (run.images, run.captions) if isinstance(run, EmbeddingRun) else (run.scores,)
    for path in convert(*tables, target=output, ids=run.ids, similarity="cosine"):
        print(f"wrote {path}")
    print_notes(notes_on(encoder, summarise))
