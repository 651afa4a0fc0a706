"""Bulk transfer: many rows at a time as columns, by the database driver, without the layers above it.

SQLite takes and returns rows of Python values; PostgreSQL uses csv, which polars writes and reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, Table

from karat._util import track

if TYPE_CHECKING:
    import polars as pl

CHUNK = 200_000
"""Rows that are written as csv at a time."""
PAGE = 2_000
"""Rows that are fetched at a time: few enough to stay in the processor's cache."""
WHOLE, REAL, WORDS, REPEATED = "i", "f", "t", "r"
DTYPE: dict[str, type] = {WHOLE: np.int64, REAL: np.float64}


def insert(connection: Connection, table: Table, **columns: Sequence[Any] | np.ndarray) -> None:
    """Insert columns of one length as rows, in the transaction of `connection`; NaN becomes NULL."""
    names = ", ".join(f'"{table.c[name].name}"' for name in columns)
    values = list(columns.values())
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(values))
        repeat(connection, f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})', *values)
        return
    import polars as pl

    statement = f'COPY "{table.name}" ({names}) FROM STDIN (FORMAT csv)'
    driver: Any = connection.connection.driver_connection
    for start in track(range(0, len(values[0]), CHUNK), "writing parts of the table"):
        part = pl.DataFrame(
            {str(at): pl.Series(column[start : start + CHUNK]) for at, column in enumerate(values)}
        ).with_columns(pl.col(pl.Float64).fill_nan(None))
        # Texts are quoted, so that an empty one is not read as NULL.
        data = part.write_csv(include_header=False, quote_style="non_numeric").encode()
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            copy.write(data)


def repeat(connection: Connection, statement: str, *columns: Sequence[Any] | np.ndarray) -> None:
    """Run a statement once for each row of columns, which are in the order of its "?"; SQLite only."""
    driver: Any = connection.connection.driver_connection
    rows = zip(*map(plain, columns), strict=True)
    driver.cursor().executemany(statement, track(rows, "writing rows", len(columns[0])))


def plain(column: Sequence[Any] | np.ndarray) -> Sequence[Any]:
    """Return a column as Python values; NaN becomes None.

    >>> plain(np.array([1.0, np.nan]))
    [1.0, None]
    """
    if not isinstance(column, np.ndarray):
        return column
    if column.dtype.kind == "f" and (gaps := np.isnan(column)).any():
        mixed = column.astype(object)
        mixed[gaps] = None
        return mixed.tolist()
    return column.tolist()


def or_null(column: np.ndarray) -> list[int | None]:
    """Return whole numbers for a column that may be NULL, which −1 becomes.

    >>> or_null(np.array([3, -1]))
    [3, None]
    """
    return [None if value < 0 else value for value in column.tolist()]


def read_columns(connection: Connection, query: str, kinds: str, *values: Any) -> list[Any]:
    """Return the columns of a query: int64 for "i", float64 for "f" (NULL is NaN), a list for "t".

    "r" is for texts that are often the same: the distinct ones, of which one may be None, and of each row,
    the number of its text. `query` has "?" for each of `values`; its whole numbers must not be NULL. It must
    not contain user input.
    """
    if connection.dialect.name == "sqlite":
        return sqlite_columns(connection, query, kinds, values)
    return postgres_columns(connection, query, kinds, values)


def sqlite_columns(connection: Connection, query: str, kinds: str, values: tuple[Any, ...]) -> list[Any]:
    """Return the columns of a query to SQLite."""
    parts: list[list[Any]] = [[] for _ in kinds]
    known: list[dict[str | None, int]] = [{} for _ in kinds]
    driver: Any = connection.connection.driver_connection
    cursor = driver.cursor()
    cursor.execute(query, values)
    while rows := cursor.fetchmany(PAGE):
        for kind, part, texts, column in zip(kinds, parts, known, zip(*rows, strict=True), strict=True):
            if kind == WORDS:
                part.extend(column)
            elif kind == REPEATED:
                part.append(np.array([texts.setdefault(text, len(texts)) for text in column], np.int32))
            else:
                part.append(np.array(column, dtype=DTYPE[kind]))
    cursor.close()
    return [
        part if kind == WORDS
        else (list(texts), np.concatenate([np.zeros(0, np.int32), *part])) if kind == REPEATED
        else np.concatenate([np.zeros(0, DTYPE[kind]), *part])
        for kind, part, texts in zip(kinds, parts, known, strict=True)
    ]  # fmt: skip


def postgres_columns(connection: Connection, query: str, kinds: str, values: tuple[Any, ...]) -> list[Any]:
    """Return the columns of a query to PostgreSQL."""
    import polars as pl

    types = {WHOLE: pl.Int64, REAL: pl.Float64, WORDS: pl.String, REPEATED: pl.String}
    schema = {str(at): types[kind] for at, kind in enumerate(kinds)}
    data = copy_out(connection.connection.driver_connection, query.replace("?", "%s"), values)
    table = pl.read_csv(data, has_header=False, schema=schema) if data else pl.DataFrame(schema=schema)
    table = table.with_columns(pl.col(pl.Float64).fill_null(np.nan))
    return [
        table[str(at)].to_list() if kind == WORDS
        else repeated(table[str(at)]) if kind == REPEATED
        else table[str(at)].to_numpy().astype(DTYPE[kind])
        for at, kind in enumerate(kinds)
    ]  # fmt: skip


def repeated(column: pl.Series) -> tuple[list[str | None], np.ndarray]:
    """Return the distinct texts of a column, and of each row, the number of its text."""
    # Ranks are numbered from 1; None has none.
    number = column.rank("dense").fill_null(0).to_numpy().astype(np.int32)
    texts: list[str | None] = [None, *column.drop_nulls().unique().sort().to_list()]
    return texts, number


def copy_out(driver: Any, query: str, values: tuple[Any, ...]) -> bytes:
    """Return the rows of a query as csv.

    It calls libpq itself: psycopg's loop over the rows of a copy takes ten times as long.
    """
    from psycopg import ClientCursor, DatabaseError, pq

    statement = ClientCursor(driver).mogrify(f"COPY ({query}) TO STDOUT (FORMAT csv)", values or None)
    wire = driver.pgconn
    result = wire.exec_(statement.encode())
    rows = []
    if result.status == pq.ExecStatus.COPY_OUT:
        while (row := wire.get_copy_data(0))[0] > 0:
            rows.append(bytes(row[1]))
        result = wire.get_result()
    last = result
    while (more := wire.get_result()) is not None:
        last = more
    if last.status != pq.ExecStatus.COMMAND_OK:
        raise DatabaseError(last.error_message.decode(errors="replace"))
    return b"".join(rows)
