"""Misspelt words of captions, mended from the captions themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from string import ascii_lowercase


class Spelling:
    """Corrects a word that nobody knows to the frequent word that is one slip away.

    A slip is a letter too many, too few, wrong, or two letters swapped (Damerau–Levenshtein distance 1). A
    word is left alone when it has fewer than four letters or other signs, when it is frequent or known, and
    when two corrections are about as likely: the first must be `factor` times as frequent as the second.

    Parameters
    ----------
    least
        How often a word must occur to be taken for a word.
    factor
        By how much the likeliest correction must lead.
    known
        Says whether a rarer word is one, such as a look into WordNet; by default none is.

    Examples
    --------
    >>> captions = [["a", "skateboard"]] * 5 + [["a", "skatebord"]]
    >>> Spelling(least=5).fit(captions)("skatebord")
    'skateboard'
    """

    def __init__(
        self, least: int = 5, factor: float = 10.0, known: Callable[[str], bool] = lambda word: False
    ) -> None:
        self.least, self.factor, self.known = least, factor, known

    def fit(self, captions: Iterable[Sequence[str]]) -> Spelling:
        """Learn which words are frequent."""
        counts = Counter(word for words in captions for word in words)
        self.frequent_ = {word: n for word, n in counts.items() if n >= self.least}
        self.longest_ = max(map(len, self.frequent_), default=0)
        self.corrections_: dict[str, str] = {}
        return self

    def __call__(self, word: str) -> str:
        """Return a word, corrected where that is clear."""
        if word in self.frequent_:
            return word
        if word not in self.corrections_:
            self.corrections_[word] = self.correct(word)
        return self.corrections_[word]

    def correct(self, word: str) -> str:
        """Return the likeliest correction of a word that is not frequent, or the word itself."""
        # A word far longer than all frequent ones has none near it, and slips by the million.
        if not 4 <= len(word) <= self.longest_ + 1:
            return word
        if not (word.isascii() and word.isalpha()) or self.known(word):
            return word
        near = sorted(
            {(self.frequent_[other], other) for other in slips(word) if other in self.frequent_}, reverse=True
        )
        if not near or (len(near) > 1 and near[0][0] < self.factor * near[1][0]):
            return word
        return near[0][1]


def slips(word: str) -> Iterator[str]:
    """Return every word that is one slip away, some more than once.

    >>> sorted(w for w in set(slips("gril")) if w in {"girl", "grill", "grit", "rail"})
    ['girl', 'grill', 'grit']
    """
    for k in range(len(word) + 1):
        head, tail = word[:k], word[k:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        for letter in ascii_lowercase:
            yield head + letter + tail
            if tail and letter != tail[0]:
                yield head + letter + tail[1:]
