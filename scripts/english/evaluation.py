"""Accuracy of a parser on gold trees."""

from __future__ import annotations

import numpy as np

from english.treebank import Tree
from karat.lexicon.syntax.parser import Parser
from karat.lexicon.syntax.sentences import LABELS, TAGS, XPOS


def accuracy(parser: Parser, gold: list[Tree]) -> dict[str, float]:
    """Return the share of right universal tags, Penn tags, heads, and heads with labels."""
    parsed = parser([tree.words for tree in gold])
    upos = np.array([TAGS.index(u) for tree in gold for u, _ in tree.tags])
    xpos = np.array([XPOS.index(x) for tree in gold for _, x in tree.tags])
    head = np.array([head for tree in gold for head in tree.heads])
    label = np.array([LABELS.index(name) for tree in gold for name in tree.labels])
    right = parsed.head == head
    return {
        "UPOS": float(np.mean(parsed.tag == upos)),
        "XPOS": float(np.mean(parsed.xpos == xpos)),
        "UAS": float(np.mean(right)),
        "LAS": float(np.mean(right & (parsed.label == label))),
    }


def report(name: str, parser: Parser, gold: list[Tree]) -> str:
    """Return one line of percentages."""
    figures = "  ".join(f"{key} {100 * value:.2f}" for key, value in accuracy(parser, gold).items())
    return f"{name}: {figures}"
