"""Synsets: their words, their names and what lies above, below and beside them."""

from __future__ import annotations

import operator
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat.lexicon.data_files import LETTERS, RELATIONS, key
from karat.lexicon.files import PARTS, REPAIR, Files
from karat.lexicon.vocabulary import Vocabulary, normal, parts_of
from karat.validation import InputError, UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Ancestors = tuple[np.ndarray, np.ndarray, np.ndarray]


class Synsets:
    """The synset side of :class:`karat.lexicon.WordNet`.

    Attributes
    ----------
    files
        Where it was read.
    letters, parts
        Per synset: its letter's number in "nvars", and the number of its data file (noun, verb, adj, adv).
    """

    def __init__(self, arrays: dict[str, np.ndarray], files: Files, vocabulary: Vocabulary) -> None:
        self.files = files
        self.letters = arrays["letters"]
        self.parts = np.array([0, 1, 2, 3, 2], np.uint8)[self.letters]
        self._arrays = arrays
        self._vocabulary = vocabulary

    def __len__(self) -> int:
        return len(self.letters)

    def __repr__(self) -> str:
        return f"WordNet({str(self.files.path)!r}, {len(self):,} synsets)"

    def pos(self, synset: int) -> str:
        """Return the part of speech: n, v, a, r, or s for an adjective that is a satellite."""
        return LETTERS[self.letters[self._row(synset)]]

    def offset(self, synset: int) -> int:
        """Return the number that the synset has in its data file; unique with its part of speech."""
        return int(self._arrays["offsets"][self._row(synset)])

    def lemmas(self, synset: int) -> tuple[str, ...]:
        """Return the words of a synset, as written, joined by underscores."""
        start, words = self._arrays["word_start"], self._arrays["words"]
        row = self._row(synset)
        return tuple(self._vocabulary.strings[word] for word in words[start[row] : start[row + 1]])

    def name(self, synset: int) -> str:
        """Return the name: first word, part of speech, and which of the word's senses it is.

        Satellites count among all adjective senses, as in WordNet's own numbering.
        """
        row = self._row(synset)
        word = self.lemmas(row)[0].lower()
        senses = self._vocabulary.synsets(self._vocabulary.strings.find(word), int(self.parts[row]))
        rank = np.flatnonzero(senses == row)
        if not len(rank):
            raise InputError(f"{word!r} does not list its synset {row}", where=self.files.path, fix=REPAIR)
        return f"{word}.{self.pos(row)}.{rank[0] + 1:02d}"

    def synset(self, name: str) -> int:
        """Return the synset of a name such as "dog.n.01"."""
        word, pos, sense = [*name.rsplit(".", 2), "", ""][:3]
        if not (sense.isdecimal() and len(sense) < 5 and pos in tuple(LETTERS)):
            raise InputError(f"{name!r} is no name of a synset", fix="write it like dog.n.01")
        number = self._vocabulary.strings.find(normal(word))
        senses = self._vocabulary.synsets(number, parts_of(pos)[0])
        if 0 < int(sense) <= len(senses):
            row = int(senses[int(sense) - 1])
            if pos != "s" or self.pos(row) == "s":
                return row
        known = [self.name(row) for row in senses]
        fix = f"its senses are {', '.join(known)}" if known else "WordNet does not list this word"
        raise UnknownNameError(f"there is no synset {name!r}", fix=fix)

    def definition(self, synset: int) -> str:
        """Return what a synset means, without examples; read from its data file when asked for."""
        row = self._row(synset)
        file = f"data.{[*PARTS.values()][self.parts[row]]}"
        line = self.files.line_at(file, int(self._arrays["lines"][row]))
        if not line.startswith(b"%08d " % self.offset(row)):
            raise InputError("has changed since it was read", where=self.files.where(file), fix="start anew")
        gloss = line.decode("utf-8", "replace").partition("|")[2]
        return re.sub(r'"[^"]*"', "", gloss).strip("; \r\n")

    def hypernyms(self, synset: int) -> np.ndarray:
        """Return what a synset is a kind of: one step up."""
        return self._related(synset, "hypernyms")

    def instance_hypernyms(self, synset: int) -> np.ndarray:
        """Return what a named thing, such as a city, is one of."""
        return self._related(synset, "instance_hypernyms")

    def hyponyms(self, synset: int) -> np.ndarray:
        """Return the kinds of a synset: one step down."""
        return self._related(synset, "hyponyms")

    def instance_hyponyms(self, synset: int) -> np.ndarray:
        """Return the named things that are instances of a synset."""
        return self._related(synset, "instance_hyponyms")

    def similar_to(self, synset: int) -> np.ndarray:
        """Return the adjectives that are near in meaning: a satellite's head, a head's satellites."""
        return self._related(synset, "similar_to")

    def closure(self, synset: int) -> np.ndarray:
        """Return all that lies above a synset, nearest first, without itself."""
        return self.ancestors(synset)[1][1:]

    def roots(self, synset: int) -> np.ndarray:
        """Return the topmost synsets above a synset; itself if nothing is above it."""
        above = self.ancestors(synset)[1]
        return above[self._arrays["max_depth"][above] == 0]

    def min_depth(self, synset: int) -> int:
        """Return the number of steps of the shortest way up to a root."""
        return int(self._arrays["min_depth"][self._row(synset)])

    def max_depth(self, synset: int) -> int:
        """Return the number of steps of the longest way up to a root."""
        return int(self._arrays["max_depth"][self._row(synset)])

    def ancestors(self, synsets: ArrayLike) -> Ancestors:
        """Return all that lies above each synset, itself included, over hypernyms and instance hypernyms.

        Returns
        -------
        start
            Where the ancestors of each synset begin, and the end of the last.
        above, distance
            The ancestors, nearest first, and the steps of the shortest way to them.
        """
        rows = self._rows(synsets)
        begin, end = (self._arrays["above_start"][rows + step].astype(np.int64) for step in (0, 1))
        start = np.concatenate([[0], np.cumsum(end - begin)])
        places = np.arange(start[-1]) + np.repeat(begin - start[:-1], end - begin)
        return start, self._arrays["above"][places], self._arrays["above_distance"][places]

    def rows_of(self, keys: np.ndarray, where: str | Path) -> np.ndarray:
        """Return the synsets of keys of their file and offset that stand in the file `where`."""
        own = key(self.parts.astype(np.int64), self._arrays["offsets"].astype(np.int64))
        rows = np.minimum(np.searchsorted(own, keys), len(own) - 1)
        if np.any(own[rows] != keys):
            raise InputError(
                "names synsets that are not there",
                where=where,
                fix="take the file for this version of WordNet",
            )
        return rows

    def _related(self, synset: int, relation: str) -> np.ndarray:
        start = self._arrays["edge_start"]
        place = RELATIONS.index(relation) * len(self) + self._row(synset)
        return self._arrays["edges"][start[place] : start[place + 1]]

    def _row(self, synset: int) -> int:
        row = operator.index(synset)
        if not 0 <= row < len(self):
            raise _no_synset(row, len(self))
        return row

    def _rows(self, synsets: ArrayLike) -> np.ndarray:
        rows = np.atleast_1d(np.asarray(synsets))
        if rows.ndim != 1 or (rows.dtype.kind not in "iu" and rows.size):
            raise InputError(
                f"synsets have shape {rows.shape} and type {rows.dtype}", fix="give a list of ints"
            )
        rows = rows.astype(np.int64, copy=False)
        if rows.size and (rows.min() < 0 or rows.max() >= len(self)):
            raise _no_synset(int(rows.min() if rows.min() < 0 else rows.max()), len(self))
        return rows


def _no_synset(row: int, size: int) -> InputError:
    return InputError(f"there is no synset {row}", fix=f"synsets are numbers from 0 to {size - 1}")
