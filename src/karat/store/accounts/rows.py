"""What the parts of the accounts share: the database, a count of changes, and periods of validity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, select

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
        self.on_change: Callable[[], object] | None = None

    @contextmanager
    def change(self) -> Iterator[Connection]:
        """Yield a connection for a change, after which remembered sessions are looked up again."""
        with self.database.write() as connection:
            yield connection
        self.changes += 1
        if self.on_change is not None:
            self.on_change()

    def hash_new(self, password: str, name: str) -> str:
        """Return the hash of a user's new password, or raise if it is easy to guess."""
        with self.database.read() as connection:
            project = connection.execute(select(PROJECT.c.name)).scalar_one_or_none()
        return hash_password(check_password(password, name, project or ""))
