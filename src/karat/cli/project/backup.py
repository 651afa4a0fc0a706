"""``karat project backup``: a copy of a project, even while a server writes into it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def backup(
    project: options.ProjectPlace,
    output: Annotated[Path, options.output("a file.")],
    force: options.Force = False,
) -> None:
    """Copy a project to a file, even while a server uses it.

    The copy shows one state of the project. It contains everything, password hashes
    included, so only you can read it. For PostgreSQL, pg_dump must be installed.
    """
    from karat.cli.show import show, working
    from karat.project import backup

    with working("copying the project"):
        done = backup(project, output, force)
    show(done)
