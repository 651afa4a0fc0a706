"""``karat train``: a dual encoder from pictures or features, and captions."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_folder, require
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
    pixels: Annotated[
        bool, typer.Option("--pixels", help="Learn from pixels, not from visual words.")
    ] = False,
    loss: Annotated[
        str, typer.Option(help="The loss: sam, triplet, infonce, infonce-multi or ladder.")
    ] = "sam",
    tau: Annotated[
        float | None, typer.Option(help="sam: τ; the higher, the smaller the margins. By default 5.")
    ] = None,
    sampling: Annotated[
        str | None, typer.Option(help="sam: its negatives: nearest (default), furthest or random.")
    ] = None,
    keep_triplet: Annotated[
        bool | None, typer.Option("--keep-triplet/--no-triplet", help="sam: with the plain triplet loss.")
    ] = None,
    sam_weight: Annotated[
        float | None, typer.Option(help="sam: the weight λ of its term beside the triplet's; by default 5.")
    ] = None,
    fixed_margin: Annotated[
        float | None, typer.Option(help="sam, triplet: the fixed margin α; by default 0.2.")
    ] = None,
    negatives: Annotated[
        str | None, typer.Option(help="triplet: its negatives: hardest (default) or sum.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="infonce: the temperature; by default 0.07.")
    ] = None,
    metric: Annotated[str, options.metric("{metrics}, for losses with margins.", "metrics")] = "cider",
    own: Annotated[
        str, typer.Option(help="sam, ladder: whether a caption is among its own references: in or out.")
    ] = "in",
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
    check_folder(output)
    require("torch", "safetensors", extra_name="train")

    from karat.cli.show import print_notes, saying
    from karat.runs import Compute
    from karat.training import NetworkOptions, TrainingOptions, train_model

    chosen = {
        "tau": tau, "sampling": sampling, "keep_triplet": keep_triplet, "weight": sam_weight,
        "alpha": fixed_margin, "negatives": negatives, "temperature": temperature,
    }  # fmt: skip

    def show(record: dict[str, float]) -> None:
        score = record[dev_measure]
        epoch = f"epoch {record['epoch']:.0f} of {epochs}"
        print(f"{epoch}: loss {record['loss']:.4f}, dev {dev_measure} {score:.1f}", flush=True)  # fmt: skip

    with saying() as say:
        model = train_model(
            benchmark, dev=dev, features=features, dev_features=dev_features,
            image_input="pixels" if pixels else "counts", loss=loss,
            loss_options={name: value for name, value in chosen.items() if value is not None},
            metric=metric, own=own, network=NetworkOptions(text=text_side, dimensions=dimensions),
            options=TrainingOptions(
                epochs=epochs, batch_size=batch_size, lr=lr, patience=patience, measure=dev_measure, seed=seed
            ),
            folder=output, setting=parse_settings(setting), compute=Compute(device=device, says=say),
            progress=show,
        )  # fmt: skip
    best = max(model.history, key=lambda record: record[dev_measure])
    print(f"kept epoch {best['epoch']:.0f}: dev {dev_measure} {best[dev_measure]:.1f}")
    print(f"wrote {output}")
    print_notes(model.notes)
    if model.image_input != "features":
        print(f"try: karat encode {shlex.quote(str(output))} -b BENCHMARK -o run.npz")
