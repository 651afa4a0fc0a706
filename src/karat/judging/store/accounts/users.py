"""Users: accounts with a name, a role and a password; what is known about one, and removing one."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from karat._util import check_choice
from karat.errors import InputError
from karat.judging.checking import PERSON
from karat.judging.store.accounts import audit, passwords
from karat.judging.store.accounts.names import DECIDES, REMOVED, check_person, fold
from karat.judging.store.accounts.rows import AccountRows
from karat.judging.store.accounts.tokens import new_token
from karat.judging.store.annotators import add_annotators, all_annotators
from karat.judging.store.assignments import LEASED
from karat.judging.store.queue import Queue
from karat.judging.store.tables import ACCOUNT, ANSWER, AUDIT, INVITATION, SESSION, SLOT, WORKER

OWNER, JUDGE, READER = "owner", "judge", "reader"
ROLES = (OWNER, JUDGE, READER)
"""An owner may do everything, a judge judges, a reader sees the dashboard."""
SHOWN = ("id", "slot", "item", "image", "caption", "code", "seconds", "at")


@dataclass(frozen=True)
class User:
    """Somebody who has signed in.

    Parameters
    ----------
    id
        The number of the account.
    name
        Also the name of the worker in the store.
    role
        OWNER, JUDGE or READER.
    """

    id: int
    name: str
    role: str

    def may(self, *roles: str) -> bool:
        """Whether the user has one of the roles; an owner has all, and no roles mean anybody.

        >>> ann, bob = User(1, "ann", "owner"), User(2, "bob", "judge")
        >>> ann.may("judge"), bob.may("reader"), bob.may()
        (True, False, True)
        """
        return not roles or self.role == OWNER or self.role in roles


@dataclass(frozen=True)
class Account:
    """An account, as the owner sees it.

    Parameters
    ----------
    id, name, role
        As in `User`.
    active
        Whether it may sign in.
    has_password
        Whether there is a password, or only links.
    at, seen
        When it was made, and when somebody was last there; None: never, or signed out.
    """

    id: int
    name: str
    role: str
    active: bool
    has_password: bool
    at: float
    seen: float | None


class Users:
    """Those who may sign in: `project.accounts.users`."""

    def __init__(self, rows: AccountRows, queue: Queue) -> None:
        self._rows, self._queue = rows, queue

    def read(self) -> list[Account]:
        """Return all accounts, in the order in which they came."""
        seen = select(func.max(SESSION.c.seen)).where(SESSION.c.account == ACCOUNT.c.id).scalar_subquery()
        with self._rows.database.read() as connection:
            rows = connection.execute(select(ACCOUNT, seen.label("seen")).order_by(ACCOUNT.c.id)).mappings()
            return [
                Account(row["id"], row["name"], row["role"], bool(row["active"]), row["password"] is not None,
                       row["at"], row["seen"])
                for row in rows
            ]  # fmt: skip

    def has_owner(self) -> bool:
        """Whether there is an owner who can sign in with a password."""
        return any(one.role == OWNER and one.active and one.has_password for one in self.read())

    def add(self, name: str, role: str, password: str | None, actor: int | None = None) -> User:
        """Make an account; without a password, only links let in."""
        hashed = (
            None if password is None else passwords.hash_password(passwords.check_password(password, name))
        )
        with self._rows.change() as connection:
            return make(connection, name, role, hashed, actor)

    def number_of(self, name: str) -> int | None:
        """Return the number of the account of a name, if there is one."""
        with self._rows.database.read() as connection:
            query = select(ACCOUNT.c.id).where(ACCOUNT.c.folded == fold(name))
            return connection.execute(query).scalar_one_or_none()

    def sign_in(self, name: str, password: str) -> User | None:
        """Return whose name and password these are; None, after as long, when they are nobody's."""
        with self._rows.database.read() as connection:
            row = connection.execute(
                select(ACCOUNT).where(ACCOUNT.c.folded == fold(name), ACCOUNT.c.active == 1)
            ).one_or_none()
        kept = None if row is None else row.password
        if not passwords.fits(password, kept) or row is None:
            return None
        if passwords.is_old(row.password):
            fresh = passwords.hash_password(password)
            with self._rows.change() as connection:
                same = (ACCOUNT.c.id == row.id, ACCOUNT.c.password == row.password)
                connection.execute(update(ACCOUNT).where(*same).values(password=fresh))
        return User(row.id, row.name, row.role)

    def set_password(self, account: int, password: str, actor: int | None = None) -> None:
        """Give an account a new password; every session of it ends."""
        with self._rows.database.read() as connection:
            name = known(connection, account)["name"]
        hashed = passwords.hash_password(passwords.check_password(password, name))
        with self._rows.change() as connection:
            known(connection, account)
            put_password(connection, account, hashed)
            audit.write(connection, actor, "password changed", account)

    def set_role(self, account: int, role: str, actor: int | None = None) -> None:
        """Change what somebody may do; the last owner stays one."""
        role = check_choice(role, ROLES, "the role")
        with self._rows.change() as connection:
            row = known(connection, account)
            if role != OWNER:
                keep_an_owner(connection, row)
            if role != READER:
                add_annotators(connection, {row["name"]: PERSON})
            connection.execute(update(ACCOUNT).where(ACCOUNT.c.id == account).values(role=role))
            audit.write(connection, actor, "role changed", account, {"from": row["role"], "to": role})

    def set_active(self, account: int, active: bool, actor: int | None = None) -> None:
        """Close an account, which ends its sessions, or open it again; the last owner's stays open."""
        with self._rows.change() as connection:
            row = known(connection, account)
            if not active:
                keep_an_owner(connection, row)
                end_all(connection, account)
            connection.execute(update(ACCOUNT).where(ACCOUNT.c.id == account).values(active=int(active)))
            audit.write(connection, actor, "enabled" if active else "disabled", account)

    def export(self, account: int) -> dict[str, Any]:
        """Return everything that is kept about a person, as json can hold it; no hash and no token."""
        with self._rows.database.read() as connection:
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
        with self._rows.change() as connection:
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
                self._queue.release(token)
        with self._rows.change() as connection:
            row = known(connection, account)
            about = or_(INVITATION.c.account == account, INVITATION.c.name == row["name"])
            connection.execute(delete(INVITATION).where(about))
            connection.execute(delete(ACCOUNT).where(ACCOUNT.c.id == account))
            pseudonym = rename(connection, row["name"], account)
            audit.write(connection, actor, "removed", account)
        return pseudonym


def known(connection: Connection, account: int) -> RowMapping:
    """Return the row of an account, or raise."""
    row = connection.execute(select(ACCOUNT).where(ACCOUNT.c.id == account)).mappings().one_or_none()
    if row is None:
        raise InputError(f"there is no person number {account}", fix="reload the page")
    return row


def keep_an_owner(connection: Connection, row: RowMapping) -> None:
    """Raise when a change would leave the project without an owner."""
    # Locked where the database admits several writers: two owners must not remove each other.
    owners = select(ACCOUNT.c.id).where(ACCOUNT.c.role == OWNER, ACCOUNT.c.active == 1).with_for_update()
    if row["role"] == OWNER and not set(connection.execute(owners).scalars()) - {row["id"]}:
        raise InputError(f"{row['name']!r} is the only owner", fix="make somebody else an owner first")


def put_password(connection: Connection, account: int, hashed: str) -> None:
    """Store a hash and end every session, within a transaction."""
    connection.execute(update(ACCOUNT).where(ACCOUNT.c.id == account).values(password=hashed))
    end_all(connection, account)


def make(
    connection: Connection,
    name: str,
    role: str,
    hashed: str | None,
    actor: int | None = None,
    worker_may_exist: bool = False,
) -> User:
    """Make an account and, for those who judge, the worker of the same name, within a transaction.

    Unless the owner chose the name, it must not be one under which answers were given already.
    """
    name, role = check_person(name), check_choice(role, ROLES, "the role")
    taken = connection.execute(select(ACCOUNT.c.id).where(ACCOUNT.c.folded == fold(name))).first() is not None
    if not worker_may_exist:
        taken = taken or fold(name) in {fold(other) for other in all_annotators(connection)[1]}
    if taken:
        raise taken_name(name)
    if role in (OWNER, JUDGE):
        add_annotators(connection, {name: PERSON})
    values = {"name": name, "folded": fold(name), "role": role, "password": hashed, "active": 1}
    query = insert(ACCOUNT).values(**values, at=time.time()).returning(ACCOUNT.c.id)
    try:
        number = int(connection.execute(query).scalar_one())
    except IntegrityError:
        # Somebody else took it in the meantime.
        raise taken_name(name) from None
    audit.write(connection, number if actor is None else actor, "joined", number, {"role": role})
    return User(number, name, role)


def taken_name(name: str) -> InputError:
    """Return the error for a name that somebody has."""
    return InputError(f"the name {name!r} is taken", fix="choose another")


def end_all(connection: Connection, account: int) -> None:
    """End every session of an account, within a transaction."""
    connection.execute(delete(SESSION).where(SESSION.c.account == account))


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
