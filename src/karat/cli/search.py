"""``karat search``: the pictures that fit a sentence best."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def search(
    model: options.Model,
    query: Annotated[str, typer.Argument(metavar="SENTENCE", help="What to look for.", show_default=False)],
    in_: Annotated[
        str,
        options.option(
            "--in",
            panel=options.INPUT,
            choices="sources",
            show_default=False,
            help="A folder of pictures, or a benchmark.",
        ),
    ],
    top: options.Top = 10,
    weights: options.Weights = None,
    prompt: options.CaptionPrompt = None,
    precision: options.Precision = None,
    device: options.Device = None,
    batch: options.Batch = None,
    setting: options.Setting = None,
    output: Annotated[Path | None, options.output("a page with the pictures, .html.")] = None,
) -> None:
    """Find the pictures that fit a sentence best.

    Each line is the place, the cosine of picture and sentence, and the picture.
    """
    from karat.cli.show import show, tell, working
    from karat.models import search

    with working("reading pictures"):
        found = search(
            model, query, in_, top, output=output, weights=weights, prompt=prompt, precision=precision,
            device=device, batch=batch, setting=parse_settings(setting),
        )  # fmt: skip
    show(found)
    if output is not None and found.hits:
        tell(f"wrote {output}")
