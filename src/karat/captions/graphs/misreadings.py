"""How the original tool misreads captions in regular ways: words of one class taken for another.

Its parser learned from newspapers. Captions without a verb and without a full stop are strange to it: it
takes words for what they often are elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from karat.captions.graphs.facts import Facts, Relation
from karat.captions.graphs.words import word_set

GERUNDS = word_set(
    """boating camping cooking crossing dancing dining driving feeding fishing grazing hunting landing racing
    reading riding sailing shopping skiing sleeping standing swimming"""
)
"""Participles that the tool takes for nouns: *a horse standing on grass* has a standing.

These are things that people and animals do, and nouns in a quarter of their uses in UD English EWT, or seen a
sixth as often as the verb by WordNet's counts. Grazing, skiing and swimming are too rare there to tell; the
tool's output has them. *Walking* is one after an article only: *a person walking*, not *man walking*.
"""

WEATHER = word_set("rain snow")
"""Verbs that nothing but the weather does, which no caption starts with."""


class Misreadings:
    """What the original tool takes for something else in one caption; phrases are known by their numbers.

    Attributes
    ----------
    gerunds
        The verbs that it takes for nouns.
    compounds
        Verb → object of it, where it takes a subject, verb and object for one compound noun.
    joined
        Noun phrase → verb, where it takes the noun for a part of a compound with the verb.
    verb
        The first noun phrase where it takes that for a verb; −1 for none.
    lost
        The noun phrases that it does not list as objects.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts, self._tagged, self._phrases = facts, facts.tagged, facts.phrases
        self.gerunds = {k for k in facts.clauses.subjects if self._is_gerund(k)}
        self.joined = {k - 1: k for k in self.gerunds if self._is_bare(k - 1)}
        self.compounds = {k: noun for k, noun in facts.clauses.objects.items() if self._is_compound(k, noun)}
        self.verb = 0 if self._starts_with_verb() else -1
        self.lost = {self.verb, *self.joined}
        for relation in facts.relations:
            if self.hangs_loose(relation) and self._may_be_verb(relation.subject):
                # *balloons floating over a town*: the balloon is a verb.
                self.lost.add(relation.subject)
        self._row = self._find_row()

    def hangs_loose(self, relation: Relation) -> bool:
        """Whether a relation comes from *a man riding a horse* without a full stop: the tool sees none."""
        if relation.how != "participle" or self._tagged.stop:
            return False
        verb = self._phrases[relation.verb]
        return verb.begin == verb.at and self._tagged.tags[verb.at] in ("VBG", "VB")

    def is_sure(self, k: int) -> bool:
        """Whether the tool is sure of a subject whose participle hangs loose: *people*, *men*."""
        return self._is_plural(k) and not self._may_be_verb(k)

    def subject(self, relation: Relation) -> int:
        """Return the subject of a relation; in a row of prepositions and with a full stop, the first noun."""
        return 0 if relation in self._row else relation.subject

    def seen_only(self) -> Iterator[tuple[str, str]]:
        """Yield the attributes that only the tool sees: *boat sailing* is a kind of sailing."""
        names = self._facts.names
        for noun, verb in self.joined.items():
            yield self.word(verb), names[noun]
        for verb, noun in self.compounds.items():
            yield names[noun], self.word(verb)
            if self._is_bare(verb - 1) and not self._phrases[verb - 1].modifiers:
                yield names[noun], names[verb - 1]

    def word(self, k: int) -> str:
        """Return the main word of a phrase as it stands."""
        return self._tagged.words[self._phrases[k].at]

    def first_is_verb(self, times: int) -> bool:
        """Whether the caption's first word is read as a verb; a clause would leave no doubt."""
        if any(phrase.kind == "verb" and phrase.finite for phrase in self._phrases):
            return False
        first = self._tagged.words[0]
        return self._facts.lemmas.is_often_verb(first, times) and first not in WEATHER

    def _starts_with_verb(self) -> bool:
        """Whether the first noun is read as a verb: *mirror on a wall*, *painting on a wall*."""
        if 0 not in self._facts.names or len(self._phrases) < 2 or self._phrases[0].kind != "noun":
            return False
        if self._phrases[0].end != 1 or self._phrases[1].text == "of":
            return False
        names_doing = self._tagged.words[0].endswith("ing") and self._phrases[1].kind == "preposition"
        return self.first_is_verb(times=3) or (names_doing and self._facts.lemmas.can_be(self.word(0), "v"))

    def _is_plural(self, k: int) -> bool:
        return self._tagged.tags[self._phrases[k].at] in ("NNS", "NNPS")

    def _may_be_verb(self, k: int) -> bool:
        """Whether a plural could be a verb: in -s, and not after *of*."""
        noun, words = self._phrases[k], self._tagged.words
        after_of = words[noun.begin - 1 : noun.begin] == ["of"]
        return self._is_plural(k) and words[noun.at].endswith("s") and not after_of

    def _is_loose(self, k: int) -> bool:
        """Whether a verb is a present participle alone, right after a noun, in a caption without a stop."""
        verb = self._phrases[k]
        alone = verb.begin == verb.at == verb.end - 1 and not self._tagged.stop
        return alone and self._facts.clauses.kind(k - 1) == "noun" and self.word(k).endswith("ing")

    def _is_gerund(self, k: int) -> bool:
        if not self._is_loose(k) or self._facts.clauses.kind(k + 1) != "preposition":
            return False
        article = self._tagged.words[self._phrases[k - 1].begin] in ("a", "an", "the")
        return self.word(k) in GERUNDS or (article and self.word(k) == "walking")

    def _is_bare(self, k: int) -> bool:
        """Whether a phrase is a singular noun without an article and without *and*: *white van*."""
        noun = self._phrases[k]
        inside = range(noun.begin, noun.end)
        closed = any(self._tagged.pos[at] in ("DET", "NUM", "PRON", "CCONJ") for at in inside)
        return k in self._facts.names and not (closed or self._is_plural(k))

    def _is_compound(self, k: int, noun: int) -> bool:
        """Whether *girl swinging racket* is one noun: bare nouns around a participle that can be a noun."""
        if not self._is_loose(k) or self.is_sure(k - 1) or noun not in self._facts.names:
            return False
        after, tags = self._phrases[noun], self._tagged.tags
        bare = after.begin == self._phrases[k].end and tags[after.begin] == tags[after.at] == "NN"
        # *wearing* is by far the commonest of them and never a noun.
        return bare and self._facts.lemmas.is_noun(self.word(k)) and self.word(k) != "wearing"

    def _find_row(self) -> set[Relation]:
        """Return the relations of a row of prepositions that starts at the first noun of a full sentence."""
        row: set[Relation] = set()
        reached = {0} if self._tagged.stop and 0 in self._facts.names else set()
        for relation in self._facts.relations:
            if relation.how == "preposition" and relation.subject in reached:
                reached.add(relation.object)
                row.add(relation)
        return row
