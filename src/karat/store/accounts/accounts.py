"""The accounts of the web application, stored in the database of a project."""

from __future__ import annotations

from collections.abc import Callable

from karat.store.accounts.audit import Audit
from karat.store.accounts.invitations import Invitations
from karat.store.accounts.rows import AccountRows, Spans
from karat.store.accounts.sessions import Sessions
from karat.store.accounts.users import Users
from karat.store.database import Database
from karat.store.queue import Queue


class Accounts:
    """The accounts of a project: `project.accounts`. They are thread-safe.

    Parameters
    ----------
    database
        Where they are stored.
    queue
        Of the same project: assignments of a user are returned when the user is removed.

    Attributes
    ----------
    users
        Names, roles and passwords.
    sessions
        Signed-in users.
    invitations
        Links that work once.
    audit
        The audit trail.
    """

    def __init__(self, database: Database, queue: Queue) -> None:
        self._rows = AccountRows(database)
        self.where = database.place.shown
        self.users, self.sessions = Users(self._rows, queue), Sessions(self._rows)
        self.invitations, self.audit = Invitations(self._rows), Audit(self._rows)

    def on_change(self, call: Callable[[], object]) -> None:
        """Call a function after every change of an account or a link."""
        self._rows.on_change = call

    def set_spans(self, spans: Spans) -> None:
        """Set how long new sessions and links are valid."""
        self._rows.spans = spans
