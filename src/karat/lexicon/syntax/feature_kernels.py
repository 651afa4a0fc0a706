"""Features of words and states, and the sums of weights that they name, compiled by numba.

Every feature is a hash; a hash names a row of weights. Rows that the training did not keep are empty,
so that unknown words have no effect. A classifier is a tuple: its templates, then its table (slots,
shift), then its weights: dense for the three actions, else limits of rows, classes and values.
"""

import numpy as np

from karat._util import njit
from karat.lexicon.syntax.model import KEY_BITS

entry = njit(nogil=True, cache=True, error_model="numpy")
inline = njit(nogil=True, cache=True, error_model="numpy", inline="always")

# Columns of the table of words: hashes of the form and of its parts, then what the lexicon says of it.
FORM, LOWER, PRE2, PRE3, SUF1, SUF2, SUF3, SUF4, SHAPE, CLASSES, NOUN, VERB, KNOWN = range(13)
WORD_COLUMNS = 13
MOST_ATOMS = 48
KEY_MASK = (1 << KEY_BITS) - 1


@inline
def mix(h, x):
    """Hash `x` into `h` (64-bit integers that wrap around)."""
    h = (h ^ x) * 0x2545F4914F6CDD1D
    return h ^ (h >> 29)


@inline
def lowered(c):
    """Lower case of a code point: ASCII and Latin-1 suffice for English."""
    if 65 <= c <= 90 or (192 <= c <= 222 and c != 215):
        return c + 32
    return c


@inline
def kind(c):
    """Letter case of a code point: 1 upper, 2 lower, 3 digit, 4 other letter, else itself."""
    if 65 <= c <= 90:
        return 1
    if 97 <= c <= 122:
        return 2
    if 48 <= c <= 57:
        return 3
    return 4 if c > 127 else c


@entry
def read_words(chars, start, keys, facts, out):
    """Fill the table of words from their code points; `facts` belong to the sorted `keys`."""
    for i in range(start.size - 1):
        a, b = start[i], start[i + 1]
        form, lower, shape, before = 11, 12, 13, 0
        for j in range(a, b):
            c = np.int64(chars[j])
            form = mix(form, c)
            lower = mix(lower, lowered(c))
            now = kind(c)
            if now != before:
                shape = mix(shape, now)
                before = now
            if j - a == 1:
                out[i, PRE2] = mix(lower, 1)
            if j - a == 2:
                out[i, PRE3] = mix(lower, 1)
        out[i, FORM], out[i, LOWER], out[i, SHAPE] = form, lower, shape
        if b - a < 2:
            out[i, PRE2] = 1
        if b - a < 3:
            out[i, PRE3] = 1
        suffix = 14
        for k in range(4):
            suffix = mix(suffix, lowered(np.int64(chars[b - 1 - k])) if b - k > a else 2)
            out[i, SUF1 + k] = suffix
        key = (lower >> 20) & 0xFFFFFFFF
        low, high = 0, keys.size
        while low < high:
            middle = (low + high) >> 1
            if keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        found = low < keys.size and keys[low] == key
        for k in range(4):
            out[i, CLASSES + k] = facts[low, k] if found else 0


@entry
def combine(templates, atoms, f):
    """Hash the atoms of each template into a feature."""
    for k in range(templates.shape[0]):
        h = k + 1
        for j in range(templates.shape[1]):
            if templates[k, j] < 0:
                break
            h = mix(h, atoms[templates[k, j]])
        f[k] = h


@inline
def find(feature, slots, shift):
    """The place of a feature in a table of sorted keys with gaps (0 is a gap), or -1."""
    key = (feature >> 8) & KEY_MASK
    place = key >> shift
    while slots[place] != key:
        if slots[place] == 0 or slots[place] > key:
            return -1
        place += 1
    return place


@inline
def find_all(f, slots, shift, rows):
    """Write the places of those features that the table knows; returns how many.

    All first slots are read before any is judged, so that the memory answers them together.
    """
    for k in range(f.size):
        rows[k] = slots[((f[k] >> 8) & KEY_MASK) >> shift]
    found = 0
    for k in range(f.size):
        key = (f[k] >> 8) & KEY_MASK
        if rows[k] == 0 or rows[k] > key:
            continue
        row = key >> shift if rows[k] == key else find(f[k], slots, shift)
        if row >= 0:
            rows[found] = row
            found += 1
    return found


@entry
def add_sparse(f, classifier, rows, out):
    """Write the scores of all classes: the sum of the rows that the features name."""
    _, slots, shift, ptr, column, value = classifier
    out[:] = 0
    for k in range(find_all(f, slots, shift, rows)):
        for j in range(ptr[rows[k]], ptr[rows[k] + 1]):
            out[column[j]] += value[j]


@entry
def add_dense(f, classifier, rows, out):
    """Write the scores of the three actions."""
    _, slots, shift, weights = classifier
    a = b = c = 0
    for k in range(find_all(f, slots, shift, rows)):
        a += weights[rows[k], 0]
        b += weights[rows[k], 1]
        c += weights[rows[k], 2]
    out[0], out[1], out[2] = a, b, c
