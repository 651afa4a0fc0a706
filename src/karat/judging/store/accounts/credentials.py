"""Credentials: the names of users, their passwords (argon2id hashes), and random tokens."""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any

from karat._util import missing
from karat.errors import InputError
from karat.judging.store.texts import check_name

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MAX_NAME = 60
REMOVED, DECIDES = "removed-", "adjudicator "
"""Prefixes of pseudonyms: of a removed user, and of an owner who decides where annotators disagree."""


def check_person(value: Any) -> str:
    """Return the name that a user chose, normalised, or raise.

    >>> check_person("  Ann  Lee ")
    'Ann Lee'
    >>> check_person("removed-3")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: names that begin with 'removed-' are reserved; choose another.
    """
    name = unicodedata.normalize("NFC", check_name(value, "the name"))
    if any(unicodedata.category(letter) in ("Cf", "Co", "Cn") for letter in name):
        raise InputError("the name contains invisible characters", fix="use letters")
    name = " ".join(name.split())
    if len(name) > MAX_NAME:
        raise InputError(f"the name has {len(name)} characters", fix=f"use at most {MAX_NAME}")
    for kept in (REMOVED, DECIDES):
        if fold(name).startswith(kept):
            raise InputError(f"names that begin with {kept!r} are reserved", fix="choose another")
    return name


def fold(name: str) -> str:
    """Return a name in the form that is compared: case and width of letters do not matter.

    >>> fold("Ann") == fold("ＡＮＮ")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).split())


MIN_PASSWORD, MAX_PASSWORD = 10, 200


@cache
def hasher() -> PasswordHasher:
    """Return the hasher, with the low-memory parameters of RFC 9106."""
    try:
        from argon2 import PasswordHasher
    except ImportError:
        raise missing("argon2", extra_name="web") from None
    return PasswordHasher()


@cache
def nobody() -> str:
    """Return a hash to check for names that do not exist, so that the check takes equally long."""
    return hash_password("x" * MIN_PASSWORD)


def check_password(password: str, name: str = "") -> str:
    """Return an acceptable password, or raise.

    >>> check_password("short")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: the password has 5 characters; use at least 10.
    """
    if len(password) < MIN_PASSWORD:
        raise InputError(f"the password has {len(password)} characters", fix=f"use at least {MIN_PASSWORD}")
    if len(password) > MAX_PASSWORD:
        raise InputError("the password is too long", fix=f"use at most {MAX_PASSWORD} characters")
    if len(set(password)) < 4 or (name and fold(password).replace(fold(name), "").strip() == ""):
        raise InputError("the password is easy to guess", fix="use several words")
    return password


def hash_password(password: str) -> str:
    """Return the hash of a password, with its salt and its parameters."""
    return hasher().hash(password.encode("utf-8", "surrogatepass"))


def fits(password: str, kept: str | None) -> bool:
    """Return whether a password fits a stored hash; takes equally long when there is no hash."""
    from argon2.exceptions import InvalidHashError, VerificationError

    wanted = kept or nobody()
    try:
        hasher().verify(wanted, password.encode("utf-8", "surrogatepass"))
    except (VerificationError, InvalidHashError):
        return False
    return kept is not None


def is_old(kept: str) -> bool:
    """Return whether a hash was made with other parameters than the current ones."""
    return hasher().check_needs_rehash(kept)


SHAPE = re.compile(r"[A-Za-z0-9_-]{43}")


def new_token() -> str:
    """Return 256 random bits as text.

    >>> len(new_token()), is_token(new_token())
    (43, True)
    """
    return secrets.token_urlsafe(32)


def is_token(text: str) -> bool:
    """Return whether a text has the shape of a token; anything else is not looked up."""
    return SHAPE.fullmatch(text) is not None


def digest(token: str) -> str:
    """Return what the database stores: a hash, from which the token cannot be recovered."""
    return hashlib.sha256(f"karat:{token}".encode()).hexdigest()
