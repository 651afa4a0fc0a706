"""The file of a project in SQLite while it is open: whether others would find what is written into it.

SQLite goes on writing into a file that was deleted, renamed or replaced, and into a write-ahead log that was
deleted. Nobody finds those rows again. So the names of the files are compared with the files that are open,
before and after each transaction.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from karat._util import replacing
from karat.store.failure import DAMAGED, DELETED, IO_ERROR, LOG_LOST, REPLACED, StoreError, system_failure

LOGS = ("", "-wal", "-shm")
"""A file of SQLite, and the files beside it that belong to it."""
EVERY = 2.0
"""Seconds between two looks at the content."""
CONTENT = "SELECT (SELECT at FROM project), (SELECT COALESCE(MAX(id), 0) FROM answer)"
"""When the project was made, and the last answer: the first never changes, the second never falls."""


def beside(path: Path) -> list[Path]:
    """Return the names of a file of SQLite and of its logs."""
    return [path.with_name(f"{path.name}{log}") for log in LOGS]


def free_name(path: Path, ending: str) -> Path:
    """Return a name beside a file that nothing has yet: with the ending, or with a number after it."""
    number, free = 0, path.with_name(f"{path.name}.{ending}")
    while any(name.exists() for name in beside(free)):
        number += 1
        free = path.with_name(f"{path.name}.{ending}.{number}")
    return free


def identity(status: os.stat_result) -> tuple[int, int]:
    """Return what tells a file from every other one that exists."""
    return status.st_dev, status.st_ino


def make_private(path: Path) -> None:
    """Create an empty file that only the user can read; SQLite gives its logs the same mode."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    except OSError:
        return  # SQLite says why
    try:
        os.fchmod(handle, 0o600)
    finally:
        os.close(handle)


def shared_files(path: Path) -> list[tuple[Path, int]]:
    """Return a file of SQLite and those of its logs that other users can access, with their modes."""
    modes = [(name, name.stat().st_mode & 0o777) for name in beside(path) if name.exists()]
    return [(name, mode) for name, mode in modes if mode & 0o077]


class OpenFile:
    """A file of SQLite and its logs, recognised as long as they are open.

    A connection of its own keeps them open, so that no other file can have the same number on the disk.

    Parameters
    ----------
    path
        The file.
    shown
        Its name in messages.
    """

    def __init__(self, path: Path, shown: str) -> None:
        self.path, self.shown = path, shown
        self._connection = sqlite3.connect(self._address("rw"), uri=True, check_same_thread=False)
        # The first read opens the logs.
        self._content: tuple[float, int] = self._connection.execute(CONTENT).fetchone()
        self._known = [(name, identity(name.stat())) for name in beside(path) if name.exists()]
        self._size, self._seen = path.stat().st_size, time.monotonic()

    def check(self) -> None:
        """Raise unless the names lead to the files that are open."""
        for name, known in self._known:
            try:
                status = os.stat(name)
            except (FileNotFoundError, NotADirectoryError):
                raise self._lost(name, "deleted or renamed", DELETED) from None
            except OSError as error:
                what = f"cannot be found ({error.strerror})"
                raise system_failure(error, self.shown) or StoreError(
                    IO_ERROR, what, where=self.shown
                ) from None
            if identity(status) != known:
                raise self._lost(name, "replaced", REPLACED)
            if name == self.path:
                if status.st_size < self._size:
                    self._look()  # only VACUUM may shorten it
                self._size = status.st_size

    def check_content(self) -> None:
        """Raise if the file has the content of another one; looks every few seconds at most."""
        if time.monotonic() - self._seen >= EVERY:
            self._look()

    def _look(self) -> None:
        """Read what cannot change in a new connection, which has no pages in memory."""
        try:
            with closing(sqlite3.connect(self._address("ro"), uri=True, timeout=1.0)) as connection:
                made, last = connection.execute(CONTENT).fetchone()
        except sqlite3.OperationalError as error:
            # Locked, or no descriptor is left: the open connections may still work.
            if "no such" not in str(error):
                return
            made, last = None, 0
        except sqlite3.DatabaseError:
            raise StoreError(
                DAMAGED, "is damaged", where=self.shown, fix="stop the server and restore a copy"
            ) from None
        if made != self._content[0] or last < self._content[1]:
            raise self._lost(self.path, "overwritten", REPLACED)
        self._content, self._seen = (made, last), time.monotonic()

    def check_opened(self) -> None:
        """Raise unless a connection that was opened just now has the same file."""
        try:
            same = identity(os.stat(self.path)) == self._known[0][1]
        except OSError:
            same = False
        if not same:
            raise self._lost(self.path, "replaced", REPLACED)

    def rescue(self) -> Path:
        """Copy what is still open to a new file beside the lost one, and return it.

        The copy is a project with every answer that was acknowledged.
        """
        copy = free_name(self.path, "rescued")
        with replacing(copy, private=True) as draft:
            with closing(sqlite3.connect(draft)) as new:
                self._connection.backup(new)
            for log in beside(draft)[1:]:
                log.unlink(missing_ok=True)
        self._set_logs_aside()
        return copy

    def _set_logs_aside(self) -> None:
        """Rename the logs where another file has the name: SQLite would replay them into that file."""
        (path, known), *logs = self._known
        if not path.exists() or identity(path.stat()) == known:
            return
        for name, own in logs:
            if name.exists() and identity(name.stat()) == own:
                os.replace(name, name.with_name(f"{name.name}.lost"))

    def close(self) -> None:
        """Close the connection."""
        with suppress(OSError):
            self._set_logs_aside()
        self._connection.close()

    def _address(self, mode: str) -> str:
        # "rw" never creates a file.
        return f"{self.path.as_uri()}?mode={mode}"

    def _lost(self, name: Path, how: str, state: str) -> StoreError:
        log = name != self.path
        what = f"{'its log ' if log else ''}was {how} while it was open"
        fix = "stop the server, put the file back or restore a copy, and start again"
        return StoreError(LOG_LOST if log else state, what, where=self.shown, fix=fix)
