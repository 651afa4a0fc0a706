"""``karat benchmarks show``: one benchmark."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli import options
from karat.cli.choices import completion
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A benchmark's name or folder.",
            show_default=False,
            autocompletion=completion("sources"),
        ),
    ],
    ids: options.IdsTarget = None,
    save: options.Save = None,
    setting: options.Setting = None,
    json: options.Json = None,
) -> None:
    """Show a benchmark with its truths and counts."""
    from karat.benchmarks import show
    from karat.cli.show import keep, working

    with working(f"reading {name}"):
        found = show(name, ids=ids, save=save, setting=options.parse_settings(setting))
    keep(found, json)
