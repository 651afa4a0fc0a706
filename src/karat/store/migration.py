"""The schema of a project: recognised before it is trusted, and brought to the newest version by Alembic.

A migration is one transaction: it succeeds, or the database stays as it was. A project in a file is copied
beside itself first; ``karat project restore`` brings such a copy back.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

from karat.errors import InputError
from karat.store.backup import copy_file
from karat.store.database import Database, Place
from karat.store.tables import ACCOUNT_METADATA, METADATA
from karat.store.triggers import FIX, check_triggers

STEPS = Path(__file__).parent / "migrations"


@cache
def scripts() -> ScriptDirectory:
    """Return the migrations that this version of karat knows."""
    return ScriptDirectory(str(STEPS))


def head() -> str:
    """Return the newest version of the schema.

    >>> head() >= "0004"
    True
    """
    return str(scripts().get_current_head())


def upgrade(connection: Connection, to: str = "head") -> None:
    """Run the missing migrations within the transaction of `connection`."""

    def missing(version: Any, context: Any) -> Any:
        return scripts()._upgrade_revs(to, version)

    with EnvironmentContext(Config(), scripts(), fn=missing, destination_rev=to) as environment:
        environment.configure(connection=connection, transactional_ddl=True)
        environment.run_migrations()


def version_of(connection: Connection) -> str | None:
    """Return the version of the schema; None where there is none."""
    return MigrationContext.configure(connection).get_current_revision()


def migrate(database: Database) -> tuple[str, Path | None] | None:
    """Bring a project to the newest version; None where it has it already.

    Returns
    -------
    tuple
        The version before, and the copy that was made of a file. Where the migration fails, the project is
        unchanged and the copy is removed.
    """
    place = database.place
    with database.read() as connection:
        check_triggers(connection, place, complete=False)
        version = version_of(connection)
        if version is None:
            raise InputError("is not a project", where=place.shown, fix="create one with karat project pool")
        if version not in [script.revision for script in scripts().walk_revisions()]:
            # Written by a newer karat: refused, never guessed at.
            raise InputError(
                f"was written by a newer version of karat (schema {version[:20]!r})",
                where=place.shown,
                fix="upgrade karat",
            )
        if version == head():
            return None
    copy = None if place.path is None else new_copy(place, version)
    try:
        with database.write() as connection:
            if not database.sqlite:
                # Of two programs that open it at the same time, the second finds nothing to do.
                connection.exec_driver_sql("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE")
            upgrade(connection)
    except BaseException:
        if copy is not None:
            copy.unlink(missing_ok=True)
        raise
    return version, copy


def new_copy(place: Place, version: str) -> Path:
    """Copy a file beside itself, readable by the user only; an earlier copy is never overwritten."""
    assert place.path is not None
    number = 0
    while (
        copy := place.path.with_name(f"{place.path.name}.{version}{f'.{number}' if number else ''}.backup")
    ).exists():
        number += 1
    copy_file(place, copy)
    return copy


def check_tables(connection: Connection, place: Place) -> None:
    """Raise unless the tables are those of a project and nothing else is there that runs by itself."""
    present = inspect(connection)
    for table in (*METADATA.sorted_tables, *ACCOUNT_METADATA.sorted_tables):
        if not present.has_table(table.name):
            what = f"is not a project: the table {table.name!r} is missing"
            raise InputError(what, where=place.shown, fix=FIX)
        columns = {column["name"] for column in present.get_columns(table.name)}
        if columns != set(table.c.keys()):
            what = f"is not a project: the table {table.name!r} has other columns"
            raise InputError(what, where=place.shown, fix=FIX)
    check_triggers(connection, place, complete=True)
