"""``karat train``: a dual encoder from pictures or features, and captions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def train(
    benchmark: options.Captioned,
    output: Annotated[Path, options.output("a folder for the model; a checkpoint there is continued.")],
    dev: Annotated[
        str | None,
        typer.Option(
            help="The benchmark of dev scores; by default a tenth of the images.", show_default=False
        ),
    ] = None,
    features: Annotated[
        Path | None, typer.Option(help="Features of the images, a npy file in place of the pictures.")
    ] = None,
    dev_features: Annotated[Path | None, typer.Option(help="Features of the dev benchmark's images.")] = None,
    image_input: Annotated[
        str, typer.Option(help="What is made from pictures: counts of visual words, or pixels.")
    ] = "counts",
    loss: Annotated[
        str, typer.Option(help="The loss: sam, triplet, infonce, infonce-multi or ladder.")
    ] = "sam",
    loss_set: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the loss: tau=5, temperature=0.07."),
    ] = None,
    metric: Annotated[str, options.metric("{metrics}, for losses with margins.", "metrics")] = "cider",
    text_side: Annotated[
        str, typer.Option(help="The text side: bag, gru, transformer, or several joined by +.")
    ] = "bag",
    dimensions: Annotated[int, typer.Option(min=1, help="Dimensions of the common space.")] = 512,
    epochs: Annotated[int, typer.Option(min=1, help="How often every caption is seen.")] = 30,
    batch_size: Annotated[int, typer.Option(min=2, help="How many pairs a step has.")] = 128,
    lr: Annotated[float, typer.Option(help="The highest learning rate.")] = 1e-3,
    patience: Annotated[
        int | None, typer.Option(min=1, help="Stop after this many epochs without a better dev score.")
    ] = None,
    dev_measure: Annotated[
        str, typer.Option(help="The dev score: RSUM, or a part such as 't2i R@10'.")
    ] = "RSUM",
    device: options.Device = None,
    seed: options.Seed = 0,
    setting: options.Setting = None,
) -> None:
    """Train a dual encoder from pictures and captions.

    Interrupt it whenever you like: the same command goes on after the last finished epoch, and the result is
    the same.
    """
    from karat.cli.show import show, tell, working
    from karat.runs import Compute
    from karat.training import NetworkOptions, TrainingOptions, train

    def print_epoch(record: dict[str, float]) -> None:
        epoch = f"epoch {record['epoch']:.0f} of {epochs}"
        tell(f"{epoch}: loss {record['loss']:.4f}, dev {dev_measure} {record[dev_measure]:.1f}")

    chosen = TrainingOptions(
        epochs=epochs, batch_size=batch_size, lr=lr, patience=patience, measure=dev_measure, seed=seed
    )
    with working("training"):
        model = train(
            benchmark, dev=dev, features=features, dev_features=dev_features, image_input=image_input,
            loss=loss, loss_set=parse_settings(loss_set), metric=metric,
            network=NetworkOptions(text=text_side, dimensions=dimensions), options=chosen, output=output,
            setting=parse_settings(setting), compute=Compute(device=device),
            each_epoch=print_epoch,
        )  # fmt: skip
    show(model.summary())
