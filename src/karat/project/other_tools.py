"""What goes to other tools and comes back: tasks, answers, and verdicts on masks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from karat._util import check_choice, stage
from karat.errors import InputError
from karat.judging import export_answers, export_approvals, export_tasks, import_answers
from karat.project.place import takes_place

if TYPE_CHECKING:
    from karat.judging.exchange import Exported
    from karat.store import Project

EXPORTS = ("tasks", "answers", "approvals")


@takes_place
def export(
    project: Project,
    output: str | Path,
    format: str | None = None,
    *,
    what: str = "tasks",
    image_url: str = "{name}",
) -> Exported:
    """Write tasks for another tool, or the answers so far.

    Tasks never reveal which pairs are gold, what systems scored or what others answered.

    Parameters
    ----------
    project
        An open project, or its file or address.
    output
        The file to write; formats with a page or an interface write it beside this file.
    format
        One of `karat.judging.exchange.FORMATS`; by default chosen by the file's name.
    what
        "tasks" for annotators to answer, the "answers" in effect, or the "approvals": the verdicts on masks
        of instances, as csv.
    image_url
        The address of an image in tasks, with ``{id}`` or ``{name}`` (of its file) in it.

    Returns
    -------
    Exported
    """
    check_choice(what, EXPORTS, "what")
    if what == "approvals" and format is not None:
        raise InputError(f"format is {format!r}", fix="leave it out: approvals are written as csv")
    with stage(f"writing {what}"):
        if what == "tasks":
            return export_tasks(project, output, format, image_url)
        if what == "answers":
            return export_answers(project, output, format)
        return export_approvals(project, output)


import_ = takes_place(import_answers)
