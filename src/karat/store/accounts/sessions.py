"""Sessions: a random token in a cookie, its digest in the database."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import delete, select, update

from karat.store.accounts.credentials import digest, is_token, new_token
from karat.store.accounts.rows import DAY, AccountRows
from karat.store.accounts.users import User
from karat.store.tables import ACCOUNT, SESSION

SEEN_EVERY = 300.0
"""How often the time of a user's last request is written, in seconds."""

REMEMBER_SECONDS, MAX_REMEMBERED = 5.0, 10_000
"""For how many seconds a session is not looked up again, and how many sessions are remembered.

A change that this server makes takes effect at once; a change by another server, this much later.
"""


@dataclass(frozen=True)
class RememberedSession:
    """The user of a session, as it was looked up a moment ago."""

    user: User
    changes: int
    start: float
    end: float

    def is_valid(self, changes: int, now: float) -> bool:
        """Whether nothing has changed since then, and the time is not over."""
        return self.changes == changes and self.start <= now < self.end


class Sessions:
    """Sessions of signed-in users: `project.accounts.sessions`."""

    def __init__(self, rows: AccountRows) -> None:
        self._rows = rows
        self._remembered: dict[str, RememberedSession] = {}

    def open(self, account: int, now: float | None = None) -> str:
        """Open a session for an account and return its token."""
        now = time.time() if now is None else now
        token = new_token()
        with self._rows.database.write() as connection:
            connection.execute(delete(SESSION).where(SESSION.c.expires <= now))
            values = {"token_digest": digest(token), "account": account, "at": now, "seen_at": now}
            self._rows.add_row(connection, SESSION, values | {"expires": now + self._rows.spans.session})
        return token

    def whose(self, token: str, now: float | None = None) -> User | None:
        """Return the user of a session by its token; None for an unknown or old token or a closed account."""
        if not is_token(token):
            return None
        now, before = time.time() if now is None else now, self._rows.changes
        remembered = self.remembered(token, now)
        if remembered is not None:
            return remembered
        query = (
            select(ACCOUNT, SESSION)
            .join_from(SESSION, ACCOUNT, ACCOUNT.c.id == SESSION.c.account)
            .where(SESSION.c.token_digest == digest(token), ACCOUNT.c.active == 1, SESSION.c.expires > now)
        )
        with self._rows.database.read() as connection:
            row = connection.execute(query).mappings().one_or_none()
        spans = self._rows.spans
        if row is None or abs(now - row[SESSION.c.seen_at]) > spans.idle:
            return None
        # Opened by a clock that was days ahead: it would last longer than any other.
        if row[SESSION.c.expires] - now > spans.session + DAY:
            return None
        if not (self._rows.is_own(SESSION, row) and self._rows.is_own(ACCOUNT, row)):
            return None
        if now - row[SESSION.c.seen_at] > SEEN_EVERY:
            with self._rows.database.write_soon() as connection:
                connection.execute(
                    update(SESSION).where(SESSION.c.token_digest == digest(token)).values(seen_at=now)
                )
        if len(self._remembered) >= MAX_REMEMBERED:
            self._remembered.clear()
        user = User(row[ACCOUNT.c.id], row[ACCOUNT.c.name], row[ACCOUNT.c.role])
        end = min(now + REMEMBER_SECONDS, row[SESSION.c.expires])
        self._remembered[token] = RememberedSession(user, before, now, end)
        return user

    def remembered(self, token: str, now: float | None = None) -> User | None:
        """Return the user of a session that was looked up a moment ago; the database is not asked."""
        session = self._remembered.get(token)
        if session is None or not session.is_valid(self._rows.changes, now or time.time()):
            return None
        return session.user

    def end(self, token: str) -> None:
        """End the session of a token."""
        with self._rows.change() as connection:
            connection.execute(delete(SESSION).where(SESSION.c.token_digest == digest(token)))

    def end_foreign(self) -> int:
        """End the sessions that were not opened on this machine; return how many."""
        with self._rows.change() as connection:
            rows = connection.execute(select(SESSION)).mappings()
            foreign = [row["token_digest"] for row in rows if not self._rows.is_own(SESSION, row)]
            for start in range(0, len(foreign), 500):
                some = SESSION.c.token_digest.in_(foreign[start : start + 500])
                connection.execute(delete(SESSION).where(some))
        return len(foreign)
