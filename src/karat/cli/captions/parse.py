"""``karat captions parse``: the scene graphs of captions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def parse(
    captions: Annotated[
        list[str] | None,
        typer.Argument(metavar="CAPTION...", help="Captions, each in quotes.", show_default=False),
    ] = None,
    file: Annotated[
        Path | None,
        options.option("--file", panel=options.INPUT, help="A text file with one caption per line."),
    ] = None,
    convention: Annotated[
        str,
        options.option(
            "--convention",
            panel=options.SCORED,
            choices="conventions",
            help="{conventions}: all that is stated, or as the original SPICE tool prints it.",
        ),
    ] = "full",
    listing: Annotated[
        bool,
        options.option(
            "--listing",
            panel=options.OUTPUT,
            help="One line per caption: the caption, a tab, its tuples in parentheses.",
        ),
    ] = False,
    json: options.Json = None,
) -> None:
    """Show what captions say, as scene graphs.

    Objects, their attributes, and relations between them. These are the tuples that SPICE counts.
    """
    from karat.captions import parse
    from karat.cli.show import keep, working

    with working("reading captions"):
        found = parse(captions or (), file=file, convention=convention, listing=listing)
    keep(found, json)
