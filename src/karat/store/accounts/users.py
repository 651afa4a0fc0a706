"""Users: accounts with a name, a role and a password; exporting and removing their data."""

from __future__ import annotations

import json
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, or_, select, update
from sqlalchemy.exc import IntegrityError

from karat._util import check_choice
from karat.errors import InputError
from karat.forms import PERSON
from karat.store.accounts import audit, credentials
from karat.store.accounts.credentials import DECIDES, REMOVED, check_person, fold, new_token
from karat.store.accounts.rows import AccountRows
from karat.store.annotators import add_annotators, all_annotators
from karat.store.assignments import LEASED
from karat.store.queue import Queue
from karat.store.tables import ACCOUNT, ANNOTATOR, ANSWER, ASSIGNMENT, AUDIT, INVITATION, SESSION

OWNER: str = "owner"
JUDGE: str = "judge"
READER: str = "reader"
ROLES = (OWNER, JUDGE, READER)
"""An owner may do everything, a judge answers tasks, a reader sees the dashboard."""
NUMBERS = range(2**32, 2**53)
"""Numbers of new accounts: random, so that nobody knows one before it exists, and exact in a browser."""
EXPORTED = {
    "id": "id", "slot": "assignment", "item": "item", "image": "image", "caption": "caption", "code": "code",
    "seconds": "seconds", "at": "at",
}  # fmt: skip
"""The columns of an exported answer, by their keys in the export."""


@dataclass(frozen=True)
class User:
    """A user who has signed in.

    Parameters
    ----------
    id
        The number of the account.
    name
        Also the name of the annotator in the store.
    role
        OWNER, JUDGE or READER.
    """

    id: int
    name: str
    role: str

    def may(self, *roles: str) -> bool:
        """Whether the user has one of the roles; an owner has all of them, and no roles mean any user.

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
        Whether the user may sign in.
    has_password
        Whether it has a password, or signs in by links only.
    at, seen
        When it was made, and when the user was last seen; None: never, or signed out.
    confirmed
        Whether it was made on this machine, or confirmed here; it gives no rights otherwise.
    """

    id: int
    name: str
    role: str
    active: bool
    has_password: bool
    at: float
    seen: float | None
    confirmed: bool

    @property
    def is_owner(self) -> bool:
        """Whether the user may do everything now."""
        return self.role == OWNER and self.active and self.confirmed


class Users:
    """The users of a project: `project.accounts.users`."""

    def __init__(self, rows: AccountRows, queue: Queue) -> None:
        self._rows, self._queue = rows, queue

    def read(self) -> list[Account]:
        """Return all accounts, in the order in which they were made."""
        seen = select(func.max(SESSION.c.seen_at)).where(SESSION.c.account == ACCOUNT.c.id).scalar_subquery()
        with self._rows.database.read() as connection:
            rows = connection.execute(select(ACCOUNT, seen.label("seen")).order_by(*IN_ORDER)).mappings()
            return [
                Account(
                    row["id"], row["name"], row["role"], bool(row["active"]),
                    row["password_hash"] is not None, row["at"], row["seen"],
                    self._rows.is_own(ACCOUNT, row),
                )
                for row in rows
            ]  # fmt: skip

    def has_owner(self) -> bool:
        """Whether there is an owner who can sign in with a password."""
        return any(account.is_owner and account.has_password for account in self.read())

    def confirm(self, account: int, actor: int | None = None) -> None:
        """Let an account that was made elsewhere have its rights: the owner knows it."""
        with self._rows.change() as connection:
            row = account_row(connection, account)
            # Whoever signs in types a name that is then folded: it must lead to the name that was shown.
            if row["folded_name"] != fold(row["name"]) or row["role"] not in ROLES:
                raise InputError(f"the account {row['name']!r} is damaged", fix="remove it")
            self._rows.change_row(connection, ACCOUNT, row, confirm=True)
            audit.write(connection, actor, "confirmed", account, {"role": row["role"]})

    def add(self, name: str, role: str, password: str | None, actor: int | None = None) -> User:
        """Add an account; without a password, the user signs in by links only."""
        hashed = None if password is None else self._rows.hash_new(password, name)
        with self._rows.change() as connection:
            return add_account(self._rows, connection, name, role, hashed, actor)

    def number_of(self, name: str) -> int | None:
        """Return the number of the account with a name; None where there is none."""
        with self._rows.database.read() as connection:
            query = select(ACCOUNT.c.id).where(ACCOUNT.c.folded_name == fold(name))
            return connection.execute(query).scalar_one_or_none()

    def marks_of(self, name: str) -> tuple[int, float, str | None] | None:
        """Return what is another account's, or this one's with another password, if it differs.

        None where no account of this name may sign in.
        """
        columns = (ACCOUNT.c.id, ACCOUNT.c.at, ACCOUNT.c.password_hash)
        with self._rows.database.read() as connection:
            query = select(*columns).where(ACCOUNT.c.folded_name == fold(name), ACCOUNT.c.active == 1)
            row = connection.execute(query).one_or_none()
        return None if row is None else (row.id, row.at, row.password_hash)

    def sign_in(self, name: str, password: str) -> User | None:
        """Return the user with a name and password; None, after an equal time, where there is none."""
        with self._rows.database.read() as connection:
            found = connection.execute(
                select(ACCOUNT).where(ACCOUNT.c.folded_name == fold(name), ACCOUNT.c.active == 1)
            )
            row = found.mappings().one_or_none()
        if row is not None and not self._rows.is_own(ACCOUNT, row):
            row = None
        password_hash = None if row is None else row["password_hash"]
        if not credentials.fits(password, password_hash) or row is None:
            return None
        if credentials.is_old(row["password_hash"]):
            new_hash = credentials.hash_password(password)
            with self._rows.change() as connection:
                now = account_row(connection, row["id"])
                if now["password_hash"] == row["password_hash"]:
                    self._rows.change_row(connection, ACCOUNT, now, password_hash=new_hash)
        return User(row["id"], row["name"], row["role"])

    def set_password(
        self, account: int, password: str, actor: int | None = None, confirm: bool = False
    ) -> None:
        """Change the password of an account; all its sessions end.

        Parameters
        ----------
        account, password
            Whose, and the new one.
        actor
            The account that does it.
        confirm
            Let an account that was made elsewhere have its rights, with this password.
        """
        with self._rows.database.read() as connection:
            name = account_row(connection, account)["name"]
        hashed = self._rows.hash_new(password, name)
        with self._rows.change() as connection:
            put_password(self._rows, connection, account_row(connection, account), hashed, confirm)
            audit.write(
                connection, actor, "password changed", account, {"confirmed": True} if confirm else {}
            )

    def set_role(self, account: int, role: str, actor: int | None = None) -> None:
        """Change the role of a user; the last owner cannot be changed."""
        role = check_choice(role, ROLES, "the role")
        with self._rows.change() as connection:
            row = own_account(self._rows, connection, account)
            if role != OWNER:
                keep_an_owner(self._rows, connection, row)
            if role != READER:
                add_annotators(connection, {row["name"]: PERSON})
            self._rows.change_row(connection, ACCOUNT, row, role=role)
            audit.write(connection, actor, "role changed", account, {"from": row["role"], "to": role})

    def set_active(self, account: int, active: bool, actor: int | None = None) -> None:
        """Close an account, which ends its sessions, or open it again; the last owner cannot be closed."""
        with self._rows.change() as connection:
            row = account_row(connection, account)
            if not active:
                keep_an_owner(self._rows, connection, row)
                end_all(connection, account)
            self._rows.change_row(connection, ACCOUNT, row, active=int(active))
            audit.write(connection, actor, "enabled" if active else "disabled", account)

    def export(self, account: int) -> dict[str, Any]:
        """Return everything that is stored about a user, as values for json; without hashes and tokens."""
        with self._rows.database.read() as connection:
            row = account_row(connection, account)
            sessions = select(SESSION.c.at, SESSION.c.seen_at.label("seen"), SESSION.c.expires).where(
                SESSION.c.account == account
            )
            trail = select(AUDIT).where(or_(AUDIT.c.actor == account, AUDIT.c.subject == account))
            return {
                "account": {key: row[key] for key in ("id", "name", "role", "active", "at")},
                "sessions": [dict(session) for session in connection.execute(sessions).mappings()],
                "trail": [
                    {**entry, "detail": json.loads(entry["detail"])}
                    for entry in connection.execute(trail.order_by(AUDIT.c.id)).mappings()
                ],
                "answers": answers_of(connection, row["name"]),
                "decisions": answers_of(connection, f"{DECIDES}{account}"),
            }

    def remove(self, account: int, actor: int | None = None) -> str:
        """Remove a user: the account, its sessions and links, and the name; return the pseudonym.

        The answers stay under the pseudonym, since the labels are based on them. The account is closed first,
        and its leased assignments are returned.
        """
        with self._rows.change() as connection:
            row = account_row(connection, account)
            keep_an_owner(self._rows, connection, row)
            end_all(connection, account)
            self._rows.change_row(connection, ACCOUNT, row, active=0)
            held = select(ASSIGNMENT.c.token).join(ANNOTATOR, ANNOTATOR.c.id == ASSIGNMENT.c.annotator)
            leased = (ANNOTATOR.c.name == row["name"], ASSIGNMENT.c.state == LEASED)
            tokens = list(connection.execute(held.where(*leased)).scalars())
        for token in tokens:
            # Some may have been submitted or returned in the meantime.
            with suppress(InputError):
                self._queue.release(token)
        with self._rows.change() as connection:
            row = account_row(connection, account)
            about = or_(INVITATION.c.account == account, INVITATION.c.name == row["name"])
            connection.execute(delete(INVITATION).where(about))
            connection.execute(delete(ACCOUNT).where(ACCOUNT.c.id == account))
            pseudonym = rename(connection, row["name"], account)
            audit.write(connection, actor, "removed", account)
        return pseudonym


IN_ORDER = (ACCOUNT.c.at, ACCOUNT.c.id)
"""Accounts as they were made: their numbers are random."""


def account_row(connection: Connection, account: int) -> RowMapping:
    """Return the row of an account, or raise."""
    row = connection.execute(select(ACCOUNT).where(ACCOUNT.c.id == account)).mappings().one_or_none()
    if row is None:
        raise InputError(f"there is no user number {account}", fix="reload the page")
    return row


def own_account(rows: AccountRows, connection: Connection, account: int) -> RowMapping:
    """Return the row of an account that was made or confirmed on this machine, or raise."""
    row = account_row(connection, account)
    if not rows.is_own(ACCOUNT, row):
        what = f"the account {row['name']!r} was not made on this machine, or was changed elsewhere"
        raise InputError(what, fix="confirm it first, or remove it")
    return row


def keep_an_owner(rows: AccountRows, connection: Connection, row: RowMapping) -> None:
    """Raise when a change would leave the project without an owner."""
    # Locked where the database has several writers: two owners must not remove each other.
    owners = select(ACCOUNT).where(ACCOUNT.c.role == OWNER, ACCOUNT.c.active == 1).with_for_update()
    found = connection.execute(owners).mappings().all()
    known = {owner["id"] for owner in found if rows.is_own(ACCOUNT, owner)}
    if row["id"] in known and known == {row["id"]}:
        raise InputError(f"{row['name']!r} is the only owner", fix="make another user an owner first")


def put_password(
    rows: AccountRows, connection: Connection, row: RowMapping, hashed: str, confirm: bool = False
) -> None:
    """Store a hash and end every session, within a transaction."""
    rows.change_row(connection, ACCOUNT, row, confirm, password_hash=hashed)
    end_all(connection, row["id"])


def add_account(
    rows: AccountRows,
    connection: Connection,
    name: str,
    role: str,
    hashed: str | None,
    actor: int | None = None,
    annotator_may_exist: bool = False,
) -> User:
    """Add an account and, for owners and judges, the annotator of the same name, within a transaction.

    Unless an owner chose the name, it must not be the name of an existing annotator.
    """
    name, role = check_person(name), check_choice(role, ROLES, "the role")
    same_name = select(ACCOUNT.c.id).where(ACCOUNT.c.folded_name == fold(name))
    taken = connection.execute(same_name).first() is not None
    if not annotator_may_exist:
        taken = taken or fold(name) in {fold(other) for other in all_annotators(connection)[1]}
    if taken:
        raise taken_name(name)
    if role in (OWNER, JUDGE):
        add_annotators(connection, {name: PERSON})
    number = NUMBERS.start + secrets.randbelow(len(NUMBERS))
    values = {"name": name, "folded_name": fold(name), "role": role, "password_hash": hashed, "active": 1}
    try:
        rows.add_row(connection, ACCOUNT, {"id": number, **values, "at": time.time()})
    except IntegrityError:
        # Another program added the name in the meantime.
        raise taken_name(name) from None
    audit.write(connection, number if actor is None else actor, "joined", number, {"role": role})
    return User(number, name, role)


def taken_name(name: str) -> InputError:
    """Return the error for a name that another user or annotator has."""
    return InputError(f"the name {name!r} is taken", fix="choose another")


def end_all(connection: Connection, account: int) -> None:
    """End every session of an account, within a transaction."""
    connection.execute(delete(SESSION).where(SESSION.c.account == account))


def rename(connection: Connection, name: str, account: int) -> str:
    """Give the annotator a pseudonym, within a transaction, and return it."""
    pseudonym = f"{REMOVED}{account}"
    while annotator_of(connection, pseudonym) is not None:
        pseudonym = f"{REMOVED}{account}-{new_token()[:6]}"
    connection.execute(update(ANNOTATOR).where(ANNOTATOR.c.name == name).values(name=pseudonym))
    return pseudonym


def annotator_of(connection: Connection, name: str) -> RowMapping | None:
    """Return the row of the annotator with a name; None where there is none."""
    return connection.execute(select(ANNOTATOR).where(ANNOTATOR.c.name == name)).mappings().one_or_none()


def answers_of(connection: Connection, name: str) -> list[dict[str, Any]]:
    """Return the answers of the annotator with a name, in order."""
    query = (
        select(ANSWER).join(ANNOTATOR, ANNOTATOR.c.id == ANSWER.c.annotator).where(ANNOTATOR.c.name == name)
    )
    return [exported_answer(row) for row in connection.execute(query.order_by(ANSWER.c.id)).mappings()]


def exported_answer(row: RowMapping) -> dict[str, Any]:
    """Return an answer as the user gave it; the export does not say whether the item was gold."""
    details = None if row["details"] is None else json.loads(row["details"])
    return {key: row[column] for key, column in EXPORTED.items()} | {"details": details}
