"""Hypernyms: a more general word for the same thing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from karat.lexicon import plural_of, word_set, wordnet
from karat.perturbations.kinds.swap_nouns import EXCLUDED
from karat.perturbations.perturbation import Perturbation, register_perturbation
from karat.perturbations.wording import Option, Wording, is_object

TOO_GENERAL = word_set(
    """entity object whole artifact artefact instrumentality instrumentation matter thing unit causal_agent
    group abstraction substance structure covering device conveyance natural_object organism
    living_thing equipment implement article commodity way solid part location region area property
    material surface state event attribute relation being cause agent body line facility system set
    container block position medium piece decoration lamp relative young grouping elite compartment
    constituent vicinity collection district boundary opening ground consumer generation associate
    transducer root obstruction chemical partner"""
)
"""Words that say hardly more than *thing*, or do not replace what they contain."""
UNFIT = word_set(
    """furniture food clothing footwear equipment tableware cutlery ware transport vegetation produce
    headgear foodstuff nutrition fare gear bedding jewelry luggage baggage paper plumbing_fixture
    lighting game apparel nutriment sustenance furnishing poultry livestock public_transport crockery
    glassware kitchenware silverware sports_equipment cloth wood meat water glass dinner pasta flatware
    dinnerware bread cheese sausage rice cattle fabric hair housing art stuff merchandise leafage
    foliage wearing_apparel fencing flooring curbing carpeting tubing clustering textile drapery
    fine_art oxen kine cows telecasting works chiropteran john minor internet cyberspace someone
    somebody mortal true_cat hombre lav face_fungus whiskers pop middle spot animate_being lading"""
)
"""Words that do not take *a*, or that no description of a picture would use."""
OTHER_SENSE = word_set(
    """bat toilet cell monitor baby mouse cream hotdog hood pitcher bar decker motor scooter boarder
    toaster transit white trailer bank planter controller gear pasture desert desktop commuter rose
    pepper male female plain fry giant calico grill comforter plunger cutter cereal corn pumpkin
    cucumber beef island resort net disc center plant body tv television glove leaf pipe someone
    individual cattle member bunch spot speaker clothes clothing furniture city town front edge bottom
    hole water paint cement cargo cake candle post call plat stall landscape paddle carrot object ground
    coach terminal string barrel deck clown ledge landing twin diner sail topping bouquet office
    photograph paint art fighter site handle officer bride teddy dish cook fish black orange turkey ring
    top counter stand stop light shade board court plate lot cover stick park closeup direction crane
    nut record horn chest trunk key bug tank crown seal buffalo kid grape olive slope tee feather hut
    habitat"""
)
"""Nouns that WordNet knows best for something else than what pictures show: a baseball *bat* is no animal."""
LEAST_SEEN = 4
"""How often a word must occur in the texts tagged for WordNet, to be one that people use."""


@register_perturbation
class Hypernym(Perturbation):
    """Replaces a noun by a more general one of WordNet: *a dog* becomes *an animal*. A control.

    The first hypernym of the noun's commonest sense that is a common word in its own commonest sense.
    """

    name = "hypernym"
    source = "WordNet (Fellbaum 1998)"
    keeps_meaning = True

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the nouns that have a hypernym, with it."""
        for at, new in plain_nouns(caption):
            general = general_word(new)
            if general is not None and general not in caption.tagged.words:
                yield [substitute_noun(caption, at, general)]


def plain_nouns(caption: Wording) -> Iterator[tuple[int, str]]:
    """Yield the nouns that stand alone for a thing, with their singular."""
    for at, word in enumerate(caption.tagged.words):
        if not caption.head_noun(at) or caption.children(at, "compound", "flat", "appos"):
            continue
        one = "person" if word == "people" else wordnet().lemma(word, "n")
        if one in EXCLUDED or one in OTHER_SENSE or word in OTHER_SENSE:
            continue
        if caption.names_one_thing(at - 1) or caption.names_one_thing(at) or not is_object(word):
            continue
        tag = caption.tagged.tags[at]
        if (
            tag == "NN"
            and caption.word(caption.phrase_start(at) - 1) == "of"
            and not caption.children(at, "det")
        ):
            # *A group of giraffe*: one that is meant as several.
            continue
        if (tag == "NN" and one == word) or (tag == "NNS" and plural_of(one) == word):
            yield at, one


def substitute_noun(caption: Wording, at: int, new: str) -> Option:
    """Return the replacement of a noun by another in the same number."""
    return caption.substitute(at, at, plural_of(new) if caption.tagged.tags[at] == "NNS" else new)


@cache
def general_word(noun: str) -> str | None:
    """Return the nearest more general word that is common, None where all are too general.

    >>> general_word("dog"), general_word("truck")
    ('animal', 'vehicle')
    """
    net = wordnet()
    sense = net.first_sense(noun, "n")
    if sense is None:
        return None
    for above in net.closure(sense).tolist():
        for lemma in net.lemmas(above):
            if lemma in TOO_GENERAL or not lemma.replace("_", "").isalpha() or not lemma.islower():
                continue
            senses, counts = net.synsets(lemma, "n"), net.sense_counts(lemma, "n")
            if len(senses) and senses[0] == above and counts[0] >= LEAST_SEEN and lemma not in UNFIT:
                return lemma.replace("_", " ")
    return None
