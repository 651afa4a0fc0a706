"""The database of a project: a file of SQLite or PostgreSQL, its transactions, and what its errors mean.

Passwords in addresses are never shown.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from karat._util import missing
from karat.errors import InputError
from karat.store.failure import (
    CANNOT_OPEN,
    DAMAGED,
    DELETED,
    DESCRIPTORS,
    DISK_FULL,
    IO_ERROR,
    LOCKED,
    READ_ONLY,
    UNREACHABLE,
    StoreError,
    has_descriptors,
)
from karat.store.open_file import OpenFile, make_private, read_rows

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")
SECRETS = ("password", "sslpassword")
FIX = "give a file such as project.db, or postgresql://user@host/database"
NOT_A_PROJECT = "give a file that karat made"
MEANING = {
    "database is locked": (
        LOCKED, "is locked: another program is writing", "try again, or stop that program"
    ),
    "locking protocol": (LOCKED, "is locked by other programs", "try again, or stop them"),
    "readonly": (READ_ONLY, "is read-only", "change its permissions, or copy it"),
    "unable to open": (CANNOT_OPEN, "cannot be opened", "check the folder and its permissions"),
    "disk is full": (
        DISK_FULL, "cannot be written: the disk is full", "free some space and try again"
    ),
    "disk i/o error": (
        IO_ERROR, "cannot be read or written: the disk reports an error", "restore a copy of it"
    ),
    "not a database": (DAMAGED, "is not a project", NOT_A_PROJECT),
    "malformed": (DAMAGED, "is damaged", "restore a copy of it"),
    "unsupported file format": (DAMAGED, "is not a project", NOT_A_PROJECT),
    "no such table": (DAMAGED, "is not a project, or is damaged", NOT_A_PROJECT),
    "no such column": (DAMAGED, "is not a project, or is damaged", NOT_A_PROJECT),
    "string or blob too big": (DAMAGED, "is damaged", "restore a copy of it"),
    "could not decode": (DAMAGED, "is damaged: it contains invalid text", "restore a copy of it"),
}  # fmt: skip
"""By a part of SQLite's own message: the state, what is wrong, and the fix."""
CODES = {
    "53100": DISK_FULL, "25006": READ_ONLY, "40P01": LOCKED, "40001": LOCKED, "55P03": LOCKED,
    "58030": IO_ERROR, "42P01": DAMAGED, "42703": DAMAGED, "XX001": DAMAGED, "XX002": DAMAGED,
}  # fmt: skip
"""States by PostgreSQL's own codes; other errors of operation mean that it cannot be reached."""


@dataclass(frozen=True)
class Place:
    """A file or an address.

    Parameters
    ----------
    url
        For SQLAlchemy; it may contain a password.
    shown
        The same for messages, with passwords masked.
    path
        The file; None for PostgreSQL.

    Examples
    --------
    >>> find_place("postgresql://ann:secret@db.example/judging")
    Place(shown='postgresql://ann:***@db.example/judging', path=None)
    """

    url: URL = field(repr=False)
    shown: str
    path: Path | None

    def scrub(self, text: str) -> str:
        """Return a message of the database without the password, on one line.

        >>> find_place("postgresql://ann:secret@host/db").scrub("no entry for secret")
        'no entry for ***'
        """
        query = self.url.query
        for secret in (self.url.password, *(query.get(name) for name in SECRETS)):
            if isinstance(secret, str) and secret:
                text = text.replace(secret, "***")
        return " ".join(text.split())


def find_place(where: str | Path) -> Place:
    """Return the place that a path or a URL names.

    >>> find_place("mysql://ann:secret@host/db")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: 'mysql' is not a supported database; give a file such as ...
    """
    scheme = None if isinstance(where, Path) else SCHEME.match(where)
    if scheme is None:
        if not str(where) or "\0" in str(where):
            raise InputError("the project has no file name", fix=FIX)
        # The full path: ":memory:" and "file:" would mean something else to SQLite.
        path = Path(where).resolve()
        return Place(URL.create("sqlite", database=str(path)), str(where), path)
    if scheme[1].lower() not in POSTGRES:
        raise InputError(f"{scheme[1]!r} is not a supported database", fix=FIX)
    try:
        url = make_url("postgresql+psycopg://" + str(where)[scheme.end() :])
    except (ArgumentError, ValueError):
        # The address itself is not repeated: it may contain a password.
        raise InputError("the address of the database cannot be read", fix=FIX) from None
    masked = url.set(drivername="postgresql")
    if hidden := {name: "***" for name in SECRETS if name in url.query}:
        masked = masked.update_query_dict(hidden)
    return Place(url, masked.render_as_string(hide_password=True), None)


@contextmanager
def explained(place: Place, driver_error: type[Exception]) -> Iterator[None]:
    """Turn errors of the database into a `StoreError` that names the place, without its password.

    Parameters
    ----------
    place
        What is read or written.
    driver_error
        The driver's class of errors.
    """
    try:
        yield
    except NoConnection:
        raise StoreError(LOCKED, "is busy: all connections are in use", where=place.shown) from None
    except (DBAPIError, driver_error) as error:
        original = error.orig if isinstance(error, DBAPIError) else error
        failure = failure_of(place, place.scrub(str(original)), original)
        if failure is None:
            raise  # a bug in karat
        raise failure from None


def failure_of(place: Place, message: str, error: BaseException | None) -> StoreError | None:
    """Return the failure that an error of the driver means; None for a bug in karat.

    Parameters
    ----------
    place
        What was read or written.
    message
        The driver's message, without passwords.
    error
        The driver's error.
    """
    for part, (state, what, fix) in MEANING.items():
        if part in message.lower():
            if state == CANNOT_OPEN:
                state, what, fix = why_not_opened(place, what, fix)
            return StoreError(state, what, where=place.shown, fix=fix)
    kinds = {kind.__name__ for kind in type(error).__mro__}
    code = str(getattr(error, "sqlstate", None))
    # SQLite's InterfaceError is a wrong call of it, PostgreSQL's a lost connection.
    is_failure = "OperationalError" in kinds or type(error).__name__ == "DatabaseError"
    if not is_failure and code not in CODES and (place.path is not None or "InterfaceError" not in kinds):
        return None
    return StoreError(
        CODES.get(code, UNREACHABLE),
        f"the database says: {message[:300]}",
        where=place.shown,
        fix="check that it runs and accepts your login",
    )


def why_not_opened(place: Place, what: str, fix: str) -> tuple[str, str, str]:
    """Return the state, what is wrong and the fix where SQLite only says that it cannot open a file."""
    if not has_descriptors():
        return DESCRIPTORS, "cannot be opened: no file descriptors are left", "raise the limit (ulimit -n)"
    if place.path is not None and not place.path.exists():
        return DELETED, "does not exist", "put the file back, or restore a copy"
    return CANNOT_OPEN, what, fix


BUSY_SECONDS = 120
"""How long a writer waits for others; SQLite has one writer at a time."""
POOL: dict[str, Any] = {"pool_size": 40, "max_overflow": 10, "pool_use_lifo": True}
"""As many connections as a server has threads, recently used ones first: opening one takes time."""
NETWORK = {
    "connect_timeout": 10, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}  # fmt: skip
"""A connection to a PostgreSQL that vanished fails within seconds instead of minutes."""
MODE = "karat_mode"
READ, WRITE, SOFT = "read", "write", "soft"


class Database:
    """Connections to one place, with a kind of transaction for each purpose.

    Parameters
    ----------
    place
        Where it is.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.sqlite = place.path is not None
        self.patience = float(BUSY_SECONDS)
        self.file: OpenFile | None = None
        self.engine = sqlite_engine(self) if self.sqlite else postgres_engine(place)

    def pin(self) -> None:
        """Recognise the file from now on: a transaction fails when it was deleted or replaced."""
        if self.place.path is not None and self.file is None:
            with explained(self.place, sqlite3.Error):
                self.file = OpenFile(self.place.path, self.place.shown)

    def check_free(self) -> None:
        """Raise where another program keeps a file of SQLite locked for seconds, or it cannot be written."""
        if self.file is not None:
            self.file.check()
        address = f"{self.place.path.as_uri()}?mode=rw" if self.place.path is not None else ""
        with (
            explained(self.place, sqlite3.Error),
            closing(sqlite3.connect(address, uri=True, timeout=2.0, isolation_level=None)) as connection,
        ):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")

    def set_patience(self, seconds: float) -> None:
        """Set how long a writer of SQLite waits for another program before it fails."""
        self.patience = seconds
        self.engine.dispose()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield a connection that sees one state of the database."""
        with self._begin(READ) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Yield a connection whose changes are on the disk when the block ends; an error undoes them."""
        with self._begin(WRITE) as connection:
            yield connection

    @contextmanager
    def write_soon(self) -> Iterator[Connection]:
        """Yield a connection whose changes reach the disk no later than those of the next `write`.

        They survive a crash of the process at once; after a power failure the last ones may be lost. That is
        enough for leases, which are then open again; an acknowledged answer also writes its lease to disk.
        """
        with self._begin(SOFT) as connection:
            yield connection

    @contextmanager
    def _begin(self, mode: str) -> Iterator[Connection]:
        if self.file is not None:
            self.file.check()
            if self.file.was_rewritten():
                self.engine.dispose()
            if mode != READ:
                self.file.check_content()
        with (
            explained(self.place, self.engine.dialect.loaded_dbapi.Error),
            self.engine.connect().execution_options(**{MODE: mode}) as connection,
            connection.begin(),
        ):
            yield connection
            file = self.file if mode != READ else None
            rows = None if file is None else read_rows(connection.connection.driver_connection)  # type: ignore[arg-type]
        if file is not None and rows is not None:
            # What was written counts only if others find it.
            file.check()
            file.keep(rows)

    def prepare(self) -> None:
        """Create a file that only the user can read, with write-ahead logging.

        Readers and a writer then do not wait for each other.
        """
        if self.place.path is not None:
            make_private(self.place.path)
            with (
                explained(self.place, sqlite3.Error),
                closing(sqlite3.connect(str(self.place.path))) as connection,
            ):
                connection.execute("PRAGMA journal_mode = WAL")

    def analyse(self, connection: Connection) -> None:
        """Update the statistics of PostgreSQL's planner; SQLite joins in the order of the queries."""
        if not self.sqlite:
            connection.exec_driver_sql("ANALYZE item, assignment, answer, annotator")

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()
        if self.file is not None:
            self.file.close()
            self.file = None


def sqlite_engine(database: Database) -> Engine:
    """Return an engine with write-ahead logging, full synchronisation and writers that wait."""
    place = database.place
    assert place.path is not None
    # A file that is not there is not created: "rw" instead of SQLite's default "rwc".
    address = f"{place.path.as_uri()}?mode=rw"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(address, uri=True, timeout=database.patience, check_same_thread=False)

    engine = create_engine(place.url, creator=connect, **POOL)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        if database.file is not None:
            try:
                database.file.check_opened()
            except StoreError:
                connection.close()
                raise
        # Transactions begin below, not where the driver would start them.
        connection.isolation_level = None
        for pragma in (
            "trusted_schema = OFF",
            "cell_size_check = ON",
            "recursive_triggers = ON",
            "cache_size = -16384",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        mode = connection.get_execution_options().get(MODE, READ)
        connection.exec_driver_sql(f"PRAGMA synchronous = {'NORMAL' if mode == SOFT else 'FULL'}")
        connection.exec_driver_sql("BEGIN" if mode == READ else "BEGIN IMMEDIATE")

    return engine


def postgres_engine(place: Place) -> Engine:
    """Return an engine for PostgreSQL by psycopg 3."""
    options = {name: value for name, value in NETWORK.items() if name not in place.url.query}
    try:
        engine = create_engine(place.url, connect_args=options, **POOL)
    except ImportError:
        raise missing("psycopg") from None

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        mode = connection.get_execution_options().get(MODE, READ)
        if mode == READ:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        elif mode == SOFT:
            connection.exec_driver_sql("SET LOCAL synchronous_commit = off")

    return engine
