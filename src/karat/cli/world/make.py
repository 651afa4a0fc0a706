"""``karat world make``: a benchmark whose right answers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def make(
    output: Annotated[Path, options.output("a folder.")],
    images: Annotated[int, typer.Option(help="How many pictures.")] = 1000,
    captions: Annotated[int, typer.Option(help="How many captions each.")] = 5,
    seed: options.Seed = 0,
    no_images: Annotated[bool, typer.Option("--no-images", help="Draw no pictures.")] = False,
    systems: Annotated[
        bool, typer.Option("--systems", help="Also write runs of simulated systems, to score and compare.")
    ] = False,
    force: options.Force = False,
) -> None:
    """Make pictures and captions whose right answers are known.

    A benchmark with its complete truth; the same seed gives the same bytes everywhere. The truth `original`
    says which picture each caption was written for, as benchmarks do; `complete` says of which pictures it
    is true, decided exactly.
    """
    from karat.cli.show import show, working
    from karat.world import make

    with working(f"making {images:,} scenes"):
        world = make(images, captions, seed, output=output, no_images=no_images, systems=systems, force=force)
    show(world.summary())
