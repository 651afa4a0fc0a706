"""Bringing the tables of a project to the newest form, by Alembic; an old file is copied first."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from karat.errors import InputError
from karat.judging.store.engine import Database

STEPS = Path(__file__).parent / "migrations"


@cache
def scripts() -> ScriptDirectory:
    """Return the steps that this version of karat knows."""
    return ScriptDirectory(str(STEPS))


def head() -> str:
    """Return the newest version of the tables.

    >>> head() >= "0002"
    True
    """
    return str(scripts().get_current_head())


def upgrade(connection: Connection, to: str = "head") -> None:
    """Run the steps that are missing, within the transaction of `connection`."""

    def missing(version: Any, context: Any) -> Any:
        return scripts()._upgrade_revs(to, version)

    with EnvironmentContext(Config(), scripts(), fn=missing, destination_rev=to) as environment:
        environment.configure(connection=connection, transactional_ddl=True)
        environment.run_migrations()


def version_of(connection: Connection) -> str | None:
    """Return the version of the tables; None where there are none."""
    return MigrationContext.configure(connection).get_current_revision()


def migrate(database: Database) -> str | None:
    """Bring a project to the newest version; return the version that it had, None where nothing was to do.

    A version that this karat does not know was written by a newer one: it is refused, never guessed at.
    """
    with database.read() as connection:
        version = version_of(connection)
    known = [step.revision for step in scripts().walk_revisions()]
    if version is None:
        raise InputError("is no project", where=database.place.shown, fix="make one with create_project")
    if version not in known:
        raise InputError(
            f"was written by a newer version of karat (tables {version[:20]!r})",
            where=database.place.shown,
            fix="upgrade karat",
        )
    if version == head():
        return None
    if database.place.path is not None:
        copy_file(database.place.path, version)
    with database.write() as connection:
        if not database.sqlite:
            # Of two programs that open it at once, the second finds nothing to do.
            connection.exec_driver_sql("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE")
        upgrade(connection)
    return version


def copy_file(path: Path, version: str) -> Path:
    """Copy a project beside itself, with what is still in its log; an earlier copy is never overwritten."""
    number = 0
    while (copy := path.with_name(f"{path.name}.{version}{f'.{number}' if number else ''}.backup")).exists():
        number += 1
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(copy)) as new:
        old.backup(new)
    return copy
