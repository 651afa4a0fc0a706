"""Captions from a text file, one per line."""

from __future__ import annotations

from pathlib import Path

from karat._util import read_text
from karat.errors import InputError


def read_captions(path: str | Path) -> list[str]:
    """Return the lines of a text file that are not empty; raise when there are none."""
    path = Path(path)
    lines = [line for line in map(str.strip, read_text(path).splitlines()) if line]
    if not lines:
        raise InputError("has no captions", where=path, fix="write one per line")
    return lines
