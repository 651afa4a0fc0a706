"""What was drawn for an estimate and with which probability, goals, and an index by which pools grow."""

from __future__ import annotations

from alembic import op

from karat.store.migrations.append_only import make_append_only
from karat.store.migrations.columns import key, real, text, whole

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables; the index is not unique, since nothing prevented a place from being stored twice."""
    op.create_table("draw_batch", key(counted=True), text("design"), text("measure"), text("direction"),
                    text("runs"), whole("seed"), whole("frame"), text("settings"), real("at"))  # fmt: skip
    op.create_table("draw", key(counted=True), whole("batch"), whole("image"), whole("caption"),
                    real("probability"), whole("stratum", null=True), whole("query", null=True),
                    whole("gold"))  # fmt: skip
    op.create_table("goal", key(counted=True), text("goal"), real("at"))
    op.create_index("pool_place_pair", "pool_place", ["image", "caption"])
    make_append_only("draw_batch", "draw", "goal")
