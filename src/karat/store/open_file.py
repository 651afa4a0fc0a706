"""The file of a project in SQLite while it is open: whether others would find what is written into it.

SQLite goes on writing into a file that was deleted, renamed or replaced, and into a write-ahead log that was
deleted. Nobody finds those rows again. So the names of the files are compared with the files that are open,
before and after each transaction. A file that something else than SQLite has written into is read as a whole.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from karat._util import replacing
from karat.store.failure import DAMAGED, DELETED, IO_ERROR, LOG_LOST, REPLACED, StoreError, system_failure
from karat.store.log_index import NOTHING, LogIndex, is_settled
from karat.store.tables import APPEND_ONLY

LOGS = ("", "-wal", "-shm")
"""A file of SQLite, and the files beside it that belong to it."""
EVERY = 2.0
"""Seconds between two looks at the content."""
DATED = tuple(table for table in APPEND_ONLY if table != "draw")
"""The tables whose rows are never changed and have a time; those of `draw` come with one of `draw_batch`."""
LAST = " UNION ALL ".join(f"SELECT MAX(id), at FROM {table}" for table in DATED)
"""The last row of each: SQLite takes `at` from the row that has the largest id."""
MADE = "SELECT at FROM project"

Rows = tuple[tuple[int, float], ...]
"""Number and time of a row in each table of `DATED`; number 0 where there is none."""


@dataclass(frozen=True)
class FileVersion:
    """What changes when a file is written: how far the log was copied into it, its time and its size."""

    copied: tuple[bytes, int, int]
    time: int
    size: int

    def written(self) -> tuple[int, int]:
        """Return what every change of the file changes, whoever writes."""
        return self.time, self.size


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
        self._made: float = self._connection.execute(MADE).fetchone()[0]
        self._rows = read_rows(self._connection)
        self._known = [(name, identity(name.stat())) for name in beside(path) if name.exists()]
        self._index = LogIndex(beside(path)[2])
        if not is_settled(self._index.read()):
            # After a crash: from here on, only what is copied changes the file.
            with suppress(sqlite3.OperationalError):
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        self._guard = threading.Lock()
        self._version, self._seen = self._read_version() or FileVersion(NOTHING, 0, 0), time.monotonic()
        self._failed: tuple[FileVersion, float, StoreError] | None = None
        self._rewritten = False

    def check(self) -> None:
        """Raise unless the names lead to the files that are open, and SQLite alone has written into them."""
        before, about = self._index.read(), None
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
            about = status if name == self.path else about
            if name == self.path and not status.st_size:
                # It is not opened again: SQLite removes the log of an empty file.
                raise self._damaged()
        version = None if about is None else self._version_of(before, about)
        if version is not None and version != self._version:
            with self._guard:
                self._check_version()

    def was_rewritten(self) -> bool:
        """Return, once, whether something else wrote the same content: connections may know half of it."""
        rewritten, self._rewritten = self._rewritten, False
        return rewritten

    def check_content(self) -> None:
        """Raise if the file has the content of another one; looks every few seconds at most."""
        if time.monotonic() - self._seen >= EVERY:
            with self._guard:
                self._look(whole=False)

    def keep(self, rows: Rows) -> None:
        """Remember the last rows, as `read_rows` returned them before they were committed."""
        with self._guard:
            self._rows = tuple(map(max, self._rows, rows))

    def _version_of(self, before: tuple[bytes, int, int], about: os.stat_result) -> FileVersion | None:
        """Return the version of the file; None while the log is copied into it.

        Parameters
        ----------
        before, about
            The index of the log, and then the file: what was copied in between has changed both.
        """
        if before == NOTHING:
            return FileVersion(before, 0, about.st_size)
        if self._index.read() != before or not is_settled(before):
            return None
        return FileVersion(before, about.st_mtime_ns, about.st_size)

    def _read_version(self) -> FileVersion | None:
        """Return the version of the file; None while the log is copied into it, or where it is gone."""
        before = self._index.read()
        try:
            return self._version_of(before, os.stat(self.path))
        except OSError:
            return None

    def _check_version(self) -> None:
        """Compare the version of the file with the last one, and read the content if the file has changed."""
        version = self._read_version()
        if version is None:
            return
        if version.written() != self._version.written():
            if self._failed is not None and self._failed[0] == version and self._failed[1] > time.monotonic():
                raise self._failed[2]
            # Copying the log is what changes the file; a shorter one is left by VACUUM alone.
            copied = version.copied != self._version.copied or version.copied == NOTHING
            whole = not copied or version.size < self._version.size
            try:
                if not self._look(whole):
                    return
                self._rewritten = self._rewritten or whole
            except StoreError as error:
                self._failed = version, time.monotonic() + EVERY, error
                raise
        self._version, self._failed = version, None

    def _look(self, whole: bool) -> bool:
        """Read what cannot change in a new connection, which has no pages in memory.

        Returns whether it could be read.

        Parameters
        ----------
        whole
            Read everything else, too.
        """
        rows = self._rows  # before the connection is opened: more may be written in the meantime
        try:
            with closing(sqlite3.connect(self._address("ro"), uri=True, timeout=1.0)) as connection:
                trouble = trouble_of(connection, self._made, rows, whole)
        except sqlite3.OperationalError as error:
            # Locked, or no descriptor is left: the open connections may still work.
            if "no such" not in str(error):
                return False
            trouble = DAMAGED
        except sqlite3.DatabaseError:
            trouble = DAMAGED
        if trouble == DAMAGED:
            raise self._damaged()
        if trouble:
            raise self._lost(self.path, "overwritten", REPLACED)
        self._seen = time.monotonic()
        return True

    def check_opened(self) -> None:
        """Raise unless a connection that was opened just now has the same file."""
        try:
            same = identity(os.stat(self.path)) == self._known[0][1]
        except OSError:
            same = False
        if not same:
            raise self._lost(self.path, "replaced", REPLACED)

    @property
    def made(self) -> float:
        """When the project was made, in seconds since 1970."""
        return self._made

    @property
    def answers(self) -> int:
        """How many rows of answers were acknowledged."""
        return self._rows[DATED.index("answer")][0]

    def rescue(self) -> tuple[Path | None, bool]:
        """Copy what is still open to a new file beside the lost one.

        Returns
        -------
        tuple
            The copy, a project, or None where what is left is not one; and whether it has every row that was
            acknowledged. It may not have where the file was not deleted or replaced, but truncated or
            overwritten.
        """
        rows, copy, trouble = self._rows, free_name(self.path, "rescued"), DAMAGED
        try:
            with replacing(copy, private=True) as draft:
                with closing(sqlite3.connect(draft)) as new:
                    self._connection.backup(new)
                    if (trouble := trouble_of(new, self._made, rows, whole=True)) == DAMAGED:
                        raise sqlite3.DatabaseError(trouble)
                for log in beside(draft)[1:]:
                    log.unlink(missing_ok=True)
        except sqlite3.DatabaseError as error:
            # What SQLite says of the disk is not what is left of the project.
            if isinstance(error, sqlite3.OperationalError) and "no such" not in str(error):
                raise
            return None, False
        self._set_logs_aside()
        return copy, not trouble

    def _set_logs_aside(self) -> None:
        """Rename the logs where another file has the name: SQLite would replay them into that file."""
        (path, known), *logs = self._known
        if not path.exists() or identity(path.stat()) == known:
            return
        for name, own in logs:
            if name.exists() and identity(name.stat()) == own:
                os.replace(name, name.with_name(f"{name.name}.lost"))

    def _empty_log(self) -> None:
        """Empty the log of a file that was overwritten: closing would copy it into the other content.

        A copy of it is kept.
        """
        name, known = self._known[1] if len(self._known) > 1 else (self.path, (0, 0))
        other = self._failed is not None or not self.path.stat().st_size
        if not other or not name.exists() or identity(name.stat()) != known:
            return
        if name.stat().st_size:
            shutil.copyfile(name, free_name(name, "lost"))
            os.truncate(name, 0)

    def close(self) -> None:
        """Close the connection."""
        with suppress(OSError):
            self._set_logs_aside()
        with suppress(OSError):
            self._empty_log()
        self._connection.close()
        self._index.close()

    def _address(self, mode: str) -> str:
        # "rw" never creates a file.
        return f"{self.path.as_uri()}?mode={mode}"

    def _damaged(self) -> StoreError:
        what, fix = "was truncated or damaged while it was open", "stop the server and restore a copy"
        return StoreError(DAMAGED, what, where=self.shown, fix=fix)

    def _lost(self, name: Path, how: str, state: str) -> StoreError:
        log = name != self.path
        what = f"{'its log ' if log else ''}was {how} while it was open"
        fix = "stop the server, put the file back or restore a copy, and start again"
        return StoreError(LOG_LOST if log else state, what, where=self.shown, fix=fix)


def read_rows(connection: sqlite3.Connection) -> Rows:
    """Return the last row of each table of `DATED`, as the connection sees them."""
    return tuple((number or 0, at or 0.0) for number, at in connection.execute(LAST))


def trouble_of(
    connection: sqlite3.Connection, made: float, rows: Sequence[tuple[int, float]], whole: bool
) -> str:
    """Return the state of a file that is not the project it was; empty where it is. Errors mean damage.

    Parameters
    ----------
    connection
        A new one.
    made, rows
        When the project was made, and rows that must be there.
    whole
        Whether to read everything, and to look for rows that are missing in between.
    """
    if whole and connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
        return DAMAGED
    project = connection.execute(MADE).fetchone()
    if project is None or project[0] != made:
        return DAMAGED if project is None else REPLACED
    for table, (number, at) in zip(DATED, rows, strict=True):
        row = connection.execute(f"SELECT at FROM {table} WHERE id = ?", (number,)).fetchone()
        if number and (row is None or row[0] != at):
            return REPLACED
    if not whole:
        return ""
    # Their numbers have no gaps, since no row is ever removed.
    counts = [
        connection.execute(f"SELECT COUNT(*), COALESCE(MAX(id), 0) FROM {table}").fetchone()
        for table in DATED
    ]
    return REPLACED if any(count != last for count, last in counts) else ""
