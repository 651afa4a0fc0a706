"""One spelling for each compound: t-shirt, t shirt and tee-shirt are the same word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

TABLE = {
    spelt + plural: f"t-shirt{plural}"
    for spelt in ("t shirt", "tee shirt", "tee-shirt", "teeshirt", "tshirt")
    for plural in ("", "s")
}
"""Spellings that no rule finds."""


class Compounds:
    """Learns which spellings of a compound captions use, and writes all of them as the commonest single word.

    Where a hyphenated word of two parts occurs (`skate-board`), its solid spelling (`skateboard`) and the two
    words in a row (`skate board`) are the same compound. Two words in a row are joined only where a single
    word is not rare for them: a slip such as `young-girl` joins nothing.

    Parameters
    ----------
    least
        How often a hyphenated word must occur to teach anything.
    share
        The share of the single words among all spellings from which on two words in a row are joined.
    table
        Spellings that are known beforehand, two words separated by a space.

    Examples
    --------
    >>> seen = [["a", "skate-board"]] * 2 + [["the", "skateboard"]] * 3 + [["a", "skate", "board"]]
    >>> compounds = Compounds().fit(seen)
    >>> compounds(["my", "skate", "board", "and", "tee", "shirts"])
    ['my', 'skateboard', 'and', 't-shirts']
    """

    def __init__(self, least: int = 2, share: float = 0.1, table: Mapping[str, str] = TABLE) -> None:
        self.least, self.share, self.table = least, share, table

    def fit(self, captions: Iterable[Sequence[str]]) -> Compounds:
        """Learn the spellings of compounds."""
        single: Counter[str] = Counter()
        double: Counter[str] = Counter()
        for words in captions:
            single.update(words)
            double.update(f"{a} {b}" for a, b in pairwise(words))
        self.spelling_ = dict(self.table)
        decided = {*self.table, *self.table.values()}
        for word in sorted(single):
            first, _, second = word.partition("-")
            if single[word] < self.least or not (first.isalpha() and second.isalpha()) or word in decided:
                continue
            solid, apart = first + second, f"{first} {second}"
            # Of two that are as common, the hyphenated one, which says where the parts meet.
            best = max((word, solid), key=lambda form: single[form])
            self.spelling_.update({form: best for form in (word, solid) if form != best})
            one_word = single[word] + single[solid]
            if one_word >= self.share * (one_word + double[apart]):
                self.spelling_.setdefault(apart, best)
        return self

    def __call__(self, words: Sequence[str]) -> list[str]:
        """Return the words with each compound spelt as one word."""
        out: list[str] = []
        k = 0
        while k < len(words):
            joined = self.spelling_.get(" ".join(words[k : k + 2])) if k + 1 < len(words) else None
            out.append(joined or self.spelling_.get(words[k], words[k]))
            k += 1 if joined is None else 2
        return out
