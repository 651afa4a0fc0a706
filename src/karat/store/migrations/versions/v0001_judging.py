"""Pools, tasks, slots, workers, answers, reviews, marks and events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from karat.store.migrations.append_only import make_append_only
from karat.store.migrations.columns import key, only, real, text, whole

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table("project", key(), text("name"), text("form"), text("source"), text("settings"),
                    text("fingerprint"), whole("images"), whole("captions"), whole("queue"),
                    real("at"))  # fmt: skip
    op.create_table("setting", sa.Column("name", sa.Text, primary_key=True), text("value"))
    op.create_table("pool", key(), whole("top"), whole("judged"), whole("filtered"))
    op.create_table("pool_system", key(), text("name"))
    op.create_table("pool_query", whole("direction"), whole("query"))
    op.create_table("pool_pair", key("image"), key("caption"), whole("why"))
    op.create_table("pool_place", whole("image"), whole("caption"), whole("system"), whole("direction"),
                    whole("rank"), real("score", null=True))  # fmt: skip
    op.create_table("pool_gold", key(), whole("image"), whole("caption"), whole("gold"))
    op.create_table("task", key(), whole("overlap"))
    op.create_table("item", key(), whole("task"), whole("position"), whole("grp"), whole("image"),
                    whole("caption"), whole("gold"))  # fmt: skip
    op.create_index("item_task", "item", ["task", "position"], unique=True)
    op.create_table("slot", key(), whole("task"), whole("state"), whole("queue"), whole("worker", null=True),
                    text("token", null=True), real("expires", null=True), real("span", null=True),
                    real("leased_at", null=True), real("submitted_at", null=True))  # fmt: skip
    op.create_index("slot_task", "slot", ["task"])
    op.create_index("slot_open", "slot", ["queue"], **only("state = 0"))
    op.create_index("slot_leased", "slot", ["expires"], **only("state = 1"))
    op.create_index("slot_token", "slot", ["token"], unique=True, **only("token IS NOT NULL"))
    op.create_table("worker", key(counted=True),
                    sa.Column("name", sa.Text, nullable=False, unique=True), text("kind"),
                    whole("slot", null=True), whole("cursor"))  # fmt: skip
    op.create_table("answer", key(counted=True), whole("slot", null=True), whole("item", null=True),
                    whole("worker"), whole("image"), whole("caption"), text("code", null=True),
                    text("details", null=True), real("seconds", null=True), real("at"),
                    text("client_key", null=True))  # fmt: skip
    op.create_index("answer_worker", "answer", ["worker", "image", "caption"])
    op.create_index(
        "answer_key", "answer", ["slot", "client_key"], unique=True, **only("client_key IS NOT NULL")
    )
    op.create_table(
        "review", key(counted=True), whole("slot"), text("verdict"), text("author"), text("why"), real("at")
    )
    op.create_table("mark", key(counted=True), text("kind"), whole("number"), whole("invalid"), text("why"),
                    text("author"), real("at"))  # fmt: skip
    op.create_table("event", key(counted=True), text("what"), text("detail"), real("at"))
    make_append_only("answer", "review", "mark", "event")
