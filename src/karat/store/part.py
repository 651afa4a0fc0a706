"""The base classes of the parts of a project, such as `project.queue`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, Table

from karat.benchmarks import DIRECTIONS, Benchmark, Direction, sides_of
from karat.errors import InputError, KaratError
from karat.forms import Form
from karat.store.database import Database


@dataclass(frozen=True)
class Subject:
    """What the parts of a project check values against: the form, and the size of the benchmark.

    The benchmark itself is loaded only where its directions are needed.
    """

    form: Form
    images: int
    captions: int
    benchmark: Callable[[], Benchmark]

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The benchmark's directions; those of images and captions where it is not at hand."""
        try:
            return self.benchmark().directions
        except KaratError:
            # A project can be looked at without its benchmark; what depends on the names needs it anyway.
            return DIRECTIONS

    def direction(self, name: str) -> Direction:
        """Return the benchmark's name of a stored direction: older projects have i2t and t2i for any."""
        return dict(zip(DIRECTIONS, self.directions)).get(name, name)

    def check_pair(self, image: int, caption: int) -> None:
        """Raise unless a pair is in the benchmark."""
        for side, (index, size) in enumerate(((image, self.images), (caption, self.captions))):
            if not 0 <= index < size:
                kind = sides_of(self.directions[0])[side].one
                raise InputError(f"{kind} {index} is not in the benchmark", fix=f"it has {size:,}, from 0")


class StorePart:
    """A part of a project: it has the database, the form and the size of the benchmark.

    Parameters
    ----------
    database
        Where the rows are stored.
    subject
        The form and the size of the benchmark.
    """

    def __init__(self, database: Database, subject: Subject) -> None:
        self._db, self._subject = database, subject

    @property
    def form(self) -> Form:
        """The form of the project."""
        return self._subject.form

    def _row(
        self, connection: Connection, query: Select[Any], lock: Table | None = None
    ) -> RowMapping | None:
        """Return the only row of a query, or None; its row of `lock` is locked until the transaction ends."""
        if lock is not None and not self._db.sqlite:
            query = query.with_for_update(of=lock)
        return connection.execute(query).mappings().one_or_none()

    def _pages(self, query: Select[Any], table: Table, size: int) -> Iterator[RowMapping]:
        """Yield the rows of a query by a table's numbers; no transaction stays open meanwhile."""
        last = -1
        while True:
            with self._db.read() as connection:
                rows = query.where(table.c.id > last).order_by(table.c.id).limit(size)
                page = connection.execute(rows).mappings().all()
            yield from page
            if len(page) < size:
                return
            last = page[-1]["id"]
