"""The audit trail: who did what to whom; users are named by their numbers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select

from karat.forms import check_name, to_json
from karat.store.accounts.rows import AccountRows
from karat.store.tables import AUDIT

SHOWN = 100
"""How many entries the owner's page shows."""


class Audit:
    """The audit trail: `project.accounts.audit`."""

    def __init__(self, rows: AccountRows) -> None:
        self._rows = rows

    def note(
        self,
        actor: int | None,
        what: str,
        subject: int | None = None,
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        """Add an entry.

        Parameters
        ----------
        actor
            The account that acted; None for the server itself or an unknown visitor.
        what
            The action, in a word or two.
        subject
            The account that it was done to, where there is one.
        detail
            Numbers and fixed words; no names, no addresses, no secrets.
        """
        with self._rows.database.write() as connection:
            write(connection, actor, what, subject, detail)

    def trail(self) -> list[dict[str, Any]]:
        """Return the last entries, the newest first."""
        query = select(AUDIT).order_by(AUDIT.c.id.desc()).limit(SHOWN)
        with self._rows.database.read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]


def write(
    connection: Connection,
    actor: int | None,
    what: str,
    subject: int | None = None,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Add an entry within a transaction."""
    values = {"what": check_name(what, "the action"), "detail": to_json(dict(detail or {}), "the detail")}
    connection.execute(insert(AUDIT).values(actor=actor, subject=subject, at=time.time(), **values))
