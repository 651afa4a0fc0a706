"""The tables of a project, as the newest migration leaves them.

There are no foreign keys on `answer`: two million rows are imported at once, and every number in them has
been checked before; checking each row again would take longer than everything else.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, MetaData, Table, Text

from karat.store.migrations import key, only, real, text, whole

METADATA = MetaData()

PROJECT = Table(
    "project", METADATA, key(), text("name"), text("form"), text("source"), text("settings"),
    text("fingerprint"), whole("images"), whole("captions"), whole("places"), real("at"),
)  # fmt: skip
"""One row. `places` counts the places of the queue that assignments have been given."""

SETTING = Table("setting", METADATA, Column("name", Text, primary_key=True), text("value"))

POOL = Table("pool", METADATA, key(), whole("top"), whole("judged"), whole("filtered"))
POOL_SYSTEM = Table("pool_system", METADATA, key(), text("name"))
POOL_QUERY = Table("pool_query", METADATA, whole("direction"), whole("query"))
POOL_PAIR = Table("pool_pair", METADATA, key("image"), key("caption"), whole("why"))
POOL_PLACE = Table(
    "pool_place", METADATA, whole("image"), whole("caption"), whole("system"), whole("direction"),
    whole("rank"), real("score", null=True),
    Index("pool_place_pair", "image", "caption"),
)  # fmt: skip
POOL_GOLD = Table("pool_gold", METADATA, key(), whole("image"), whole("caption"), whole("gold"))
"""The gold pairs that tasks can hide, in the order in which they are used."""

TASK = Table("task", METADATA, key(), whole("overlap"))
ITEM = Table(
    "item", METADATA, key(), whole("task"), whole("position"), whole("grp"), whole("image"),
    whole("caption"), whole("gold"),
    Index("item_task", "task", "position", unique=True),
)  # fmt: skip

ASSIGNMENT = Table(
    "assignment", METADATA, key(), whole("task"), whole("state"), whole("place"),
    whole("annotator", null=True), text("token", null=True), real("expires", null=True),
    real("lease_seconds", null=True), real("leased_at", null=True), real("submitted_at", null=True),
    Index("slot_task", "task"),
    Index("slot_open", "place", **only("state = 0")),
    Index("slot_leased", "expires", **only("state = 1")),
    Index("slot_token", "token", unique=True, **only("token IS NOT NULL")),
)  # fmt: skip
"""One row for each annotator that a task needs. Open assignments are queued by `place`; returned ones go to
the end."""

ANNOTATOR = Table(
    "annotator", METADATA, key(counted=True), Column("name", Text, nullable=False, unique=True), text("kind"),
    whole("last_assignment", null=True), whole("cursor"),
)  # fmt: skip
"""`last_assignment` was leased last. Open assignments with a `place` before `cursor` are closed to the
annotator."""

ANSWER = Table(
    "answer", METADATA, key(counted=True), whole("assignment", null=True), whole("item", null=True),
    whole("annotator"), whole("image"), whole("caption"), text("code", null=True), text("details", null=True),
    real("seconds", null=True), real("at"), text("client_key", null=True),
    Index("answer_worker", "annotator", "image", "caption"),
    Index("answer_key", "assignment", "client_key", unique=True, **only("client_key IS NOT NULL")),
)  # fmt: skip
"""Append-only. The last row of an assignment and item counts; without a code it is a withdrawal."""

REVIEW = Table(
    "review", METADATA, key(counted=True), whole("assignment"), text("decision"), text("author"), text("why"),
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
"""Append-only: requests to machine judges and their replies, word for word."""

DRAW_BATCH = Table(
    "draw_batch", METADATA, key(counted=True), text("design"), text("measure"), text("direction"),
    text("runs"), whole("seed"), whole("frame"), text("settings"), real("at"),
)  # fmt: skip
DRAW = Table(
    "draw", METADATA, key(counted=True), whole("batch"), whole("image"), whole("caption"),
    real("probability"), whole("stratum", null=True), whole("query", null=True), whole("gold"),
)  # fmt: skip
"""Append-only, in the order of drawing. `gold` is what the stock of gold said about the pair at that time.

No pair is drawn twice, but no index says so: by one, SQLite would let others replace the row of a pair."""

GOAL = Table("goal", METADATA, key(counted=True), text("goal"), real("at"))
"""Append-only: the last row counts."""

APPEND_ONLY = ("answer", "review", "mark", "event", "call", "audit", "draw_batch", "draw", "goal")

ACCOUNT_METADATA = MetaData()
"""The tables of accounts; no row contains a password or a token."""

ACCOUNT = Table(
    "account", ACCOUNT_METADATA, key(counted=True), text("name"),
    Column("folded_name", Text, nullable=False, unique=True), text("role"), text("password_hash", null=True),
    whole("active"), real("at"), text("seal", null=True),
)  # fmt: skip
"""`folded_name` is the name as it is compared; `password_hash` is an argon2 hash, None where users sign in
by links only. Without a valid `seal` the row gives no right: it was made, or changed, on another machine."""

SESSION = Table(
    "session", ACCOUNT_METADATA, Column("token_digest", Text, primary_key=True), whole("account"), real("at"),
    real("seen_at"), real("expires"), text("seal", null=True),
)  # fmt: skip
"""`token_digest` is the digest of the token in the cookie."""

INVITATION = Table(
    "invitation", ACCOUNT_METADATA, key(counted=True),
    Column("token_digest", Text, nullable=False, unique=True), text("kind"), text("role", null=True),
    text("name", null=True), whole("account", null=True), whole("author", null=True), real("at"),
    real("expires"), real("used_at", null=True), whole("used_by", null=True), text("seal", null=True),
)  # fmt: skip
"""Links that work once. `kind` is JOIN, RESET or ENTER; the last two are for one account."""

AUDIT = Table(
    "audit", ACCOUNT_METADATA, key(counted=True), whole("actor", null=True), text("what"),
    whole("subject", null=True), text("detail"), real("at"),
)  # fmt: skip
"""Append-only. Users are named by their numbers, so that a name can be removed."""
