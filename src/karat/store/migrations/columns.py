"""Columns of the steps; as frozen as the steps themselves."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

BIG = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def whole(name: str, null: bool = False) -> sa.Column[int]:
    """Return a column of whole numbers."""
    return sa.Column(name, BIG, nullable=null)


def text(name: str, null: bool = False) -> sa.Column[str]:
    """Return a column of text."""
    return sa.Column(name, sa.Text, nullable=null)


def real(name: str, null: bool = False) -> sa.Column[float]:
    """Return a column of numbers that need not be whole."""
    return sa.Column(name, sa.Float(53), nullable=null)


def key(name: str = "id", counted: bool = False) -> sa.Column[int]:
    """Return the column that names the rows."""
    return sa.Column(name, BIG, primary_key=True, autoincrement=counted)


def only(condition: str) -> dict[str, Any]:
    """Return what limits an index to some rows."""
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}
