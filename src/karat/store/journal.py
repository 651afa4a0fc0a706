"""The journal: events and small settings of a project."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, insert, select

from karat.forms import check_name, to_json
from karat.store.part import StorePart
from karat.store.tables import EVENT, SETTING


class Journal(StorePart):
    """Events, append-only, and settings: `project.journal`."""

    def log(self, what: str, detail: Mapping[str, Any] | None = None) -> None:
        """Record an event."""
        values = {"what": check_name(what, "an event"), "detail": to_json(dict(detail or {}), "the detail")}
        with self._db.write() as connection:
            connection.execute(insert(EVENT).values(**values, at=time.time()))

    def events(self) -> list[dict[str, Any]]:
        """Return the events in order: `what`, `detail` and `at`."""
        with self._db.read() as connection:
            rows = connection.execute(select(EVENT).order_by(EVENT.c.id)).all()
        return [{"what": row.what, "detail": json.loads(row.detail), "at": row.at} for row in rows]

    def set(self, name: str, value: Any) -> None:
        """Store a small value that json can represent; None removes it."""
        check_name(name, "a setting")
        text = to_json(value, name)
        with self._db.write() as connection:
            connection.execute(delete(SETTING).where(SETTING.c.name == name))
            if value is not None:
                connection.execute(insert(SETTING).values(name=name, value=text))

    def get(self, name: str, default: Any = None) -> Any:
        """Return a stored value, or `default`."""
        with self._db.read() as connection:
            text = connection.execute(
                select(SETTING.c.value).where(SETTING.c.name == name)
            ).scalar_one_or_none()
        return default if text is None else json.loads(text)
