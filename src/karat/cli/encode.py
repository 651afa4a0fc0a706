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
    setting: options.Setting = None,
) -> None:
    """Encode pictures and captions with a model, as a run.

    Vectors have length 1, so that plain products score them.
    """
    from karat.benchmarks import load_benchmark
    from karat.cli.show import saying
    from karat.models import ImageTextModel
    from karat.runs import convert, writer_of

    writer_of(output)
    ImageTextModel.check_installed()
    fitted = ImageTextModel.load(model)
    bench = load_benchmark(benchmark, **parse_settings(setting))
    with saying() as say:
        images, captions = fitted.vectors(bench, says=say)
    for path in convert(images, captions, target=output, benchmark=bench, similarity="cosine"):
        print(f"wrote {path}")
