"""Words: their meanings, base forms, synonyms and opposites."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache

import numpy as np

from karat.lexicon.data_files import LETTERS
from karat.lexicon.files import Files
from karat.lexicon.synsets import Synsets
from karat.lexicon.vocabulary import Vocabulary, normal, parts_of

_REMEMBERED = 1 << 16


class Words(Synsets):
    """The word side of :class:`karat.lexicon.WordNet`."""

    def __init__(self, arrays: dict[str, np.ndarray], files: Files) -> None:
        for array in arrays.values():
            array.setflags(write=False)
        super().__init__(arrays, files, Vocabulary(arrays))
        self._remembered = lru_cache(_REMEMBERED)(self._senses)
        self._keys = lru_cache(_REMEMBERED)(lambda *asked: frozenset(self.synsets(*asked).tolist()))

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
        found = next(self._bases(normal(form), pos), None)
        return None if found is None else self._vocabulary.strings[found[0]]

    def lemma(self, word: str, pos: str | None = None) -> str:
        """Return the base form that was seen most often; the word in lower case where WordNet knows none.

        Without `pos`, of the first part of speech that knows the word: noun, verb, adjective, adverb.

        >>> from karat.lexicon import wordnet
        >>> wn = wordnet()
        >>> wn.lemma("saw", "v"), wn.lemma("Teddy bears"), wn.lemma("selfies", "n")
        ('see', 'teddy bear', 'selfies')
        """
        found = list(self._bases(normal(word), pos))
        if not found:
            return word.lower()
        same = [(base, part) for base, part in found if part == found[0][1]]
        base, _ = max(same, key=lambda one: self._vocabulary.counts(*one).sum())
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
        found: dict[str, None] = {}
        for base, part in self._bases(normal(word), pos):
            for row in self._vocabulary.synsets(base, part):
                for place in range(start[row], start[row + 1]):
                    opposite = self._opposites.get(place, ())
                    if opposite and strings[words[place]].lower() == strings[base]:
                        found |= dict.fromkeys(strings[words[one]] for one in opposite)
        return tuple(found)

    def synset_keys(self, word: str, pos: str | None = None) -> frozenset[int]:
        """Return the meanings of a word as a set: words are synonyms if their sets meet."""
        return self._keys(word, pos)

    def same_meaning(self, a: str, b: str, pos: str | None = None) -> bool:
        """Return whether two words have the same base form or a meaning in common."""
        if normal(self.lemma(a, pos)) == normal(self.lemma(b, pos)):
            return True
        return not self._keys(a, pos).isdisjoint(self._keys(b, pos))

    def _senses(self, form: str, pos: str | None) -> tuple[np.ndarray, np.ndarray]:
        rows, counts = np.zeros(0, np.int32), np.zeros(0, np.int32)
        if found := list(self._bases(form, pos)):
            rows = np.concatenate([self._vocabulary.synsets(*one) for one in found])
            counts = np.concatenate([self._vocabulary.counts(*one) for one in found])
            # Two base forms may share a synset; it stands where it came first.
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

    def _bases(self, form: str, pos: str | None) -> Iterator[tuple[int, int]]:
        return ((base, part) for part in parts_of(pos) for base in self._vocabulary.bases(form, part))
