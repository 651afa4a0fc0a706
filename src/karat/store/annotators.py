"""Annotators: persons, machine judges, other judged data sets, and adjudicators."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from karat.errors import InputError
from karat.forms import PERSON, check_kind, check_name
from karat.store.part import StorePart
from karat.store.tables import ANNOTATOR


class Annotators(StorePart):
    """The annotators of a project: `project.annotators`."""

    def add(self, name: str, kind: str = PERSON) -> int:
        """Add an annotator and return the number; the same name and kind again changes nothing.

        Parameters
        ----------
        name
            Unique within the project.
        kind
            PERSON, MACHINE, DATASET or ADJUDICATOR.
        """
        with self._db.write() as connection:
            return add_annotators(connection, {check_name(name, "an annotator"): check_kind(kind)})[name]

    def read(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names and the kinds of all annotators, in the order in which they were added."""
        with self._db.read() as connection:
            _, names, kinds = all_annotators(connection)
        return names, kinds

    def numbered(self) -> tuple[tuple[int, ...], tuple[str, ...], tuple[str, ...]]:
        """Return the numbers, names and kinds of all annotators, in the order in which they were added."""
        with self._db.read() as connection:
            return all_annotators(connection)


def add_annotators(connection: Connection, kinds: Mapping[str, str]) -> dict[str, int]:
    """Add annotators that are new and return the number of each; raise where a stored kind differs."""
    ids, names, old_kinds = all_annotators(connection)
    number, stored = dict(zip(names, ids, strict=True)), dict(zip(names, old_kinds, strict=True))
    new = [name for name in kinds if name not in number]
    for name in kinds:
        if stored.get(name, kinds[name]) != kinds[name]:
            raise InputError(
                f"the annotator {name!r} is a {stored[name]}, not a {kinds[name]}", fix="choose another name"
            )
    if new:
        rows = [{"name": name, "kind": kinds[name], "cursor": 0} for name in new]
        # Another program may add the same names at the same time.
        insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
        connection.execute(insert(ANNOTATOR).on_conflict_do_nothing(index_elements=["name"]), rows)
        ids, names, _ = all_annotators(connection)
        number = dict(zip(names, ids, strict=True))
    return {name: number[name] for name in kinds}


def all_annotators(connection: Connection) -> tuple[tuple[int, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the numbers, names and kinds of all annotators."""
    rows = connection.execute(
        select(ANNOTATOR.c.id, ANNOTATOR.c.name, ANNOTATOR.c.kind).order_by(ANNOTATOR.c.id)
    ).all()
    return tuple(row.id for row in rows), tuple(row.name for row in rows), tuple(row.kind for row in rows)
