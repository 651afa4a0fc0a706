"""``karat encode``: a model's vectors of a benchmark's pictures and captions, as a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli.options import ListCommand, parse_settings
from karat.validation import check_writable

app = typer.Typer()


@app.command(cls=ListCommand)
def encode(
    model: Annotated[Path, typer.Argument(help="A folder that karat fit wrote.", show_default=False)],
    benchmark: Annotated[
        str, typer.Option("--benchmark", "-b", help="Pictures and captions to encode.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The run: .safetensors, .npz, .npy …", show_default=False),
    ],
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the benchmark: --set split=test.")
    ] = None,
) -> None:
    """Encode pictures and captions with a model, for karat evaluate and compare.

    Vectors have length 1, so that plain products score them.
    """
    from karat.benchmarks import load_benchmark
    from karat.cli.show import saying
    from karat.runs.convert import convert, writer_of
    from karat.systems.model import ImageTextModel

    check_writable(output)
    writer_of(output)
    fitted = ImageTextModel.load(model)
    bench = load_benchmark(benchmark, **parse_settings(setting))
    with saying() as say:
        images, captions = fitted.vectors(bench, says=say)
    for path in convert(images, captions, target=output, benchmark=bench, similarity="cosine"):
        print(f"wrote {path}")
