"""``karat measures list``: every measure."""

from __future__ import annotations

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def list(json: options.Json = None) -> None:
    """List every measure: formula, paper, parameters."""
    from karat.cli.show import keep
    from karat.measures import list

    keep(list(), json)
