"""Words: their meanings, base forms, counts and opposites, as NLTK finds them on the same files."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.validation import InputError

PARTS = ("n", "v", "a", "s", "r", None)


@pytest.fixture(scope="module")
def forms(nltk_wordnet) -> list[str]:
    """Listed words, all irregular forms, and words with endings that may or may not be theirs."""
    draw = random.Random(5)
    listed = draw.sample(sorted(nltk_wordnet._lemma_pos_offset_map), 4000)
    irregular = {form for part in "nvar" for form in nltk_wordnet._exception_map[part]}
    endings = ["s", "es", "ed", "ing", "er", "est", "ies", "men", "ves", "ches", "xes"]
    inflected = [word[: len(word) - draw.randint(0, 1)] + draw.choice(endings) for word in listed]
    return [*listed, *sorted(irregular), *inflected]


def test_base_forms(wn, nltk_wordnet, forms):
    changed = 0
    for form in forms:
        for pos in PARTS:
            mine = wn.morphy(form, pos)
            assert mine == nltk_wordnet.morphy(form, pos), (form, pos)
            changed += mine not in (None, form)
    assert changed > 4000


def test_synsets_in_order_of_sense(wn, nltk_wordnet, pairs, forms):
    """NLTK repeats a synset that two base forms share; here it stands once."""
    _, ours = pairs
    for form in forms[::4]:
        for pos in PARTS:
            theirs = ours(nltk_wordnet.synsets(form, pos))
            assert wn.synsets(form, pos).tolist() == list(dict.fromkeys(theirs)), (form, pos)


def test_opposites(wn, nltk_wordnet, forms):
    found = 0
    for form in [*forms[:6000:2], "big", "good", "open", "men", "man", "hotter"]:
        theirs = {
            other.name()
            for pos in "nvar"
            for base in nltk_wordnet._morphy(form, pos)
            for lemma in nltk_wordnet.lemmas(base, pos)
            if lemma.synset() in nltk_wordnet.synsets(base, pos)
            for other in lemma.antonyms()
        }
        mine = set(wn.antonyms(form))
        assert mine == theirs, form
        found += len(mine)
    assert found > 100


def test_counts(wn, nltk_wordnet, pairs):
    theirs, _ = pairs
    for word in ("dog", "run", "good", "large", "very", "man", "traffic_light"):
        for row, count in zip(wn.synsets(word), wn.sense_counts(word)):
            assert count == sum(one.count() for one in theirs(row).lemmas() if one.name().lower() == word)


@pytest.mark.parametrize(
    ("word", "pos", "base"),
    [
        ("men", "n", "man"), ("people", "n", "people"), ("glasses", "n", "glass"), ("buses", "n", "bus"),
        ("pants", "n", "pants"), ("Dogs", "n", "dog"), ("skiing", "v", "ski"), ("lying", "v", "lie"),
        ("left", "v", "leave"), ("best", "a", "good"), ("teddy bears", "n", "teddy bear"),
        ("teddy_bears", "n", "teddy_bear"), ("Kitesurfers", "n", "kitesurfers"), ("", None, ""),
    ],
)  # fmt: skip
def test_the_likeliest_base_form(wn, word, pos, base):
    assert wn.lemma(word, pos) == base


def test_the_first_sense(wn):
    assert wn.name(wn.first_sense("Dogs", "n")) == "dog.n.01"
    assert wn.name(wn.first_sense("dogs", "v")) == "chase.v.01"
    assert wn.name(wn.first_sense("people", "n")) == "people.n.01"
    assert wn.first_sense("big", "s") is not None
    assert wn.pos(wn.first_sense("big", "s")) == "s"
    assert wn.first_sense("qwertz") is None


def test_synonyms(wn):
    assert wn.same_meaning("couch", "sofa")
    assert wn.same_meaning("bikes", "bicycle")
    assert wn.same_meaning("Traffic  lights", "stoplight", "n")
    assert wn.same_meaning("selfie stick", "Selfie_stick")
    assert not wn.same_meaning("dog", "cat")
    assert not wn.same_meaning("dog", "chase", "n")
    assert wn.same_meaning("dog", "chase")
    assert wn.synset_keys("sofas") == frozenset(wn.synsets("couch", "n").tolist()) & wn.synset_keys("sofa")
    assert wn.synset_keys("qwertz") == frozenset()


def test_spaces_case_and_underscores_are_the_same(wn):
    rows = wn.synsets("traffic_light").tolist()
    assert rows
    for other in ("traffic light", "Traffic  Light", " traffic light ", "TRAFFIC_LIGHTS"):
        assert wn.synsets(other).tolist() == rows


def test_an_unknown_part_of_speech(wn):
    for ask in (wn.synsets, wn.morphy, wn.lemma, wn.antonyms, wn.synset_keys):
        with pytest.raises(InputError, match="pos is 'noun'"):
            ask("dog", "noun")


@given(word=st.text(st.characters(), max_size=12), pos=st.sampled_from(PARTS))
def test_any_text_is_a_word(wn, word, pos):
    rows = wn.synsets(word, pos)
    assert rows.dtype == np.int32
    assert len(wn.sense_counts(word, pos)) == len(rows) == len(wn.synset_keys(word, pos))
    assert isinstance(wn.lemma(word, pos), str)
    assert wn.same_meaning(word, word, pos)
    assert isinstance(wn.antonyms(word, pos), tuple)
    assert (wn.morphy(word, pos) is None) == (
        wn.lemma(word, pos) == word.lower() and not len(rows)
    ) or pos == "s"


@given(word=st.sampled_from(["\ud800", "dog\udfff", "\x00", "犬", "🐶", "İ", "a" * 10_000]))
def test_odd_text_has_no_meaning(wn, word):
    assert not len(wn.synsets(word))
    assert wn.antonyms(word) == ()
