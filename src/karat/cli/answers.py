"""``karat answers``: tasks go out to other tools, and answers come in."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from karat._util import plural
from karat.cli import judging_options

app = typer.Typer()
answers = typer.Typer(no_args_is_help=True, help="Export tasks or answers, and import answers.")
app.add_typer(answers, name="answers")

FORMATS = "csv, jsonl, mturk or label-studio"


class What(StrEnum):
    """What is exported."""

    tasks = "tasks"
    answers = "answers"


@answers.command("export")
def export(
    project: judging_options.ProjectPlace,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.", show_default=False)],
    format: Annotated[
        str | None, typer.Option(help=f"{FORMATS}; from the file's name by default.", show_default=False)
    ] = None,
    what: Annotated[
        What, typer.Option(help="Tasks for people to answer, or the answers so far.")
    ] = What.tasks,
    images: Annotated[
        str, typer.Option(help="The address of an image, such as https://host/{name}; {id} is its id.")
    ] = "{name}",
) -> None:
    """Write the tasks for another tool, or the answers so far.

    Tasks never say which pairs are known beforehand, what systems scored or what others answered.
    """
    from karat.cli.show import print_notes, waiting
    from karat.judging import export_answers, export_tasks, open_project

    with open_project(project) as opened, waiting(f"writing {what.value}"):
        if what is What.tasks:
            done = export_tasks(opened, output, format, images)
        else:
            done = export_answers(opened, output, format)
    files = " and ".join(str(path) for path in done.files)
    print(f"{plural(done.number, what.value[:-1])} written to {files} ({done.format}).")
    print_notes(done.notes)


@answers.command("import")
def import_(
    project: judging_options.ProjectPlace,
    file: Annotated[Path, typer.Argument(help="Text in UTF-8, or one such file packed by gzip or zip.")],
    format: Annotated[
        str | None, typer.Option(help=f"{FORMATS}; by how the file starts by default.", show_default=False)
    ] = None,
) -> None:
    """Bring answers from a file into the project: all of them, or none and the line that is wrong."""
    from karat.cli.show import print_notes, waiting
    from karat.judging import import_answers, open_project

    with open_project(project) as opened, waiting("importing answers"):
        done = import_answers(opened, file, format)
    people = "1 person" if done.people == 1 else f"{done.people:,} people"
    print(f"{plural(done.answers, 'answer')} of {people} imported ({done.format}).")
    if done.reviews:
        print(f"{plural(done.reviews, 'hand-in')} approved or rejected, as the file says.")
    print_notes(done.notes)
