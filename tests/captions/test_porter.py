"""Porter's stemmer: the examples of its paper, and another implementation of the same paper."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.captions.porter import STEP_2, STEP_3, STEP_4, measure, shape, stem

# Single steps of the 1980 paper, carried through to the end.
PAPER = {
    "caresses": "caress", "ponies": "poni", "ties": "ti", "cats": "cat", "feed": "feed", "agreed": "agre",
    "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing", "conflated": "conflat",
    "troubled": "troubl", "sized": "size", "hopping": "hop", "tanned": "tan", "falling": "fall",
    "hissing": "hiss", "fizzed": "fizz", "failing": "fail", "filing": "file", "happy": "happi", "sky": "sky",
    "rational": "ration", "digitizer": "digit", "vietnamization": "vietnam", "hopefulness": "hope",
    "triplicate": "triplic", "formative": "form", "revival": "reviv", "adoption": "adopt",
    "probate": "probat", "rate": "rate", "cease": "ceas", "controll": "control", "roll": "roll",
    "generalizations": "gener",
}  # fmt: skip


@pytest.mark.parametrize(("word", "expected"), PAPER.items())
def test_examples_of_the_paper(word, expected):
    assert stem(word) == expected


def test_measures_of_the_paper():
    words = {0: "tr ee tree y by", 1: "trouble oats trees ivy", 2: "troubles private oaten orrery"}
    assert all(measure(word) == m for m, listed in words.items() for word in listed.split())
    assert shape("syzygy") == "cvcvcv"


@pytest.fixture(scope="module")
def other():
    porter = pytest.importorskip("nltk.stem.porter").PorterStemmer
    return porter(mode=porter.ORIGINAL_ALGORITHM)


@given(word=st.text("abcdeilnorstuyz", min_size=1, max_size=12))
def test_equal_to_nltk_on_made_up_words(other, word):
    assert stem(word) == other.stem(word)


ENDINGS = ["s", "sses", "ies", "ss", "eed", "ed", "ing", "y", "e", "ll", "sion", *STEP_2, *STEP_3, *STEP_4]


@given(
    start=st.text("abelorty", max_size=5),
    first=st.sampled_from(ENDINGS),
    second=st.sampled_from(["", *ENDINGS]),
)
def test_equal_to_nltk_on_words_with_its_endings(other, start, first, second):
    word = start + first + second
    assert stem(word) == other.stem(word)


def test_equal_to_nltk_on_every_word_of_wordnet(other):
    """WordNet's single words: 77,000 of them."""
    from karat.lexicon import wordnet

    words = wordnet_words(wordnet())
    assert len(words) > 50_000
    assert [word for word in words if stem(word) != other.stem(word)] == []


def wordnet_words(net) -> list[str]:
    return sorted({word.lower() for word in net._vocabulary.strings if word.isascii() and word.isalpha()})
