"""Passwords: argon2id hashes, and a check that takes as long for nobody as for somebody."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from karat._util import missing
from karat.errors import InputError
from karat.judging.store.accounts.names import fold

if TYPE_CHECKING:
    from argon2 import PasswordHasher

LEAST, MOST = 10, 200


@cache
def hasher() -> PasswordHasher:
    """Return the hasher, with the parameters of RFC 9106 for little memory."""
    try:
        from argon2 import PasswordHasher
    except ImportError:
        raise missing("argon2", extra_name="web") from None
    return PasswordHasher()


@cache
def nobody() -> str:
    """Return a hash that no password fits, to be checked for names that do not exist."""
    return hash_password("x" * LEAST)


def check_password(password: str, name: str = "") -> str:
    """Return a password that may be used, or raise.

    >>> check_password("short")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: the password has 5 characters; use at least 10.
    """
    if len(password) < LEAST:
        raise InputError(f"the password has {len(password)} characters", fix=f"use at least {LEAST}")
    if len(password) > MOST:
        raise InputError("the password is very long", fix=f"use at most {MOST} characters")
    if len(set(password)) < 4 or (name and fold(password).replace(fold(name), "").strip() == ""):
        raise InputError("the password is easily guessed", fix="use several words")
    return password


def hash_password(password: str) -> str:
    """Return the hash of a password, with its salt and its parameters."""
    return hasher().hash(password.encode("utf-8", "surrogatepass"))


def fits(password: str, kept: str | None) -> bool:
    """Whether a password is the one whose hash was kept; it takes equally long when there is none."""
    from argon2.exceptions import InvalidHashError, VerificationError

    wanted = kept or nobody()
    try:
        hasher().verify(wanted, password.encode("utf-8", "surrogatepass"))
    except (VerificationError, InvalidHashError):
        return False
    return kept is not None


def is_old(kept: str) -> bool:
    """Whether a hash was made with other parameters than today's."""
    return hasher().check_needs_rehash(kept)
