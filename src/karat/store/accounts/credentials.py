"""Credentials: the names of users, their passwords (argon2id hashes), and random tokens."""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from karat._util import missing
from karat.errors import InputError
from karat.forms import check_name

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MAX_NAME = 60
REMOVED, DECIDES = "removed-", "adjudicator "
"""Prefixes of pseudonyms: of a removed user, and of an owner who decides where annotators disagree."""
FORMULA = ("=", "+", "-", "@")
"""How cells begin that spreadsheets compute; a tab and a line break are no part of a name."""


def check_person(value: Any) -> str:
    """Return the name that a user chose, normalised, or raise.

    >>> check_person("  Ann  Lee ")
    'Ann Lee'
    >>> check_person("=1+1")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: a spreadsheet would take the name '=1+1' for a formula; begin it with a letter.
    >>> check_person("removed-3")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: names that begin with 'removed-' are reserved; choose another.
    """
    name = unicodedata.normalize("NFC", check_name(value, "the name"))
    if any(unicodedata.category(letter) in ("Cf", "Co", "Cn") for letter in name):
        raise InputError("the name contains invisible characters", fix="use letters")
    name = " ".join(name.split())
    # In the form that is compared, since a spreadsheet may take a wide sign for the usual one.
    if fold(name).startswith(FORMULA):
        raise InputError(
            f"a spreadsheet would take the name {name[:20]!r} for a formula", fix="begin it with a letter"
        )
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


def check_password(password: str, *names: str) -> str:
    """Return an acceptable password, or raise.

    Parameters
    ----------
    password
        The password.
    *names
        Names that are easily guessed: of the user and of the project.

    Examples
    --------
    >>> check_password("short")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: the password has 5 characters; use at least 10.
    >>> check_password("annann-2024", "ann")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: the password is easy to guess, made of a name and a year; use several words.
    """
    if len(password) < MIN_PASSWORD:
        raise InputError(f"the password has {len(password)} characters", fix=f"use at least {MIN_PASSWORD}")
    if len(password) > MAX_PASSWORD:
        raise InputError("the password is too long", fix=f"use at most {MAX_PASSWORD} characters")
    if parts := weakness(password, names):
        raise InputError(f"the password is easy to guess, made of {parts}", fix="use several words")
    return password


COMMON = """
    123qwe 12qwaszx 147258 147258369 159357 159753 1q2w3e 1q2w3e4r 1q2w3e4r5t 1qaz2wsx 1qazxsw2
    741852963 789456 789456123 987654 access account admin administrator amanda america andrea andrew
    angel anthony apple arsenal asdf ashley august austin banana barcelona baseball basketball batman
    batterystaple beautiful bigdog blink182 bonnie brandon buster butterfly changeit changeme charlie
    cheese chelsea chicken chocolate computer cookie correcthorse corvette cowboy daniel december
    default diamond donald dragon eagle elephant eminem family february ferrari flower football forever
    freedom friday friend friends gandalf george ginger google guest hammer hannah harley hello hockey
    hunter iceman iloveu iloveyou internet jasmine jennifer jessica jesus jordan joshua killer klaster
    letmein liverpool login london lovely loveme lover maggie manchester master matrix matthew mercedes
    merlin michael michelle midnight monday monkey monster mother mustang mynoob naruto newyork nicole
    ninja nothing november october orange pa55word packers parola passphrase passport password passwort
    patrick peanut pepper phoenix please pokemon porsche princess purple qazwsx qazwsxedc qweasd
    qweasdzxc qwer qwert qwerty qwertz raiders rainbow ranger robert root samantha samsung scooter
    secret september shadow silver slipknot snoopy soccer spiderman starwars steelers summer sunday
    sunshine superman superuser sweet taylor temp tennis test testing thomas thunder tigger trustno1
    unknown user welcome whatever william winter wizard yamaha yankees zaq12wsx zaq1xsw2 zxcvbn
"""
"""Passwords, and words in passwords, that lists of stolen passwords are full of."""
PROGRAM = ("karat", "karatserve", "judging", "judge", "annotator", "owner")
ROWS = (
    "abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm",
    "qwertzuiopü", "yxcvbnm", "azertyuiop", "qsdfghjklm", "!@#$%^&*()",
)  # fmt: skip
"""The alphabet, the digits, and rows of keyboards."""
RUNS = frozenset(
    row[k : k + 3] for order in ROWS for row in (order, order[::-1]) for k in range(len(row) - 2)
)
LOOKALIKES = tuple(str.maketrans("01345789@$!", f"o{one}eastbgasi") for one in "il")
"""The letters that digits and signs replace."""
LEFT = 4
"""How many characters must be left without those that are easy to guess."""


def weakness(password: str, names: Iterable[str] = ()) -> str:
    """Return what an easily guessed password is made of; empty for other passwords.

    A password is easy to guess if hardly anything is left of it without common passwords, names, sequences,
    repeated characters and years.

    >>> weakness("Annabelle1234567", ["Annabelle Lee"]), weakness("qwertyuiop"), weakness("abcabcabcabc")
    ('a name and a sequence', 'a common password and a sequence', 'repetitions')
    >>> weakness("three pale herons")
    ''
    """
    text = re.sub(r"[\s._-]+", "", fold(password))
    sizes = range(1, min(MIN_PASSWORD - 1, len(text) // 2) + 1)
    if len(set(text)) < 4 or any((text[:size] * len(text)).startswith(text) for size in sizes):
        return "repetitions"
    variants = (text, *(text.translate(table) for table in LOOKALIKES))
    guessed = bytearray(len(text))
    found = []
    for part, pattern in parts_of(names).items():
        new = [mark(pattern, variant, guessed) for variant in variants]
        if any(new):
            found.append(part)
    return " and ".join(found) if guessed.count(0) < LEFT else ""


def parts_of(names: Iterable[str]) -> dict[str, re.Pattern[str]]:
    """Return what is searched in a password, by what it is called."""
    words = {word for name in names for word in (re.sub(r"[\W_]+", "", fold(name)), *fold(name).split())}
    return {
        "a name": any_of(word for word in words if len(word) > 2),
        "the name of this program": any_of(PROGRAM),
        "a common password": any_of(COMMON.split()),
        "a sequence": any_of(RUNS),
        "a repeated character": re.compile(r"(?=((.)\2\2))", re.DOTALL),
        "a year": re.compile(r"(?=((?:19|20)\d\d))"),
    }


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds words wherever they begin, the longest first."""
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(f"(?=({'|'.join(map(re.escape, longest_first)) or '(?!)'}))")


def mark(pattern: re.Pattern[str], text: str, marks: bytearray) -> bool:
    """Mark what a pattern finds; return whether it found something that was not marked."""
    new = False
    for match in pattern.finditer(text):
        start, end = match.span(1)
        new = new or not all(marks[start:end])
        marks[start:end] = b"\1" * (end - start)
    return new


def hash_password(password: str) -> str:
    """Return the hash of a password, with its salt and its parameters."""
    return hasher().hash(password.encode("utf-8", "surrogatepass"))


def fits(password: str, kept: str | None) -> bool:
    """Return whether a password fits a stored hash; takes equally long when there is no hash."""
    from argon2 import extract_parameters
    from argon2.exceptions import InvalidHashError, VerificationError

    wanted = kept or nobody()
    try:
        asked = extract_parameters(wanted)
        if asked.memory_cost > MOST_KIB or asked.time_cost > MOST_ROUNDS:
            return False
        hasher().verify(wanted, password.encode("utf-8", "surrogatepass"))
    except (VerificationError, InvalidHashError):
        return False
    return kept is not None


def is_old(kept: str) -> bool:
    """Return whether a hash was made with other parameters than the current ones."""
    return hasher().check_needs_rehash(kept)


MOST_KIB, MOST_ROUNDS = 2**20, 100
"""What a stored hash may cost to check: another program wrote one that needs more than 1 GiB."""
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
