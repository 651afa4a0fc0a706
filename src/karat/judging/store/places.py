"""Where a project lives, a file or PostgreSQL, and what its errors mean. Passwords are never shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from karat.errors import InputError

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")
SECRETS = ("password", "sslpassword")
FIX = "give a file such as project.db, or postgresql://user@host/database"
MEANING = {
    "database is locked": ("is busy: another program is writing", "try again, or end that program"),
    "readonly": ("may not be written", "change its permissions, or copy it"),
    "unable to open": ("cannot be opened", "check the folder and its permissions"),
    "disk is full": ("cannot be written: the disk is full", "make room and try again"),
    "disk i/o error": ("cannot be read or written: the disk reports an error", "restore a copy"),
    "not a database": ("is no project", "give a file that karat made"),
    "malformed": ("is damaged", "restore a copy of it"),
    "unsupported file format": ("is no project", "give a file that karat made"),
    "no such table": ("is no project, or a damaged one", "give a file that karat made"),
    "no such column": ("is no project, or a damaged one", "give a file that karat made"),
    "string or blob too big": ("is damaged", "restore a copy of it"),
    "could not decode": ("is damaged: it holds text that is no text", "restore a copy of it"),
}
"""By a part of the database's own words, what is wrong and what helps."""


@dataclass(frozen=True)
class Place:
    """Where a project lives.

    Parameters
    ----------
    url
        For SQLAlchemy; it may hold a password.
    shown
        The same for messages, with passwords masked.
    path
        The file; None for PostgreSQL.

    Examples
    --------
    >>> find_place("postgresql://ann:secret@db.example/judging")
    Place(shown='postgresql://ann:***@db.example/judging', path=None)
    """

    url: URL = field(repr=False)
    shown: str
    path: Path | None

    def scrub(self, text: str) -> str:
        """Return a message of the database without the password, on one line.

        >>> find_place("postgresql://ann:secret@host/db").scrub("no entry for secret")
        'no entry for ***'
        """
        query = self.url.query
        for secret in (self.url.password, *(query.get(name) for name in SECRETS)):
            if isinstance(secret, str) and secret:
                text = text.replace(secret, "***")
        return " ".join(text.split())


def find_place(where: str | Path) -> Place:
    """Return the place that a path or a URL names.

    >>> find_place("mysql://ann:secret@host/db")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: 'mysql' is no database that can hold a project; give a file such as ...
    """
    scheme = None if isinstance(where, Path) else SCHEME.match(where)
    if scheme is None:
        if not str(where) or "\0" in str(where):
            raise InputError("the place of the project has no name", fix=FIX)
        # The full path: ":memory:" and "file:" would mean something else to SQLite.
        path = Path(where).resolve()
        return Place(URL.create("sqlite", database=str(path)), str(where), path)
    if scheme[1].lower() not in POSTGRES:
        raise InputError(f"{scheme[1]!r} is no database that can hold a project", fix=FIX)
    try:
        url = make_url("postgresql+psycopg://" + str(where)[scheme.end() :])
    except (ArgumentError, ValueError):
        # The address itself is not repeated: it may hold a password.
        raise InputError("the address of the database cannot be read", fix=FIX) from None
    masked = url.set(drivername="postgresql")
    if hidden := {name: "***" for name in SECRETS if name in url.query}:
        masked = masked.update_query_dict(hidden)
    return Place(url, masked.render_as_string(hide_password=True), None)


@contextmanager
def explained(place: Place, own: type[Exception]) -> Iterator[None]:
    """Turn errors of the database into a sentence that names the place, without its password.

    Parameters
    ----------
    place
        What is being read or written.
    own
        The driver's class of errors.
    """
    try:
        yield
    except (DBAPIError, own) as error:
        said = place.scrub(str(error.orig if isinstance(error, DBAPIError) else error))
        for part, (what, fix) in MEANING.items():
            if part in said.lower():
                raise InputError(what, where=place.shown, fix=fix) from None
        name = type(error).__name__
        if name not in ("OperationalError", "DatabaseError"):
            raise  # our own mistake
        raise InputError(
            f"the database says: {said[:300]}", where=place.shown, fix="check that it runs and lets you in"
        ) from None
