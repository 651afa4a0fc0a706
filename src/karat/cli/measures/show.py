"""``karat measures show``: one measure."""

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
            help="A measure, such as R@5 or nDCG.",
            show_default=False,
            autocompletion=completion("measures"),
        ),
    ],
    json: options.Json = None,
) -> None:
    """Show one measure: formula, paper, parameters, what it needs."""
    from karat.cli.show import keep
    from karat.measures import show

    keep(show(name), json)
