import numpy as np
import pytest

from karat.lexicon.syntax import LABELS, TAGS, XPOS, Parsed, Sentence


@pytest.fixture
def parsed() -> Parsed:
    def places(names, known):
        return np.array([known.index(name) for name in names], np.uint8)

    return Parsed(
        np.array([0, 2, 2, 3]),
        ["red", "bus", "cats"],
        places(["ADJ", "NOUN", "NOUN"], TAGS),
        places(["JJ", "NN", "NNS"], XPOS),
        np.array([1, -1, -1], np.int32),
        places(["amod", "root", "root"], LABELS),
    )


def test_one_sentence_is_plain_lists(parsed):
    assert parsed[0] == Sentence(["red", "bus"], ["ADJ", "NOUN"], ["JJ", "NN"], [1, -1], ["amod", "root"])
    assert parsed[1] == Sentence([], [], [], [], [])
    assert parsed[-1].words == ["cats"]
    assert [len(sentence) for sentence in parsed] == [2, 0, 1]
    assert type(parsed[0].heads[0]) is int


def test_printing(parsed):
    assert str(parsed[0]).splitlines() == ["0  red  ADJ   JJ   1  amod  bus", "1  bus  NOUN  NN  -1  root  -"]
    assert str(parsed[1]) == ""
    assert repr(parsed) == "Parsed(3 sentences, 3 words)"


@pytest.mark.parametrize("k", [3, -4])
def test_no_such_sentence(parsed, k):
    with pytest.raises(IndexError, match=f"sentence {k} of 3"):
        parsed[k]


def test_names_are_unique():
    for names in (TAGS, XPOS, LABELS):
        assert len(set(names)) == len(names)
    # A set of labels must fit into one integer.
    assert len(LABELS) < 63
    assert LABELS[0] == "root"
