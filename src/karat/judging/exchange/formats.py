"""The file formats: each is one file of this package that registers itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from karat._util import Registry, import_all
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.judging.exchange.given import ImportedAnswers
    from karat.judging.exchange.outgoing import OutgoingAnswers, Tasks
    from karat.judging.forms import Form

HEAD = 2**16
"""How many bytes of a file are looked at to guess its format."""


@dataclass(frozen=True)
class Format:
    """How tasks and answers are written, and answers read.

    Parameters
    ----------
    name, help
        What it is called, and a line on what it is for.
    suffix
        What its files end in.
    write_tasks
        Writes tasks to a path; returns all files that it wrote.
    write_answers
        Writes answers to a path.
    read
        Turns the bytes of a file into answers as they were given; the path is for messages.
    fits
        Whether the start of a file looks like this format.
    """

    name: str
    help: str
    suffix: str
    write_tasks: Callable[[Tasks, Path], list[Path]]
    write_answers: Callable[[OutgoingAnswers, Path], None]
    read: Callable[[bytes, Form, Path], ImportedAnswers]
    fits: Callable[[str], bool]


FORMATS: Registry[Format] = Registry("format", fill=lambda: import_all("karat.judging.exchange"))
"""Every format by name."""


def guess_format(data: bytes, path: Path) -> Format:
    """Return the format of a file by how it starts.

    Examples
    --------
    >>> guess_format(b"task,item,worker,answer\\n", Path("a.csv")).name
    'csv'
    >>> guess_format(b'{"task": 1}\\n', Path("answers.txt")).name
    'jsonl'
    """
    head = data[:HEAD].decode("utf-8", "replace").lstrip()
    fitting = [one for one in FORMATS.values() if one.fits(head)]
    if len(fitting) != 1:
        raise InputError(
            "does not look like any known format", where=path, fix=f"name it: --format {', '.join(FORMATS)}"
        )
    return fitting[0]


def format_for(path: Path) -> Format:
    """Return the format that a new file's name asks for."""
    fitting = [one for one in FORMATS.values() if one.suffix == path.suffix.lower()]
    if not fitting:
        raise InputError(
            f"ends in {path.suffix!r}, which says no format",
            where=path,
            fix=f"name it: --format {', '.join(FORMATS)}",
        )
    return fitting[0]
