"""``karat project locate``: where the benchmark of a project is on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def locate(
    project: options.ProjectPlace,
    benchmark: Annotated[
        str, typer.Argument(metavar="BENCHMARK", help="Its name, folder or file here.", show_default=False)
    ],
    setting: options.Setting = None,
) -> None:
    """Say where the benchmark of a project is.

    A project that somebody else made reads no files that you have not named, except below its own folder.
    What you name here may be read, shown to annotators and published. The ids must be those of the
    benchmark from which the project was made.
    """
    from karat.cli.show import show, working
    from karat.project import locate

    with working("reading the benchmark"):
        done = locate(project, benchmark, setting=options.parse_settings(setting))
    show(done)
