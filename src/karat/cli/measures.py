"""``karat measures``: every measure with its formula, paper and parameters."""

from __future__ import annotations

import typer

from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def measures() -> None:
    """List every measure: formula, paper, parameters."""
    from karat.cli.show import show
    from karat.measures import list_measures

    show(list_measures())
