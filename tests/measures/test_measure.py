"""Names parse and print the same; registering twice raises."""

import pytest

from karat.errors import InputError, KaratError
from karat.measures import MEASURES, Measure, Param, parse_measure, parse_measures, register

NAMES = (
    "R@1", "R@10", "Recall@5", "P@3", "RP", "mAP@R", "AP", "MRR", "MRR@10", "nDCG", "nDCG@10", "MedR",
    "MeanR", "Judged@10", "RSUM", "R(rel=0.5)@5", "mAP(rel=1)@R", "RP(cut=50)", "RP(rel=0.5, cut=50)",
    "AP@10", "AP′@10", "Q′", "Q(beta=2)", "RBP(p=0.8)", "infAP(rel=any)", "bpref", "P(rel=2)@3",
    "P(rel=any)@3",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_parse_and_print_the_same(name: str):
    assert str(parse_measure(name)) == name
    assert parse_measure(str(parse_measure(name))) == parse_measure(name)
    assert parse_measure(parse_measure(name)) == parse_measure(name)


@pytest.mark.parametrize(
    ("given", "canonical"),
    [("s@5", "R@5"), (" ndcg@10 ", "nDCG@10"), ("MAP", "AP"), ("map@r", "mAP@R"), ("R-Precision", "RP"),
     ("map", "AP"), ("mAP@10", "AP@10"), ("map_cut_100", "AP@100"), ("P_10", "P(rel=any)@10"),
     ("P.10", "P(rel=any)@10"), ("ndcg", "nDCG"), ("ndcg_cut_10", "nDCG@10"), ("recip_rank", "MRR"),
     ("Rprec", "RP(rel=any)"), ("bpref", "bpref"), ("infAP", "infAP"),
     ("success_5", "R(rel=any)@5"), ("recall_100", "Recall(rel=any)@100"), ("P(rel=ANY)@3", "P(rel=any)@3"),
     ("RR@3", "MRR@3"), ("P(0.5)@3", "P(rel=0.5)@3"), ("R( rel = 0.50 ) @ 5", "R(rel=0.5)@5")],
)  # fmt: skip
def test_aliases(given: str, canonical: str):
    assert str(parse_measure(given)) == canonical


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "is not a measure's name"),
        ("R@", "is not a measure's name"),
        ("R", "R needs k; write R@K"),
        ("R@0", "k of R is 0; give 1 or more"),
        ("R@x", "has the cut-off 'x'; write R@K with a whole number"),
        ("R@1_0", "has the cut-off '1_0'"),
        ("R@99999999999999999999", "give a whole number"),
        ("R(k=5)@10", "gives k twice"),
        ("RP(cut=0)", "cut of RP is 0"),
        ("RP(cut=-1)", "cut is '-1'; give a whole number"),
        ("Rx@1", "unknown measure 'Rx'"),
        ("RP@5", "RP takes no cut-off; write RP"),
        ("P(rel=0)@3", "rel is 0; give a share up to 1, a relevance above 1 as the labels have it, or any"),
        ("P(rel=inf)@3", "rel is inf"),
        ("P(rel=all)@3", "rel is 'all'; give a share"),
        ("num_q", "karat does not compute trec_eval's 'num_q'; of trec_eval it has bpref, infAP, map,"),
        ("set_F", "karat does not compute trec_eval's 'set_F'"),
        ("map_cut_0", "k of AP is 0"),
        ("P(foo=2)@3", "has no parameter 'foo'"),
        ("RSUM(3)", "RSUM takes no parameter '3'"),
        ("R@1; import os", "is not a measure's name"),
    ],
)
def test_wrong_names_are_sentences(name: str, message: str):
    with pytest.raises(InputError) as caught:
        parse_measure(name)
    assert message in str(caught.value)


def test_each_once_in_order():
    assert [str(m) for m in parse_measures(["R@5", "S@5", "R@1"])] == ["R@5", "R@1"]


def test_a_name_is_taken_once():
    class Again(Measure):
        name = "again"
        aliases = ("S",)

    with pytest.raises(ValueError, match="measure 'S' is registered already"):
        register(Again)
    with pytest.raises(KaratError, match="unknown measure"):
        MEASURES["nothing like it"]


def test_every_measure_says_what_it_is():
    for name in MEASURES:
        kind = MEASURES[name]
        assert kind.formula, name
        assert kind.source, name
        assert all(isinstance(param, Param) and param.help for param in kind.params)
