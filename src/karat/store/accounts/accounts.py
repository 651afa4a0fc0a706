"""The accounts of the web application, stored in the database of a project."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from karat.errors import InputError
from karat.store.accounts.audit import Audit
from karat.store.accounts.invitations import Invitations
from karat.store.accounts.rows import AccountRows, Spans
from karat.store.accounts.sessions import Sessions
from karat.store.accounts.users import Account, Users
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

    def foreign(self) -> tuple[list[Account], list[dict[str, Any]]]:
        """Return the active accounts and the open links that were not made on this machine."""
        users = [user for user in self.users.read() if user.active and not user.confirmed]
        return users, [link for link in self.invitations.read() if not link["confirmed"]]

    def confirm_all(self, actor: int | None = None) -> None:
        """Confirm every account and every open link: the project is the owner's own, moved or restored."""
        users, links = self.foreign()
        # Not what is damaged, and no link of such an account or of a disabled one.
        for user in users:
            with suppress(InputError):
                self.users.confirm(user.id, actor)
        for link in links:
            with suppress(InputError):
                self.invitations.confirm(link["id"], actor)

    def set_spans(self, spans: Spans) -> None:
        """Set how long new sessions and links are valid."""
        self._rows.spans = spans
