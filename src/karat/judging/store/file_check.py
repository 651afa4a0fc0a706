"""Whether a file is a project before anything in it is trusted."""

from __future__ import annotations

from sqlalchemy import Connection, inspect, text

from karat.errors import InputError
from karat.judging.store.migrations import SQLITE
from karat.judging.store.places import Place
from karat.judging.store.tables import APPEND_ONLY, METADATA

MAGIC = b"SQLite format 3\0"
FIX = "give a file that karat made"


def check_file(place: Place, new: bool) -> None:
    """Raise unless a file can hold a project (`new`), or starts like one."""
    path = place.path
    if path is None:
        return
    if path.is_dir():
        raise InputError("is a folder", where=place.shown, fix="give the name of a file")
    try:
        if not path.exists():
            if new:
                return
            raise InputError("there is no such project", where=place.shown, fix="make one: karat pool")
        with path.open("rb") as handle:
            start = handle.read(len(MAGIC))
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", where=place.shown, fix="choose another"
        ) from None
    if start != MAGIC and (start or not new):
        fix = "choose another name" if new else FIX
        raise InputError("is no project", where=place.shown, fix=fix)


def check_tables(connection: Connection, place: Place) -> None:
    """Raise unless the tables are ours and nothing else is there that would run by itself."""
    found = inspect(connection)
    for table in METADATA.sorted_tables:
        if not found.has_table(table.name):
            raise InputError(f"is no project: it has no table {table.name!r}", where=place.shown, fix=FIX)
        columns = {column["name"] for column in found.get_columns(table.name)}
        if columns != set(table.c.keys()):
            raise InputError(
                f"is no project: its table {table.name!r} is another", where=place.shown, fix=FIX
            )
    if place.path is None:
        return
    ours = {statement.format(t=table) for table in APPEND_ONLY for statement in SQLITE.values()}
    query = text(
        "SELECT sql FROM sqlite_master WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%'"
    )
    theirs = {str(sql)[:1000] for sql in connection.execute(query).scalars()}
    if theirs != ours:
        what = "triggers that are not ours" if theirs - ours else "not the triggers that keep answers"
        raise InputError(f"is no project, or was tampered with: it has {what}", where=place.shown, fix=FIX)
