"""Seals of accounts, sessions and links: which of them were made on this machine.

Rows that are there already have no seal: their owner confirms them once.
"""

from __future__ import annotations

from alembic import op

from karat.store.migrations.columns import text

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column to each table."""
    for table in ("account", "session", "invitation"):
        op.add_column(table, text("seal", null=True))
