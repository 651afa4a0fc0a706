"""A spaCy pipeline that the user has, in the place of karat's own parser.

spaCy's English models have the relations of ClearNLP, which attaches a noun to its preposition and a
predicate to "be"; Universal Dependencies makes the content word the head (`to_universal`). A tree is three
lists here: heads (the root's is -1), labels, universal tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat.errors import InputError
from karat.lexicon.syntax.sentences import LABELS, TAGS, XPOS, Parsed, flatten

# For pipelines that set only one of the two kinds of tags.
_UNIVERSAL = {
    "CC": "CCONJ", "CD": "NUM", "DT": "DET", "EX": "PRON", "FW": "X", "IN": "ADP", "JJ": "ADJ", "JJR": "ADJ",
    "JJS": "ADJ", "LS": "NUM", "MD": "AUX", "NN": "NOUN", "NNS": "NOUN", "NNP": "PROPN", "NNPS": "PROPN",
    "PDT": "DET", "POS": "PART", "PRP": "PRON", "PRP$": "PRON", "RB": "ADV", "RBR": "ADV", "RBS": "ADV",
    "RP": "ADP", "SYM": "SYM", "TO": "PART", "UH": "INTJ", "VB": "VERB", "VBD": "VERB", "VBG": "VERB",
    "VBN": "VERB", "VBP": "VERB", "VBZ": "VERB", "WDT": "PRON", "WP": "PRON", "WP$": "PRON", "WRB": "ADV",
    "$": "SYM", "ADD": "X", "AFX": "X",
}  # fmt: skip
_PENN = {
    "ADJ": "JJ", "ADP": "IN", "ADV": "RB", "AUX": "VB", "CCONJ": "CC", "DET": "DT", "INTJ": "UH",
    "NOUN": "NN", "NUM": "CD", "PART": "RB", "PRON": "PRP", "PROPN": "NNP", "PUNCT": ".", "SCONJ": "IN",
    "SYM": "SYM", "VERB": "VB", "X": "FW",
}  # fmt: skip

RENAMED = {
    "ROOT": "root", "dobj": "obj", "nsubjpass": "nsubj:pass", "csubjpass": "csubj", "auxpass": "aux:pass",
    "neg": "advmod", "poss": "nmod:poss", "possessive": "case", "quantmod": "advmod", "predet": "det:predet",
    "preconj": "cc:preconj", "prt": "compound:prt", "relcl": "acl:relcl", "rcmod": "acl:relcl",
    "intj": "discourse", "meta": "dep", "npadvmod": "obl", "dative": "iobj",
    "acomp": "xcomp", "oprd": "xcomp", "attr": "xcomp", "complm": "mark", "infmod": "acl", "partmod": "acl",
    "num": "nummod", "number": "compound", "subtok": "goeswith", "prep": "advmod", "agent": "advmod",
    "pobj": "obl", "pcomp": "advcl",
}  # fmt: skip
"""Labels of ClearNLP that have another name in Universal Dependencies; the others are the same in both."""

ONLY_CLEARNLP = {
    "dobj", "nsubjpass", "auxpass", "prep", "pobj", "pcomp", "poss", "relcl", "prt", "attr", "acomp", "agent",
    "npadvmod", "neg", "predet", "dative",
}  # fmt: skip
BE = {"be", "is", "are", "was", "were", "am", "been", "being", "'s", "'re", "'m", "’s", "’re", "’m"}
NOMINAL = {"NOUN", "PROPN", "PRON", "NUM", "SYM", "DET", "X"}

_TAG = {name: k for k, name in enumerate(TAGS)}
_XPOS = {name: k for k, name in enumerate(XPOS)}
_LABEL = {name: k for k, name in enumerate(LABELS)}


class SpacyParser:
    """The built-in parser's call through a spaCy pipeline.

    Relations in the style of spaCy's English models (ClearNLP) are turned into Universal
    Dependencies; pipelines that are trained on a UD treebank are taken as they are.

    Parameters
    ----------
    nlp
        A spaCy pipeline that sets tags, heads and relations, such as `spacy.load("en_core_web_sm")`.
        Its tokeniser is not used.
    """

    def __init__(self, nlp: Any) -> None:
        if not (hasattr(nlp, "vocab") and hasattr(nlp, "pipe")):
            raise InputError(
                f"{nlp!r} is not a spaCy pipeline", where="nlp", fix="give what spacy.load returns"
            )
        self.nlp = nlp

    def __call__(self, sentences: Sequence[Sequence[str]]) -> Parsed:
        """Tag and parse tokenised sentences.

        Parameters
        ----------
        sentences
            Each a sequence of words; an empty one gives an empty parse.

        Returns
        -------
        Parsed
            Tags, heads and relations of all sentences.
        """
        from spacy.tokens import Doc

        ptr, words = flatten(sentences)
        vocab = self.nlp.vocab
        docs = (Doc(vocab, words=[_readable(word) for word in group]) for group in sentences if len(group))
        rows: list[tuple[int, int, int, int]] = []
        for doc in self.nlp.pipe(docs):
            rows += _read(doc)
        tag, xpos, head, label = np.array(rows, np.int64).reshape(-1, 4).T
        return Parsed(
            ptr,
            words,
            tag.astype(np.uint8),
            xpos.astype(np.uint8),
            head.astype(np.int32),
            label.astype(np.uint8),
        )


def _readable(word: str) -> str:
    """Return a word as spaCy takes it, which refuses empty ones and lone surrogates."""
    return word.encode("utf-8", "replace").decode("utf-8") or "?"


def _read(doc: Any) -> list[tuple[int, int, int, int]]:
    """Return tag, Penn tag, head and label of each word of a spaCy document."""
    words = [token.text for token in doc]
    tags, penn = zip(*(_tags(token.pos_, token.tag_) for token in doc))
    if not any(token.dep_ for token in doc):
        raise InputError(
            "the spaCy pipeline sets no heads",
            where="nlp",
            fix="load one that has a parser, such as en_core_web_sm",
        )
    heads = [token.head.i if token.head.i != token.i else -1 for token in doc]
    # A pipeline may split what was given as one sentence: its further roots hang on the first.
    first = heads.index(-1)
    labels = [token.dep_ for token in doc]
    for i, head in enumerate(heads):
        if head < 0 and i != first:
            heads[i], labels[i] = first, "parataxis"
    upos = list(tags)
    if is_clearnlp(labels):
        upos, heads, labels = to_universal(words, upos, heads, labels)
    return [
        (_TAG[u], _XPOS[x], head, (_known(label) or _LABEL["dep"]) if head >= 0 else _LABEL["root"])
        for u, x, head, label in zip(upos, penn, heads, labels)
    ]


def _tags(pos: str, tag: str) -> tuple[str, str]:
    """Return both tags of a word, one from the other where it is missing."""
    if not pos and not tag:
        raise InputError("the spaCy pipeline sets no tags", where="nlp", fix="load one that has a tagger")
    if pos not in _TAG:
        pos = _UNIVERSAL.get(tag, "X" if tag.isalpha() or not tag else "PUNCT")
    return pos, tag if tag in _XPOS else _PENN[pos]


def _known(label: str) -> int:
    """Return the place of a relation, without its subtype where that is none of ours."""
    lower = label.lower()
    return _LABEL.get(lower, _LABEL.get(lower.split(":")[0], _LABEL["dep"]))


def is_clearnlp(labels: list[str]) -> bool:
    """Return whether labels are those of ClearNLP."""
    return not ONLY_CLEARNLP.isdisjoint(labels)


class _Tree:
    """A tree that is being turned."""

    def __init__(self, words: list[str], tags: list[str], heads: list[int], labels: list[str]) -> None:
        self.words, self.tags = [word.lower() for word in words], list(tags)
        self.heads, self.labels = list(heads), list(labels)

    def children(self, i: int, *labels: str) -> list[int]:
        return [
            k for k, head in enumerate(self.heads) if head == i and (not labels or self.labels[k] in labels)
        ]

    def move(self, child: int, head: int, label: str | None = None) -> None:
        self.heads[child] = head
        if label is not None:
            self.labels[child] = label


def to_universal(
    words: list[str], tags: list[str], heads: list[int], labels: list[str]
) -> tuple[list[str], list[int], list[str]]:
    """Return tags, heads and labels in Universal Dependencies.

    Examples
    --------
    >>> to_universal(["cat", "on", "mat"], ["NOUN", "ADP", "NOUN"], [-1, 0, 1], ["ROOT", "prep", "pobj"])
    (['NOUN', 'ADP', 'NOUN'], [-1, 2, 0], ['root', 'case', 'nmod'])
    """
    # What ClearNLP calls nmod stands before its noun.
    tree = _Tree(words, tags, heads, ["compound" if label == "nmod" else label for label in labels])
    _flatten_conjuncts(tree)
    # From the right, so that of two prepositions ("out of") the inner one is turned first.
    for i in range(len(words) - 1, -1, -1):
        if tree.labels[i] in ("prep", "agent") or (tree.labels[i] == "dative" and tree.tags[i] == "ADP"):
            _turn_preposition(tree, i)
    for i in range(len(words)):
        if tree.words[i] in BE and tree.tags[i] in ("AUX", "VERB"):
            _turn_copula(tree, i)
    for i, label in enumerate(tree.labels):
        if label == "aux" and tree.tags[i] == "PART":
            tree.labels[i] = "mark"
        elif label == "npadvmod" and tree.heads[i] >= 0 and tree.tags[tree.heads[i]] in NOMINAL:
            tree.labels[i] = "nmod"
        else:
            tree.labels[i] = RENAMED.get(label, label)
        if tree.heads[i] < 0:
            tree.labels[i] = "root"
    return tree.tags, tree.heads, tree.labels


def _flatten_conjuncts(tree: _Tree) -> None:
    """Hang all conjuncts on the first, and each "and" on the conjunct after it."""
    for i, label in enumerate(tree.labels):
        if label == "conj":
            while tree.labels[tree.heads[i]] == "conj" and tree.heads[tree.heads[i]] >= 0:
                tree.heads[i] = tree.heads[tree.heads[i]]
    for i, label in enumerate(tree.labels):
        if label == "cc":
            first = tree.heads[i]
            first = tree.heads[first] if tree.labels[first] == "conj" else first
            after = [k for k in tree.children(first, "conj") if k > i]
            if after:
                tree.heads[i] = after[0]


def _object_of(tree: _Tree, preposition: int) -> int:
    """Return what a preposition governs, or -1."""
    own = tree.children(preposition, "pobj", "pcomp")
    return own[0] if own else -1


def _turn_preposition(tree: _Tree, i: int) -> None:
    """Make what a preposition governs hang on the preposition's head, and the preposition on it."""
    above, label = tree.heads[i], tree.labels[i]
    below = _object_of(tree, i)
    shared = -1
    for k in tree.children(i, "conj"):
        other = _object_of(tree, k)
        if other < 0:
            continue
        if below < 0:
            # "in and around the house": both prepositions have one noun.
            below = shared = other
        elif k != shared:
            # "on the table and under the chair": two nouns, joined.
            tree.move(other, below, "conj")
            tree.move(k, other, "case")
            for cc in tree.children(k, "cc"):
                tree.move(cc, other)
    if below < 0 or above < 0:
        return
    clause = tree.labels[below] == "pcomp" and tree.tags[below] in ("VERB", "AUX")
    nominal = tree.tags[above] in NOMINAL and not tree.children(above, "nsubj", "cop")
    # A preposition inside another ("out of the box") passes its noun on.
    if tree.tags[above] == "ADP" and tree.labels[above] in ("prep", "agent"):
        tree.move(below, above, tree.labels[below])
    elif clause:
        tree.move(below, above, "acl" if nominal else "advcl")
    elif label == "agent":
        tree.move(below, above, "obl:agent")
    else:
        tree.move(below, above, "nmod" if nominal else "obl")
    tree.move(i, below, "mark" if clause else "case")
    for k in tree.children(i):
        if k != shared and tree.labels[k] != "conj":
            tree.move(k, below)


def _turn_copula(tree: _Tree, be: int) -> None:
    """Make the predicate the head of its clause, and "be" its copula."""
    if tree.labels[be] in ("aux", "auxpass", "cop"):
        return
    predicate = tree.children(be, "attr", "acomp")
    if tree.children(be, "expl"):
        for k in predicate[:1]:
            tree.labels[k] = "nsubj"
        return
    if not predicate:
        # "the cat is on the mat": the noun is the predicate.
        predicate = [
            k for k in tree.children(be, "obl") if k > be and any(c > be for c in tree.children(k, "case"))
        ]
    if not predicate:
        return
    head = predicate[0]
    above, label = tree.heads[be], tree.labels[be]
    tree.move(head, above, label)
    for k in tree.children(be):
        tree.move(k, head)
    tree.move(be, head, "cop")
    tree.tags[be] = "AUX"
