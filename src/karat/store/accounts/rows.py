"""What the parts of the accounts share: the database, seals, a count of changes, and periods of validity.

A project may come from somebody else, with accounts, sessions and links in it. Every row that karat writes
here has a seal, which nobody makes without this user's key; a row without one gives no right until the owner
confirms it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import Column, Connection, Float, Integer, RowMapping, Table, insert, select, update

from karat._util import is_sealed, seal
from karat.errors import InputError
from karat.store.accounts.credentials import check_password, hash_password
from karat.store.database import Database
from karat.store.tables import PROJECT

DAY = 86_400.0


@dataclass(frozen=True)
class Spans:
    """How many seconds sessions and links are valid.

    Parameters
    ----------
    session, idle
        How long a session is valid at most, and without a request.
    invitation
        How long a link is valid by default.
    """

    session: float = 14 * DAY
    idle: float = 3 * DAY
    invitation: float = 7 * DAY


class AccountRows:
    """What the parts of the accounts share.

    Parameters
    ----------
    database
        Where the rows are stored.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.spans = Spans()
        self.changes = 0

    @cached_property
    def project(self) -> tuple[float, str]:
        """What tells this project from others: rows of one have no rights in another."""
        with self.database.read() as connection:
            at, fingerprint = connection.execute(select(PROJECT.c.at, PROJECT.c.fingerprint)).one()
        return float(at), str(fingerprint)

    def is_own(self, table: Table, row: RowMapping) -> bool:
        """Return whether a row was written on this machine, or confirmed, and not changed elsewhere since."""
        values = {column.name: row[column] for column in table.c}
        return is_sealed(values["seal"], table.name, *self.project, *sealed_values(table, values))

    def seal_of(self, table: Table, values: Mapping[str, Any]) -> str:
        """Return the seal of a row."""
        return seal(table.name, *self.project, *sealed_values(table, values))

    def add_row(self, connection: Connection, table: Table, values: Mapping[str, Any]) -> Any:
        """Add a row with its seal, within a transaction; return its key."""
        whole = {column.name: None for column in table.c if column.name != "id"} | dict(values)
        whole["seal"] = self.seal_of(table, whole)
        (key,) = table.primary_key.columns
        return connection.execute(insert(table).values(**whole).returning(key)).scalar_one()

    def change_row(
        self, connection: Connection, table: Table, row: RowMapping, confirm: bool = False, **changed: Any
    ) -> None:
        """Change a row, within a transaction; it is sealed again if it was before, or is confirmed."""
        (key,) = table.primary_key.columns
        # As it is now, and as it stays until the end: the seal covers what another server has just changed.
        locked = select(table).where(key == row[key]).with_for_update()
        now = connection.execute(locked).mappings().one_or_none()
        if now is None:
            raise InputError("it was removed in the meantime", fix="reload the page")
        if confirm or self.is_own(table, now):
            changed["seal"] = self.seal_of(table, {column.name: now[column] for column in table.c} | changed)
        connection.execute(update(table).where(key == row[key]).values(**changed))

    @contextmanager
    def change(self) -> Iterator[Connection]:
        """Yield a connection for a change, after which remembered sessions are looked up again."""
        with self.database.write() as connection:
            yield connection
        self.changes += 1

    def hash_new(self, password: str, name: str) -> str:
        """Return the hash of a user's new password, or raise if it is easy to guess."""
        with self.database.read() as connection:
            project = connection.execute(select(PROJECT.c.name)).scalar_one_or_none()
        return hash_password(check_password(password, name, project or ""))


def sealed_values(table: Table, values: Mapping[str, Any]) -> list[Any]:
    """Return what the seal of a row is made of, each value as both databases return it."""
    return [value_in(column, values[column.name]) for column in sealed_columns(table)]


def sealed_columns(table: Table) -> list[Column[Any]]:
    """Return the columns that the seal is made of.

    Not the time of the last request, which changes too often, and no number that the database counts: a
    link is known by the digest of its token.
    """
    skipped = {"seal", "seen_at"} | ({"id"} if "token_digest" in table.c else set())
    return [column for column in table.c if column.name not in skipped]


def value_in(column: Column[Any], value: Any) -> Any:
    """Return a value as a column stores it: 5 in a column of real numbers is 5.0."""
    if value is None:
        return None
    return (
        float(value)
        if isinstance(column.type, Float)
        else int(value)
        if isinstance(column.type, Integer)
        else str(value)
    )
