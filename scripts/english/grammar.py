"""A small grammar of captions: trees made at random, as training for what web text hardly shows.

Nothing is copied from any caption. Half of the nouns come from WordNet's lists, so that the parser
learns from the kind of a word and not only from the word.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from english import words as w
from english.treebank import Tree
from english.variants import present

PLURAL = {
    "man": "men", "woman": "women", "child": "children", "person": "people", "sheep": "sheep",
    "lady": "ladies", "knife": "knives", "fish": "fish", "shelf": "shelves",
}  # fmt: skip
# WordNet's lexicographer files of the kinds.
SENSES = {"P": 18, "A": 5, "T": 6, "F": 13}
LISTS = {
    "P": w.PERSON, "A": w.ANIMAL, "T": w.THING, "F": w.FOOD, "M": w.MASS, "C": w.CLOTHING, "L": w.PLACE,
}  # fmt: skip


@dataclass
class Node:
    """A word with what hangs on its left and on its right."""

    word: str
    upos: str
    xpos: str
    label: str = "root"
    left: list[Node] = field(default_factory=list)
    right: list[Node] = field(default_factory=list)

    def words(self) -> list[Node]:
        """Return the nodes in the order of the sentence."""
        before = [node for child in self.left for node in child.words()]
        return [*before, self, *(node for child in self.right for node in child.words())]


def grown(root: Node, origin: int) -> Tree:
    """Return a node and all below it as a tree; "a" before a vowel becomes "an"."""
    nodes = root.words()
    place = {id(node): i for i, node in enumerate(nodes)}
    heads = [-1] * len(nodes)
    for node in nodes:
        for child in node.left + node.right:
            heads[place[id(child)]] = place[id(node)]
    texts = [node.word for node in nodes]
    for i in range(len(texts) - 1):
        if texts[i] in ("a", "an"):
            texts[i] = "an" if texts[i + 1][0] in "aeiou" else "a"
    return Tree(
        tuple(texts), tuple((n.upos, n.xpos) for n in nodes), tuple(texts), tuple(heads),
        tuple(n.label for n in nodes), origin,
    )  # fmt: skip


class Grammar:
    """Random captions with their trees.

    Parameters
    ----------
    facts
        What WordNet says of words (`read_facts`).
    seed
        The same seed gives the same captions.
    """

    def __init__(self, facts: dict[str, tuple[int, int, int]], seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.more = {
            kind: sorted(
                x for x, (bits, noun, _) in facts.items() if noun == sense and bits & 1 and 3 < len(x) < 11
            )
            for kind, sense in SENSES.items()
        }

    def chance(self, share: float) -> bool:
        """Return True so often."""
        return self.rng.random() < share

    def one(self, choices: list[str]) -> str:
        """Return one of the choices."""
        return choices[self.rng.integers(len(choices))]

    def noun(self, kind: str) -> tuple[list[Node], str]:
        """Return the compound before a noun, if any, and the noun of one of the kinds."""
        kind = self.one(list(kind))
        if kind in "TPL" and self.chance(0.25):
            first, second = self.one(w.COMPOUND).split()
            return [Node(first, "NOUN", "NN", "compound")], second
        if kind in self.more and self.chance(0.3):
            return [], self.one(self.more[kind])
        return [], self.one(LISTS[kind])

    def phrase(self, kind: str, label: str, depth: int = 0) -> Node:
        """Return a noun phrase."""
        before, noun = self.noun(kind)
        many = self.chance(0.25) and kind != "M"
        word = PLURAL.get(noun, present(noun)) if many else noun
        node = Node(word, "NOUN", "NNS" if many else "NN", label)
        if many and self.chance(0.4):
            number = self.one(w.listed("two three four five six some several many a"))
            tags = ("DET", "DT", "det") if number == "some" else ("ADJ", "JJ", "amod")
            if number not in ("some", "several", "many"):
                number, tags = (
                    (number, ("NUM", "CD", "nummod")) if number != "a" else ("the", ("DET", "DT", "det"))
                )
            node.left.append(Node(number, *tags))
        elif not many and self.chance(0.85 if depth else 0.8):
            possessive = self.chance(0.1)
            article = self.one(
                ["his", "her", "its", "their"] if possessive else ["a", "a", "a", "the", "an", "another"]
            )
            node.left.append(
                Node(article, "PRON", "PRP$", "nmod:poss")
                if possessive
                else Node(article, "DET", "DT", "det")
            )
        node.left += self.adjectives() + before
        if label != "compound" and depth == 0 and self.chance(0.06):
            owner = self.phrase("PA", "nmod:poss", 1)
            owner.right.append(Node("'s", "PART", "POS", "case"))
            node.left = [owner, *before]
        if self.chance(0.12) and depth < 2:
            node.right += self.joined(kind, depth)
        return node

    def joined(self, kind: str, depth: int) -> list[Node]:
        """Return the rest of a list: "and B", or "B and C" as commas are dropped."""
        out = [self.phrase(kind, "conj", 3)] if self.chance(0.25) else []
        last = self.phrase(kind, "conj", 3)
        last.left.insert(0, Node("and", "CCONJ", "CC", "cc"))
        return [*out, last]

    def adjectives(self) -> list[Node]:
        """Return what stands before a noun."""
        if self.chance(0.05):
            first, second = (Node(self.one(w.COLOUR), "ADJ", "JJ", name) for name in ("amod", "conj"))
            second.left.append(Node("and", "CCONJ", "CC", "cc"))
            if self.chance(0.2):
                first.right.append(Node(self.one(w.COLOUR), "ADJ", "JJ", "conj"))
            first.right.append(second)
            return [first]
        out = []
        while self.chance(0.3) and len(out) < 2:
            kind = self.rng.random()
            if kind < 0.75:
                out.append(Node(self.one(w.ADJECTIVE), "ADJ", "JJ", "amod"))
            elif kind < 0.92:
                out.append(Node(self.one(w.GIVEN), "VERB", "VBN", "amod"))
            else:
                out.append(Node(self.one(w.GOING), "VERB", "VBG", "amod"))
        return out

    def place(self, label: str, preposition: str | None = None, kind: str = "LLT") -> Node:
        """Return a prepositional phrase."""
        chosen = self.rng.random()
        if preposition is None and chosen < 0.18:
            *first, of = self.one(w.SIDES).split()
            head = Node(first[-1], "NOUN", "NN", label)
            head.left = [
                Node(first[0], "ADP", "IN", "case"),
                *(Node(x, "DET", "DT", "det") for x in first[1:-1]),
            ]
            below = self.phrase(kind + "PA", "nmod", 2)
            below.left.insert(0, Node(of, "ADP", "IN", "case"))
            head.right.append(below)
            return head
        node = self.phrase(kind, label, 2)
        names = (
            self.one(w.PAIRS).split()
            if preposition is None and chosen < 0.28
            else [preposition or self.one(w.NEAR)]
        )
        node.left[:0] = [Node(name, "ADP", "IN", "case") for name in names]
        return node
