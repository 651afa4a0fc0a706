"""Many short strings in three arrays, found by a hash; none is a Python object before it is asked for."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np


def pack(strings: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the arrays of distinct `strings`: their bytes, where each begins, and a table of hashes.

    >>> sorted(pack(["dog", "cat"]))
    ['text', 'text_hash', 'text_start']
    """
    encoded = [string.encode("utf-8") for string in strings]
    start = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum([len(one) for one in encoded], out=start[1:])
    # At most half full, so that a search ends after a step or two.
    size = 1 << (2 * len(encoded) + 1).bit_length()
    table = np.full(size, -1, np.int32)
    slots, mask = table.data, size - 1
    for number, one in enumerate(encoded):
        place = zlib.crc32(one) & mask
        while slots[place] >= 0:
            place = (place + 1) & mask
        slots[place] = number
    return {
        "text": np.frombuffer(b"".join(encoded), np.uint8),
        "text_start": start,
        "text_hash": table,
    }


class Strings:
    """Packed strings: the string of a number, and the number of a string.

    Parameters
    ----------
    text, text_start, text_hash
        What :func:`pack` returned.

    Examples
    --------
    >>> strings = Strings(**pack(["dog", "cat"]))
    >>> strings[1], strings.find("cat"), strings.find("cow")
    ('cat', 1, -1)
    """

    def __init__(self, text: np.ndarray, text_start: np.ndarray, text_hash: np.ndarray) -> None:
        self._text = text.tobytes()
        # Views that give plain ints: an element of an array costs twice as much.
        self._start = text_start.data
        self._hash = text_hash.data
        self._mask = len(text_hash) - 1

    def __len__(self) -> int:
        return len(self._start) - 1

    def __getitem__(self, number: int) -> str:
        return self._text[self._start[number] : self._start[number + 1]].decode("utf-8")

    def find(self, string: str) -> int:
        """Return the number of a string, or -1."""
        # Half of a surrogate pair is in no dictionary, but must not stop a search either.
        wanted = string.encode("utf-8", "surrogatepass")
        place = zlib.crc32(wanted) & self._mask
        while (number := self._hash[place]) >= 0:
            if self._text[self._start[number] : self._start[number + 1]] == wanted:
                return number
            place = (place + 1) & self._mask
        return -1
