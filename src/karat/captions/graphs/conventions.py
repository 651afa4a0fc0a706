"""What of a caption's facts a scene graph holds: all of them, or what the original tool would print.

The original tool (Java, Anderson et al. 2016) reads captions with a parser of its own time. Where that
parser errs in a regular way, its output does too; `as_java` follows the regular ways, not the chance ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from karat.captions.graphs.facts import Facts, Relation
from karat.captions.graphs.graph import SceneGraph, once
from karat.captions.graphs.misreadings import Misreadings
from karat.captions.graphs.noun_phrases import described
from karat.captions.graphs.words import ALWAYS_PLURAL, BARE_OWNERS, singular

Pair = tuple[str, str]
Triple = tuple[str, str, str]


def as_stated(facts: Facts) -> SceneGraph:
    """Return all that a caption states; what an object does alone counts as an attribute."""
    names = facts.names
    attributes = [(names[k], what) for k, what, _ in facts.attributes]
    attributes += [(names[k], facts.phrases[verb].text) for k, verb in facts.actions]
    relations = ((names[r.subject], r.predicate, names[r.object]) for r in facts.relations)
    return SceneGraph(once(names.values()), once(attributes), once(relations))


def as_java(facts: Facts) -> SceneGraph:
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


def cut_plurals(facts: Facts) -> Iterator[tuple[int, str]]:
    """Yield the plurals that WordNet lists (*stairs*, *bleachers*) without their -s, as the tool has them."""
    for k, name in facts.names.items():
        plural = facts.tagged.tags[facts.phrases[k].at] in ("NNS", "NNPS")
        kept = name in ALWAYS_PLURAL or name.endswith("ies")
        if plural and not kept and name == facts.tagged.words[facts.phrases[k].at]:
            yield k, singular(name)


def java_attributes(facts: Facts, misread: Misreadings) -> Iterator[Pair]:
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


def java_relations(facts: Facts, misread: Misreadings, relation: Relation) -> Iterator[Triple]:
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


def is_dropped(facts: Facts, misread: Misreadings, relation: Relation) -> bool:
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
