"""``karat encode``: a model's vectors of a benchmark's pictures and captions, as a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_writable
from karat.cli.options import ListCommand, parse_settings

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
    from karat.models import ImageTextModel
    from karat.runs import convert, writer_of

    check_writable(output)
    writer_of(output)
    fitted = ImageTextModel.load(model)
    bench = load_benchmark(benchmark, **parse_settings(setting))
    with saying() as say:
        images, captions = fitted.vectors(bench, says=say)
    for path in convert(images, captions, target=output, benchmark=bench, similarity="cosine"):
        print(f"wrote {path}")
