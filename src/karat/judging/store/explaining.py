"""What the errors of a database mean to the person who can do something about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from karat.errors import InputError
from karat.judging.store.places import Place

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
