"""Accounts of the web: people, their sessions, links that let somebody in, and what was done."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from karat.store.migrations.append_only import make_append_only
from karat.store.migrations.columns import key, real, text, whole

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables. The number of somebody who was removed is never given to another: autoincrement."""
    op.create_table(
        "account", key(counted=True), text("name"), sa.Column("folded", sa.Text, nullable=False, unique=True),
        text("role"), text("password", null=True), whole("active"), real("at"), sqlite_autoincrement=True,
    )  # fmt: skip
    op.create_table(
        "session", sa.Column("digest", sa.Text, primary_key=True), whole("account"), real("at"), real("seen"),
        real("expires"),
    )  # fmt: skip
    op.create_index("session_account", "session", ["account"])
    op.create_table(
        "invitation", key(counted=True), sa.Column("digest", sa.Text, nullable=False, unique=True),
        text("kind"), text("role", null=True), text("name", null=True), whole("account", null=True),
        whole("author", null=True), real("at"), real("expires"), real("used_at", null=True),
        whole("used_by", null=True), sqlite_autoincrement=True,
    )  # fmt: skip
    op.create_table(
        "audit", key(counted=True), whole("actor", null=True), text("what"), whole("subject", null=True),
        text("detail"), real("at"), sqlite_autoincrement=True,
    )  # fmt: skip
    make_append_only("audit")
