"""Random tokens, and what is kept of them."""

from __future__ import annotations

import hashlib
import re
import secrets

SHAPE = re.compile(r"[A-Za-z0-9_-]{43}")


def new_token() -> str:
    """Return 256 random bits as text.

    >>> len(new_token()), is_token(new_token())
    (43, True)
    """
    return secrets.token_urlsafe(32)


def is_token(text: str) -> bool:
    """Whether a text could be a token of ours; anything else need not be looked up."""
    return SHAPE.fullmatch(text) is not None


def digest(token: str) -> str:
    """Return what the database keeps: whoever reads it cannot make the token from it."""
    return hashlib.sha256(f"karat:{token}".encode()).hexdigest()
