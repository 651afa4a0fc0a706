"""What is known about a person, for that person; and removing the person, not the answers."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, or_, select, update

from karat.errors import InputError
from karat.judging.store import ANSWER, LEASED, SLOT, WORKER
from karat.web.accounts import audit
from karat.web.accounts.base import AccountsPart
from karat.web.accounts.members import keep_an_owner, known
from karat.web.accounts.names import DECIDES, REMOVED
from karat.web.accounts.schema import ACCOUNT, AUDIT, INVITATION, SESSION
from karat.web.accounts.sessions import end_all
from karat.web.security import new_token

SHOWN = ("id", "slot", "item", "image", "caption", "code", "seconds", "at")


class Removal(AccountsPart):
    """Export and removal of a person."""

    def export(self, account: int) -> dict[str, Any]:
        """Return everything that is kept about a person, as json can hold it; no hash and no token."""
        with self._db.read() as connection:
            row = known(connection, account)
            sessions = select(SESSION.c.at, SESSION.c.seen, SESSION.c.expires).where(
                SESSION.c.account == account
            )
            trail = select(AUDIT).where(or_(AUDIT.c.actor == account, AUDIT.c.subject == account))
            return {
                "account": {key: row[key] for key in ("id", "name", "role", "active", "at")},
                "sessions": [dict(one) for one in connection.execute(sessions).mappings()],
                "trail": [
                    {**one, "detail": json.loads(one["detail"])}
                    for one in connection.execute(trail.order_by(AUDIT.c.id)).mappings()
                ],
                "answers": answers_of(connection, row["name"]),
                "decisions": answers_of(connection, f"{DECIDES}{account}"),
            }

    def remove(self, account: int, actor: int | None = None) -> str:
        """Remove a person: the account, its sessions and links, and the name; return the pseudonym.

        The answers stay under the pseudonym, since the labels rest on them. The account is closed first, and
        tasks in the person's hands are handed back.
        """
        with self._change() as connection:
            row = known(connection, account)
            keep_an_owner(connection, row)
            end_all(connection, account)
            connection.execute(update(ACCOUNT).where(ACCOUNT.c.id == account).values(active=0))
            held = select(SLOT.c.token).join(WORKER, WORKER.c.id == SLOT.c.worker)
            mine = (WORKER.c.name == row["name"], SLOT.c.state == LEASED)
            tokens = list(connection.execute(held.where(*mine)).scalars())
        for token in tokens:
            # What was handed in or back in the meantime needs nothing.
            with suppress(InputError):
                self._project.release(token)
        with self._change() as connection:
            row = known(connection, account)
            about = or_(INVITATION.c.account == account, INVITATION.c.name == row["name"])
            connection.execute(delete(INVITATION).where(about))
            connection.execute(delete(ACCOUNT).where(ACCOUNT.c.id == account))
            pseudonym = rename(connection, row["name"], account)
            audit.write(connection, actor, "removed", account)
        return pseudonym


def rename(connection: Connection, name: str, account: int) -> str:
    """Give the worker a pseudonym, within a transaction, and return it."""
    pseudonym = f"{REMOVED}{account}"
    while worker_of(connection, pseudonym) is not None:
        pseudonym = f"{REMOVED}{account}-{new_token()[:6]}"
    connection.execute(update(WORKER).where(WORKER.c.name == name).values(name=pseudonym))
    return pseudonym


def worker_of(connection: Connection, name: str) -> RowMapping | None:
    """Return the worker of a name, if there is one."""
    return connection.execute(select(WORKER).where(WORKER.c.name == name)).mappings().one_or_none()


def answers_of(connection: Connection, name: str) -> list[dict[str, Any]]:
    """Return what the worker of a name answered, in order."""
    query = select(ANSWER).join(WORKER, WORKER.c.id == ANSWER.c.worker).where(WORKER.c.name == name)
    return [shown(one) for one in connection.execute(query.order_by(ANSWER.c.id)).mappings()]


def shown(row: RowMapping) -> dict[str, Any]:
    """Return an answer as the person gave it; whether the item was known beforehand stays unsaid."""
    details = row["details"]
    return {key: row[key] for key in SHOWN} | {"details": None if details is None else json.loads(details)}
