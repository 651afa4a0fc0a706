"""What the tagger and the parser look at: atoms of a word or a state, and their combinations.

A template names a few atoms; their hash is a feature. The kernels fill the atoms in this order.
"""

from __future__ import annotations

import numpy as np


def listed(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


# The word, its parts, what the lexicon says of it; words before (p, pp) and after (n, nn); tags before.
TAG_ATOMS = listed(
    "form word pre2 pre3 suf1 suf2 suf3 suf4 shape classes noun verb first p.word pp.word n.word nn.word "
    "p.classes n.classes nn.classes p.suf3 n.suf3 n.shape p.tag pp.tag"
)
TAG_TEMPLATES = """
first/word/form first/pre2/pre3/suf1/suf2/suf3/suf4/shape first/shape suf3/classes/classes suf2/noun verb
p.word/n.word/pp.word/nn.word/p.word word/word n.word/p.word n.word/p.suf3/n.suf3/n.shape shape
p.classes classes/classes n.classes/p.classes classes n.classes/classes n.classes nn.classes
classes n.word/p.word classes/p.word classes n.classes
p.tag/p.tag pp.tag/p.tag word/p.tag suf3/p.tag classes/p.tag pp.tag classes/p.tag n.word
p.tag classes n.classes/p.tag pp.tag word
"""
# The stack's upper three (s0 on top), the buffer's first three (b0 first): word, tag, sense class;
# case: its preposition; l, r: its outer left and right child (ll, rr: the one before); set: the labels
# of its children; lefts, rights: how many.
ACTION_ATOMS = listed(
    "s0.word s0.tag s0.sense s1.word s1.tag s1.sense s2.word s2.tag b0.word b0.tag b0.sense b1.word b1.tag "
    "b2.word b2.tag s0.case s1.case s0-b0 s1-s0 s0.set s1.set b0.set s0.l.tag s0.r.tag s1.l.tag s1.r.tag "
    "b0.l.tag s0.l.label s0.r.label s1.l.label s1.r.label b0.l.label s1.rr.tag s0.ll.tag s0.ll.label "
    "s0.lefts s0.rights s1.lefts s1.rights b0.lefts"
)
ACTION_TEMPLATES = """
s0.word/s0.tag/s0.word s0.tag/s1.word/s1.tag/s1.word s1.tag/s2.tag/s2.word
b0.word/b0.tag/b0.word b0.tag/b1.word/b1.tag/b2.word/b2.tag/b1.word b1.tag
s0.word s0.tag b0.word b0.tag/s0.word s0.tag b0.tag/s0.tag b0.word b0.tag/s0.word b0.word/s0.tag b0.tag
b0.tag b1.tag/s1.word s1.tag s0.word s0.tag/s1.word s0.word/s1.word s1.tag s0.tag/s1.tag s0.word s0.tag
s1.tag s0.tag/s1.word b0.word/s1.tag b0.tag/s1.word s1.tag b0.tag/s1.tag b0.word b0.tag
b0.tag b1.tag b2.tag/s0.tag b0.tag b1.tag/s1.tag s0.tag b0.tag/s2.tag s1.tag s0.tag/s2.tag s1.tag b0.tag
s0.tag b0.tag s0.l.tag/s0.tag b0.tag s0.r.tag/s0.tag b0.tag b0.l.tag
s1.tag s0.tag s0.l.tag/s1.tag s0.tag s0.r.tag/s1.tag s0.tag s1.l.tag/s1.tag s0.tag s1.r.tag
s1.tag s0.tag b0.l.tag/s1.word s0.tag b0.tag/s0.word s1.tag b0.tag/b0.word s1.tag s0.tag
s1.tag s0.tag b0.tag b1.tag/s2.tag s1.tag s0.tag b0.tag
s0.word s0-b0/s0.tag b0.tag s0-b0/b0.word s0-b0/s1.tag s0.tag s1-s0/s1.word s1-s0
s0.word s0.tag s0.rights/s0.tag s0.lefts s0.rights/s1.word s1.tag s1.rights/s1.tag s1.lefts s1.rights
b0.word b0.tag b0.lefts/b0.tag b0.lefts
s0.tag s0.l.label/s0.tag s0.r.label/s1.tag s1.l.label/s1.tag s1.r.label/b0.tag b0.l.label
s0.word s0.tag s0.set/s1.word s1.tag s1.set/b0.word b0.tag b0.set
s0.tag b0.tag s0.set b0.set/s1.tag s0.tag s1.set s0.set
s1.tag s0.tag b0.tag s1.set/s1.tag s0.tag b0.tag s0.set
s0.case s1.word/s0.case s1.tag/s0.case s1.word s0.word/s0.case s1.tag s2.tag/s0.case s2.word
s0.case s1.sense s0.sense/s0.case s1.sense/s0.case s1.tag b0.tag/s0.case s1.tag s1.set
b0.word s0.word s1.word/b0.word s0.sense s1.sense/b0.word s0.sense/b0.word s1.sense
s1.sense s0.sense/s0.sense b0.sense/s1.sense b0.sense
s1.case s0.case s1.tag/s1.case b0.word s0.tag/s0.case b0.word s0.tag
s1.tag s1.rr.tag s1.r.label/b0.word b1.word s0.tag/s0.sense b0.tag b1.tag/s0.word b0.tag b1.tag
b0.word b1.tag s0.tag/s0.ll.tag s0.tag s0.ll.label/s1.sense s0.tag b0.word
b0.tag b1.word s0.tag/s1.word s0.sense b0.word
"""
# An arc when it is made: head h, child c, which side the child is on, and the neighbours of both.
LABEL_ATOMS = listed(
    "side h.word h.tag h.sense c.word c.tag c.sense c.case gap h.set c.set p.tag n.tag h.p.tag h.n.tag "
    "c.l.word c.r.word next.word next.tag h.r.label"
)
LABEL_TEMPLATES = """
side c.tag h.tag/side c.word/side h.word/side c.tag/side h.tag/side c.word c.tag h.tag/side h.word c.tag h.tag
side c.word h.word/side c.tag h.tag gap/side c.tag h.tag h.set/side c.tag h.tag c.set/side c.tag c.set
side c.tag h.tag c.case/side c.tag c.case h.word/side c.tag c.case c.word
side c.tag h.tag p.tag/side c.tag h.tag n.tag/side c.tag h.tag h.n.tag/side c.tag h.tag h.p.tag
side c.tag h.word h.set/side c.tag c.word c.set/side c.tag h.tag h.sense c.sense/side c.tag c.sense
side c.tag h.tag c.sense c.case/side c.tag h.tag h.set c.set/side c.tag h.tag c.l.word
side c.tag h.tag c.r.word/side c.tag h.sense
side c.tag h.tag p.tag n.tag/side c.tag h.tag next.tag/side c.tag h.tag next.word
side c.tag h.r.label/side h.word c.sense c.case/side c.tag h.tag h.set gap/side c.tag c.word h.set
c.word p.tag n.tag
"""


def compiled(templates: str, atoms: list[str]) -> np.ndarray:
    """Return the templates as places of their atoms, one row each, filled up with -1.

    >>> compiled("a/b a", ["a", "b"])
    array([[ 0, -1],
           [ 1,  0]])
    """
    rows = [
        [atoms.index(atom) for atom in one.split()]
        for one in "/".join(templates.split("\n")).split("/")
        if one
    ]
    width = max(map(len, rows))
    return np.array([row + [-1] * (width - len(row)) for row in rows], np.int64)


TAG, ACTION, LABEL = (
    compiled(TAG_TEMPLATES, TAG_ATOMS),
    compiled(ACTION_TEMPLATES, ACTION_ATOMS),
    compiled(LABEL_TEMPLATES, LABEL_ATOMS),
)
