"""Copies of a project: made while it is in use, checked before they are kept, and restored."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, inspect

from karat._util import TEXT_FORMATS, Result, check_writable, plural, replacing
from karat.errors import InputError, MissingDataError
from karat.store.database import Database, Place, explained, find_place
from karat.store.failure import DAMAGED, StoreError
from karat.store.open_file import beside, free_name
from karat.store.triggers import CODE, check_code

MAGIC = b"SQLite format 3\0"
DUMP = b"PGDMP"
"""How a dump of PostgreSQL starts."""
REFUSED = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_IOERR_WRITE: errno.EIO}
"""By SQLite's number of an error, the system's."""


@dataclass(frozen=True)
class Backup(Result):
    """A copy that was made.

    Parameters
    ----------
    path
        The copy.
    size
        In bytes.
    answers
        How many rows of answers it holds; None for a dump of PostgreSQL, which is not read back.
    restore
        The command that restores it.
    """

    path: Path
    size: int
    answers: int | None
    restore: str
    formats = TEXT_FORMATS

    def records(self) -> list[dict[str, Any]]:
        """Return one record: the file, its size, what it holds."""
        return [asdict(self) | {"path": str(self.path)}]

    def parts(self) -> list[str]:
        """Return where it is, and how to restore it."""
        held = "" if self.answers is None else f" with {plural(self.answers, 'row')} of answers"
        return [f"wrote {self.path}{held}, {self.size / 2**20:.1f} MB; to restore it: {self.restore}"]


@dataclass(frozen=True)
class Restored(Result):
    """A copy that was restored.

    Parameters
    ----------
    copy
        What was restored.
    where
        The file, or the address without its password.
    replaced
        What was there before, kept under this name; None where nothing was.
    """

    copy: Path
    where: str
    replaced: Path | None
    formats = TEXT_FORMATS

    def records(self) -> list[dict[str, Any]]:
        """Return one record: the copy, the place, what was there."""
        replaced = None if self.replaced is None else str(self.replaced)
        return [{"copy": str(self.copy), "where": self.where, "replaced": replaced}]

    def parts(self) -> list[str]:
        """Return where it is, and under which name what was there is kept."""
        kept = "" if self.replaced is None else f"; what was there is now {self.replaced.name}"
        return [f"restored {self.where} from {self.copy}{kept}"]


def back_up(project: str | Path, output: str | Path, force: bool = False) -> Backup:
    """Copy a project to a file, also while a server writes into it; the server does not have to wait.

    A project in a file is copied page by page into another file, which is a project itself. A project in
    PostgreSQL is written by `pg_dump`, which must be installed. Only the user can read the copy, because it
    holds answers and password hashes. If copying fails, no file is left behind.

    Parameters
    ----------
    project
        The file or the address of the project; it is neither changed nor migrated.
    output
        The file to write.
    force
        Whether an existing file may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> from karat.forms import load_form
    >>> from karat.store import create_project
    >>> from karat.world import make_world
    >>> world = make_world(images=3, captions=1, seed=1).benchmark()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with create_project(f"{folder}/own.db", world, load_form("pair"), source="world"):
    ...         back_up(f"{folder}/own.db", f"{folder}/copy.db").answers
    0
    """
    place, path = find_place(project), Path(output)
    check_file(place, new=False)
    check_writable(path)
    if place.path is not None and path.exists() and path.samefile(place.path):
        raise InputError("is the project itself", where=path, fix="choose another name")
    check_target(path, force)
    if place.path is not None:
        return Backup(
            path, *copy_file(place, path), shlex.join(["karat", "project", "restore", str(path), place.shown])
        )
    with replacing(path, private=True) as draft:
        dump(place, draft)
        size = draft.stat().st_size
    return Backup(
        path, size, None, f"karat project restore {shlex.quote(str(path))} postgresql://HOST/EMPTY_DATABASE"
    )


def restore(copy: str | Path, project: str | Path, force: bool = False) -> Restored:
    """Put a copy in the place of a project; the copy stays as it is.

    Parameters
    ----------
    copy
        What `back_up` or a migration wrote.
    project
        The file of the project; for a dump of PostgreSQL the address of an empty database.
    force
        Whether an existing file may be replaced. It is renamed, not removed, and refused while a server or
        another program has it open.

    Examples
    --------
    >>> import tempfile
    >>> from karat.forms import load_form
    >>> from karat.store import create_project, open_project
    >>> from karat.world import make_world
    >>> world = make_world(images=3, captions=1, seed=1).benchmark()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     create_project(f"{folder}/own.db", world, load_form("pair"), source="world").close()
    ...     _ = back_up(f"{folder}/own.db", f"{folder}/copy.db")
    ...     restore(f"{folder}/copy.db", f"{folder}/own.db", force=True).replaced.name
    'own.db.replaced'
    """
    copy, place = Path(copy), find_place(project)
    if not copy.exists():
        raise InputError(
            "does not exist", where=copy, fix="give a file that karat project backup or a migration wrote"
        )
    is_dump = start_of(copy) == DUMP
    if is_dump and place.path is not None:
        fix = "give the address of an empty database, postgresql://user@host/database"
        raise InputError("is a dump of PostgreSQL and cannot become a file", where=copy, fix=fix)
    if not is_dump:
        check_file(find_place(copy), new=False)
    if place.path is None:
        if not is_dump:
            raise InputError(
                "is a file of SQLite and cannot be restored into PostgreSQL",
                where=copy,
                fix="give a file name",
            )
        load_dump(copy, place)
        return Restored(copy, place.shown, None)
    if place.path.exists() and place.path.samefile(copy):
        raise InputError("is the copy itself", where=place.shown, fix="name the project to restore")
    check_target(place.path, force)
    existed, aside = False, None
    try:
        with replacing(place.path, private=True) as draft:
            # Without a log nobody writes into the copy, and nothing is left beside it.
            copy_pages(find_place(copy), draft, still=not copy.with_name(f"{copy.name}-wal").exists())
            existed = place.path.exists()
            if existed:
                check_unused(place)
            # A log of a deleted file is set aside too: SQLite would replay it into the copy.
            if any(name.exists() for name in beside(place.path)):
                aside = free_name(place.path, "replaced")
                rename_all(place.path, aside)
    except BaseException:
        if aside is not None:
            rename_all(aside, place.path)
        raise
    replaced = aside if existed else None
    return Restored(copy, place.shown, replaced)


def start_of(path: Path) -> bytes:
    """Return the bytes that tell a dump of PostgreSQL; none where the file cannot be read."""
    try:
        with path.open("rb") as handle:
            return handle.read(len(DUMP))
    except OSError:
        return b""


def check_file(place: Place, new: bool) -> None:
    """Raise unless a file can hold a new project (`new`), or starts like one."""
    path = place.path
    if path is None:
        return
    if path.is_dir():
        raise InputError("is a folder", where=place.shown, fix="give the name of a file")
    try:
        if not path.exists():
            if new:
                check_no_log(place, path)
                return
            raise InputError(
                "does not exist", where=place.shown, fix="create a project with karat project pool"
            )
        with path.open("rb") as handle:
            start = handle.read(len(MAGIC))
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", where=place.shown, fix="choose another"
        ) from None
    if not start and not new:
        raise StoreError(DAMAGED, "is empty", where=place.shown, fix="restore a copy of it")
    if start != MAGIC and (start or not new):
        fix = "choose another name" if new else "give a file that karat made"
        raise InputError("is not a project", where=place.shown, fix=fix)


def check_no_log(place: Place, path: Path) -> None:
    """Raise where the log of a deleted project is left: SQLite would replay it into a new one."""
    log = beside(path)[1]
    if log.exists() and log.stat().st_size:
        what = f"{log.name} is left of a project that was deleted"
        raise InputError(what, where=place.shown, fix="choose another name, or remove it")


def check_target(path: Path, force: bool) -> None:
    """Raise unless a file may be written there."""
    if path.exists() and not path.is_file():
        raise InputError("is not a file", where=path, fix="give the name of a file")
    if path.exists() and not force:
        raise InputError("already exists", where=path, fix="choose another name, or pass --force")


def check_unused(place: Place) -> None:
    """Raise where a program has a file open: SQLite would go on writing into the file that was set aside."""
    try:
        with closing(sqlite3.connect(str(place.path), timeout=0)) as connection:
            # Leaving write-ahead logging needs the file for itself, and brings the log into the file.
            mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
    except sqlite3.OperationalError as error:
        mode = "wal" if "locked" in str(error) else ""
    except sqlite3.DatabaseError:
        # Too damaged to be opened: a reason to restore a copy.
        mode = ""
    if mode == "wal":
        raise InputError("is in use", where=place.shown, fix="stop the server, then restore")


def rename_all(path: Path, to: Path) -> None:
    """Rename a file of SQLite and what belongs to it."""
    for old, new in zip(beside(path), beside(to), strict=True):
        if old.exists():
            old.rename(new)


def remove_logs(path: Path) -> None:
    """Remove what SQLite keeps beside a file."""
    for log in beside(path)[1:]:
        log.unlink(missing_ok=True)


def write_project(path: Path, write: Callable[[Path], object]) -> None:
    """Write a new project to a file, complete or not at all.

    Parameters
    ----------
    path
        The file; one that exists is replaced.
    write
        Creates the project in the file that it is given, fills it, and closes it.
    """
    if not path.exists():
        check_no_log(find_place(path), path)
    with replacing(path, private=True) as draft:
        try:
            write(draft)
        finally:
            remove_logs(draft)
        # Those of the project that was there would spoil the new one.
        remove_logs(path)


def copy_file(place: Place, path: Path) -> tuple[int, int]:
    """Copy a project in a file, complete or not at all; return its bytes and its rows of answers."""
    with replacing(path, private=True) as draft:
        answers = copy_pages(place, draft)
        return draft.stat().st_size, answers


def copy_pages(place: Place, draft: Path, still: bool = False) -> int:
    """Copy a file of SQLite with its log, check the copy, and return its rows of answers.

    `still` promises that nobody writes into the file: SQLite then makes no files beside it.
    """
    assert place.path is not None
    address = f"{place.path.as_uri()}?mode=ro{'&immutable=1' if still else ''}"
    try:
        with (
            explained(place, sqlite3.Error),
            closing(sqlite3.connect(address, uri=True)) as old,
            closing(sqlite3.connect(draft)) as new,
        ):
            # All pages in one step: one state of the project, and with its log no writer waits for a reader.
            with copy_errors():
                old.backup(new)
            check_code(place, (sql for (sql,) in new.execute(CODE)))
            problem = new.execute("PRAGMA quick_check(1)").fetchone()[0]
            if problem != "ok":
                raise InputError(
                    "is damaged, and so is its copy", where=place.shown, fix="restore an older copy"
                )
            return int(new.execute("SELECT COUNT(*) FROM answer").fetchone()[0])
    finally:
        remove_logs(draft)


@contextmanager
def copy_errors() -> Iterator[None]:
    """Raise an error of the system where a copy cannot be written: the database's would name the project."""
    try:
        yield
    except sqlite3.OperationalError as error:
        number = REFUSED.get(error.sqlite_errorcode)
        if number is None:
            raise
        raise OSError(number, os.strerror(number)) from None


def dump(place: Place, draft: Path) -> None:
    """Write a project in PostgreSQL by `pg_dump`."""
    run_program("pg_dump", place, ["--format=custom", "--no-owner", f"--file={draft}"])


def load_dump(copy: Path, place: Place) -> None:
    """Restore a dump into an empty database by `pg_restore`, completely or not at all."""
    database = Database(place)
    try:
        with database.read() as connection:
            if inspect(connection).get_table_names():
                raise InputError(
                    "the database is not empty", where=place.shown, fix="create a new one with createdb"
                )
    finally:
        database.close()
    options = ["--no-owner", "--exit-on-error", "--single-transaction", str(copy)]
    run_program("pg_restore", place, options, address="--dbname=")


def run_program(name: str, place: Place, options: list[str], address: str = "") -> None:
    """Run a program of PostgreSQL on a database; `address` is the option that takes its address."""
    program = shutil.which(name)
    if program is None:
        raise MissingDataError(
            f"{name} is not installed, which copies PostgreSQL databases",
            fix="apt-get install postgresql-client",
        )
    url, password = without_password(place, name)
    # Not among the arguments: every user of this machine can see those.
    environment = os.environ | ({"PGPASSWORD": password} if password else {})
    command = [program, "--no-password", *options[:-1], f"{address}{url}", options[-1]]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        message = place.scrub(done.stderr)[:300] or f"exit code {done.returncode}"
        raise InputError(
            f"{name} says: {message}",
            where=place.shown,
            fix=f"check that the server runs, and that {name} is not older than it",
        )


def without_password(place: Place, program: str = "pg_dump") -> tuple[str, str]:
    """Return an address for PostgreSQL's own programs without its password, and the password.

    >>> without_password(find_place("postgresql://ann:secret@host/db?connect_timeout=5"))
    ('postgresql://ann@host/db?connect_timeout=5', 'secret')
    >>> without_password(find_place("postgresql://ann@host/db?password=secret"))
    ('postgresql://ann@host/db', 'secret')
    """
    url = place.url
    if "sslpassword" in url.query:
        raise InputError(
            f"the address contains the password of a key, which {program} takes only where others can see it",
            where=place.shown,
            fix=f"call {program} yourself",
        )
    password = url.password or url.query.get("password", "")
    query = url.difference_update_query(["password"]).query
    bare = URL.create("postgresql", url.username, None, url.host, url.port, url.database, query)
    return bare.render_as_string(), str(password)
