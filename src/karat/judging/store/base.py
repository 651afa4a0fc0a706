"""What every part of a project stands on."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, RowMapping, Select, Table, update

from karat.errors import InputError
from karat.judging.forms import Form
from karat.judging.store.engine import Database
from karat.judging.store.schema import PROJECT, SLOT


class StorePart:
    """A part of a project: it knows the database and the form."""

    _db: Database
    form: Form
    _images: int
    _captions: int

    @property
    def database(self) -> Database:
        """The database itself, for tables and questions of other packages."""
        return self._db

    def _row(
        self, connection: Connection, query: Select[Any], lock: Table | None = None
    ) -> RowMapping | None:
        """Return the only row of a query, if any; its row of `lock` is ours until the transaction ends."""
        if lock is not None and not self._db.sqlite:
            query = query.with_for_update(of=lock)
        return connection.execute(query).mappings().one_or_none()

    def _check_pair(self, image: int, caption: int) -> None:
        """Raise unless a pair is one of the benchmark."""
        for kind, index, size in (("image", image, self._images), ("caption", caption, self._captions)):
            if not 0 <= index < size:
                raise InputError(f"{kind} {index} is not in the benchmark", fix=f"it has {size:,}, from 0")


def revive(connection: Connection, slot: int, expires: float, span: float) -> RowMapping:
    """Hold a slot until another time; return it."""
    query = update(SLOT).where(SLOT.c.id == slot).values(expires=expires, span=span).returning(SLOT)
    return connection.execute(query).mappings().one()


def take_places(connection: Connection, count: int) -> int:
    """Reserve places at the end of the queue of open slots and return the first.

    Until the transaction ends, nobody else can: places appear in the order of their numbers, so that
    a worker's cursor never passes one that is not there yet. This also guards the numbers of tasks and slots.
    """
    query = update(PROJECT).values(queue=PROJECT.c.queue + count).returning(PROJECT.c.queue)
    return int(connection.execute(query).scalar_one()) - count + 1
