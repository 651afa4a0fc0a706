"""Nouns as WordNet synsets: the sense that a name of an object has, and what a word of a query mentions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat._util import read_text
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.captions import SceneGraph
    from karat.lexicon import WordNet

ODD_PLURALS = {"people": "person"}
"""WordNet lists people as a separate word, for a group."""
COMPOUND = {("hot", "dog")}
"""Compounds whose first word is an adjective; others are an adjective and what it describes."""


class NounSenses:
    """Finds the synset of a name: by a mapping, else its most frequent noun sense, else that of its last
    word.

    Parameters
    ----------
    mapping
        Names with their synsets, such as Visual Genome's ``object_synsets.json``, or that file; these come
        first. A name that maps to an empty text is looked up.

    Attributes
    ----------
    unmapped
        Names without a sense, and how often they were asked for.

    Examples
    --------
    >>> senses = NounSenses({"mouse": "mouse.n.04"})
    >>> [senses.synset(name) for name in ("mouse", "kites", "metal spoon", "qwx")]
    ['mouse.n.04', 'kite.n.01', 'spoon.n.01', None]
    >>> dict(senses.unmapped)
    {'qwx': 1}
    """

    def __init__(self, mapping: Mapping[str, str] | str | Path | None = None) -> None:
        from karat.lexicon import wordnet

        self.wordnet: WordNet = wordnet()
        self.mapping = read_mapping(mapping) if isinstance(mapping, str | Path) else dict(mapping or {})
        self.unmapped: Counter[str] = Counter()
        self._known: dict[str, str | None] = {}

    def synset(self, name: str, times: int = 1) -> str | None:
        """Return the name of the synset, or None; `times` says how many things have the name."""
        if name not in self._known:
            self._known[name] = self._look_up(name)
        if self._known[name] is None:
            self.unmapped[name] += times
        return self._known[name]

    def _look_up(self, name: str) -> str | None:
        mapped = self.mapping.get(name) or self.mapping.get(name.lower())
        if mapped:
            return self.checked(mapped)
        row = first_noun_sense(self.wordnet, name)
        return None if row is None else self.wordnet.name(row)

    def checked(self, synset: str) -> str:
        """Return the name of a synset as WordNet writes it, or raise where there is none or it is no noun."""
        row = self.wordnet.synset(synset)
        if self.wordnet.pos(row) != "n":
            raise InputError(f"{synset!r} is not a noun", fix="map names of objects to noun synsets")
        return self.wordnet.name(row)


def read_mapping(path: str | Path) -> dict[str, str]:
    """Return the names and synsets of a json file, ``{"name": "synset.n.01"}``."""
    try:
        content = json.loads(read_text(Path(path)))
    except ValueError:
        content = None
    if not isinstance(content, dict) or not all(isinstance(value, str) for value in content.values()):
        raise InputError(
            "is not a mapping of names to synsets", where=path, fix='give {"name": "synset.n.01", …}'
        )
    return content


def first_noun_sense(wordnet: WordNet, name: str) -> int | None:
    """Return the most frequent noun sense of a name, or of its last word; None where WordNet knows
    neither."""
    words = name.lower().split()
    for phrase in dict.fromkeys((" ".join(words), words[-1] if words else "")):
        row = wordnet.first_sense(ODD_PLURALS.get(phrase, phrase), "n") if phrase else None
        if row is not None:
            return row
    return None


def names_in(graph: SceneGraph) -> list[tuple[str, str]]:
    """Return the objects of a scene graph, and the name that each is looked up by: with the noun before it.

    >>> from karat.captions import scene_graph
    >>> names_in(scene_graph("a brown teddy bear on a wooden table"))
    [('bear', 'teddy bear'), ('table', 'table')]
    """
    before = {name: what for name, what in reversed(graph.attributes) if is_compound(what, name)}
    return [(name, f"{before[name]} {name}" if name in before else name) for name in graph.objects]


@cache
def is_compound(first: str, second: str) -> bool:
    """Whether WordNet lists two words as one noun, the first of which is not an adjective.

    >>> is_compound("traffic", "light"), is_compound("hot", "dog"), is_compound("old", "man")
    (True, True, False)
    """
    from karat.lexicon import wordnet

    wn = wordnet()
    if not len(wn.synsets(f"{first} {second}", "n")):
        return False
    return (first, second) in COMPOUND or not len(wn.synsets(first, "a"))


class MentionedConcepts:
    """Which concepts a text mentions.

    A noun mentions a concept when any of its senses is the concept or a more general term for it ("animal"
    for a zebra), and when its most frequent sense is a kind of it ("man" for a person).

    Parameters
    ----------
    synsets
        The names of the concepts.

    Examples
    --------
    >>> mentions = MentionedConcepts(("person.n.01", "zebra.n.01", "mouse.n.04"))
    >>> mentions.of_texts(["A man and two animals", "a keyboard with a mouse"])[1].tolist()
    [0, 1, 2]
    """

    def __init__(self, synsets: Sequence[str]) -> None:
        from karat.lexicon import wordnet

        self.wordnet = wordnet()
        rows = np.array([self.wordnet.synset(name) for name in synsets], np.int64)
        self._concept = {row: k for k, row in enumerate(rows.tolist())}
        self._below: dict[int, list[int]] = {}
        start, above, _ = self.wordnet.ancestors(rows) if len(rows) else (np.zeros(1, int), rows, rows)
        for k in range(len(rows)):
            for row in above[start[k] : start[k + 1]].tolist():
                self._below.setdefault(row, []).append(k)
        self._known: dict[str, frozenset[int]] = {}

    def of_name(self, name: str) -> frozenset[int]:
        """Return the concepts that a noun mentions, as numbers."""
        if name not in self._known:
            phrase = ODD_PLURALS.get(name, name)
            senses = self.wordnet.synsets(phrase, "n").tolist()
            concepts = {k for row in senses for k in self._below.get(row, ())}
            first = first_noun_sense(self.wordnet, name)
            if first is not None:
                kinds = self.wordnet.ancestors([first])[1].tolist()
                concepts |= {self._concept[row] for row in kinds if row in self._concept}
                concepts |= set(self._below.get(first, ()))
            self._known[name] = frozenset(concepts)
        return self._known[name]

    def of_texts(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the concepts that each text mentions, compressed: text k has rows ptr[k] to ptr[k + 1]."""
        from karat.captions import scene_graphs

        ptr, concepts = [0], []
        for graph in scene_graphs(list(texts)):
            names = {name for pair in names_in(graph) for name in pair}
            mentioned: set[int] = set().union(*(self.of_name(name) for name in names))
            concepts += sorted(mentioned)
            ptr.append(len(concepts))
        return np.array(ptr), np.array(concepts, np.int64)
