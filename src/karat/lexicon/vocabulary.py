"""The vocabulary: words, their base forms, their senses and how often each was seen.

Words are many short strings in three arrays (`pack`), found by a hash (`Strings`): none is a Python object
before it is used.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from karat.errors import InputError
from karat.lexicon.files import PARTS

# The rules of WordNet's own morphology (morphy), by part of speech: how a form ends, how its base form ends.
_ENDINGS = (
    (("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
     ("men", "man"), ("ies", "y")),
    (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    (),
)  # fmt: skip
_NUMBERS = {"n": 0, "v": 1, "a": 2, "s": 2, "r": 3}
_REMEMBERED = 1 << 17


def normal(word: str) -> str:
    """Return a word as the index files write it: lower case, joined by underscores.

    >>> normal("Traffic light")
    'traffic_light'
    """
    return "_".join(word.lower().split())


def parts_of(pos: str | None) -> tuple[int, ...]:
    """Return the numbers of a part of speech, as a tuple; all of them for None."""
    if pos is None:
        return tuple(range(len(PARTS)))
    if pos not in _NUMBERS:
        raise InputError(f"pos is {pos!r}", fix="choose one of n, v, a, s, r, or None for all")
    return (_NUMBERS[pos],)


class Vocabulary:
    """Words and their senses.

    Parameters
    ----------
    arrays
        What :func:`karat.lexicon.arrays.read_arrays` returned.
    """

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.strings = Strings(*(arrays[name] for name in ("text", "text_start", "text_hash")))
        self._start = arrays["sense_start"].data
        self._indexed = (len(arrays["sense_start"]) - 1) // len(PARTS)
        self._senses = arrays["senses"]
        self._counts = arrays["sense_counts"]
        self._exceptions: dict[int, list[int]] = {}
        for place, base in arrays["exceptions"].tolist():
            self._exceptions.setdefault(place, []).append(base)
        self.bases = lru_cache(_REMEMBERED)(self._bases)

    def senses(self, number: int, part: int) -> slice:
        """Return where the senses of a word are; an empty slice where it has none."""
        if not 0 <= number < self._indexed:
            return slice(0, 0)
        place = number * len(PARTS) + part
        return slice(self._start[place], self._start[place + 1])

    def synsets(self, number: int, part: int) -> np.ndarray:
        """Return the synsets of a word, the commonest first."""
        return self._senses[self.senses(number, part)]

    def counts(self, number: int, part: int) -> np.ndarray:
        """Return how often a word was seen in each of its senses."""
        return self._counts[self.senses(number, part)]

    def _bases(self, form: str, part: int) -> tuple[int, ...]:
        """Return the words that `form` may be a form of, itself first if it is one."""
        find = self.strings.find
        number = find(form)
        irregular = self._exceptions.get(number * len(PARTS) + part)
        regular = (
            find(form[: len(form) - len(ending)] + base)
            for ending, base in _ENDINGS[part]
            if form.endswith(ending)
        )
        bases = (number, *(regular if irregular is None else irregular))
        return tuple(dict.fromkeys(base for base in bases if self._has_senses(base, part)))

    def _has_senses(self, number: int, part: int) -> bool:
        place = self.senses(number, part)
        return place.stop > place.start


def pack(strings: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the arrays of distinct `strings`: their bytes, where each begins, and a table of hashes.

    >>> sorted(pack(["dog", "cat"]))
    ['text', 'text_hash', 'text_start']
    """
    encoded = [string.encode("utf-8") for string in strings]
    start = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum([len(string) for string in encoded], out=start[1:])
    # At most half full, so that a search ends after a step or two.
    size = 1 << (2 * len(encoded) + 1).bit_length()
    table = np.full(size, -1, np.int32)
    slots, mask = table.data, size - 1
    for number, string in enumerate(encoded):
        place = zlib.crc32(string) & mask
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
        encoded = string.encode("utf-8", "surrogatepass")
        place = zlib.crc32(encoded) & self._mask
        while (number := self._hash[place]) >= 0:
            if self._text[self._start[number] : self._start[number + 1]] == encoded:
                return number
            place = (place + 1) & self._mask
        return -1
