"""``karat fit``: a baseline from pictures and captions alone."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_folder
from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def fit(
    benchmark: options.Captioned,
    output: Annotated[Path, options.output("a folder for the model.")],
    text: Annotated[
        str, options.option("--text", choices="text_kernels", help="The text kernel: {text_kernels}.")
    ] = "BoW5",
    image: Annotated[
        str, options.option("--image", choices="image_kernels", help="The image kernel: {image_kernels}.")
    ] = "pyramid",
    image_power: Annotated[
        float, typer.Option(help="Power of the image kernel; 1 leaves it unchanged.")
    ] = 3.0,
    kappa: Annotated[float, typer.Option(help="KCCA's regularisation.")] = 0.1,
    n: Annotated[int, typer.Option(min=1, help="KCCA's number of dimensions.")] = 50,
    setting: options.Setting = None,
) -> None:
    """Train a baseline from pictures and captions alone.

    By kernel canonical correlation analysis (KCCA): minutes, and no pretrained model.
    """
    from karat.benchmarks import load_benchmark
    from karat.cli.show import saying
    from karat.models import ImageTextModel
    from karat.models import fit as fit_model

    check_folder(output)
    ImageTextModel.check_installed()
    bench = load_benchmark(benchmark, **parse_settings(setting))
    with saying() as say:
        model = fit_model(bench, text=text, image=image, image_power=image_power, kappa=kappa, n=n, says=say)
        model.save(output)
    used = len(model.captions_)
    strongest = ", ".join(f"{value:.2f}" for value in model.kcca_.correlations_[:3])
    print(f"fitted {text} and {image} to {used:,} pictures: {model.kcca_.n_} dimensions, "
          f"strongest correlations {strongest}")  # fmt: skip
    if used < bench.images.size:
        print(f"note: {bench.images.size - used:,} pictures without a caption were left out")
    print(f"wrote {output}")
    print(f'try: karat search {shlex.quote(str(output))} "a dog on a beach" --in {shlex.quote(benchmark)}')
