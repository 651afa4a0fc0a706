"""Antonyms of verbs: direct ones of WordNet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.captions.graphs import lemmas
from karat.lexicon import verb_antonyms, verb_form, word_set
from karat.perturbations.perturbation import Perturbation, register_perturbation, shuffled
from karat.perturbations.wording import Option, Wording, is_person

ACTIVE = ("VBG", "VBZ", "VBP", "VBD", "VB")
IDIOMS = word_set("""
    place part turn turns off out break care advantage charge bath nap shower bite seat swing swings
    picture pictures photo photos photograph photographs selfie selfies shot shots fun lunch dinner
    breakfast conversation meal look trouble wave waves way time drink drinks tour ride sip rest nibble pose
    stand""")
"""Objects with which a verb has another meaning: *taking a nap*, *having lunch*, *taking a picture*."""
LED = ("bike", "bicycle", "motorcycle", "scooter", "moped", "motorbike", "cart")
LIGHT_VERBS = ("take", "have", "give", "hit", "ride", "walk", "catch", "hitch")


@register_perturbation
class AntonymVerb(Perturbation):
    """Replaces a verb by a direct antonym of WordNet, in the same form: *sitting* becomes *standing*.

    Passives, verbs with a particle (*holding up*) and idioms (*taking a nap*) are left alone;
    `karat.lexicon.verb_antonyms` says which antonyms fit.
    """

    name = "antonym-verb"
    source = "Lymperaiou et al. 2022, section 7"

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the places of verbs that have antonyms."""
        known, tagged = lemmas(), caption.tagged
        for at, word in enumerate(tagged.words):
            tag = tagged.tags[at]
            if tagged.pos[at] != "VERB" or tag not in ACTIVE or tagged.labels[at] == "amod":
                continue
            if caption.children(at, "compound:prt", "xcomp", "ccomp", "iobj", "expl", "aux:pass"):
                continue
            lemma = known.verb(word)
            if verb_form(lemma, tag) != word or (tag in ("VB", "VBP") and verb_form(lemma, "VBD") == word):
                # *lay* may be the past of *lie*, *hit* that of *hit*: too doubtful to inflect another so.
                continue
            objects = caption.children(at, "obj")
            if lemma in LIGHT_VERBS and any(caption.word(each) in IDIOMS for each in objects):
                continue
            subject = subject_of(caption, at)
            living = subject is not None and known.is_living(caption.word(subject))
            if lemma == "ride" and not all(is_led(caption.word(each)) for each in objects):
                continue
            if lemma == "walk" and not (subject is not None and is_person(caption.word(subject))):
                continue
            antonyms = verb_antonyms(lemma, living, bool(objects))
            yield [caption.substitute(at, at, verb_form(new, tag)) for new in shuffled(antonyms, rng)]

    def accepts(self, before: Wording, after: Wording, option: Option, where: dict[int, int]) -> bool:
        """Return whether the first word of the new verb is a verb."""
        (verb,) = (each for each in option if not each.repair)
        at = where[verb.last] - verb.new.count(" ")
        return after.tagged.pos[at] == "VERB"


def is_led(noun: str) -> bool:
    """Whether one can walk it as well as ride it: a horse or a bicycle, but not a wave or a skateboard."""
    return lemmas().is_living(noun) or lemmas().noun(noun) in LED


def subject_of(caption: Wording, at: int) -> int | None:
    """Return the noun that does what a verb says, None where it is not plain."""
    subjects = caption.children(at, "nsubj")
    if subjects and caption.tagged.is_noun(subjects[0]):
        return subjects[0]
    head, label = caption.tagged.heads[at], caption.tagged.labels[at]
    if label in ("acl", "acl:relcl") and caption.tagged.is_noun(head):
        return head
    if label == "conj" and caption.tagged.pos_at(head) == "VERB" and not subjects:
        return subject_of(caption, head) if head < at else None
    return None
