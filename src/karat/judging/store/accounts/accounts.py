"""The accounts of the web application, kept in the database of a project."""

from __future__ import annotations

from karat.judging.store.accounts.audit import Audit
from karat.judging.store.accounts.invitations import Invitations
from karat.judging.store.accounts.rows import AccountRows, Spans
from karat.judging.store.accounts.sessions import Sessions
from karat.judging.store.accounts.users import Users
from karat.judging.store.engine import Database
from karat.judging.store.queue import Queue


class Accounts:
    """The accounts of a project: `project.accounts`; any thread may use them.

    Parameters
    ----------
    database
        Where they are kept.
    queue
        Of the same project: what a user holds is handed back when the user is removed.

    Attributes
    ----------
    users
        Names, roles and passwords.
    sessions
        Who has signed in.
    invitations
        Links that work once.
    audit
        Who did what to whom.
    """

    def __init__(self, database: Database, queue: Queue) -> None:
        self._rows = AccountRows(database)
        self.where = database.place.shown
        self.users, self.sessions = Users(self._rows, queue), Sessions(self._rows)
        self.invitations, self.audit = Invitations(self._rows), Audit(self._rows)

    def set_spans(self, spans: Spans) -> None:
        """Say how long sessions and links hold from now on."""
        self._rows.spans = spans
