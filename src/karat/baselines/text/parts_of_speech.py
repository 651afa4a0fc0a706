"""Parts of speech of caption words: tags before lemmas, and which words count as nouns or verbs."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.baselines.text.encoded_captions import Captions
from karat.captions import PARTS, SystemWords
from karat.errors import InputError
from karat.lexicon.syntax import TAGS, Parsed, load_parser


@dataclass(frozen=True)
class TagRule:
    """When a word counts as a noun or a verb.

    Parameters
    ----------
    least
        How often it must be tagged so.
    share
        In which share of its occurrences it must be tagged so.
    """

    least: int
    share: float

    def chosen(self, tagged: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Return which words do, by how often each is tagged so and how often it occurs.

        >>> TagRule(5, 0.5).chosen(np.array([5, 4, 9]), np.array([10, 4, 20]))
        array([ True, False, False])
        """
        return (tagged >= max(self.least, 1)) & (tagged >= self.share * total)


def tagged_counts(
    words: np.ndarray, tags: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how often each of `size` words occurs, how often as a noun and how often as a verb."""
    total, noun, verb = (
        np.bincount(words[chosen], minlength=size)
        for chosen in (np.ones(len(words), bool), tags == "n", tags == "v")
    )
    return total, noun, verb


def check_tags(captions: Captions, tags: Captions) -> None:
    """Raise unless there is one tag per word."""
    words, labels = ([[len(caption) for caption in item] for item in items] for items in (captions, tags))
    if words != labels:
        unequal = (i for i, (a, b) in enumerate(zip(words, labels)) if a != b)
        place = next(unequal, min(len(words), len(labels)))
        raise InputError(f"item {place} has different numbers of tags and words", fix="give one per word")


def tagged_words(
    words: SystemWords, captions: Sequence[Sequence[str]]
) -> tuple[list[list[tuple[str, ...]]], list[list[tuple[str, ...]]]]:
    """Return the words of items' captions as models see them, and the part of speech of each.

    Captions are tagged as they were written, before lemmas are taken and stop words removed.

    Parameters
    ----------
    words
        The preprocessing, fitted on the training captions.
    captions
        Per item its captions, as texts.

    Returns
    -------
    words, tags
        Per item and caption; a tag is one of n, v, a, r, or "-" for what is none of them.

    Examples
    --------
    >>> words = SystemWords().fit(["Two dogs are running."])
    >>> tagged_words(words, [["Two dogs are running.", "A dog"]])
    ([[('two', 'dog', 'run'), ('dog',)]], [[('-', 'n', 'v'), ('n',)]])
    """
    seen: list[Parsed] = []

    def tagger(split: Sequence[Sequence[str]]) -> Parsed:
        seen.append((words.tagger or load_parser())(split))
        return seen[-1]

    # Stop words stay at first, so that words and tags are as many.
    bare = copy.copy(words)
    bare.stop_words, bare.tagger = frozenset(), tagger
    texts = [text for item in captions for text in item]
    lemmas = [base for caption in bare.transform(texts) for base in caption]
    parsed = seen[-1]
    pairs = [
        (base, PARTS.get(TAGS[tag], "-"), word not in words.stop_words and base not in words.stop_words)
        for word, tag, base in zip(parsed.words, parsed.tag.tolist(), lemmas)
    ]
    by_caption: tuple[list[tuple[str, ...]], list[tuple[str, ...]]] = [], []
    for begin, end in zip(parsed.ptr[:-1].tolist(), parsed.ptr[1:].tolist()):
        content = [pair for pair in pairs[begin:end] if pair[2]]
        by_caption[0].append(tuple(base for base, _, _ in content))
        by_caption[1].append(tuple(tag for _, tag, _ in content))
    ends = np.cumsum([len(item) for item in captions]).tolist()
    own, tags = ([flat[e - len(item) : e] for item, e in zip(captions, ends)] for flat in by_caption)
    return own, tags
