"""A word model: how probable a caption is by the words that precede each of its words in other captions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log
from pathlib import Path

import numpy as np

from karat._util import read_lines
from karat.captions.tokens import tokenise
from karat.errors import InputError
from karat.scores import TEXT_ONLY

ORDER = 3
START, END, UNKNOWN = "<s>", "</s>", "<unk>"


class WordModel:
    """A trigram model of captions with Witten–Bell smoothing.

    The probability of a word w after the words h is (c(hw) + T(h) p(w | h′)) / (c(h) + T(h)), with the counts
    c, the number T(h) of different words seen after h, and h′ without its first word; without any words
    before, p is uniform over the vocabulary and one unknown word (Witten and Bell 1991).

    Parameters
    ----------
    captions
        What it learns from.
    order
        How many words are looked at, the word itself included.

    Examples
    --------
    >>> model = WordModel(["a dog runs", "a dog sleeps", "a cat sleeps"])
    >>> model.score("a dog sleeps") > model.score("sleeps a dog")
    True
    """

    def __init__(self, captions: Iterable[str], order: int = ORDER) -> None:
        self.order = order
        self.counts: Counter[tuple[str, ...]] = Counter()
        self.after: Counter[tuple[str, ...]] = Counter()
        self.kinds: Counter[tuple[str, ...]] = Counter()
        for caption in captions:
            words = self.padded(tokenise(caption))
            for end in range(order, len(words) + 1):
                for start in range(end - order, end):
                    self.counts[tuple(words[start:end])] += 1
        for gram, count in self.counts.items():
            self.after[gram[:-1]] += count
            self.kinds[gram[:-1]] += 1
        self.vocabulary = {gram[0] for gram in self.counts if len(gram) == 1}

    def padded(self, words: Sequence[str]) -> list[str]:
        """Return the words between the marks of start and end."""
        return [*[START] * (self.order - 1), *words, END]

    def probability(self, gram: tuple[str, ...]) -> float:
        """Return the probability of the last word after the others."""
        if not gram:
            return 1 / (len(self.vocabulary) + 1)
        seen, kinds = self.after[gram[:-1]], self.kinds[gram[:-1]]
        lower = self.probability(gram[1:])
        return (self.counts[gram] + kinds * lower) / (seen + kinds) if seen else lower

    def score(self, caption: str) -> float:
        """Return the mean log probability of a caption's words and its end."""
        words = self.padded([w if w in self.vocabulary else UNKNOWN for w in tokenise(caption)])
        ends = range(self.order, len(words) + 1)
        return sum(log(self.probability(tuple(words[end - self.order : end]))) for end in ends) / len(ends)


def ngram(texts: Sequence[str], argument: str) -> np.ndarray:
    """Return the scores of captions by a model of the captions in a file, one per line."""
    if not argument:
        raise InputError("ngram needs captions to learn from", fix="write ngram:captions.txt, one per line")
    captions = [line for line in read_lines(Path(argument)) if line.strip()]
    if not captions:
        raise InputError("holds no caption", where=argument, fix="write one per line")
    model = WordModel(captions)
    return np.array([model.score(text) for text in texts])


TEXT_ONLY.add("ngram", ngram)
