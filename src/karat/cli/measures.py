"""``karat measures``: every measure with its formula, paper and parameters."""

from __future__ import annotations

import typer

app = typer.Typer()


@app.command()
def measures() -> None:
    """List every measure: name, formula, paper, parameters."""
    from rich.markup import escape

    from karat.cli.show import console
    from karat.measures import describe_all

    screen = console()
    for entry in describe_all():
        screen.print(f"[bold]{escape(entry.usage)}[/bold]  {escape(entry.title)}")
        for label, text in entry.lines():
            screen.print(escape(f"    {label:10} {text}"))
