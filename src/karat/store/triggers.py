"""What runs by itself in a database: triggers, views, rules. A project has its own triggers and nothing else.

A project may come from anywhere. This is looked at before anything else is read: a view in the place of a
table can compute for ever.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import BindParameter, Connection, bindparam, text

from karat.errors import InputError
from karat.store.database import Place
from karat.store.migrations import FUNCTION, SQLITE
from karat.store.tables import ACCOUNT_METADATA, APPEND_ONLY, METADATA

FIX = "give a file that karat made"
OWN = frozenset(statement.format(t=table) for table in APPEND_ONLY for statement in SQLITE.values())
"""The triggers that make tables append-only, as SQLite lists them."""
CODE = """
    SELECT sql FROM sqlite_master WHERE type IN ('trigger', 'view') OR (type = 'table' AND rootpage = 0)
    UNION ALL
    SELECT 'a computed column' FROM sqlite_master AS made, pragma_table_xinfo(made.name) AS part
    WHERE made.type = 'table' AND made.rootpage > 0 AND part.hidden > 0
"""
"""Everything in a file of SQLite that runs by itself; a virtual table has no page of its own."""

OLD = ("slot", "worker", "alembic_version")
"""Tables of older schemas, and the one of the schema's version."""
TABLES = sorted({*METADATA.tables, *ACCOUNT_METADATA.tables, *OLD})
BODY = FUNCTION.split("$$")[1]
"""What the triggers of PostgreSQL call."""
IN_OURS = "WHERE n.nspname = current_schema() AND c.relname IN :tables"
RELATIONS = f"""
    SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    {IN_OURS} AND (c.relkind <> 'r' OR c.relrowsecurity OR EXISTS (
        SELECT 1 FROM pg_rewrite r WHERE r.ev_class = c.oid
    ) OR EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated <> ''))
"""
"""Ours that are no plain tables: views, or tables with rules, policies or computed columns."""
TRIGGERS = f"""
    SELECT c.relname, t.tgname, p.prosrc, t.tgenabled::text AS enabled FROM pg_trigger t
    JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_proc p ON p.oid = t.tgfoid {IN_OURS} AND NOT t.tgisinternal
"""


def check_triggers(connection: Connection, place: Place, complete: bool) -> None:
    """Raise on what runs by itself and karat did not make, and on missing triggers.

    Parameters
    ----------
    connection, place
        The database.
    complete
        Whether all triggers must be there: those of an older schema are fewer.
    """
    if place.path is not None:
        check_code(place, connection.exec_driver_sql(CODE).scalars(), complete)
        return
    ours: BindParameter[list[str]] = bindparam("tables", TABLES, expanding=True)
    if connection.execute(text(RELATIONS).bindparams(ours)).scalar_one():
        raise tampered(place, "views, rules or policies in the place of plain tables")
    present = set()
    for table, name, body, enabled in connection.execute(text(TRIGGERS).bindparams(ours)):
        if body != BODY or name != f"{table}_append_only" or enabled not in ("O", "A"):
            raise tampered(place, "unknown triggers")
        present.add(table)
    if complete and present != set(APPEND_ONLY):
        raise tampered(place, "no triggers that protect answers from changes")


def check_code(place: Place, statements: Iterable[str], complete: bool = False) -> None:
    """Raise on statements in a file of SQLite that are not karat's; they are what `CODE` returns."""
    present = {str(sql)[:1000] for sql in statements}
    if present - OWN:
        raise tampered(place, "unknown triggers, views or computed columns")
    if complete and present != OWN:
        raise tampered(place, "no triggers that protect answers from changes")


def tampered(place: Place, problem: str) -> InputError:
    """Return the error for a database that runs what karat did not write."""
    return InputError(f"is not a project, or was tampered with: it has {problem}", where=place.shown, fix=FIX)
