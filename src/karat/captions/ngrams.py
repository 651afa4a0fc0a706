"""Captions as numbers: the words of each distinct text, and its n-grams.

Each occurrence of an n-gram in a caption is numbered, so that clipped counts become intersections of sets.
The third "a" of a caption is the gram ("a", 3). A caption that has "a" three times holds ("a", 1), ("a", 2)
and ("a", 3), so two captions share min(count, count) grams of it: what BLEU, ROUGE and CIDEr clip by is the
size of an intersection, and φ is a sum over shared grams.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.captions.metric import References, check_captions
from karat.captions.tokens import Tokeniser


@dataclass(frozen=True, eq=False)
class EncodedTexts:
    """The distinct texts among references and candidates.

    Parameters
    ----------
    vocabulary
        The words; a word's number is its place.
    words, start
        The words of text t are ``words[start[t]:start[t + 1]]``, as numbers.
    reference, first
        The references of image i are the texts ``reference[first[i]:first[i + 1]]``.
    candidate
        The text of each candidate.
    """

    vocabulary: list[str]
    words: np.ndarray
    start: np.ndarray
    reference: np.ndarray
    first: np.ndarray
    candidate: np.ndarray

    @property
    def n_images(self) -> int:
        """How many images have references, or could have."""
        return self.first.size - 1

    @property
    def length(self) -> np.ndarray:
        """How many words each text has."""
        return np.diff(self.start)


def read_texts(references: References, candidates: Sequence[str], tokens: Tokeniser) -> EncodedTexts:
    """Read the captions of images and the candidates.

    >>> texts = read_texts([["a dog", "a cat"], []], ["a dog"], str.split)
    >>> texts.vocabulary, texts.words.tolist(), texts.reference.tolist(), texts.candidate.tolist()
    (['a', 'dog', 'cat'], [0, 1, 0, 2], [0, 1], [0])
    """
    check_captions(references, candidates)
    numbers: dict[str, int] = {}
    reference = np.array([number(text, numbers) for group in references for text in group], dtype=np.int64)
    candidate = np.array([number(text, numbers) for text in candidates], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum([len(group) for group in references], dtype=np.int64)])
    vocabulary: dict[str, int] = {}
    words: list[int] = []
    lengths = np.zeros(len(numbers) + 1, dtype=np.int64)
    for text, t in numbers.items():
        split = tokens(text)
        lengths[t + 1] = len(split)
        words += [number(word, vocabulary) for word in split]
    return EncodedTexts(
        list(vocabulary), np.array(words, dtype=np.int64), np.cumsum(lengths), reference, first, candidate
    )


def number(key: str, known: dict[str, int]) -> int:
    """Return the place of `key` among the known ones, where it is added if new."""
    return known.setdefault(key, len(known))


@dataclass(frozen=True, eq=False)
class Grams:
    """The numbered n-grams of every text, for n = 1 to `orders`.

    Parameters
    ----------
    gram, start
        The grams of order n of text t are ``gram[start[t, n - 1]:start[t, n]]``, ascending; grams of a higher
        order have higher numbers.
    count
        Of each entry of `gram`, how often its text has that n-gram.
    plain
        Of each gram, the number of its n-gram, whichever occurrence it is.
    sample
        Of each n-gram, a place in ``texts.words`` where it begins.
    order
        Of each n-gram, its n.
    """

    gram: np.ndarray
    start: np.ndarray
    count: np.ndarray
    plain: np.ndarray
    sample: np.ndarray
    order: np.ndarray

    @property
    def orders(self) -> int:
        """The highest n."""
        return self.start.shape[1] - 1

    @property
    def is_first(self) -> np.ndarray:
        """Of each gram, whether it is the first occurrence of its n-gram."""
        first = np.ones(self.plain.size, dtype=bool)
        first[1:] = self.plain[1:] != self.plain[:-1]
        return first

    def spell(self, texts: EncodedTexts) -> list[str]:
        """Return every n-gram as its words, separated by spaces."""
        words = [texts.vocabulary[w] for w in texts.words]
        return [" ".join(words[p : p + n]) for p, n in zip(self.sample.tolist(), self.order.tolist())]


def count_grams(texts: EncodedTexts, orders: int) -> Grams:
    """Number the n-grams of every text.

    >>> from karat.captions.ngrams import read_texts
    >>> grams = count_grams(read_texts([["a dog a cat"]], ["a dog"], str.split), 2)
    >>> grams.gram.tolist(), grams.start.tolist()
    ([0, 1, 2, 3, 4, 5, 6, 0, 2, 4], [[0, 4, 7], [7, 9, 10]])
    >>> grams.plain.tolist(), grams.count[:4].tolist()
    ([0, 0, 1, 2, 3, 4, 5], [2, 2, 1, 1])
    """
    lengths = texts.length
    text_of = np.repeat(np.arange(lengths.size), lengths)
    room = np.repeat(texts.start[1:], lengths) - np.arange(texts.words.size)
    at = np.arange(texts.words.size)
    ids = texts.words
    vocabulary = max(1, len(texts.vocabulary))
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    plains, samples, orders_of = [], [], []
    n_grams = n_plain = 0
    for n in range(1, orders + 1):
        if n > 1:
            # A longer n-gram is the one before it and one more word.
            keep = room[at] >= n
            at, ids = at[keep], ids[keep] * vocabulary + texts.words[at[keep] + n - 1]
        distinct, seen, ids = np.unique(ids, return_index=True, return_inverse=True)
        by_text = np.argsort(text_of[at] * np.int64(distinct.size) + ids, kind="stable")
        text, plain = text_of[at][by_text], ids[by_text]
        new = np.ones(text.size, dtype=bool)
        new[1:] = (text[1:] != text[:-1]) | (plain[1:] != plain[:-1])
        run = np.flatnonzero(new)
        size = np.diff(np.append(run, text.size))
        occurrence = np.arange(text.size) - np.repeat(run, size)
        most = int(size.max(initial=1))
        numbered, gram = np.unique(plain * np.int64(most) + occurrence, return_inverse=True)
        parts.append((text, gram + n_grams, np.repeat(size, size)))
        plains.append(numbered // most + n_plain)
        samples.append(at[seen])
        orders_of.append(np.full(distinct.size, n))
        n_grams, n_plain = n_grams + numbered.size, n_plain + distinct.size
    sizes = np.stack([np.bincount(text, minlength=lengths.size) for text, _, _ in parts], axis=1)
    ends = np.cumsum(sizes.ravel()).reshape(sizes.shape)
    start = np.concatenate([(ends[:, 0] - sizes[:, 0])[:, None], ends], axis=1)
    gram = np.empty(int(sizes.sum()), dtype=np.int64)
    count = np.empty(gram.size, dtype=np.int64)
    for n, (text, ids, repeated) in enumerate(parts):
        # The k-th gram of a text stands k places after where this order of the text begins.
        offset = np.cumsum(sizes[:, n]) - sizes[:, n]
        place = start[text, n] + np.arange(text.size) - offset[text]
        gram[place], count[place] = ids, repeated
    return Grams(
        gram, start, count, np.concatenate(plains), np.concatenate(samples), np.concatenate(orders_of)
    )


def ranges(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the numbers of several ranges, one after the other.

    >>> ranges(np.array([0, 7]), np.array([2, 10])).tolist()
    [0, 1, 7, 8, 9]
    """
    sizes = end - begin
    return np.repeat(begin - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
