"""Links that work once: to join, to choose a new password, or to sign in."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, select

from karat._util import check_choice
from karat.errors import InputError
from karat.store.accounts import audit
from karat.store.accounts.credentials import check_person, digest, is_token, new_token
from karat.store.accounts.rows import AccountRows
from karat.store.accounts.users import ROLES, User, add_account, own_account, put_password
from karat.store.tables import ACCOUNT, INVITATION

JOIN, RESET, ENTER = "join", "reset", "enter"
"""A link lets its holder create an account, choose a new password for one, or sign in without a password."""
MAX_SECONDS = 90 * 86_400.0
SHOWN = ("id", "kind", "role", "name", "account", "at", "expires", "person")
"""The columns of a link that its owner sees; `person` is the name of its account."""


@dataclass(frozen=True)
class Invitation:
    """What a link is for, as its holder may know it.

    Parameters
    ----------
    kind
        JOIN, RESET or ENTER.
    role
        The role of the new account; None for a link of an existing one.
    name
        The name of the account, where it is fixed.
    expires
        In seconds since 1970.
    """

    kind: str
    role: str | None
    name: str | None
    expires: float


class UselessLink(InputError):
    """A link that is unknown, used or expired; the message does not say which."""


class Invitations:
    """Links that work once: `project.accounts.invitations`."""

    def __init__(self, rows: AccountRows) -> None:
        self._rows = rows

    def invite(
        self, role: str, name: str | None = None, seconds: float | None = None, actor: int | None = None
    ) -> str:
        """Return the token of a link that lets one new user join.

        Parameters
        ----------
        role
            The role of the new user.
        name
            The name of the new user, who chooses one when it is left out.
        seconds
            How long the link is valid.
        actor
            The account that invites.
        """
        role = check_choice(role, ROLES, "the role")
        name = None if name is None else check_person(name)
        return self._link(JOIN, role, name, None, seconds, actor)

    def link_for(
        self, account: int, kind: str = RESET, seconds: float | None = None, actor: int | None = None
    ) -> str:
        """Return the token of a link for an existing account: RESET or ENTER."""
        return self._link(check_choice(kind, (RESET, ENTER), "the link"), None, None, account, seconds, actor)

    def _link(
        self, kind: str, role: str | None, name: str | None, account: int | None, seconds: float | None,
        actor: int | None,
    ) -> str:  # fmt: skip
        span = self._rows.spans.invitation if seconds is None else seconds
        if not 0 < span <= MAX_SECONDS:
            raise InputError(f"the link would be valid for {span:g} seconds", fix="choose up to 90 days")
        token, now = new_token(), time.time()
        values = {"kind": kind, "role": role, "name": name, "account": account, "author": actor}
        with self._rows.change() as connection:
            if account is not None:
                own_account(self._rows, connection, account)
            row = {"token_digest": digest(token), **values, "at": now, "expires": now + span}
            number = self._rows.add_row(connection, INVITATION, row)
            audit.write(connection, actor, f"link to {kind}", account, {"link": number, "role": role})
        return token

    def look_at(self, token: str, now: float | None = None) -> Invitation:
        """Return what a link is for; raise when it does not work."""
        with self._rows.database.read() as connection:
            row = self._find(connection, token, now)
            name = row["name"]
            if row["account"] is not None:
                name = own_account(self._rows, connection, row["account"])["name"]
            return Invitation(row["kind"], row["role"], name, row["expires"])

    def accept(self, token: str, name: str = "", password: str = "", now: float | None = None) -> User:
        """Use a link: join with a name and a password, choose a new password, or sign in."""
        invitation = self.look_at(token, now)
        hashed = ""
        if invitation.kind != ENTER:
            # Hashed outside the transaction, so that other writers do not wait for it.
            hashed = self._rows.hash_new(password, invitation.name or name)
        with self._rows.change() as connection:
            row = self._find(connection, token, now, lock=True)
            if row["kind"] == JOIN:
                is_fixed = row["name"] is not None
                user = add_account(
                    self._rows,
                    connection,
                    row["name"] if is_fixed else name,
                    row["role"],
                    hashed,
                    None,
                    is_fixed,
                )
            else:
                account = own_account(self._rows, connection, row["account"])
                if not account["active"]:
                    raise useless()
                user = User(account["id"], account["name"], account["role"])
                if row["kind"] == RESET:
                    put_password(self._rows, connection, account, hashed)
            self._rows.change_row(connection, INVITATION, row, used_at=time.time(), used_by=user.id)
            audit.write(connection, user.id, "link used", user.id, {"link": row["id"]})
        return user

    def _find(self, connection: Connection, token: str, now: float | None, lock: bool = False) -> RowMapping:
        """Return the row of a link that works, or raise; with a lock, nobody else uses it meanwhile."""
        now = time.time() if now is None else now
        row = None
        if is_token(token):
            query = select(INVITATION).where(INVITATION.c.token_digest == digest(token))
            query = query.with_for_update() if lock else query
            row = connection.execute(query).mappings().one_or_none()
        if row is None or row["used_at"] is not None or row["expires"] <= now:
            raise useless()
        if not self._rows.is_own(INVITATION, row):
            raise useless()
        return row

    def read(self, now: float | None = None) -> list[dict[str, Any]]:
        """Return the links that still work, the newest first; without their tokens, which are not stored."""
        now = time.time() if now is None else now
        c = INVITATION.c
        query = (
            select(INVITATION, ACCOUNT.c.name.label("person"))
            .outerjoin(ACCOUNT, ACCOUNT.c.id == c.account)
            .where(c.used_at.is_(None), c.expires > now)
            .order_by(c.id.desc())
        )
        with self._rows.database.read() as connection:
            return [
                {key: row[key] for key in SHOWN} | {"confirmed": self._rows.is_own(INVITATION, row)}
                for row in connection.execute(query).mappings()
            ]

    def confirm(self, number: int, actor: int | None = None) -> None:
        """Let a link that was made elsewhere work: the owner knows whom it was sent to."""
        with self._rows.change() as connection:
            query = select(INVITATION).where(INVITATION.c.id == number, INVITATION.c.used_at.is_(None))
            row = connection.execute(query).mappings().one_or_none()
            if row is None:
                raise no_link(number)
            if row["account"] is not None:
                own_account(self._rows, connection, row["account"])
            self._rows.change_row(connection, INVITATION, row, confirm=True)
            audit.write(
                connection, actor, "link confirmed", row["account"], {"link": number, "role": row["role"]}
            )

    def revoke(self, number: int, actor: int | None = None) -> None:
        """Revoke a link that has not been used."""
        with self._rows.change() as connection:
            query = delete(INVITATION).where(INVITATION.c.id == number, INVITATION.c.used_at.is_(None))
            if connection.execute(query).rowcount != 1:
                raise no_link(number)
            audit.write(connection, actor, "link revoked", None, {"link": number})

    def revoke_of(self, author: int) -> int:
        """Revoke the unused links that an account made; return how many."""
        unused = (INVITATION.c.author == author, INVITATION.c.used_at.is_(None))
        with self._rows.change() as connection:
            return connection.execute(delete(INVITATION).where(*unused)).rowcount

    def drop_server_links(self) -> None:
        """Remove the unused links that the server itself made at an earlier start."""
        unused = (INVITATION.c.author.is_(None), INVITATION.c.used_at.is_(None))
        with self._rows.change() as connection:
            connection.execute(delete(INVITATION).where(*unused))


def useless() -> UselessLink:
    """Return the error for a link that does not work."""
    return UselessLink("this link does not work: it was used, or it is too old", fix="ask for a new one")


def no_link(number: int) -> InputError:
    """Return the error for a link that is not there, or was used."""
    return InputError(f"there is no open link number {number}", fix="reload the page")
