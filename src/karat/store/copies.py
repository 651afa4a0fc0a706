"""The copies of a project beside its file: which holds the most answers, and how it is restored."""

from __future__ import annotations

import os
import shlex
import sqlite3
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from karat._util import plural
from karat.errors import printable
from karat.store.backup import MAGIC
from karat.store.open_file import MADE, beside

ENDINGS = (".backup", ".db", ".sqlite")
"""Of files that may be copies; those that begin with the project's name may, too."""
NOT_COPIES = ("-wal", "-shm", "-journal", ".lost")
MOST = 200
"""How many files are looked at, the latest first."""


@dataclass(frozen=True)
class NearbyCopy:
    """A copy of a project.

    Parameters
    ----------
    path
        The copy.
    answers
        How many rows of answers it holds.
    at
        When its file was written, in seconds since 1970.
    """

    path: Path
    answers: int
    at: float

    def sentence(self, place: str | Path) -> str:
        """Return what it is, and the command that puts it in the place of the project."""
        date = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.at))
        command = shlex.join(["karat", "project", "restore", str(self.path), str(place), "--force"])
        held = f"the copy {self.path.name} of {date} with {plural(self.answers, 'answer')}"
        return printable(f"{held}: {command}")


def best_copy(path: Path, made: float | None = None) -> NearbyCopy | None:
    """Return the copy of a project with the most answers in the folder of its file; None where there is none.

    Parameters
    ----------
    path
        The file of the project, which is not read.
    made
        When the project was made: copies of others are passed over. By default, the name of a copy must
        begin with that of the project.
    """
    files = []
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            own = entry.name.startswith(f"{path.name}.")
            if entry.name == path.name or entry.name.endswith(NOT_COPIES):
                continue
            with suppress(OSError):
                if (own or (made is not None and entry.name.endswith(ENDINGS))) and entry.is_file():
                    files.append((entry.stat().st_mtime, Path(entry.path)))
    copies = [copy for at, file in sorted(files, reverse=True)[:MOST] if (copy := read_copy(file, at, made))]
    copies.sort(key=lambda copy: (copy.answers, copy.at), reverse=True)
    # Reading the whole of one takes long: only what may be named is read.
    return next((copy for copy in copies if is_sound(copy.path)), None)


def read_copy(path: Path, at: float, made: float | None) -> NearbyCopy | None:
    """Return a copy with the number of its answers; None for what is none."""
    try:
        with path.open("rb") as handle:
            if handle.read(len(MAGIC)) != MAGIC:
                return None
        with closing(reader(path)) as connection:
            if made is not None and connection.execute(MADE).fetchone() != (made,):
                return None
            return NearbyCopy(path, connection.execute("SELECT COUNT(*) FROM answer").fetchone()[0], at)
    except (OSError, sqlite3.Error):
        return None


def is_sound(path: Path) -> bool:
    """Return whether a copy is not damaged."""
    try:
        with closing(reader(path)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.Error:
        return False


def reader(path: Path) -> sqlite3.Connection:
    """Return a connection that leaves nothing beside a file: without a log nobody writes into it."""
    still = "" if beside(path)[1].exists() else "&immutable=1"
    return sqlite3.connect(f"{path.as_uri()}?mode=ro{still}", uri=True, timeout=1.0)
