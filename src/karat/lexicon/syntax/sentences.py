"""Parsed sentences: what a parser returns, and the tags and relations in which it says so.

Tags, heads and relations of many sentences lie in flat arrays (`Parsed`); the names are those of Universal
Dependencies for English.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from karat.errors import InputError

TAGS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT",
    "SCONJ", "SYM", "VERB", "X",
)  # fmt: skip
"""Universal part-of-speech tags; `Parsed.tag` indexes them."""

XPOS = (
    "$", "''", ",", "-LRB-", "-RRB-", ".", ":", "ADD", "AFX", "CC", "CD", "DT", "EX", "FW", "GW", "HYPH",
    "IN", "JJ", "JJR", "JJS", "LS", "MD", "NFP", "NN", "NNP", "NNPS", "NNS", "PDT", "POS", "PRP", "PRP$",
    "RB", "RBR", "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP",
    "WP$", "WRB", "``",
)  # fmt: skip
"""Penn Treebank tags as the English Web Treebank uses them; `Parsed.xpos` indexes them."""

LABELS = (
    "root", "acl", "acl:relcl", "advcl", "advmod", "amod", "appos", "aux", "aux:pass", "case", "cc",
    "cc:preconj", "ccomp", "compound", "compound:prt", "conj", "cop", "csubj", "dep", "det", "det:predet",
    "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark", "nmod",
    "nmod:poss", "nsubj", "nsubj:pass", "nummod", "obj", "obl", "obl:agent", "orphan", "parataxis",
    "punct", "reparandum", "vocative", "xcomp",
)  # fmt: skip
"""Universal relations, with the subtypes that help in reading captions; `Parsed.label` indexes them."""


@dataclass(frozen=True)
class Sentence:
    """One parsed sentence as plain lists; printing it shows a table.

    Parameters
    ----------
    words
        The words as given.
    tags, xpos
        Universal and Penn Treebank tags.
    heads
        The place of each word's head, from 0; -1 for the root.
    labels
        The relation of each word to its head.

    Examples
    --------
    >>> print(Sentence(["red", "bus"], ["ADJ", "NOUN"], ["JJ", "NN"], [1, -1], ["amod", "root"]))
    0  red  ADJ   JJ   1  amod  bus
    1  bus  NOUN  NN  -1  root  -
    """

    words: list[str]
    tags: list[str]
    xpos: list[str]
    heads: list[int]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.words)

    def __str__(self) -> str:
        above = [self.words[head] if head >= 0 else "-" for head in self.heads]
        numbers = [str(i) for i in range(len(self))]
        heads = [str(head) for head in self.heads]
        columns = [
            (numbers, str.rjust), (self.words, str.ljust), (self.tags, str.ljust), (self.xpos, str.ljust),
            (heads, str.rjust), (self.labels, str.ljust), (above, str.ljust),
        ]  # fmt: skip
        padded = [[align(cell, max(map(len, cells))) for cell in cells] for cells, align in columns if cells]
        return "\n".join("  ".join(row).rstrip() for row in zip(*padded))


@dataclass(frozen=True, eq=False)
class Parsed:
    """Many parsed sentences in flat arrays; `parsed[k]` is one of them as plain lists.

    Parameters
    ----------
    ptr
        Sentence k has the words `ptr[k]:ptr[k + 1]`.
    words
        All words, one after the other.
    tag, xpos
        Places in `TAGS` and in `XPOS`, uint8.
    head
        The place of each word's head within its sentence, int32; -1 for the root.
    label
        Places in `LABELS`, uint8.
    """

    ptr: np.ndarray
    words: list[str]
    tag: np.ndarray
    xpos: np.ndarray
    head: np.ndarray
    label: np.ndarray

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def __getitem__(self, k: int) -> Sentence:
        size = len(self)
        if not -size <= k < size:
            raise IndexError(f"sentence {k} of {size}")
        k %= size
        part = slice(int(self.ptr[k]), int(self.ptr[k + 1]))
        return Sentence(
            self.words[part],
            [TAGS[t] for t in self.tag[part]],
            [XPOS[t] for t in self.xpos[part]],
            self.head[part].tolist(),
            [LABELS[t] for t in self.label[part]],
        )

    def __iter__(self) -> Iterator[Sentence]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"Parsed({len(self):,} sentences, {len(self.words):,} words)"


def flatten(sentences: Sequence[Sequence[str]]) -> tuple[np.ndarray, list[str]]:
    """Return the limits of the sentences and all their words; raise unless each is a list of words."""
    if isinstance(sentences, str) or any(isinstance(sentence, str) for sentence in sentences):
        raise InputError("a sentence is a string", where="sentences", fix="split it into a list of words")
    ptr = np.zeros(len(sentences) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, sentences), np.int64, len(sentences)), out=ptr[1:])
    words = list(chain.from_iterable(sentences))
    for i, word in enumerate(words):
        if not isinstance(word, str):
            raise InputError(
                f"word {i} is {word!r}, not a string", where="sentences", fix="give words as text"
            )
    return ptr, words
