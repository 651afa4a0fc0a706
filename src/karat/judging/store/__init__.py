"""The store: pools, tasks, leases and answers of one project, in SQLite or PostgreSQL.

Answers are append-only: an undo is a new row, and the database itself refuses changes. What was
acknowledged survives the death of the process.
"""

from typing import Any

from karat.exports import lazily
from karat.validation import MissingDataError

HOME = {
    "AnswerRows": "karat.judging.store.rows",
    "Item": "karat.judging.store.rows",
    "Lease": "karat.judging.store.rows",
    "Project": "karat.judging.store.project",
    "SlotTable": "karat.judging.store.rows",
    "create_project": "karat.judging.store.opening",
    "open_project": "karat.judging.store.opening",
}
__all__ = sorted(HOME)
_load = lazily(__name__, HOME)


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package not in ("sqlalchemy", "alembic"):
            raise
        raise MissingDataError(
            f"the package {package} is not installed", fix="pip install 'karat[judging]'"
        ) from None
