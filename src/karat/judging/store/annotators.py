"""Those who answer: people, machine judges, and other judged sets."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, Dialect, select
from sqlalchemy.dialects import postgresql, sqlite

from karat.errors import InputError
from karat.judging.checking import PERSON
from karat.judging.store.part import StorePart
from karat.judging.store.tables import WORKER
from karat.judging.store.texts import check_kind, check_name


class Annotators(StorePart):
    """Those who answer: `project.annotators`."""

    def add(self, name: str, kind: str = PERSON) -> int:
        """Add somebody and return the number; the same name and kind again changes nothing.

        Parameters
        ----------
        name
            Unique within the project.
        kind
            PERSON, MACHINE or DATASET.
        """
        with self._db.write() as connection:
            return add_annotators(connection, {check_name(name, "a worker"): check_kind(kind)})[name]

    def read(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names and the kinds of all workers, in the order in which they came."""
        with self._db.read() as connection:
            _, names, kinds = all_annotators(connection)
        return names, kinds

    def numbered(self) -> tuple[tuple[int, ...], tuple[str, ...], tuple[str, ...]]:
        """Return the numbers, names and kinds of all workers, in the order in which they came."""
        with self._db.read() as connection:
            return all_annotators(connection)


def add_annotators(connection: Connection, kinds: Mapping[str, str]) -> dict[str, int]:
    """Add those who are not there yet and return everybody's number; another kind than before raises."""
    ids, names, old = all_annotators(connection)
    number, before = dict(zip(names, ids, strict=True)), dict(zip(names, old, strict=True))
    fresh = [name for name in kinds if name not in number]
    for name in kinds:
        if before.get(name, kinds[name]) != kinds[name]:
            raise InputError(
                f"the worker {name!r} is a {before[name]}, not a {kinds[name]}", fix="choose another name"
            )
    if fresh:
        rows = [{"name": name, "kind": kinds[name], "cursor": 0} for name in fresh]
        # Another program may have added them in the meantime.
        connection.execute(insert_or_nothing(connection.dialect), rows)
        ids, names, _ = all_annotators(connection)
        number = dict(zip(names, ids, strict=True))
    return {name: number[name] for name in kinds}


def insert_or_nothing(dialect: Dialect) -> sqlite.Insert | postgresql.Insert:
    """Return the statement that adds a worker unless the name is there."""
    if dialect.name == "sqlite":
        return sqlite.insert(WORKER).on_conflict_do_nothing(index_elements=["name"])
    return postgresql.insert(WORKER).on_conflict_do_nothing(index_elements=["name"])


def all_annotators(connection: Connection) -> tuple[tuple[int, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the numbers, names and kinds of all workers."""
    rows = connection.execute(select(WORKER.c.id, WORKER.c.name, WORKER.c.kind).order_by(WORKER.c.id)).all()
    return tuple(r.id for r in rows), tuple(r.name for r in rows), tuple(r.kind for r in rows)
