"""The words that retrieval systems see (Hodosh et al. 2013, §4.1.1): corrected lemmas without stop words.

`SystemWords` learns from the captions that a system is trained on. Its two parts learn what captions
themselves say about spelling: `Spelling` corrects misspelt words, `Compounds` writes t-shirt, t shirt and
tee-shirt as one word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from karat.captions.tokens import STOP_WORDS, tokenise

if TYPE_CHECKING:
    from karat.lexicon import WordNet
    from karat.lexicon.syntax import Parsed

Tagger = Callable[[Sequence[Sequence[str]]], "Parsed"]

PARTS = {"NOUN": "n", "PROPN": "n", "VERB": "v", "AUX": "v", "ADJ": "a", "ADV": "r"}
"""WordNet's part of speech for tags; words of other tags have no other form."""

ODD_PLURALS = {"people": "person"}
"""WordNet lists people as a separate word."""


class SystemWords:
    """The preprocessing of captions for retrieval systems, learned from the captions they are trained on.

    Spelling is corrected (the paper used the Linux program spell), compounds get one spelling, every word
    becomes its lemma (WordNet's, by the part of speech that the tagger finds), and stop words are removed.

    Parameters
    ----------
    least
        How often the training captions must have a word that others are corrected to.
    stop_words
        What is removed; give an empty set to keep all.
    tagger
        What finds parts of speech; karat's own by default.

    Examples
    --------
    >>> seen = ["A skateboard and a t-shirt."] * 5
    >>> SystemWords().fit(seen).transform(["Two men in tee shirts are riding a skatebord."])
    [('two', 'man', 't-shirt', 'ride', 'skateboard')]
    """

    def __init__(
        self, least: int = 5, stop_words: frozenset[str] = STOP_WORDS, tagger: Tagger | None = None
    ) -> None:
        self.least, self.stop_words, self.tagger = least, stop_words, tagger

    def fit(self, captions: Sequence[str]) -> SystemWords:
        """Learn frequent words and spellings of compounds."""
        from karat.lexicon import wordnet

        self.wordnet_ = wordnet()
        split = [tokenise(caption) for caption in captions]
        self.spelling_ = Spelling(self.least, known=self.is_word).fit(split)
        self.compounds_ = Compounds().fit(split)
        return self

    def state(self) -> dict[str, Any]:
        """Return what `fit` learned, as json takes it: frequent words and spellings of compounds."""
        return {"frequent": self.spelling_.frequent_, "compounds": self.compounds_.spelling_}

    def restore(self, state: Mapping[str, Any]) -> SystemWords:
        """Take over what `state` returned, instead of fitting; returns the object itself.

        >>> fitted = SystemWords().fit(["A skateboard and a t-shirt."] * 5)
        >>> SystemWords().restore(fitted.state()).transform(["a skatebord"])
        [('skateboard',)]
        """
        from karat.lexicon import wordnet

        self.wordnet_ = wordnet()
        self.spelling_ = Spelling(self.least, known=self.is_word).fit([])
        self.spelling_.frequent_ = {str(word): int(n) for word, n in state["frequent"].items()}
        self.spelling_.longest_ = max(map(len, self.spelling_.frequent_), default=0)
        self.compounds_ = Compounds().fit([])
        self.compounds_.spelling_ = {str(form): str(word) for form, word in state["compounds"].items()}
        return self

    def is_word(self, word: str) -> bool:
        """Whether a word is English, however rare it is in the captions."""
        return word in STOP_WORDS or self.wordnet_.morphy(word) is not None

    def transform(self, captions: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the words of every caption."""
        from karat.lexicon.syntax import TAGS, load_parser

        split = [
            self.compounds_([self.spelling_(word) for word in tokenise(caption)]) for caption in captions
        ]
        parsed = (self.tagger or load_parser())(split)
        known: dict[tuple[str, int], str] = {}
        lemmas = []
        for word, tag in zip(parsed.words, parsed.tag.tolist()):
            key = word, tag
            if key not in known:
                known[key] = lemma(self.wordnet_, word, PARTS.get(TAGS[tag]))
            lemmas.append(known[key])
        return [
            tuple(
                base
                for word, base in zip(parsed.words[b:e], lemmas[b:e])
                if word not in self.stop_words and base not in self.stop_words
            )
            for b, e in zip(parsed.ptr[:-1].tolist(), parsed.ptr[1:].tolist())
        ]


def lemma(wordnet: WordNet, word: str, part: str | None) -> str:
    """Return the base form of a word as one part of speech; without one, the word itself.

    Of a compound that WordNet lacks, the last part is brought into its base form.

    >>> from karat.lexicon import wordnet
    >>> [lemma(wordnet(), word, "n") for word in ("children", "bull-fights", "zorbs")]
    ['child', 'bull-fight', 'zorbs']
    """
    if part is None:
        return word
    if part == "n" and word in ODD_PLURALS:
        return ODD_PLURALS[word]
    if wordnet.morphy(word, part) is not None:
        return wordnet.lemma(word, part)
    head, hyphen, last = word.rpartition("-")
    return f"{head}-{wordnet.lemma(last, part)}" if hyphen and last else wordnet.lemma(word)


class Spelling:
    """Corrects an unknown word to the frequent word that is one edit away.

    An edit is a letter too many, too few, wrong, or two letters swapped (Damerau–Levenshtein distance 1). A
    word is left alone when it has fewer than four letters or other signs, when it is frequent or known, and
    when two corrections are about as likely: the first must be `factor` times as frequent as the second.

    Parameters
    ----------
    least
        How often a word must occur to be taken for a word.
    factor
        How many times as frequent the likeliest correction must be as the next.
    known
        Says whether a rarer word is a word, such as by WordNet; by default none is.

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
            {(self.frequent_[slip], slip) for slip in slips(word) if slip in self.frequent_}, reverse=True
        )
        if not near or (len(near) > 1 and near[0][0] < self.factor * near[1][0]):
            return word
        return near[0][1]


def slips(word: str) -> Iterator[str]:
    """Return every word that is one edit away, some more than once.

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


COMPOUNDS = {
    spelt + plural: f"t-shirt{plural}"
    for spelt in ("t shirt", "tee shirt", "tee-shirt", "teeshirt", "tshirt")
    for plural in ("", "s")
}
"""Spellings that no rule finds."""


class Compounds:
    """Learns which spellings of a compound captions use, and writes all of them as the commonest single word.

    Where a hyphenated word of two parts occurs (`skate-board`), its solid spelling (`skateboard`) and the two
    words in a row (`skate board`) are the same compound. Two words in a row are joined only where a single
    word is not rare for them: an error such as `young-girl` joins nothing.

    Parameters
    ----------
    least
        How often a hyphenated word must occur to teach anything.
    share
        The share of the single words among all spellings from which on two words in a row are joined.
    table
        Spellings that are known in advance, two words separated by a space.

    Examples
    --------
    >>> seen = [["a", "skate-board"]] * 2 + [["the", "skateboard"]] * 3 + [["a", "skate", "board"]]
    >>> compounds = Compounds().fit(seen)
    >>> compounds(["my", "skate", "board", "and", "tee", "shirts"])
    ['my', 'skateboard', 'and', 't-shirts']
    """

    def __init__(self, least: int = 2, share: float = 0.1, table: Mapping[str, str] = COMPOUNDS) -> None:
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
