"""Synsets are what NLTK's reader says of the same files."""

import numpy as np
import pytest

from karat.validation import InputError, UnknownNameError


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
