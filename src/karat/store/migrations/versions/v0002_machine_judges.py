"""What machine judges were asked and answered, word for word."""

from __future__ import annotations

from alembic import op

from karat.store.migrations.append_only import make_append_only
from karat.store.migrations.columns import key, real, text, whole

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table of calls."""
    op.create_table("call", key(counted=True), text("judge"), text("model"), text("prompt"), whole("image"),
                    whole("caption"), text("request"), text("reply", null=True), text("code", null=True),
                    whole("tokens_in", null=True), whole("tokens_out", null=True), real("cost", null=True),
                    text("error", null=True), real("at"))  # fmt: skip
    make_append_only("call")
