"""WordNet's synsets and words are what NLTK's reader says of the same files."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError, UnknownNameError


@pytest.fixture(scope="module")
def sample(wn) -> list[int]:
    """Of every part of speech, and the few named things and satellites among them."""
    return np.random.default_rng(1).choice(len(wn), 4000, replace=False).tolist()


def test_all_synsets_are_there_in_the_order_of_the_files(wn, nltk_wordnet):
    for part in "nvar":
        with nltk_wordnet.open(f"data.{nltk_wordnet._FILEMAP[part]}") as file:
            offsets = [int(line[:8]) for line in file if not line.startswith(" ")]
        rows = np.flatnonzero(wn.parts == "nvar".index(part))
        assert [wn.offset(row) for row in rows] == offsets
        assert {wn.pos(row) for row in rows} == ({"a", "s"} if part == "a" else {part})


def test_words_and_definitions(wn, pairs, sample):
    theirs, _ = pairs
    for row in sample:
        assert list(wn.lemmas(row)) == theirs(row).lemma_names()
        assert wn.definition(row) == theirs(row).definition()


def test_names(wn, nltk_wordnet, pairs, sample):
    """New versions of NLTK number satellites among themselves; old ones and WordNet among all adjectives."""
    theirs, _ = pairs
    for row in sample:
        word, pos, number = wn.name(row).rsplit(".", 2)
        if pos == "s":
            senses = nltk_wordnet._lemma_pos_offset_map[word]["a"]
            assert senses.index(wn.offset(row)) + 1 == int(number)
        else:
            assert wn.name(row) == theirs(row).name()
        assert wn.synset(wn.name(row)) == row


@pytest.mark.parametrize(
    "relation", ["hypernyms", "instance_hypernyms", "hyponyms", "instance_hyponyms", "similar_to"]
)
def test_relations(wn, pairs, sample, relation):
    theirs, ours = pairs
    call = {"similar_to": "similar_tos"}.get(relation, relation)
    found = 0
    for row in sample:
        mine = getattr(wn, relation)(row).tolist()
        assert sorted(mine) == sorted(ours(getattr(theirs(row), call)()))
        found += len(mine)
    assert found > 100


def test_the_one_place_where_hyponyms_are_not_the_reverse_of_hypernyms(wn):
    """WordNet 3.0 contradicts itself about one verb; karat repeats what the file says."""
    restrain, suppress = wn.synset("restrain.v.01"), wn.synset("suppress.v.04")
    wrong = [row for row in wn.hyponyms(restrain) if restrain not in wn.hypernyms(row)]
    assert len(wrong) == 1
    assert wn.hypernyms(wrong[0]).tolist() == [suppress]


def test_depths_roots_and_closures(wn, pairs, sample):
    theirs, ours = pairs
    for row in sample[:2000]:
        synset = theirs(row)
        assert wn.min_depth(row) == synset.min_depth()
        assert wn.max_depth(row) == synset.max_depth()
        assert sorted(wn.roots(row)) == sorted(ours(synset.root_hypernyms()))
        up = synset._shortest_hypernym_paths(simulate_root=False)
        _, above, distance = wn.ancestors(row)
        assert dict(zip(above.tolist(), distance.tolist())) == dict(zip(ours(up), up.values()))
        assert distance.tolist() == sorted(distance)
        assert wn.closure(row).tolist() == above[1:].tolist()


def test_ancestors_of_many_are_those_of_each(wn, sample):
    start, above, distance = wn.ancestors(sample[:50])
    for place, row in enumerate(sample[:50]):
        alone = wn.ancestors(row)
        own = slice(start[place], start[place + 1])
        assert above[own].tolist() == alone[1].tolist()
        assert distance[own].tolist() == alone[2].tolist()
    assert [len(part) for part in wn.ancestors([])] == [1, 0, 0]


def test_unknown_names_say_what_there_is(wn):
    with pytest.raises(UnknownNameError, match=r"its senses are cat\.n\.01, guy\.n\.01"):
        wn.synset("cat.n.99")
    with pytest.raises(UnknownNameError, match="does not list this word"):
        wn.synset("qwertz.n.01")
    with pytest.raises(UnknownNameError, match=r"able\.a\.01"):
        wn.synset("able.s.01")
    with pytest.raises(InputError, match=r"write it like dog\.n\.01"):
        wn.synset("dog")


@pytest.mark.parametrize(
    "name", ["", ".", "..", "dog.n.", "dog..01", "dog.nv.01", "dog.n.00", "dog.n.²", "d.n." + "9" * 5000]
)
def test_names_that_are_none(wn, name):
    with pytest.raises(InputError):
        wn.synset(name)


def test_numbers_that_are_no_synset(wn):
    for row in (-1, len(wn)):
        with pytest.raises(InputError, match=f"there is no synset {row}"):
            wn.lemmas(row)
        with pytest.raises(InputError, match=f"there is no synset {row}"):
            wn.ancestors([0, row])
    with pytest.raises(InputError, match="give a list of ints"):
        wn.ancestors([0.5])
    with pytest.raises(InputError, match="give a list of ints"):
        wn.ancestors([[0]])


def test_what_is_shared_cannot_be_changed(wn):
    with pytest.raises(ValueError, match="read-only"):
        wn.synsets("dog")[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        wn.hypernyms(0)[:] = 1


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
