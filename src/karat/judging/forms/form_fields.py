"""Reading the fields of untrusted tables, such as a form's file: each error names the field and the fix."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from karat.errors import InputError, unknown_name

CODE = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
LONGEST, MOST = 2000, 200
"""The longest text, and the most entries of a list: a form is read by people."""
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of what follows: a text could show what it does not say."""


class Fields:
    """The fields of one table, each taken once; what is left over is unknown.

    Parameters
    ----------
    data
        As TOML or json has it.
    where
        The file, for messages.
    path
        The table's place in the file, such as ``answers[2]``; empty for the whole.

    Examples
    --------
    >>> fields = Fields({"code": "yes", "grad": 1}, "mine.toml", "answers[0]")
    >>> fields.code("code")
    'yes'
    >>> fields.close(["code", "grade"])
    Traceback (most recent call last):
    ...
    karat.errors.InputError: mine.toml: answers[0] has no field 'grad'; did you mean grade?
    """

    def __init__(self, data: Any, where: str | None, path: str = "") -> None:
        self.where, self.path = where, path
        if not isinstance(data, Mapping):
            raise self.error("", f"{path or 'the form'} is no table", "write name = value lines")
        self.data = dict(data)

    def at(self, name: str) -> str:
        """Return a field's place in the file."""
        return f"{self.path}.{name}" if self.path and name else self.path or name

    def error(self, name: str, what: str, fix: str) -> InputError:
        """Return the error for a field; `what` is a whole sentence where there is no name."""
        return InputError(f"{self.at(name)} {what}" if name else what, where=self.where, fix=fix)

    def take(self, name: str, default: Any) -> Any:
        """Return a field as it is; one without a default must be there."""
        if name in self.data:
            return self.data[name]
        if default is None:
            raise self.error("", f"{self.path or 'the form'} has no {name}", "add it")
        return default

    def text(self, name: str, default: str | None = None, longest: int = LONGEST) -> str:
        """Return plain text, its white space made single blanks."""
        value = self.take(name, default)
        if not isinstance(value, str):
            raise self.error(name, f"is {value!r}", "give text in quotes")
        clean = " ".join(value.split())
        if default is None and not clean:
            raise self.error(name, "is empty", "write what people shall read")
        if len(clean) > longest:
            raise self.error(name, f"has {len(clean):,} characters", f"write at most {longest:,}")
        strange = [one for one in clean if unicodedata.category(one) in ("Cc", "Cs") or one in TURNING]
        if strange:
            raise self.error(name, f"holds the character U+{ord(strange[0]):04X}", "remove it")
        return clean

    def code(self, name: str) -> str:
        """Return a short name that files and addresses can hold."""
        value = self.text(name)
        if not CODE.fullmatch(value):
            raise self.error(name, f"is {value!r}", "use up to 40 small letters, digits, _ and -")
        return value

    def number(self, name: str, least: float, most: float, default: float | None = None) -> float:
        """Return a number within bounds."""
        value = self.take(name, default)
        good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not good or not least <= value <= most:
            raise self.error(name, f"is {value!r}", f"give a number from {least:g} to {most:g}")
        return float(value)

    def whole(self, name: str, least: int, most: int, default: int) -> int:
        """Return a whole number within bounds."""
        value = self.number(name, least, most, default)
        if value != int(value):
            raise self.error(name, f"is {value:g}", "give a whole number")
        return int(value)

    def yes_or_no(self, name: str, default: bool) -> bool:
        """Return true or false."""
        value = self.take(name, default)
        if not isinstance(value, bool):
            raise self.error(name, f"is {value!r}", "write true or false")
        return value

    def entries(self, name: str, default: Iterable[Any] | None = ()) -> list[Any]:
        """Return a list of bounded length."""
        value = self.take(name, default)
        if not isinstance(value, list | tuple):
            raise self.error(name, "is no list", "write [ … ], or [[ … ]] before each table")
        if len(value) > MOST:
            raise self.error(name, f"has {len(value):,} entries", f"give at most {MOST}")
        return list(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, none of them empty."""
        values = self.entries(name)
        entries = Fields({str(k): value for k, value in enumerate(values)}, self.where, self.at(name))
        return tuple(entries.text(str(k)) for k in range(len(values)))

    def tables(self, name: str, default: Iterable[Any] | None = ()) -> list[Fields]:
        """Return a list of tables."""
        values = self.entries(name, default)
        return [Fields(value, self.where, f"{self.at(name)}[{k}]") for k, value in enumerate(values)]

    def close(self, known: Iterable[str]) -> None:
        """Raise on the first field that nobody knows."""
        known = list(known)
        for name in self.data:
            if name not in known:
                near = unknown_name("field", str(name), known, owner=self.path or "the form")
                raise InputError(near.what, where=self.where, fix=near.fix)
