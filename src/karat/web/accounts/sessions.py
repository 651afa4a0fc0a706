"""Sessions: a random token in a cookie, its digest in the database."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from karat.web.accounts.base import AccountsPart
from karat.web.accounts.schema import ACCOUNT, SESSION
from karat.web.security import digest, is_token, new_token
from karat.web.users import User

SEEN_EVERY = 300.0
"""How exactly it is known when somebody was last there, in seconds: not every request writes."""


RECENT, MOST_RECENT = 5.0, 10_000
"""For how many seconds the database is not asked again about a session, and for how many sessions.

A change that this server makes holds at once; one that another server makes, this much later.
"""


@dataclass(frozen=True)
class Recent:
    """Whose session it was a moment ago."""

    user: User
    changes: int
    start: float
    end: float

    def holds(self, changes: int, now: float) -> bool:
        """Whether nothing has changed since, and it was not long ago."""
        return self.changes == changes and self.start <= now < self.end


class Sessions(AccountsPart):
    """Opening and ending sessions."""

    _recent: dict[str, Recent]

    def open_session(self, account: int, now: float | None = None) -> str:
        """Open a session for an account and return its token."""
        now = time.time() if now is None else now
        token = new_token()
        with self._db.write() as connection:
            connection.execute(delete(SESSION).where(SESSION.c.expires <= now))
            values = {"digest": digest(token), "account": account, "expires": now + self.session_seconds}
            connection.execute(insert(SESSION).values(**values, at=now, seen=now))
        return token

    def whose(self, token: str, now: float | None = None) -> User | None:
        """Return whose session a token opens; None when it is unknown, too old, or its account is closed."""
        if not is_token(token):
            return None
        now, before = time.time() if now is None else now, self.changes
        known = self.remembered(token, now)
        if known is not None:
            return known
        query = (
            select(ACCOUNT.c.id, ACCOUNT.c.name, ACCOUNT.c.role, SESSION.c.seen, SESSION.c.expires)
            .join(ACCOUNT, ACCOUNT.c.id == SESSION.c.account)
            .where(SESSION.c.digest == digest(token), ACCOUNT.c.active == 1, SESSION.c.expires > now)
        )
        with self._db.read() as connection:
            row = connection.execute(query).one_or_none()
        if row is None or now - row.seen > self.idle_seconds:
            return None
        if now - row.seen > SEEN_EVERY:
            with self._db.write_soon() as connection:
                connection.execute(update(SESSION).where(SESSION.c.digest == digest(token)).values(seen=now))
        if len(self._recent) >= MOST_RECENT:
            self._recent.clear()
        user = User(row.id, row.name, row.role)
        self._recent[token] = Recent(user, before, now, min(now + RECENT, row.expires))
        return user

    def remembered(self, token: str, now: float | None = None) -> User | None:
        """Return whose session it is, if that was looked up a moment ago; the store is not asked."""
        known = self._recent.get(token)
        return known.user if known is not None and known.holds(self.changes, now or time.time()) else None

    def end_session(self, token: str) -> None:
        """End the session that a token opens."""
        with self._change() as connection:
            connection.execute(delete(SESSION).where(SESSION.c.digest == digest(token)))


def end_all(connection: Connection, account: int) -> None:
    """End every session of an account, within a transaction."""
    connection.execute(delete(SESSION).where(SESSION.c.account == account))
