"""``karat benchmarks add``: a folder under a name."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def add(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER", help="Images with captions, or another benchmark.", show_default=False
        ),
    ],
    name: Annotated[
        str | None,
        options.option("--name", panel=options.INPUT, help="Its name; by default the benchmark's own."),
    ] = None,
    ids: options.IdsTarget = None,
    save: options.Save = None,
    setting: options.Setting = None,
) -> None:
    """Check a folder, and remember it as a benchmark."""
    from karat.benchmarks import add
    from karat.cli.show import show, working

    with working(f"reading {folder}"):
        found = add(folder, name, ids=ids, save=save, setting=options.parse_settings(setting))
    show(found)
