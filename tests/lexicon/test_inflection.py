"""Inflection and antonyms, against WordNet."""

import pytest

from karat.lexicon import VERB_PAIRS, adjective_antonyms, article_for, plural_of, verb_form, wordnet
from karat.lexicon.inflection import IRREGULAR_PLURALS, IRREGULAR_VERBS


@pytest.mark.parametrize(
    ("word", "article"),
    {"hour": "an", "house": "a", "umbrella": "an", "unicorn": "a", "uniform": "a", "unusual": "an",
     "european": "a", "one-way": "a", "orange": "an", "used": "a", "ugly": "an", "ewe": "a"}.items(),
)  # fmt: skip
def test_articles_go_by_sound(word, article):
    assert article_for(word) == article


def test_plurals_lead_back_to_their_noun():
    net = wordnet()
    nouns = """dog bus box church city boy knife leaf man woman child foot tooth sheep fish wolf potato photo
        policeman glass dish fox umbrella bench skateboard giraffe zebra horse person"""
    for noun in [*nouns.split(), *IRREGULAR_PLURALS]:
        plural = plural_of(noun)
        listed = f"\n{plural} {noun}" in net.files.read("noun.exc").decode()
        assert listed or net.lemma(plural, "n") == noun or noun in ("person", "die"), (noun, plural)


def test_forms_of_verbs_lead_back_to_their_base():
    net = wordnet()
    regular = ("carry", "stop", "bake", "agree", "dye", "tie", "watch", "jog")
    for base in [*IRREGULAR_VERBS, *VERB_PAIRS, *regular]:
        for tag in ("VBZ", "VBG", "VBD", "VBN"):
            form = verb_form(base, tag)
            listed = f"\n{form} {base}" in net.files.read("verb.exc").decode()
            assert listed or base in (net.morphy(form, "v"), net.lemma(form, "v")), (base, tag, form)


def test_antonyms_are_direct_ones_of_wordnet():
    net = wordnet()
    for base, pairs in VERB_PAIRS.items():
        assert set(pairs) <= set(net.antonyms(base, "v")), base
    for word in ("old", "short", "thin", "dead", "open", "clear", "hot", "white", "many"):
        for living in (False, True):
            for predicate in (False, True):
                assert set(adjective_antonyms(word, living, predicate)) <= set(net.antonyms(word, "a"))
