"""``karat benchmarks list``: what can be loaded by name."""

from __future__ import annotations

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def list(json: options.Json = None) -> None:
    """List all benchmarks with their settings."""
    from karat.benchmarks import list
    from karat.cli.show import keep

    keep(list(), json)
