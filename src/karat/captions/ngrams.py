"""n-grams as numbers, each occurrence in a caption numbered: clipped counts become intersections of sets.

The third "a" of a caption is the gram ("a", 3). A caption that has "a" three times holds ("a", 1), ("a", 2)
and ("a", 3), so two captions share min(count, count) grams of it: what BLEU, ROUGE and CIDEr clip by is the
size of an intersection, and every φ here is a sum over shared grams.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.captions.texts import Texts


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

    def spell(self, texts: Texts) -> list[str]:
        """Return every n-gram as its words, separated by spaces."""
        words = [texts.vocabulary[w] for w in texts.words]
        return [" ".join(words[p : p + n]) for p, n in zip(self.sample.tolist(), self.order.tolist())]


def count_grams(texts: Texts, orders: int) -> Grams:
    """Number the n-grams of every text.

    >>> from karat.captions.texts import read_texts
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
