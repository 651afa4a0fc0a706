import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.lexicon.syntax import Parsed, load_parser
from tests.lexicon.syntax.gold import assert_tree, captions

split = str.split

WORDS = [
    "a",
    "man",
    "riding",
    "wave",
    "on",
    "top",
    "of",
    ",",
    "(",
    ")",
    "``",
    "''",
    ".",
    "-",
    "is",
    "red",
    "and",
]


def same(a: Parsed, b: Parsed) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in ("tag", "xpos", "head", "label")
    )


def test_the_parser_is_read_once():
    assert load_parser() is load_parser()


FRISBEE = split("two dogs are playing with a red frisbee in the grass")


def test_a_caption():
    sentence = load_parser()([FRISBEE])[0]
    assert sentence.tags == split("NUM NOUN AUX VERB ADP DET ADJ NOUN ADP DET NOUN")
    assert sentence.heads[:10] == [1, 3, 3, -1, 7, 7, 7, 3, 10, 10]
    assert sentence.labels[:10] == split("nummod nsubj aux root case det amod obl case det")


@pytest.mark.xfail(strict=True, reason="known error: the grass is hung on the frisbee, not on playing")
def test_where_they_play():
    assert load_parser()([FRISBEE])[0].heads[10] == 3


def test_types():
    parsed = load_parser()([["a", "cat"], []])
    assert (parsed.tag.dtype, parsed.xpos.dtype, parsed.label.dtype) == (np.uint8,) * 3
    assert parsed.head.dtype == np.int32
    assert parsed.ptr.tolist() == [0, 2, 2]
    assert parsed.words == ["a", "cat"]


def test_nothing():
    assert len(load_parser()([])) == 0
    assert [len(sentence) for sentence in load_parser()([[], [], []])] == [0, 0, 0]


@pytest.mark.parametrize(
    "words",
    [
        ["😀"],
        ["一个人在海滩上骑马"],
        ["", "cat", ""],
        [".", ",", "!"],
        ["(", "cat"],
        ["\ud800", "cat"],
        ["a", "  ", "\n", "dog"],
        ["İstanbul", "ÀÉ", "ß"],
        ["x" * 100_000, "dog"],
    ],
    ids=[
        "emoji",
        "Chinese",
        "empty words",
        "marks",
        "bracket",
        "surrogate",
        "blanks",
        "accents",
        "long word",
    ],
)
def test_odd_words_give_a_tree(words):
    assert_tree(load_parser()([words])[0])


def test_ten_thousand_words_give_a_tree():
    words = [word for sentence in captions() for word in sentence.words]
    words = (words * 20)[:10_000]
    sentence = load_parser()([words])[0]
    assert len(sentence) == 10_000
    assert_tree(sentence)
    # The beam is left at some length; a sentence beside it must not notice.
    assert same(load_parser()([["a", "cat"]]), load_parser()([["a", "cat"]]))


def test_a_sentence_is_parsed_alike_alone_and_among_others():
    sentences = [sentence.words for sentence in captions()]
    together = load_parser()([*sentences, [], ["cat"] * 300])
    for k, words in enumerate(sentences):
        assert load_parser()([words])[0] == together[k]


def test_any_sequence_will_do():
    assert same(load_parser()((("a", "red", "bus"),)), load_parser()([["a", "red", "bus"]]))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)), max_size=14), max_size=4))
def test_whatever_is_given_gives_trees(sentences):
    parsed = load_parser()(sentences)
    assert len(parsed) == len(sentences)
    for sentence, words in zip(parsed, sentences):
        assert sentence.words == words
        assert_tree(sentence)
    assert same(parsed, load_parser()(sentences))


@pytest.mark.parametrize("sentences", ["a cat", ["a cat"]])
def test_text_that_is_not_split(sentences):
    with pytest.raises(InputError, match="split it into a list of words"):
        load_parser()(sentences)


def test_words_that_are_no_text():
    with pytest.raises(InputError, match="word 1 is 3, not a string"):
        load_parser()([["a", 3]])
