"""Conventions: what of a caption's facts a scene graph holds: all, or what the original tool would print.

The original tool (Java, Anderson et al. 2016) reads captions with a parser of its time, which learned
from newspapers. Captions without a verb and without a full stop are strange to it: it takes words of one
class for another (`Misreadings`), and gives describing words to another word than the noun (`described`).
`as_java` reproduces its systematic errors, not the accidental ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from karat.captions.graphs.facts import CaptionFacts, Relation
from karat.captions.graphs.graph import SceneGraph, once
from karat.captions.graphs.word_classes import ALWAYS_PLURAL, BARE_OWNERS, singular, word_set

Pair = tuple[str, str]
Triple = tuple[str, str, str]

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


def as_stated(facts: CaptionFacts) -> SceneGraph:
    """Return all that a caption states; what an object does alone counts as an attribute."""
    names = facts.names
    attributes = [(names[k], what) for k, what, _ in facts.attributes]
    attributes += [(names[k], facts.phrases[verb].text) for k, verb in facts.actions]
    relations = ((names[r.subject], r.predicate, names[r.object]) for r in facts.relations)
    return SceneGraph(once(names.values()), once(attributes), once(relations))


def as_java(facts: CaptionFacts) -> SceneGraph:
    """Return what the original tool prints for a caption, as far as it is regular."""
    # The facts were read for this one graph, so their names may change.
    facts.names.update(list(cut_plurals(facts)))
    misread = Misreadings(facts)
    relations = [
        triple for relation in facts.relations for triple in java_relations(facts, misread, relation)
    ]
    attributes = [*java_attributes(facts, misread), *misread.seen_only()]
    objects = [name for k, name in facts.names.items() if k not in misread.lost]
    objects += [name for subject, _, target in relations for name in (subject, target)]
    objects += [name for name, _ in attributes]
    return SceneGraph(once(objects), once(attributes), once(relations))


CONVENTIONS: dict[str, Callable[[CaptionFacts], SceneGraph]] = {"full": as_stated, "java": as_java}


def cut_plurals(facts: CaptionFacts) -> Iterator[tuple[int, str]]:
    """Yield the plurals that WordNet lists (*stairs*, *bleachers*) without their -s, as the tool has them."""
    for k, name in facts.names.items():
        plural = facts.tagged.tags[facts.phrases[k].at] in ("NNS", "NNPS")
        kept = name in ALWAYS_PLURAL or name.endswith("ies")
        if plural and not kept and name == facts.tagged.words[facts.phrases[k].at]:
            yield k, singular(name)


def java_attributes(facts: CaptionFacts, misread: Misreadings) -> Iterator[Pair]:
    """Yield the attributes that the original tool prints, but for those that only it sees."""
    for k, what, at in facts.attributes:
        name = described(facts, misread, k, at)
        if name is not None:
            # It takes *left* for the participle of *leave*.
            yield name, "leave" if what == "left" else what
    for k, verb in facts.actions:
        phrase = facts.phrases[verb]
        if phrase.finite and not phrase.passive and verb not in facts.clauses.objects:
            yield facts.names[k], phrase.text
    for relation in facts.relations:
        if relation.verb in misread.gerunds and relation.predicate.endswith(" next to"):
            yield misread.word(relation.verb), "next"
        if relation.how == "owner" and misread.word(relation.subject) in BARE_OWNERS:
            yield facts.names[relation.object], misread.word(relation.subject)


def java_relations(facts: CaptionFacts, misread: Misreadings, relation: Relation) -> Iterator[Triple]:
    """Yield the relations that the original tool prints for one."""
    subject, target = facts.names[misread.subject(relation)], facts.names[relation.object]
    if misread.verb in (relation.subject, relation.object):
        return
    if relation.verb in misread.gerunds:
        # The standing is in the field.
        _, _, preposition = relation.predicate.partition(" ")
        yield misread.word(relation.verb), preposition.removeprefix("next "), target
    elif misread.hangs_loose(relation):
        if misread.is_sure(relation.subject):
            yield subject, relation.predicate, target
    elif is_dropped(facts, misread, relation):
        return
    elif relation.predicate == "on top of" and relation.how == "preposition":
        yield subject, "on", "top"
        yield subject, "of", target
    else:
        # *parked next to* is *parked to*.
        yield subject, relation.predicate.replace(" next to", " to"), target


def is_dropped(facts: CaptionFacts, misread: Misreadings, relation: Relation) -> bool:
    """Whether the tool drops a relation that it should see."""
    if relation.how == "owner":
        return misread.word(relation.subject) in BARE_OWNERS
    if relation.verb < 0:
        # Of *is full of* it keeps the adjective only.
        return relation.how == "adjective"
    # Of passive clauses (*is moored to*) it does not see the subject.
    verb, direct = facts.phrases[relation.verb], facts.clauses.objects.get(relation.verb)
    if verb.passive and verb.finite:
        return True
    # Of *carry a backpack on the back* it keeps the object only.
    return direct is not None and relation.object not in facts.clauses.peers[direct]


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

    def __init__(self, facts: CaptionFacts) -> None:
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


def described(facts: CaptionFacts, misread: Misreadings, k: int, at: int) -> str | None:
    """Return what the tool gives the describing word at a place to; None for nothing.

    Parameters
    ----------
    k
        The noun phrase that the word describes.
    """
    phrase, words = facts.phrases[k], facts.tagged.words
    if k == misread.verb or (at == 0 and is_verb_with_object(facts, misread)):
        return None
    if k == 0 and splits(facts):
        compound = phrase.at - 1
        return None if at == compound else facts.lemmas.noun(words[compound])
    if phrase.modifiers[:1] == [at] and shades(facts, k):
        return words[at + 1]
    if k in misread.joined:
        return misread.word(misread.joined[k])
    return facts.names[k]


def is_verb_with_object(facts: CaptionFacts, misread: Misreadings) -> bool:
    """Whether the first of two nouns is taken for a verb: *train station*."""
    return facts.phrases[0].end == 2 and facts.tagged.is_noun(0) and misread.first_is_verb(times=1)


def splits(facts: CaptionFacts) -> bool:
    """Whether the first noun phrase is taken for two: *the red tennis bag on a chair* has red tennis."""
    first, tagged = facts.phrases[0], facts.tagged
    if tagged.stop or facts.clauses.kind(1) != "preposition" or tagged.pos[first.begin] != "DET":
        return False
    return first.end - first.begin > 2 and tagged.tags[first.at] == tagged.tags[first.at - 1] == "NN"


def shades(facts: CaptionFacts, k: int) -> bool:
    """Whether the first of three describing words is taken for a shade of the second: *dark grey t shirt*."""
    places, tags = facts.phrases[k].modifiers[:3], facts.tagged.tags
    if len(places) < 3 or places[2] - places[0] != 2:
        return False
    return tags[places[0]] == tags[places[1]] == "JJ"
