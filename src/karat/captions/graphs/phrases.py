"""A caption cut into phrases: noun phrases, verbs, prepositions, and what lies between them.

`cut_phrases` finds them; `rewrite` then joins what is written separately: *a lot of people* are people,
*ice covered* is one word.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from karat.captions.graphs.tags import NOUNS, Tagged
from karat.captions.graphs.word_classes import (
    BARE_OWNERS,
    LONG_PREPOSITIONS,
    PARTICLES,
    PREPOSITIONS,
    QUANTITIES,
    Lemmas,
)


@dataclass
class Phrase:
    """A run of words that belong together.

    Parameters
    ----------
    kind
        noun, owner (a noun phrase that belongs before the next one: *the man's*), verb, preposition,
        adjective, and, relative, there, break.
    at
        The place of its main word.
    begin, end
        Where it begins, and the place after its end.
    text
        Of a preposition, verb or owner: how relations write it.
    modifiers
        Of a noun or adjective phrase: the places of the words that describe.
    finite
        Of a verb: whether it makes a clause (*is riding*, *rides*), unlike a bare participle.
    passive
        Of a verb: whether it is a past participle, other than after *have*.
    pronoun
        Of a noun phrase: the pronoun that it is, or that owns it.
    """

    kind: str
    at: int
    begin: int
    end: int
    text: str = ""
    modifiers: list[int] = field(default_factory=list)
    finite: bool = False
    passive: bool = False
    pronoun: str = ""


def cut_phrases(tagged: Tagged, lemmas: Lemmas) -> list[Phrase]:
    """Return the phrases of a caption in order; adverbs and articles alone are left out."""
    out: list[Phrase] = []
    at = 0
    while at < len(tagged):
        phrase = (
            preposition(tagged, at)
            or noun_phrase(tagged, at, lemmas)
            or verb(tagged, at, lemmas)
            or other(tagged, at)
        )
        if phrase is None:
            at += 1
            continue
        if phrase.kind == "preposition" and out and out[-1].kind == "preposition" and out[-1].end == at:
            # *out on the water*, *in between*: the last one says where.
            out.pop()
        out.append(phrase)
        at = phrase.end
        marked = tagged.words[at : at + 1] in (["'s"], ["'"])
        if phrase.kind == "noun" and (marked or tagged.words[phrase.at] in BARE_OWNERS):
            phrase.kind, phrase.text = "owner", "have"
            at += marked
    return out


def preposition(tagged: Tagged, at: int) -> Phrase | None:
    """Return the preposition that starts at a place, of up to three words."""
    for size in (3, 2):
        text = LONG_PREPOSITIONS.get(tuple(tagged.words[at : at + size]))
        if text is not None:
            return Phrase("preposition", at, at, at + size, text)
    word = tagged.words[at]
    governs = tagged.pos[at] == "ADP" and (word in PREPOSITIONS or word in PARTICLES)
    if governs and tagged.tags[at] == "RP" and tagged.labels[at] == "compound:prt":
        return None
    if governs or (word == "to" and tagged.tag_at(at + 1) != "VB"):
        return Phrase("preposition", at, at, at + 1, word)
    return None


def noun_phrase(tagged: Tagged, begin: int, lemmas: Lemmas) -> Phrase | None:
    """Return the noun phrase that starts at a place; its last noun is its main word."""
    if tagged.pos[begin] == "PRON" and tagged.tags[begin] in ("PRP", "DT"):
        return Phrase("noun", begin, begin, begin + 1, pronoun=tagged.words[begin])
    end = begin
    while end < len(tagged) and continues(tagged, begin, end, lemmas):
        end += 1
    while end > begin and not tagged.is_noun(end - 1):
        end -= 1
    if end == begin:
        return None
    inside = range(begin, end - 1)
    described = [at for at in inside if tagged.pos[at] in (*NOUNS, "ADJ", "NUM", "VERB")]
    owner = next((tagged.words[at] for at in inside if tagged.tags[at] == "PRP$"), "")
    return Phrase("noun", end - 1, begin, end, modifiers=described, pronoun=owner)


def continues(tagged: Tagged, begin: int, at: int, lemmas: Lemmas) -> bool:
    """Whether a word continues the noun phrase that begins at `begin`."""
    pos, before, after = tagged.pos[at], tagged.pos_at(at - 1), tagged.pos_at(at + 1)
    after_noun = at > begin and before in NOUNS
    if pos in NOUNS:
        return not (after_noun and tagged.words[at - 1] in BARE_OWNERS)
    if pos in ("DET", "NUM", "ADJ") or tagged.tags[at] == "PRP$":
        # A noun before an adjective belongs to the phrase only if it can describe: *light grey wall*.
        shade = pos == "ADJ" and after in NOUNS and lemmas.is_adjective(tagged.words[at - 1])
        return not after_noun or shade
    if after_noun or after not in (*NOUNS, "ADJ", "VERB"):
        return False
    if pos == "VERB":
        return after != "VERB" and modifies(tagged, at)
    if pos == "ADV":
        return at > begin or before in ("", "ADP", "VERB")
    joins = tagged.words[at] in ("and", "or", ",") and at > begin and before in ("ADJ", "VERB", "NUM")
    return joins and after in ("ADJ", "VERB")


def modifies(tagged: Tagged, at: int) -> bool:
    """Whether a participle before a noun describes it: *two sleeping cats*, *with grated carrots*."""
    tag, before = tagged.tags[at], tagged.pos_at(at - 1)
    if tag == "VBG":
        return before in ("DET", "NUM", "ADJ", "CCONJ", "ADV")
    return tag in ("VBN", "VBD") and before in (
        "",
        "DET",
        "NUM",
        "ADJ",
        "CCONJ",
        "ADP",
        "VERB",
        "ADV",
        "PRON",
    )


def verb(tagged: Tagged, begin: int, lemmas: Lemmas) -> Phrase | None:
    """Return the verb that starts at a place, with its auxiliaries and particle: *is standing up*."""
    if tagged.pos[begin] not in ("VERB", "AUX"):
        return None
    main, helper, at = begin, "", begin + 1
    while at < len(tagged):
        if tagged.pos[at] in ("VERB", "AUX"):
            if not may_help(tagged, main, at, lemmas):
                break
            main, helper = at, lemmas.verb(tagged.words[main])
        elif (tagged.pos[at] != "ADV" and tagged.words[at] not in ("not", "n't", "to")) or tagged.pos_at(
            at + 1
        ) not in ("VERB", "AUX"):
            break
        at += 1
    end, text = at, lemmas.verb(tagged.words[main])
    if tagged.tag_at(end) == "RP" or tagged.words[end : end + 1] == ["up"]:
        text, end = f"{text} {tagged.words[end]}", end + 1
    finite = bool(helper) or tagged.tags[main] in ("VBZ", "VBP", "VBD", "VB", "MD")
    passive = tagged.tags[main] == "VBN" and helper != "have"
    return Phrase("verb", main, begin, end, text, finite=finite, passive=passive)


def may_help(tagged: Tagged, helper: int, at: int, lemmas: Lemmas) -> bool:
    """Whether a verb is the auxiliary of a later one."""
    if tagged.pos[helper] == "AUX":
        return True
    return lemmas.verb(tagged.words[helper]) in ("be", "have", "get") and tagged.tags[at] in ("VBG", "VBN")


def other(tagged: Tagged, at: int) -> Phrase | None:
    """Return what else matters: *there*, *and*, *which*, lone adjectives, breaks; None for the rest."""
    word, pos, tag = tagged.words[at], tagged.pos[at], tagged.tags[at]
    if tag == "EX":
        return Phrase("there", at, at, at + 1)
    if pos == "CCONJ" or word == ",":
        return Phrase("and", at, at, at + 1, word)
    if tag in ("WDT", "WP") or word in ("who", "which"):
        return Phrase("relative", at, at, at + 1)
    if pos == "ADJ" and tagged.words[at - 1 : at] != ["each"]:
        end = at + 1
        while tagged.pos_at(end) == "ADJ" or (
            tagged.words[end : end + 1] in (["and"], [","]) and tagged.pos_at(end + 1) == "ADJ"
        ):
            end += 1
        return Phrase("adjective", at, at, end, word, [k for k in range(at, end) if tagged.pos[k] == "ADJ"])
    return Phrase("break", at, at, at + 1, word) if pos in ("PUNCT", "SCONJ") else None


def rewrite(tagged: Tagged, phrases: list[Phrase]) -> list[Phrase]:
    """Return the phrases with quantities and coverings as parts of the noun phrases that they belong to."""
    out: list[Phrase] = []
    for phrase in phrases:
        if phrase.kind == "noun" and len(out) > 1:
            first, link = out[-2:]
            if counts(tagged, first, link):
                numbered = any(tagged.pos[at] == "NUM" for at in first.modifiers)
                phrase.modifiers = [*first.modifiers, *([] if numbered else [first.at]), *phrase.modifiers]
                phrase.begin = first.begin
                del out[-2:]
            elif covers(tagged, first, link, phrase):
                first.kind, first.text = "owner", link.text
                out.pop()
        out.append(phrase)
    for k, phrase in enumerate(out):
        if phrase.kind == "owner" and not (k + 1 < len(out) and out[k + 1].kind in ("noun", "owner")):
            # *the man's* without a noun behind it is the man.
            phrase.kind = "noun"
    return out


def counts(tagged: Tagged, first: Phrase, link: Phrase) -> bool:
    """Whether a noun phrase and *of* say how many: *three pairs of*."""
    return first.kind == "noun" and link.text == "of" and tagged.words[first.at] in QUANTITIES


def covers(tagged: Tagged, first: Phrase, link: Phrase, noun: Phrase) -> bool:
    """Whether a noun and a participle describe the noun after them: *ice covered lake*."""
    bare = link.kind == "verb" and link.passive and not link.finite
    close = first.kind == "noun" and first.end == link.begin and link.end == noun.begin
    return bare and close and tagged.pos[noun.begin] not in ("DET", "PRON", "NUM")
