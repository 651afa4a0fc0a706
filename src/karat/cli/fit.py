"""``karat fit``: a baseline from pictures and captions alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    from karat.baselines import fit
    from karat.cli.show import show, working

    with working("reading pictures"):
        model = fit(
            benchmark, output=output, text=text, image=image, image_power=image_power, kappa=kappa, n=n,
            setting=parse_settings(setting),
        )  # fmt: skip
    show(model.summary())
