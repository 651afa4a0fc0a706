"""What phrases state: which are objects, what these are like, what they do, and how they relate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from karat.captions.graphs.clauses import Clauses
from karat.captions.graphs.phrases import Phrase
from karat.captions.graphs.tags import Tagged
from karat.captions.graphs.words import DIGITS, NO_NAMES, PRONOUNS, Lemmas

IDLE = ("be", "have", "get", "seem", "appear")
"""Verbs that say nothing alone: *is getting ready*."""


@dataclass(frozen=True)
class Relation:
    """A relation between two objects, each given as the number of its phrase.

    Parameters
    ----------
    how
        "clause" for a verb with its own subject, "participle" for one that describes a noun (*a man
        riding a horse*), "preposition", "predicate" (*is on*), "adjective" (*is full of*), "owner".
    verb
        The number of the verb's phrase; −1 for none.
    """

    subject: int
    predicate: str
    object: int
    how: str
    verb: int = -1


def names_object(tagged: Tagged, at: int) -> bool:
    """Whether a word is a noun, and none of those that parsers sometimes take for one."""
    word = tagged.words[at]
    return tagged.is_noun(at) and word not in NO_NAMES and any(map(str.isalnum, word))


class Facts:
    """The objects, attributes, actions and relations of one caption.

    Attributes
    ----------
    names
        Number of a noun phrase → lemma of the object.
    relations
        Every relation that is stated.
    attributes
        (object, what it is like, the place of the word).
    actions
        (object, number of a verb): what it does where no other object takes part.
    """

    def __init__(self, tagged: Tagged, phrases: list[Phrase], lemmas: Lemmas) -> None:
        self.tagged, self.phrases, self.lemmas = tagged, phrases, lemmas
        self.clauses = Clauses(tagged, phrases, lemmas)
        self.names = {
            k: lemmas.noun(tagged.words[phrase.at])
            for k, phrase in enumerate(phrases)
            if phrase.kind in ("noun", "owner") and names_object(tagged, phrase.at)
        }
        self.relations = list(dict.fromkeys(self._find_relations()))
        self.attributes = list(dict.fromkeys(self._find_attributes()))
        self.actions = list(dict.fromkeys(self._find_actions()))

    def _refer(self, phrases: Iterable[int]) -> list[int]:
        """Return the objects that noun phrases name, or that their pronouns stand for."""
        found = (k if k in self.names else self._meant(k) for k in phrases)
        return [k for k in found if k is not None]

    def _meant(self, k: int) -> int | None:
        """Return what a pronoun stands for: the first object, since captions speak of one main thing."""
        if self.phrases[k].pronoun not in PRONOUNS:
            return None
        return next((name for name in self.names if name < k), None)

    def _find_relations(self) -> Iterator[Relation]:
        for k, phrase in enumerate(self.phrases):
            if k in self.names:
                yield from self._owned(k)
            elif phrase.kind == "verb" and phrase.text != "be" and k in self.clauses.objects:
                yield from self._join(self.clauses.subjects[k], phrase.text, self.clauses.objects[k], k)
            elif phrase.kind == "preposition":
                yield from self._placed(k, phrase.text)

    def _owned(self, k: int) -> Iterator[Relation]:
        if k - 1 in self.names and self.phrases[k - 1].kind == "owner":
            yield Relation(k - 1, self.phrases[k - 1].text, k, "owner")
        owner = self._meant(k)
        if owner is not None:
            yield Relation(owner, "have", k, "owner")

    def _placed(self, k: int, preposition: str) -> Iterator[Relation]:
        target, sites = self.clauses.noun_after(k), self.clauses.site(k)
        if target is None or not sites:
            return
        found = list(self._at_site(sites, preposition, target))
        if not found and self.clauses.kind(k - 1) == "noun":
            # *a box that has toys in it*: what has them is not in itself, but they are.
            found = list(self._join([k - 1], preposition, target))
        yield from found

    def _at_site(self, sites: list[int], preposition: str, target: int) -> Iterator[Relation]:
        site = self.phrases[sites[0]]
        if site.kind == "noun":
            yield from self._join(sites, preposition, target)
        elif site.kind == "adjective":
            predicate = f"{site.text} {preposition}"
            yield from self._join(self._described(sites[0]), predicate, target, how="adjective")
        else:
            subjects, is_be = self.clauses.subjects[sites[0]], site.text == "be"
            predicate = preposition if is_be else f"{site.text} {preposition}"
            yield from self._join(subjects, predicate, target, -1 if is_be else sites[0], "predicate")

    def _join(
        self, subjects: list[int], predicate: str, target: int, verb: int = -1, how: str = "preposition"
    ) -> Iterator[Relation]:
        if verb >= 0:
            how = "participle" if self.clauses.participle[verb] else "clause"
        for thing in self._refer(self.clauses.peers[target]):
            for subject in self._refer(subjects):
                if subject != thing:
                    yield Relation(subject, predicate, thing, how, verb)

    def _described(self, k: int) -> list[int]:
        """Return the nouns that an adjective phrase is said of."""
        if self.clauses.kind(k - 1) == "verb":
            return self.clauses.subjects[k - 1]
        return self.clauses.peers[k - 1] if self.clauses.kind(k - 1) == "noun" else []

    def _find_attributes(self) -> Iterator[tuple[int, str, int]]:
        for k, phrase in enumerate(self.phrases):
            targets = [k] if k in self.names else []
            if phrase.kind == "adjective":
                targets = self._refer(self._described(k))
            for target in targets:
                for at in phrase.modifiers:
                    word = self._describing(at)
                    if word is not None:
                        yield target, word, at

    def _describing(self, at: int) -> str | None:
        """Return a word as an attribute: nouns as lemmas, numbers spelled out, the rest as it stands."""
        word = DIGITS.get(self.tagged.words[at], self.tagged.words[at])
        if word == "one":
            # *One plane* is *a plane*.
            return None
        return self.lemmas.noun(word) if self.tagged.is_noun(at) else word

    def _find_actions(self) -> Iterator[tuple[int, int]]:
        acting = {relation.verb for relation in self.relations}
        for k, phrase in enumerate(self.phrases):
            if phrase.kind == "verb" and k not in acting and phrase.text.split()[0] not in IDLE:
                for subject in self._refer(self.clauses.subjects[k]):
                    yield subject, k
