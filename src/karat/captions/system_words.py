"""The words that retrieval systems see: mended, as lemmas, no stop words (Hodosh et al. 2013, §4.1.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karat.captions.compounds import Compounds
from karat.captions.spelling import Spelling
from karat.captions.stop_words import STOP_WORDS
from karat.captions.texts import Tokeniser
from karat.captions.tokens import tokenise

if TYPE_CHECKING:
    from karat.lexicon import WordNet
    from karat.lexicon.syntax import Parsed

Tagger = Callable[[Sequence[Sequence[str]]], "Parsed"]

PARTS = {"NOUN": "n", "PROPN": "n", "VERB": "v", "AUX": "v", "ADJ": "a", "ADV": "r"}
"""WordNet's part of speech for tags; words of other tags have no other form."""


ODD_PLURALS = {"people": "person"}
"""WordNet lists people as a word of its own."""


class SystemWords:
    """The preprocessing of captions for retrieval systems, learned from the captions they are trained on.

    Spelling is mended (the paper used the Linux program spell), compounds get one spelling, every word
    becomes its lemma (WordNet's, by the part of speech that the tagger finds), and stop words are removed.

    Parameters
    ----------
    least
        How often the training captions must have a word that others are corrected to.
    stop_words
        What is removed; give an empty set to keep all.
    tokens
        What splits a caption into words.
    tagger
        What finds parts of speech; the one that karat brings by default.

    Examples
    --------
    >>> seen = ["A skateboard and a t-shirt."] * 5
    >>> SystemWords().fit(seen).transform(["Two men in tee shirts are riding a skatebord."])
    [('two', 'man', 't-shirt', 'ride', 'skateboard')]
    """

    def __init__(
        self,
        least: int = 5,
        stop_words: frozenset[str] = STOP_WORDS,
        tokens: Tokeniser = tokenise,
        tagger: Tagger | None = None,
    ) -> None:
        self.least, self.stop_words, self.tokens, self.tagger = least, stop_words, tokens, tagger

    def fit(self, captions: Sequence[str]) -> SystemWords:
        """Learn frequent words and spellings of compounds."""
        from karat.lexicon import wordnet

        self.wordnet_ = wordnet()
        split = [self.tokens(caption) for caption in captions]
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
            self.compounds_([self.spelling_(word) for word in self.tokens(caption)]) for caption in captions
        ]
        parsed = (self.tagger or load_parser())(split)
        found: dict[tuple[str, int], str] = {}
        lemmas = []
        for word, tag in zip(parsed.words, parsed.tag.tolist()):
            key = word, tag
            if key not in found:
                found[key] = lemma(self.wordnet_, word, PARTS.get(TAGS[tag]))
            lemmas.append(found[key])
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
