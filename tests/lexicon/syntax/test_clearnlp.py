"""ClearNLP trees as spaCy's English models draw them, and their Universal Dependencies."""

import pytest

from karat.lexicon.syntax.spacy_parser import is_clearnlp, to_universal

CASES = {
    "a preposition after a verb": (
        "man|NOUN|-1|ROOT sits|VERB|0|acl on|ADP|1|prep a|DET|4|det bench|NOUN|2|pobj",
        "-1|root 0|acl 4|case 4|det 1|obl",
    ),
    "a preposition after a noun": (
        "cat|NOUN|-1|ROOT on|ADP|0|prep mat|NOUN|1|pobj",
        "-1|root 2|case 0|nmod",
    ),
    "an agent": (
        "seen|VERB|-1|ROOT by|ADP|0|agent dogs|NOUN|1|pobj",
        "-1|root 2|case 0|obl:agent",
    ),
    "a passive": (
        "ball|NOUN|2|nsubjpass is|AUX|2|auxpass thrown|VERB|-1|ROOT",
        "2|nsubj:pass 2|aux:pass -1|root",
    ),
    "two prepositions": (
        "runs|VERB|-1|ROOT out|ADP|0|prep of|ADP|1|prep water|NOUN|2|pobj",
        "-1|root 3|case 3|case 0|obl",
    ),
    "in front of": (
        "cat|NOUN|-1|ROOT in|ADP|0|prep front|NOUN|1|pobj of|ADP|2|prep dog|NOUN|3|pobj",
        "-1|root 2|case 0|nmod 4|case 2|nmod",
    ),
    "a copula with an adjective": (
        "the|DET|1|det bus|NOUN|2|nsubj is|AUX|-1|ROOT red|ADJ|2|acomp",
        "1|det 3|nsubj 3|cop -1|root",
    ),
    "a copula with a noun": (
        "this|PRON|1|nsubj is|AUX|-1|ROOT a|DET|3|det dog|NOUN|1|attr",
        "3|nsubj 3|cop 3|det -1|root",
    ),
    "a copula with a place": (
        "cat|NOUN|1|nsubj is|AUX|-1|ROOT on|ADP|1|prep mat|NOUN|2|pobj",
        "3|nsubj 3|cop 3|case -1|root",
    ),
    "there is": (
        "there|PRON|1|expl is|VERB|-1|ROOT a|DET|3|det dog|NOUN|1|attr",
        "1|expl -1|root 3|det 1|nsubj",
    ),
    "a list": (
        "cats|NOUN|-1|ROOT dogs|NOUN|0|conj and|CCONJ|1|cc birds|NOUN|1|conj",
        "-1|root 0|conj 3|cc 0|conj",
    ),
    "one noun for two prepositions": (
        "walks|VERB|-1|ROOT in|ADP|0|prep and|CCONJ|1|cc around|ADP|1|conj park|NOUN|3|pobj",
        "-1|root 4|case 3|cc 1|conj 0|obl",
    ),
    "two prepositions with a noun each": (
        "sits|VERB|-1|ROOT on|ADP|0|prep mats|NOUN|1|pobj and|CCONJ|1|cc under|ADP|1|conj beds|NOUN|4|pobj",
        "-1|root 2|case 0|obl 5|cc 5|case 2|conj",
    ),
    "a clause after a preposition": (
        "uses|VERB|-1|ROOT knife|NOUN|0|dobj for|ADP|0|prep cutting|VERB|2|pcomp bread|NOUN|3|dobj",
        "-1|root 0|obj 3|mark 0|advcl 3|obj",
    ),
    "a possessive, a particle and a relative clause": (
        "man|NOUN|2|poss 's|PART|0|case dog|NOUN|-1|ROOT that|PRON|4|nsubj lies|VERB|2|relcl down|ADP|4|prt",
        "2|nmod:poss 0|case -1|root 4|nsubj 2|acl:relcl 4|compound:prt",
    ),
    "a gift": (
        "gives|VERB|-1|ROOT bone|NOUN|0|dobj to|ADP|0|dative dog|NOUN|2|pobj",
        "-1|root 0|obj 3|case 0|obl",
    ),
    "to": (
        "wants|VERB|-1|ROOT to|PART|2|aux eat|VERB|0|xcomp",
        "-1|root 2|mark 0|xcomp",
    ),
    "a preposition without a noun": (
        "walks|VERB|-1|ROOT by|ADP|0|prep",
        "-1|root 0|advmod",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_conversion(name):
    given, wanted = CASES[name]
    words, tags, heads, labels = zip(*(cell.split("|") for cell in given.split()))
    _, new_heads, new_labels = to_universal(list(words), list(tags), [int(h) for h in heads], list(labels))
    assert " ".join(f"{h}|{label}" for h, label in zip(new_heads, new_labels)) == wanted


def test_be_becomes_an_auxiliary():
    tags, _, _ = to_universal(
        ["it", "is", "red"], ["PRON", "VERB", "ADJ"], [1, -1, 1], ["nsubj", "ROOT", "acomp"]
    )
    assert tags == ["PRON", "AUX", "ADJ"]


def test_the_styles_are_told_apart():
    assert is_clearnlp(["det", "nsubj", "ROOT", "dobj"])
    assert not is_clearnlp(["det", "nsubj", "root", "obj", "case", "obl"])
