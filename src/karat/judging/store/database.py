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

from karat._util import missing
from karat.errors import InputError

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")
SECRETS = ("password", "sslpassword")
FIX = "give a file such as project.db, or postgresql://user@host/database"
MEANING = {
    "database is locked": ("is locked: another program is writing", "try again, or stop that program"),
    "readonly": ("is read-only", "change its permissions, or copy it"),
    "unable to open": ("cannot be opened", "check the folder and its permissions"),
    "disk is full": ("cannot be written: the disk is full", "free some space and try again"),
    "disk i/o error": ("cannot be read or written: the disk reports an error", "restore a copy of it"),
    "not a database": ("is not a project", "give a file that karat made"),
    "malformed": ("is damaged", "restore a copy of it"),
    "unsupported file format": ("is not a project", "give a file that karat made"),
    "no such table": ("is not a project, or is damaged", "give a file that karat made"),
    "no such column": ("is not a project, or is damaged", "give a file that karat made"),
    "string or blob too big": ("is damaged", "restore a copy of it"),
    "could not decode": ("is damaged: it contains invalid text", "restore a copy of it"),
}
"""By a part of the database's own message: what is wrong, and the fix."""


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
    """Turn errors of the database into an `InputError` that names the place, without its password.

    Parameters
    ----------
    place
        What is read or written.
    driver_error
        The driver's class of errors.
    """
    try:
        yield
    except (DBAPIError, driver_error) as error:
        message = place.scrub(str(error.orig if isinstance(error, DBAPIError) else error))
        for part, (what, fix) in MEANING.items():
            if part in message.lower():
                raise InputError(what, where=place.shown, fix=fix) from None
        name = type(error).__name__
        if name not in ("OperationalError", "DatabaseError"):
            raise  # a bug in karat
        raise InputError(
            f"the database says: {message[:300]}",
            where=place.shown,
            fix="check that it runs and accepts your login",
        ) from None


BUSY_SECONDS = 120
"""How long a writer waits for others; SQLite has one writer at a time."""
POOL: dict[str, Any] = {"pool_size": 40, "max_overflow": 10, "pool_use_lifo": True}
"""As many connections as a server has threads, recently used ones first: opening one takes time."""
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
        self.engine = sqlite_engine(place) if self.sqlite else postgres_engine(place)

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
        with (
            explained(self.place, self.engine.dialect.loaded_dbapi.Error),
            self.engine.connect().execution_options(**{MODE: mode}) as connection,
            connection.begin(),
        ):
            yield connection

    def prepare(self) -> None:
        """Switch a new file to write-ahead logging: readers and a writer do not wait for each other."""
        if self.sqlite:
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


def sqlite_engine(place: Place) -> Engine:
    """Return an engine with write-ahead logging, full synchronisation and writers that wait."""
    engine = create_engine(place.url, connect_args={"timeout": BUSY_SECONDS}, **POOL)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
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
    try:
        engine = create_engine(place.url, connect_args={"connect_timeout": 20}, **POOL)
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
