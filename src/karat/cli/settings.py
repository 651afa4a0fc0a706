"""``karat settings``: what concerns this machine, and where it comes from."""

from __future__ import annotations

import typer

from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def settings() -> None:
    """List every setting: its value, its source, its meaning."""
    from karat._util import list_settings
    from karat.cli.show import show

    show(list_settings())
