"""A real spaCy pipeline whose one component sets what the test wrote down."""

import pytest

from karat.errors import InputError
from karat.lexicon.syntax import Parsed, SpacyParser

spacy = pytest.importorskip("spacy")
from spacy.language import Language  # noqa: E402

split = str.split

CLEARNLP = {
    "a man is on the beach": (
        "DET NOUN AUX ADP DET NOUN", "DT NN VBZ IN DT NN", [1, 2, 2, 2, 5, 3], "det nsubj ROOT prep det pobj"
    ),
    "red bus": ("ADJ NOUN", "JJ NN", [1, 1], "amod ROOT"),
    "he runs dogs bark": ("PRON VERB NOUN VERB", "PRP VBZ NNS VBP", [1, 1, 3, 3], "nsubj ROOT nsubj ROOT"),
}  # fmt: skip
UNIVERSAL = {"a cat on mats": ("DET NOUN ADP NOUN", "DT NN IN NNS", [1, 1, 3, 1], "det ROOT case nmod:on")}


@Language.factory("karat_test_trees")
def make_component(nlp, name):
    def component(doc):
        known = {**CLEARNLP, **UNIVERSAL}[doc.text.strip()]
        for token, pos, tag, head, dep in zip(
            doc, known[0].split(), known[1].split(), known[2], known[3].split()
        ):
            token.pos_, token.tag_, token.head, token.dep_ = pos, tag, doc[head], dep
        return doc

    return component


@Language.component("karat_test_compound")
def compound(doc):
    last = doc[len(doc) - 1]
    for token in doc:
        token.tag_, token.head, token.dep_ = "NN", last, "ROOT" if token.i == last.i else "compound"
    return doc


@pytest.fixture(scope="module")
def parser() -> SpacyParser:
    nlp = spacy.blank("en")
    nlp.add_pipe("karat_test_trees")
    return SpacyParser(nlp)


def test_clearnlp_labels_are_turned(parser):
    parsed = parser([split("a man is on the beach"), [], ["red", "bus"]])
    assert isinstance(parsed, Parsed)
    assert parsed[0].words == split("a man is on the beach")
    assert parsed[0].heads == [1, 5, 5, 5, 5, -1]
    assert parsed[0].labels == split("det nsubj cop case det root")
    assert parsed[0].xpos == split("DT NN VBZ IN DT NN")
    assert len(parsed[1]) == 0
    assert parsed[2].labels == ["amod", "root"]


def test_universal_labels_are_kept(parser):
    sentence = parser([split("a cat on mats")])[0]
    assert (sentence.heads, sentence.labels) == ([1, -1, 3, 1], ["det", "root", "case", "nmod"])


def test_a_second_root_hangs_on_the_first(parser):
    sentence = parser([split("he runs dogs bark")])[0]
    assert (sentence.heads, sentence.labels) == ([1, -1, 3, 1], ["nsubj", "root", "nsubj", "parataxis"])


@pytest.mark.parametrize("words", [["", "bus"], ["\ud800", "bus"]])
def test_words_that_spacy_refuses(words):
    nlp = spacy.blank("en")
    nlp.add_pipe("karat_test_compound")
    sentence = SpacyParser(nlp)([words])[0]
    assert sentence.words == words
    assert sentence.labels == ["compound", "root"]


def test_nothing(parser):
    assert len(parser([])) == 0
    assert [len(sentence) for sentence in parser([[], []])] == [0, 0]


def test_a_pipeline_without_tags():
    with pytest.raises(InputError, match="sets no tags"):
        SpacyParser(spacy.blank("en"))([["a", "cat"]])


def test_a_pipeline_without_heads():
    nlp = spacy.blank("en")

    @Language.component("karat_test_tags")
    def tags(doc):
        for token in doc:
            token.tag_ = "NN"
        return doc

    nlp.add_pipe("karat_test_tags")
    with pytest.raises(InputError, match="sets no heads"):
        SpacyParser(nlp)([["a", "cat"]])


def test_what_is_no_pipeline():
    with pytest.raises(InputError, match="is not a spaCy pipeline"):
        SpacyParser("en_core_web_sm")


def test_text_that_is_not_split(parser):
    with pytest.raises(InputError, match="split it into a list of words"):
        parser(["a cat"])
