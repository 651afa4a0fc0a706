"""Tables and columns by the words of the glossary: names change, rows do not.

Append-only tables keep their names, and indexes keep the names that they were made with.
"""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = {"slot": "assignment", "worker": "annotator"}
COLUMNS = (
    ("project", "queue", "places"),
    ("assignment", "queue", "place"),
    ("assignment", "worker", "annotator"),
    ("assignment", "span", "lease_seconds"),
    ("annotator", "slot", "last_assignment"),
    ("answer", "slot", "assignment"),
    ("answer", "worker", "annotator"),
    ("review", "slot", "assignment"),
    ("review", "verdict", "decision"),
    ("account", "folded", "folded_name"),
    ("account", "password", "password_hash"),
    ("session", "digest", "token_digest"),
    ("session", "seen", "seen_at"),
    ("invitation", "digest", "token_digest"),
)


def upgrade() -> None:
    """Rename; both databases do it without touching a row, so that append-only tables allow it."""
    for old, new in TABLES.items():
        op.execute(f"ALTER TABLE {old} RENAME TO {new}")
    for table, old, new in COLUMNS:
        op.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{old}" TO "{new}"')
