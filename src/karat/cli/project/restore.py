"""``karat project restore``: a copy of a project in the place of the project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def restore(
    copy: Annotated[
        Path,
        typer.Argument(
            metavar="COPY", help="What karat project backup or a migration wrote.", show_default=False
        ),
    ],
    project: options.ProjectPlace,
    force: options.Force = False,
) -> None:
    """Put a copy of a project in its place.

    Stop the server first. With --force an existing project is replaced; it is kept beside the new one as
    PROJECT.replaced. A dump of PostgreSQL is restored into an empty database.
    """
    from karat.cli.show import show, working
    from karat.project import restore

    with working("restoring the copy"):
        done = restore(copy, project, force)
    show(done)
