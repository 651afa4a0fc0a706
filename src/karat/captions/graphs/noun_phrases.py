"""How the original tool misreads noun phrases: a describing word is given to another word than the noun."""

from __future__ import annotations

from karat.captions.graphs.facts import Facts
from karat.captions.graphs.misreadings import Misreadings


def described(facts: Facts, misread: Misreadings, k: int, at: int) -> str | None:
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


def is_verb_with_object(facts: Facts, misread: Misreadings) -> bool:
    """Whether the first of two nouns is taken for a verb: *train station*."""
    return facts.phrases[0].end == 2 and facts.tagged.is_noun(0) and misread.first_is_verb(times=1)


def splits(facts: Facts) -> bool:
    """Whether the first noun phrase is taken for two: *the red tennis bag on a chair* has red tennis."""
    first, tagged = facts.phrases[0], facts.tagged
    if tagged.stop or facts.clauses.kind(1) != "preposition" or tagged.pos[first.begin] != "DET":
        return False
    return first.end - first.begin > 2 and tagged.tags[first.at] == tagged.tags[first.at - 1] == "NN"


def shades(facts: Facts, k: int) -> bool:
    """Whether the first of three describing words is taken for a shade of the second: *dark grey t shirt*."""
    places, tags = facts.phrases[k].modifiers[:3], facts.tagged.tags
    if len(places) < 3 or places[2] - places[0] != 2:
        return False
    return tags[places[0]] == tags[places[1]] == "JJ"
