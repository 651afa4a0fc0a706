"""Triggers that refuse to change or remove rows; steps call this, so its text is as frozen as theirs."""

from __future__ import annotations

from alembic import op

SQLITE = {
    "update": "CREATE TRIGGER {t}_no_update BEFORE UPDATE ON \"{t}\" "
    "BEGIN SELECT RAISE(ABORT, '{t} is append-only'); END",
    "delete": "CREATE TRIGGER {t}_no_delete BEFORE DELETE ON \"{t}\" "
    "BEGIN SELECT RAISE(ABORT, '{t} is append-only'); END",
    # INSERT OR REPLACE removes the old row, without asking the trigger above.
    "replace": "CREATE TRIGGER {t}_no_replace BEFORE INSERT ON \"{t}\" "
    'WHEN NEW.id > 0 AND EXISTS (SELECT 1 FROM "{t}" WHERE id = NEW.id) '
    "BEGIN SELECT RAISE(ABORT, '{t} is append-only'); END",
}  # fmt: skip
FUNCTION = (
    "CREATE OR REPLACE FUNCTION karat_append_only() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
)
POSTGRES = (
    'CREATE TRIGGER {t}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "{t}" '
    "FOR EACH STATEMENT EXECUTE FUNCTION karat_append_only()"
)


def make_append_only(*tables: str) -> None:
    """Refuse UPDATE and DELETE on tables, in whichever database the step runs."""
    if op.get_bind().dialect.name == "sqlite":
        for table in tables:
            for statement in SQLITE.values():
                op.execute(statement.format(t=table))
        return
    op.execute(FUNCTION)
    for table in tables:
        op.execute(POSTGRES.format(t=table))
