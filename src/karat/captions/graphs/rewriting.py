"""Phrases put together that are written apart: *a lot of people* are people, *ice covered* is one word."""

from __future__ import annotations

from karat.captions.graphs.phrases import Phrase
from karat.captions.graphs.tags import Tagged
from karat.captions.graphs.words import QUANTITIES


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
