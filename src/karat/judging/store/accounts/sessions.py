"""Sessions: a random token in a cookie, its digest in the database."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import delete, insert, select, update

from karat.judging.store.accounts.rows import AccountRows
from karat.judging.store.accounts.tokens import digest, is_token, new_token
from karat.judging.store.accounts.users import User
from karat.judging.store.tables import ACCOUNT, SESSION

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


class Sessions:
    """Who has signed in: `project.accounts.sessions`."""

    def __init__(self, rows: AccountRows) -> None:
        self._rows = rows
        self._recent: dict[str, Recent] = {}

    def open(self, account: int, now: float | None = None) -> str:
        """Open a session for an account and return its token."""
        now = time.time() if now is None else now
        token = new_token()
        with self._rows.database.write() as connection:
            connection.execute(delete(SESSION).where(SESSION.c.expires <= now))
            values = {"digest": digest(token), "account": account, "expires": now + self._rows.spans.session}
            connection.execute(insert(SESSION).values(**values, at=now, seen=now))
        return token

    def whose(self, token: str, now: float | None = None) -> User | None:
        """Return whose session a token opens; None when it is unknown, too old, or its account is closed."""
        if not is_token(token):
            return None
        now, before = time.time() if now is None else now, self._rows.changes
        known = self.remembered(token, now)
        if known is not None:
            return known
        query = (
            select(ACCOUNT.c.id, ACCOUNT.c.name, ACCOUNT.c.role, SESSION.c.seen, SESSION.c.expires)
            .join(ACCOUNT, ACCOUNT.c.id == SESSION.c.account)
            .where(SESSION.c.digest == digest(token), ACCOUNT.c.active == 1, SESSION.c.expires > now)
        )
        with self._rows.database.read() as connection:
            row = connection.execute(query).one_or_none()
        if row is None or now - row.seen > self._rows.spans.idle:
            return None
        if now - row.seen > SEEN_EVERY:
            with self._rows.database.write_soon() as connection:
                connection.execute(update(SESSION).where(SESSION.c.digest == digest(token)).values(seen=now))
        if len(self._recent) >= MOST_RECENT:
            self._recent.clear()
        user = User(row.id, row.name, row.role)
        self._recent[token] = Recent(user, before, now, min(now + RECENT, row.expires))
        return user

    def remembered(self, token: str, now: float | None = None) -> User | None:
        """Return whose session it is, if that was looked up a moment ago; the store is not asked."""
        known = self._recent.get(token)
        return (
            known.user if known is not None and known.holds(self._rows.changes, now or time.time()) else None
        )

    def end(self, token: str) -> None:
        """End the session that a token opens."""
        with self._rows.change() as connection:
            connection.execute(delete(SESSION).where(SESSION.c.digest == digest(token)))
