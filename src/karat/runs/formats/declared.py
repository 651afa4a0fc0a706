"""Files that claim to hold more than they can."""

from __future__ import annotations

from pathlib import Path

from karat.validation import InputError

MOST_BYTES = 64 << 30
BOMB_BYTES = 2 << 30
BOMB_RATIO = 1000


def check_declared(path: Path | str, declared: int, stored: int) -> None:
    """Raise where a file would unpack to more than memory or sense allows, before it is unpacked.

    >>> check_declared("scores.npz", 5 << 30, 1 << 20)
    Traceback (most recent call last):
    ...
    karat.validation.InputError: scores.npz: would unpack 1,048,576 bytes to 5,368,709,120; save it as npy.
    """
    bomb = declared > BOMB_BYTES and declared > BOMB_RATIO * max(stored, 1)
    if declared > MOST_BYTES or bomb:
        raise InputError(f"would unpack {stored:,} bytes to {declared:,}", where=path, fix="save it as npy")
