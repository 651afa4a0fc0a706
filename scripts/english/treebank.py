"""Reading UD treebanks (CoNLL-U, xz) and cutting trees into the pieces that captions look like."""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from karat.lexicon.syntax.sentences import LABELS


@dataclass(frozen=True)
class Tree:
    """One sentence: parallel tuples; the root's head is -1; `origin` names the sentence it came from."""

    words: tuple[str, ...]
    tags: tuple[tuple[str, str], ...]
    lemmas: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]
    origin: int = 0

    def __len__(self) -> int:
        return len(self.words)

    def children(self, i: int) -> list[int]:
        """Return the places of the words that hang on word `i`."""
        return [k for k, head in enumerate(self.heads) if head == i]

    def below(self, i: int) -> list[int]:
        """Return word `i` and all that hangs on it, in order."""
        inside = {i}
        grown = True
        while grown:
            more = {k for k, head in enumerate(self.heads) if head in inside} - inside
            inside |= more
            grown = bool(more)
        return sorted(inside)

    def kept(self, keep: Iterable[int]) -> Tree:
        """Return the tree of some of the words; one whose head is gone hangs on the nearest above it."""
        keep = sorted(keep)
        place = {old: new for new, old in enumerate(keep)}

        def above(i: int) -> int:
            head = self.heads[i]
            while head >= 0 and head not in place:
                head = self.heads[head]
            return place.get(head, -1)

        heads = tuple(above(i) for i in keep)
        return Tree(
            tuple(self.words[i] for i in keep),
            tuple(self.tags[i] for i in keep),
            tuple(self.lemmas[i] for i in keep),
            heads,
            tuple("root" if head < 0 else self.labels[i] for head, i in zip(heads, keep)),
            self.origin,
        )

    def changed(self, i: int, **cells: object) -> Tree:
        """Return the tree with other cells (`words`, `tags`, `heads`, `labels`) for word `i`."""
        rows = {
            name: (*getattr(self, name)[:i], value, *getattr(self, name)[i + 1 :])
            for name, value in cells.items()
        }
        return replace(self, **rows)  # type: ignore[arg-type]


def simple_label(label: str) -> str:
    """Return the relation as karat keeps it: without its subtype unless that is one of ours."""
    if label in LABELS:
        return label
    base = label.split(":")[0]
    return base if base in LABELS else "dep"


def read_trees(path: Path) -> Iterator[Tree]:
    """Yield the trees of a CoNLL-U file; joined words and empty nodes are left out."""
    with (
        lzma.open(path, "rt", encoding="utf-8")
        if path.suffix == ".xz"
        else path.open(encoding="utf-8") as lines
    ):
        rows: list[list[str]] = []
        number = 0
        for line in [*lines, "\n"]:
            cells = line.rstrip("\n").split("\t")
            if len(cells) == 10 and cells[0].isdigit():
                rows.append(cells)
            elif not line.strip() and rows:
                yield Tree(
                    tuple(r[1] for r in rows),
                    tuple((r[3], r[4]) for r in rows),
                    tuple(r[2] for r in rows),
                    tuple(int(r[6]) - 1 for r in rows),
                    tuple(simple_label(r[7]) for r in rows),
                    number,
                )
                rows = []
                number += 1


def projective(tree: Tree) -> Tree:
    """Return the tree with crossing arcs lifted to the head's head, the shortest first."""
    heads = list(tree.heads)
    while True:
        crossing = []
        for child, head in enumerate(heads):
            if head < 0:
                continue
            low, high = min(child, head), max(child, head)
            for k in range(low + 1, high):
                j = k
                while j >= 0 and j != head:
                    j = heads[j]
                if j != head:
                    crossing.append((high - low, child))
                    break
        if not crossing:
            return replace(tree, heads=tuple(heads))
        child = min(crossing)[1]
        heads[child] = heads[heads[child]]
