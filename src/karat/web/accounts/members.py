"""Members: accounts with a name, a role and a password."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from karat._util import check_choice
from karat.errors import InputError
from karat.judging.checking import PERSON
from karat.judging.store import add_workers, all_workers
from karat.web.accounts import audit, passwords
from karat.web.accounts.base import AccountsPart
from karat.web.accounts.names import check_person, fold
from karat.web.accounts.schema import ACCOUNT, SESSION
from karat.web.accounts.sessions import end_all
from karat.web.users import JUDGE, OWNER, READER, ROLES, User


@dataclass(frozen=True)
class Member:
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


class Members(AccountsPart):
    """Making, finding and changing accounts."""

    def members(self) -> list[Member]:
        """Return all accounts, in the order in which they came."""
        seen = select(func.max(SESSION.c.seen)).where(SESSION.c.account == ACCOUNT.c.id).scalar_subquery()
        with self._db.read() as connection:
            rows = connection.execute(select(ACCOUNT, seen.label("seen")).order_by(ACCOUNT.c.id)).mappings()
            return [
                Member(row["id"], row["name"], row["role"], bool(row["active"]), row["password"] is not None,
                       row["at"], row["seen"])
                for row in rows
            ]  # fmt: skip

    def has_owner(self) -> bool:
        """Whether there is an owner who can sign in with a password."""
        return any(one.role == OWNER and one.active and one.has_password for one in self.members())

    def add(self, name: str, role: str, password: str | None, actor: int | None = None) -> User:
        """Make an account; without a password, only links let in."""
        hashed = (
            None if password is None else passwords.hash_password(passwords.check_password(password, name))
        )
        with self._change() as connection:
            return make(connection, name, role, hashed, actor)

    def number_of(self, name: str) -> int | None:
        """Return the number of the account of a name, if there is one."""
        with self._db.read() as connection:
            query = select(ACCOUNT.c.id).where(ACCOUNT.c.folded == fold(name))
            return connection.execute(query).scalar_one_or_none()

    def sign_in(self, name: str, password: str) -> User | None:
        """Return whose name and password these are; None, after as long, when they are nobody's."""
        with self._db.read() as connection:
            row = connection.execute(
                select(ACCOUNT).where(ACCOUNT.c.folded == fold(name), ACCOUNT.c.active == 1)
            ).one_or_none()
        kept = None if row is None else row.password
        if not passwords.fits(password, kept) or row is None:
            return None
        if passwords.is_old(row.password):
            fresh = passwords.hash_password(password)
            with self._change() as connection:
                same = (ACCOUNT.c.id == row.id, ACCOUNT.c.password == row.password)
                connection.execute(update(ACCOUNT).where(*same).values(password=fresh))
        return User(row.id, row.name, row.role)

    def set_password(self, account: int, password: str, actor: int | None = None) -> None:
        """Give an account a new password; every session of it ends."""
        with self._db.read() as connection:
            name = known(connection, account)["name"]
        hashed = passwords.hash_password(passwords.check_password(password, name))
        with self._change() as connection:
            known(connection, account)
            put_password(connection, account, hashed)
            audit.write(connection, actor, "password changed", account)

    def set_role(self, account: int, role: str, actor: int | None = None) -> None:
        """Change what somebody may do; the last owner stays one."""
        role = check_choice(role, ROLES, "the role")
        with self._change() as connection:
            row = known(connection, account)
            if role != OWNER:
                keep_an_owner(connection, row)
            if role != READER:
                add_workers(connection, {row["name"]: PERSON})
            connection.execute(update(ACCOUNT).where(ACCOUNT.c.id == account).values(role=role))
            audit.write(connection, actor, "role changed", account, {"from": row["role"], "to": role})

    def set_active(self, account: int, active: bool, actor: int | None = None) -> None:
        """Close an account, which ends its sessions, or open it again; the last owner's stays open."""
        with self._change() as connection:
            row = known(connection, account)
            if not active:
                keep_an_owner(connection, row)
                end_all(connection, account)
            connection.execute(update(ACCOUNT).where(ACCOUNT.c.id == account).values(active=int(active)))
            audit.write(connection, actor, "enabled" if active else "disabled", account)


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
        taken = taken or fold(name) in {fold(other) for other in all_workers(connection)[1]}
    if taken:
        raise taken_name(name)
    if role in (OWNER, JUDGE):
        add_workers(connection, {name: PERSON})
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
