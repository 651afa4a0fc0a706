"""The file formats: each is one file of this package that registers itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from karat._util import Registry, import_all
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.forms import Form
    from karat.judging.exchange.file_answers import ExportedAnswers, ImportedAnswers
    from karat.judging.exchange.tasks import ExportedTasks

HEAD = 2**16
"""How many bytes of a file are read to detect its format."""


@dataclass(frozen=True)
class Format:
    """How tasks and answers are written, and how answers are read.

    Parameters
    ----------
    name, help
        Its name, and a line about what it is for.
    suffix
        How the names of its files end.
    write_tasks
        Writes tasks to a path; returns all files that it wrote.
    write_answers
        Writes answers to a path.
    read
        Turns the bytes of a file into answers that are not checked yet; the path is for messages.
    fits
        Whether the start of a file looks like this format.
    shows_pictures
        Whether it writes a page that shows an image and a caption.
    """

    name: str
    help: str
    suffix: str
    write_tasks: Callable[[ExportedTasks, Path], list[Path]]
    write_answers: Callable[[ExportedAnswers, Path], None]
    read: Callable[[bytes, Form, Path], ImportedAnswers]
    fits: Callable[[str], bool]
    shows_pictures: bool = False


FORMATS: Registry[Format] = Registry(
    "format", fill=lambda: import_all("karat.judging.exchange"), group="karat.answer_formats"
)
"""Every format by name."""


def guess_format(data: bytes, path: Path) -> Format:
    """Return the format of a file, detected from its start.

    Examples
    --------
    >>> guess_format(b"task,item,worker,answer\\n", Path("a.csv")).name
    'csv'
    >>> guess_format(b'{"task": 1}\\n', Path("answers.txt")).name
    'jsonl'
    """
    head = data[:HEAD].decode("utf-8", "replace").lstrip()
    fitting = [format for format in FORMATS.values() if format.fits(head)]
    if len(fitting) != 1:
        raise InputError("does not look like any known format", where=path, fix=name_it())
    return fitting[0]


def format_for(path: Path) -> Format:
    """Return the format of a new file, chosen by its name."""
    fitting = [format for format in FORMATS.values() if format.suffix == path.suffix.lower()]
    if not fitting:
        raise InputError(f"no format has files that end in {path.suffix!r}", where=path, fix=name_it())
    return fitting[0]


def name_it() -> str:
    """Return how to name a format that cannot be detected."""
    return f"name the format: --format {', '.join(FORMATS)}"
