"""What a page must send back with every change, so that other sites cannot make one."""

from __future__ import annotations

import hashlib
import hmac


def csrf_of(token: str) -> str:
    """Return what a page must send back with every change; only who holds the cookie's token can make it."""
    return hashlib.sha256(f"karat-csrf:{token}".encode()).hexdigest()


def same(given: str, wanted: str) -> bool:
    """Compare in a time that tells nothing."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())
