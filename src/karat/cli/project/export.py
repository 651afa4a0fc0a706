"""``karat project export`` and ``import``: tasks for other tools, and their answers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


class What(StrEnum):
    """What is exported."""

    tasks = "tasks"
    answers = "answers"
    approvals = "approvals"


@app.command("export", cls=Command)
def export(
    project: options.ProjectPlace,
    output: Annotated[Path, options.output("a file; its name selects the format.")],
    format: options.AnswerFormat = None,
    what: Annotated[
        What,
        options.option(
            "--what",
            panel=options.OUTPUT,
            help="Tasks for annotators to answer, the answers so far, or the masks that these approve.",
        ),
    ] = What.tasks,
    image_url: Annotated[
        str,
        options.option(
            "--image-url",
            panel=options.OUTPUT,
            metavar="URL",
            help="The address of an image, such as https://host/{name}; {id} is its id.",
        ),
    ] = "{name}",
) -> None:
    """Write tasks for another tool, or the answers so far.

    Tasks never reveal which pairs are gold, what systems scored or what others answered. Approvals are the
    verdicts on masks of instances, as csv.
    """
    from karat.cli.show import show, working
    from karat.project import export

    with working(f"writing {what.value}"):
        done = export(project, output, format, what=what.value, image_url=image_url)
    show(done)


@app.command("import", cls=Command)
def import_(
    project: options.ProjectPlace,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Text in UTF-8, or one such file in a gzip or zip archive.",
            show_default=False,
        ),
    ],
    format: options.AnswerFormat = None,
) -> None:
    """Import answers from a file into the project.

    All of them are imported, or none: then a message names the line of the error.
    """
    from karat.cli.show import show, working
    from karat.project import import_

    with working("importing answers"):
        done = import_(project, file, format)
    show(done)
