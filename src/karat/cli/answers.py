"""``karat answers``: export tasks to other tools, and import answers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from karat._util import plural
from karat.cli import options
from karat.cli.command import Command, Group
from karat.errors import InputError

app = typer.Typer()
answers = typer.Typer(cls=Group, no_args_is_help=True, help="Export tasks and answers, and import answers.")
app.add_typer(answers, name="answers")


class What(StrEnum):
    """What is exported."""

    tasks = "tasks"
    answers = "answers"
    approvals = "approvals"


@answers.command("export", cls=Command)
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
    from karat.cli.show import opening, print_notes, waiting
    from karat.judging import export_answers, export_approvals, export_tasks

    if what is What.approvals and format is not None:
        raise InputError("--format with --what approvals", fix="leave it out: approvals are written as csv")
    with opening(project) as opened, waiting(f"writing {what.value}"):
        if what is What.tasks:
            exported = export_tasks(opened, output, format, image_url)
        elif what is What.approvals:
            exported = export_approvals(opened, output)
        else:
            exported = export_answers(opened, output, format)
    files = " and ".join(str(path) for path in exported.files)
    print(f"{plural(exported.number, what.value[:-1])} written to {files} ({exported.format}).")
    print_notes(exported.notes)


@answers.command("import", cls=Command)
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
    from karat.cli.show import opening, print_notes, waiting
    from karat.judging import import_answers

    with opening(project) as opened, waiting("importing answers"):
        imported = import_answers(opened, file, format)
    annotators = plural(imported.annotators, "annotator")
    print(f"{plural(imported.answers, 'answer')} of {annotators} imported ({imported.format}).")
    if imported.reviews:
        print(f"{plural(imported.reviews, 'assignment')} approved or rejected, as the file says.")
    print_notes(imported.notes)
