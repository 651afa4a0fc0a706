"""The tables of a project, as the newest migration leaves them.

There are no foreign keys on `answer`: two million rows are imported in one go, and every number in them has
been checked before; checking each again, row by row, would take longer than everything else.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, MetaData, Table, Text

from karat.judging.store.migrations import key, only, real, text, whole

METADATA = MetaData()

PROJECT = Table(
    "project", METADATA, key(), text("name"), text("form"), text("source"), text("settings"),
    text("fingerprint"), whole("images"), whole("captions"), whole("queue"), real("at"),
)  # fmt: skip
"""One row. `queue` counts the places that were given out in the queue of open slots."""

SETTING = Table("setting", METADATA, Column("name", Text, primary_key=True), text("value"))

POOL = Table(
    "pool", METADATA, key(), whole("top"), whole("judged"), whole("filtered")
)  # fmt: skip
POOL_SYSTEM = Table("pool_system", METADATA, key(), text("name"))
POOL_QUERY = Table("pool_query", METADATA, whole("direction"), whole("query"))
POOL_PAIR = Table(
    "pool_pair", METADATA, key("image"), key("caption"), whole("why")
)  # fmt: skip
POOL_PLACE = Table(
    "pool_place", METADATA, whole("image"), whole("caption"), whole("system"), whole("direction"),
    whole("rank"), real("score", null=True),
)  # fmt: skip
POOL_GOLD = Table("pool_gold", METADATA, key(), whole("image"), whole("caption"), whole("gold"))
"""The stock of known pairs that tasks hide among the others, in the order in which they are used."""

TASK = Table("task", METADATA, key(), whole("overlap"))
ITEM = Table(
    "item", METADATA, key(), whole("task"), whole("position"), whole("grp"), whole("image"),
    whole("caption"), whole("gold"),
    Index("item_task", "task", "position", unique=True),
)  # fmt: skip

SLOT = Table(
    "slot", METADATA, key(), whole("task"), whole("state"), whole("queue"),
    whole("worker", null=True), text("token", null=True), real("expires", null=True),
    real("span", null=True), real("leased_at", null=True), real("submitted_at", null=True),
    Index("slot_task", "task"),
    Index("slot_open", "queue", **only("state = 0")),
    Index("slot_leased", "expires", **only("state = 1")),
    Index("slot_token", "token", unique=True, **only("token IS NOT NULL")),
)  # fmt: skip
"""One row for each person that a task needs. Open slots stand in a queue; those handed back go to its end."""

WORKER = Table(
    "worker", METADATA, key(counted=True), Column("name", Text, nullable=False, unique=True), text("kind"),
    whole("slot", null=True), whole("cursor"),
)  # fmt: skip
"""`slot` is what the worker leased last. Open slots before `cursor` in the queue are closed to the worker."""

ANSWER = Table(
    "answer", METADATA, key(counted=True), whole("slot", null=True), whole("item", null=True),
    whole("worker"), whole("image"), whole("caption"), text("code", null=True), text("details", null=True),
    real("seconds", null=True), real("at"), text("client_key", null=True),
    Index("answer_worker", "worker", "image", "caption"),
    Index("answer_key", "slot", "client_key", unique=True, **only("client_key IS NOT NULL")),
)  # fmt: skip
"""Append-only. The last row of a slot and item counts; without a code it is an undo."""

REVIEW = Table(
    "review", METADATA, key(counted=True), whole("slot"), text("verdict"), text("author"), text("why"),
    real("at"),
)  # fmt: skip
MARK = Table(
    "mark", METADATA, key(counted=True), text("kind"), whole("number"), whole("invalid"), text("why"),
    text("author"), real("at"),
)  # fmt: skip
EVENT = Table("event", METADATA, key(counted=True), text("what"), text("detail"), real("at"))

CALL = Table(
    "call", METADATA, key(counted=True), text("judge"), text("model"), text("prompt"), whole("image"),
    whole("caption"), text("request"), text("reply", null=True), text("code", null=True),
    whole("tokens_in", null=True), whole("tokens_out", null=True), real("cost", null=True),
    text("error", null=True), real("at"),
)  # fmt: skip
"""Append-only: what was asked of machine judges, and what they said, word for word."""

APPEND_ONLY = ("answer", "review", "mark", "event", "call", "audit")

ACCOUNT_METADATA = MetaData()
"""The tables of accounts; no row holds a password or a token."""

ACCOUNT = Table(
    "account", ACCOUNT_METADATA, key(counted=True), text("name"),
    Column("folded", Text, nullable=False, unique=True), text("role"), text("password", null=True),
    whole("active"), real("at"),
)  # fmt: skip
"""`folded` is the name as it is compared; `password` is an argon2 hash, None where only a link lets in."""

SESSION = Table(
    "session", ACCOUNT_METADATA, Column("digest", Text, primary_key=True), whole("account"), real("at"),
    real("seen"), real("expires"),
)  # fmt: skip
"""`digest` is of the token that the cookie holds."""

INVITATION = Table(
    "invitation", ACCOUNT_METADATA, key(counted=True), Column("digest", Text, nullable=False, unique=True),
    text("kind"), text("role", null=True), text("name", null=True), whole("account", null=True),
    whole("author", null=True), real("at"), real("expires"), real("used_at", null=True),
    whole("used_by", null=True),
)  # fmt: skip
"""Links that work once. `kind` is JOIN, RESET or ENTER; the last two are for one account."""

AUDIT = Table(
    "audit", ACCOUNT_METADATA, key(counted=True), whole("actor", null=True), text("what"),
    whole("subject", null=True), text("detail"), real("at"),
)  # fmt: skip
"""Only ever added to. People stand in it by their numbers, so that a name can be removed."""
