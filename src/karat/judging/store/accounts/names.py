"""Names of people: plain, not too long, and apart from each other."""

from __future__ import annotations

import unicodedata
from typing import Any

from karat.errors import InputError
from karat.judging.store.texts import check_name

MOST = 60
REMOVED, DECIDES = "removed-", "adjudicator "
"""How pseudonyms begin: of somebody who was removed, and of an owner who decides where people disagree."""


def check_person(value: Any) -> str:
    """Return the name that somebody chose, in one spelling, or raise.

    >>> check_person("  Ann  Lee ")
    'Ann Lee'
    >>> check_person("removed-3")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: names that begin with 'removed-' are kept for others; choose another.
    """
    name = unicodedata.normalize("NFC", check_name(value, "the name"))
    if any(unicodedata.category(letter) in ("Cf", "Co", "Cn") for letter in name):
        raise InputError("the name holds characters that cannot be seen", fix="use letters")
    name = " ".join(name.split())
    if len(name) > MOST:
        raise InputError(f"the name has {len(name)} characters", fix=f"use at most {MOST}")
    for kept in (REMOVED, DECIDES):
        if fold(name).startswith(kept):
            raise InputError(f"names that begin with {kept!r} are kept for others", fix="choose another")
    return name


def fold(name: str) -> str:
    """Return a name as it is compared: letters that look the same in another case or width are the same.

    >>> fold("Ann") == fold("ＡＮＮ")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).split())
