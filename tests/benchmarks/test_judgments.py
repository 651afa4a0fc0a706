"""Judgments and their mappings."""

import numpy as np
import pytest

from karat.benchmarks import Judgments, Provenance, Share, Steps
from karat.errors import InputError, KaratError

ORIGINAL = Provenance("original")


CXC = Provenance("cxc", "0 to 5", Steps([(3, 1.0)]))


def test_rows_are_sorted_and_immutable():
    table = Judgments([1, 0], [0, 3], sources=[ORIGINAL])
    assert table.image.tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        table.rating[0] = 2


def test_three_states_and_provenance():
    own = Judgments([0, 1], [0, 1], sources=[ORIGINAL])
    rated = Judgments([0, 0, 1], [0, 1, 0], rating=[4.2, 1.0, 3.0], sources=[CXC])
    both = own.merge(rated)
    assert [s.name for s in both.sources] == ["original", "cxc"]
    pairs = both.pairs()
    # (0, 0) twice; (0, 1) judged not relevant; (1, 0) relevant by its rating; (1, 1) by origin.
    assert list(zip(pairs.image, pairs.caption, pairs.grade)) == [(0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 1)]
    assert len(both) == 5
    assert own.merge(rated).merge(Judgments([7], [7], sources=[ORIGINAL])).pairs().grade.sum() == 4


def test_several_sources_of_one_pair():
    yes = Judgments([0], [0], sources=[Provenance("a")])
    no = Judgments([0], [0], rating=[0], sources=[Provenance("b")])
    both = yes.merge(no)
    assert [both.pairs(how).grade.tolist() for how in ("max", "Mean", "min")] == [[1.0], [0.5], [0.0]]
    with pytest.raises(KaratError, match="resolve is 'vote'"):
        both.pairs("vote")


def test_a_source_speaks_once_about_a_pair():
    with pytest.raises(InputError, match=r"'original' rates the pair .* twice"):
        Judgments([0, 0], [0, 0], sources=[ORIGINAL])
    with pytest.raises(InputError, match="two different sources are both called 'cxc'"):
        Judgments([0], [0], sources=[CXC]).merge(Judgments([0], [1], sources=[Provenance("cxc")]))


def test_what_cannot_be_a_judgment_is_refused():
    for columns, message in (
        ({"image": [0], "caption": [-1]}, "out of range"),
        ({"image": [0], "caption": [0], "source": [3]}, "out of range"),
        ({"image": [0], "caption": [0], "rating": [np.nan]}, "maps the rating nan to the grade nan"),
    ):
        with pytest.raises(InputError, match=message):
            Judgments(**columns, sources=[ORIGINAL])
    with pytest.raises(InputError, match=r"maps the rating 9 to the grade 1\.8"):
        Judgments([0], [0], rating=[9], sources=[Provenance("s", mapping=Share(top=5))])
    with pytest.raises(KaratError, match="unknown source of ratings 'cxcc'"):
        Judgments([0], [0], sources=[CXC]).remap("cxcc", Share(top=5))


def test_ratings_keep_their_digits():
    at_the_edge = Judgments([0], [0], rating=[0.9], sources=[Provenance("s", mapping=Steps([(0.9, 1.0)]))])
    assert at_the_edge.grade.tolist() == [1]


def test_another_mapping_keeps_the_ratings():
    rated = Judgments([0, 0], [0, 1], rating=[2.5, 5.0], sources=[CXC])
    assert rated.pairs().grade.tolist() == [0, 1]
    assert rated.remap("cxc", Share(top=5)).pairs().grade.tolist() == [0.5, 1]
    assert str(Share(top=5, least=3)) == "rating / 5 from 3"
