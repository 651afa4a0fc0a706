"""A spaCy pipeline that the user has, in the place of karat's own parser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat.lexicon.syntax.clearnlp import is_clearnlp, to_universal
from karat.lexicon.syntax.parsed import Parsed
from karat.lexicon.syntax.parser import flatten
from karat.lexicon.syntax.tagset import LABELS, TAGS, XPOS
from karat.validation import InputError

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
            raise InputError(f"{nlp!r} is no spaCy pipeline", where="nlp", fix="give what spacy.load returns")
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
            fix="load one that has a parser, as en_core_web_sm",
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
