"""The tables of accounts, as the newest migration leaves them; no row holds a password or a token."""

from __future__ import annotations

from sqlalchemy import Column, MetaData, Table, Text

from karat.judging.store.migrations import key, real, text, whole

METADATA = MetaData()

ACCOUNT = Table(
    "account", METADATA, key(counted=True), text("name"), Column("folded", Text, nullable=False, unique=True),
    text("role"), text("password", null=True), whole("active"), real("at"),
)  # fmt: skip
"""`folded` is the name as it is compared; `password` is an argon2 hash, None where only a link lets in."""

SESSION = Table(
    "session", METADATA, Column("digest", Text, primary_key=True), whole("account"), real("at"), real("seen"),
    real("expires"),
)  # fmt: skip
"""`digest` is of the token that the cookie holds."""

INVITATION = Table(
    "invitation", METADATA, key(counted=True), Column("digest", Text, nullable=False, unique=True),
    text("kind"), text("role", null=True), text("name", null=True), whole("account", null=True),
    whole("author", null=True), real("at"), real("expires"), real("used_at", null=True),
    whole("used_by", null=True),
)  # fmt: skip
"""Links that work once. `kind` is JOIN, RESET or ENTER; the last two are for one account."""

AUDIT = Table(
    "audit", METADATA, key(counted=True), whole("actor", null=True), text("what"),
    whole("subject", null=True), text("detail"), real("at"),
)  # fmt: skip
"""Only ever added to. People stand in it by their numbers, so that a name can be removed."""
