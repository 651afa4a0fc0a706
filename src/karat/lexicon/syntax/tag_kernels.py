"""The tagger's loop, compiled by numba."""

import numpy as np

from karat.lexicon.syntax.feature_kernels import (
    CLASSES,
    LOWER,
    MOST_ATOMS,
    SHAPE,
    SUF3,
    VERB,
    add_sparse,
    combine,
    entry,
    inline,
)


@inline
def look(words, i, low, high, column):
    """The cell of word `i`, or a special number outside of the sentence."""
    if i < low:
        return -3
    if i >= high:
        return -4
    return words[i, column]


@entry
def tag_atoms(words, i, low, high, t1, t2, x):
    """Fill the atoms of word `i` in the order of the templates' names."""
    for k in range(VERB + 1):
        x[k] = words[i, k]
    x[12] = i == low
    x[13], x[14] = look(words, i - 1, low, high, LOWER), look(words, i - 2, low, high, LOWER)
    x[15], x[16] = look(words, i + 1, low, high, LOWER), look(words, i + 2, low, high, LOWER)
    x[17] = look(words, i - 1, low, high, CLASSES)
    x[18], x[19] = look(words, i + 1, low, high, CLASSES), look(words, i + 2, low, high, CLASSES)
    x[20], x[21] = look(words, i - 1, low, high, SUF3), look(words, i + 1, low, high, SUF3)
    x[22], x[23], x[24] = look(words, i + 1, low, high, SHAPE), t1, t2


@entry
def tag_words(words, ptr, tagger, classes, out):
    """Tag all sentences from left to right; `out` gets the class of each word."""
    x, f = np.empty(MOST_ATOMS, np.int64), np.empty(tagger[0].shape[0], np.int64)
    scores, rows = np.empty(classes, np.int32), np.empty_like(f)
    for s in range(ptr.size - 1):
        t1 = t2 = -1
        for i in range(ptr[s], ptr[s + 1]):
            tag_atoms(words, i, ptr[s], ptr[s + 1], t1, t2, x)
            combine(tagger[0], x, f)
            add_sparse(f, tagger, rows, scores)
            out[i] = np.argmax(scores)
            t1, t2 = out[i], t1
