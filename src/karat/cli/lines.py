"""Captions from a text file, one per line."""

from __future__ import annotations

from pathlib import Path

from karat._util import check_text
from karat.errors import InputError, MissingDataError


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file that are not empty; raise when there are none."""
    if not path.is_file():
        raise MissingDataError("there is no such file", where=path, fix="check its name")
    check_text(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8", where=path, fix="save it as text in UTF-8") from None
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    if not lines:
        raise InputError("has no captions", where=path, fix="write one per line")
    return lines
