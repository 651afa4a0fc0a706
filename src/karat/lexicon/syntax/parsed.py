"""What a parser returns: tags, heads and relations of many sentences in flat arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from karat.lexicon.syntax.tagset import LABELS, TAGS, XPOS


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
