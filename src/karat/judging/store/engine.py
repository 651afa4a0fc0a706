"""The connection to the database, and how its transactions begin."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event

from karat._util import missing
from karat.judging.store.places import Place, explained

BUSY_SECONDS = 120
"""How long a writer waits for the others; SQLite admits one at a time."""
POOL: dict[str, Any] = {"pool_size": 40, "max_overflow": 10, "pool_use_lifo": True}
"""As many connections as a server has threads, the warm ones first: opening one costs more than a query."""
MODE = "karat_mode"
READ, WRITE, SOFT = "read", "write", "soft"


class Database:
    """A pool of connections to one place, with transactions that say what they are for.

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
        """Yield a connection whose changes are on the disk, all or none, when the block ends."""
        with self._begin(WRITE) as connection:
            yield connection

    @contextmanager
    def write_soon(self) -> Iterator[Connection]:
        """Yield a connection whose changes are on the disk before any later `write` is.

        They survive the death of the process at once; when the power fails, the last ones may be undone.
        That does for leases, which then are open again: an acknowledged answer brings its lease to the disk.
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
        """Switch a new file to write-ahead logging: readers and the writer do not wait for each other."""
        if self.sqlite:
            with (
                explained(self.place, sqlite3.Error),
                closing(sqlite3.connect(str(self.place.path))) as connection,
            ):
                connection.execute("PRAGMA journal_mode = WAL")

    def analyse(self, connection: Connection) -> None:
        """Tell PostgreSQL's planner about many new rows; SQLite's follows the order of our joins."""
        if not self.sqlite:
            connection.exec_driver_sql("ANALYZE item, slot, answer, worker")

    def close(self) -> None:
        """Give back every connection."""
        self.engine.dispose()


def sqlite_engine(place: Place) -> Engine:
    """Return an engine with write-ahead logging, full synchronisation and writers that queue."""
    engine = create_engine(place.url, connect_args={"timeout": BUSY_SECONDS}, **POOL)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        # Transactions begin below, not where the driver guesses.
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
