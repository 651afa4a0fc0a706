"""Trees as the flat arrays that the training loops read, and the lexicon of a model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from english.treebank import Tree
from karat.lexicon.syntax.parser import word_table
from karat.lexicon.syntax.sentences import LABELS, TAGS, XPOS


@dataclass(frozen=True)
class Flat:
    """Many trees in flat arrays; `table` holds the words' hashes, `tag` classes of the tagger (-1: none)."""

    trees: list[Tree]
    ptr: np.ndarray
    words: list[str]
    table: np.ndarray
    tag: np.ndarray
    head: np.ndarray
    label: np.ndarray
    origin: np.ndarray


def tag_classes(trees: list[Tree], least: int = 5) -> np.ndarray:
    """Return the pairs of universal and Penn tags that occur at least so often, [classes, 2]."""
    count = Counter(pair for tree in trees for pair in tree.tags)
    # Foreign words and the like have many rare tags; one stands for all.
    pairs = [("X", "FW"), *(pair for pair, times in count.items() if times >= least and pair[0] != "X")]
    return np.array(sorted({(TAGS.index(u), XPOS.index(x)) for u, x in pairs}), np.uint8)


def build_lexicon(trees: list[Tree], facts: dict[str, tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted keys of all words known to WordNet or met twice in `trees`, and their facts."""
    count = Counter(word.lower() for tree in trees for word in tree.words)
    words = sorted({*facts, *(word for word, times in count.items() if times >= 2)})
    none = np.zeros(0, np.uint32), np.zeros((0, 4), np.uint16)
    keys = ((word_table(words, *none)[:, 1] >> 20) & 0xFFFFFFFF).astype(np.uint32)
    rows = np.array([(*facts.get(w, (0, 0, 0)), count[w] >= 2) for w in words], np.uint16)
    keys, first = np.unique(keys, return_index=True)
    return keys, rows[first]


def flat(trees: list[Tree], keys: np.ndarray, facts: np.ndarray, classes: np.ndarray) -> Flat:
    """Return trees as flat arrays; a pair of tags that is no class becomes one with the same first tag."""
    number: dict[tuple[str, str], int] = {}
    for k, (u, x) in enumerate(classes):
        number[TAGS[u], XPOS[x]] = k
        number.setdefault((TAGS[u], ""), k)
    ptr = np.zeros(len(trees) + 1, np.int64)
    np.cumsum([len(tree) for tree in trees], out=ptr[1:])
    words = [word for tree in trees for word in tree.words]
    place = {label: k for k, label in enumerate(LABELS)}
    return Flat(
        trees,
        ptr,
        words,
        word_table(words, keys, facts),
        np.array([number.get(p, number[p[0], ""]) for tree in trees for p in tree.tags], np.int64),
        np.array([head for tree in trees for head in tree.heads], np.int64),
        np.array([place[label] for tree in trees for label in tree.labels], np.int64),
        np.array([tree.origin for tree in trees], np.int64),
    )
