"""``karat benchmarks remove``: a name that was added."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def remove(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name of an added benchmark.", show_default=False)
    ],
) -> None:
    """Forget a benchmark that was added; its files stay."""
    from karat.benchmarks import remove
    from karat.cli.show import tell

    remove(name)
    tell(f"removed {name}; its files are still there")
