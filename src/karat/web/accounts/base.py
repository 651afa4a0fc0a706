"""What every part of the accounts stands on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from karat.judging import Project
from karat.judging.store import Database


class AccountsPart:
    """A part of the accounts: it knows the database, and how often people and sessions have changed."""

    _db: Database
    _project: Project
    session_seconds: float
    idle_seconds: float
    invitation_seconds: float
    changes: int = 0

    @contextmanager
    def _change(self) -> Iterator[Connection]:
        """Yield a connection for a change, after which nothing that is remembered about sessions holds."""
        with self._db.write() as connection:
            yield connection
        self.changes += 1
