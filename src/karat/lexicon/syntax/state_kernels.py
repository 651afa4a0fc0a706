"""A sentence while its tree grows, and the atoms of its features, compiled by numba."""

import numpy as np

from karat.lexicon.syntax.feature_kernels import CLASSES, KNOWN, LOWER, NOUN, SUF2, VERB, entry, inline, mix

# Columns of the table of tokens that the parser reads: word, tag, sense class.
WORD, TAG, SENSE = range(3)
# What a tag says to the parser: nouns and verbs have sense classes.
NOUNS, VERBS = 1, 2
# Columns of a node while the tree grows: outer children, how many, the set of their labels, the
# preposition, and what was decided.
L1, L2, R1, R2, LEFTS, RIGHTS, SET, CASE, HEAD, LABEL = range(10)
NODE_COLUMNS = 10


@entry
def start_sentence(words, tags, low, high, groups, token, node, stack):
    """Lay out one sentence: its words, the root, and a row for what is not there; returns its length."""
    n = high - low
    for i in range(n):
        t, w = tags[low + i], low + i
        group = groups[t]
        token[i, TAG] = t
        token[i, WORD] = (
            words[w, LOWER] if words[w, KNOWN] else mix(mix(7, words[w, CLASSES]), words[w, SUF2])
        )
        sense = words[w, NOUN] if group == NOUNS else words[w, VERB]
        token[i, SENSE] = mix(mix(8, group), sense) if group else token[i, WORD]
    for i in range(n, n + 2):
        for k in range(3):
            token[i, k] = -5 - i + n
    for i in range(n + 2):
        for k in range(4):
            node[i, k] = n + 1
        node[i, LEFTS] = node[i, RIGHTS] = node[i, SET] = 0
        node[i, CASE] = n + 1
        node[i, HEAD] = -1
        node[i, LABEL] = -1
    stack[0] = stack[1] = stack[2] = n + 1
    return n


@entry
def attach(node, head, child, label, case_label, none):
    """Add one arc to the growing tree."""
    node[child, HEAD], node[child, LABEL] = head, label
    node[head, SET] |= np.int64(1) << label
    if child < head:
        node[head, L2], node[head, L1] = node[head, L1], child
        node[head, LEFTS] += 1
        if label == case_label:
            node[head, CASE] = child
    else:
        node[head, R2], node[head, R1] = node[head, R1], child
        node[head, RIGHTS] += 1
        # The clitic of a possessive stands to the right.
        if label == case_label and node[head, CASE] == none:
            node[head, CASE] = child


@inline
def gap(a, b):
    """Distance between two places in a few steps."""
    d = b - a
    return d if d < 4 else 4 if d < 7 else 5 if d < 11 else 6


@entry
def action_atoms(token, node, stack, top, b0, n, x):
    """Fill the atoms of a state in the order of the templates' names."""
    s0, s1, s2 = stack[top], stack[top - 1], stack[top - 2]
    b1, b2 = b0 + 1 if b0 < n else n + 1, b0 + 2 if b0 + 1 < n else n + 1
    for k in range(3):
        x[k], x[3 + k], x[8 + k] = token[s0, k], token[s1, k], token[b0, k]
    for k in range(2):
        x[6 + k], x[11 + k], x[13 + k] = token[s2, k], token[b1, k], token[b2, k]
    x[15], x[16] = token[node[s0, CASE], WORD], token[node[s1, CASE], WORD]
    x[17], x[18] = gap(s0, b0), gap(s1, s0)
    x[19], x[20], x[21] = node[s0, SET], node[s1, SET], node[b0, SET]
    l0, r0, l1, r1, lb, ll = (
        node[s0, L1],
        node[s0, R1],
        node[s1, L1],
        node[s1, R1],
        node[b0, L1],
        node[s0, L2],
    )
    x[22], x[23], x[24], x[25], x[26] = (
        token[l0, TAG],
        token[r0, TAG],
        token[l1, TAG],
        token[r1, TAG],
        token[lb, TAG],
    )
    x[27], x[28], x[29], x[30] = node[l0, LABEL], node[r0, LABEL], node[l1, LABEL], node[r1, LABEL]
    x[31] = node[lb, LABEL]
    x[32], x[33], x[34] = token[node[s1, R2], TAG], token[ll, TAG], node[ll, LABEL]
    x[35], x[36], x[37], x[38] = node[s0, LEFTS], node[s0, RIGHTS], node[s1, LEFTS], node[s1, RIGHTS]
    x[39] = node[b0, LEFTS]


@entry
def label_atoms(token, node, head, child, after, n, x):
    """Fill the atoms of an arc; `after` is the first word that the arc has not seen."""
    x[0] = child < head
    for k in range(3):
        x[1 + k], x[4 + k] = token[head, k], token[child, k]
    x[7], x[8] = token[node[child, CASE], WORD], gap(min(head, child), max(head, child))
    x[9], x[10] = node[head, SET], node[child, SET]
    x[11], x[12] = token[child - 1 if child > 0 else n + 1, TAG], token[child + 1, TAG]
    x[13], x[14] = token[head - 1 if head > 0 else n + 1, TAG], token[head + 1, TAG]
    x[15], x[16] = token[node[child, L1], WORD], token[node[child, R1], WORD]
    x[17], x[18], x[19] = token[after, WORD], token[after, TAG], node[node[head, R1], LABEL]
