"""The rows of accounts: the database behind them, how often they changed, and how long things hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection

from karat.judging.store.engine import Database

DAY = 86_400.0


@dataclass(frozen=True)
class Spans:
    """How many seconds sessions and links hold.

    Parameters
    ----------
    session, idle
        How long a session lasts at most, and without a request.
    invitation
        How long a link holds unless its maker says otherwise.
    """

    session: float = 14 * DAY
    idle: float = 3 * DAY
    invitation: float = 7 * DAY


class AccountRows:
    """What the parts of the accounts share.

    Parameters
    ----------
    database
        Where the rows are.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.spans = Spans()
        self.changes = 0

    @contextmanager
    def change(self) -> Iterator[Connection]:
        """Yield a connection for a change, after which nothing that is remembered about sessions holds."""
        with self.database.write() as connection:
            yield connection
        self.changes += 1
