"""``karat captions corpus``: in how many images of a benchmark each n-gram occurs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def corpus(
    benchmark: options.Captioned,
    output: Annotated[Path, options.output("a file, .npz.")],
    setting: options.Setting = None,
) -> None:
    """Write a benchmark's document frequencies, for cider."""
    from karat.captions import corpus
    from karat.cli.show import show, working

    with working("reading captions"):
        found = corpus(benchmark, output, setting=options.parse_settings(setting))
    show(found)
