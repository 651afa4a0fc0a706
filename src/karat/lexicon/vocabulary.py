"""The words: their base forms, their senses and how often each was seen."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from karat.lexicon.files import PARTS
from karat.lexicon.strings import Strings
from karat.validation import InputError

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
    """Return the numbers of the parts of speech that are asked for; all of them for None."""
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
        What :func:`karat.lexicon.reading.read_arrays` returned.
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
        """Return where the senses of a word stand; an empty slice where it has none."""
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
        found = (number, *(regular if irregular is None else irregular))
        return tuple(dict.fromkeys(one for one in found if self._has_senses(one, part)))

    def _has_senses(self, number: int, part: int) -> bool:
        place = self.senses(number, part)
        return place.stop > place.start
