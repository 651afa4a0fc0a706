"""The tagger's training loops, compiled by numba, and what all perceptrons share."""

import numpy as np

from karat._util.compiled import njit
from karat.lexicon.syntax.feature_kernels import KEY_MASK, MOST_ATOMS, combine, find
from karat.lexicon.syntax.tag_kernels import tag_atoms

entry = njit(nogil=True, cache=True, error_model="numpy")
inline = njit(nogil=True, cache=True, error_model="numpy", inline="always")


@inline
def add_rows(f, classifier, out):
    """Write the sum of the rows of weights that the features name."""
    _, slots, shift, weights = classifier
    out[:] = 0
    for j in range(f.size):
        row = find(f[j], slots, shift)
        if row >= 0:
            for c in range(out.size):
                out[c] += weights[row, c]


@inline
def move(f, classifier, sums, cls, by, step):
    """Change the weights of one class; `sums` serves the average."""
    _, slots, shift, weights = classifier
    for j in range(f.size):
        row = find(f[j], slots, shift)
        if row >= 0:
            weights[row, cls] += by
            sums[row, cls] += by * step


@inline
def tally(f, origin, count, last):
    """Count the features that this origin has not shown yet: copies of a sentence prove nothing."""
    for feature in f:
        key = (feature >> 8) & KEY_MASK
        if last[key] != origin:
            last[key] = origin
            count[key] += 1


@entry
def count_tags(words, ptr, gold, origin, templates, count, last):
    """Count in how many sentences of the treebank each tag feature occurs along the gold tags."""
    x, f = np.empty(MOST_ATOMS, np.int64), np.empty(templates.shape[0], np.int64)
    for s in range(ptr.size - 1):
        t1 = t2 = -1
        for i in range(ptr[s], ptr[s + 1]):
            tag_atoms(words, i, ptr[s], ptr[s + 1], t1, t2, x)
            combine(templates, x, f)
            tally(f, origin[s], count, last)
            t1, t2 = gold[i], t1


@entry
def train_tags(words, ptr, gold, order, tagger, sums, step):
    """One round over the sentences; returns the next step and the number of mistakes."""
    x, f = np.empty(MOST_ATOMS, np.int64), np.empty(tagger[0].shape[0], np.int64)
    scores = np.empty(sums.shape[1], np.float32)
    wrong = 0
    for s in order:
        t1 = t2 = -1
        for i in range(ptr[s], ptr[s + 1]):
            tag_atoms(words, i, ptr[s], ptr[s + 1], t1, t2, x)
            combine(tagger[0], x, f)
            add_rows(f, tagger, scores)
            best = np.argmax(scores)
            if best != gold[i]:
                wrong += 1
                move(f, tagger, sums, gold[i], 1, step)
                move(f, tagger, sums, best, -1, step)
            step += 1
            t1, t2 = best, t1
    return step, wrong
