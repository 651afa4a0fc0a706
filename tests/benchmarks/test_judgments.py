"""Judgments and their mappings."""

from dataclasses import replace

import numpy as np
import pytest

from karat.benchmarks import Judgments, Provenance, Share, Steps, Truth
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


def marks(table):
    return list(zip(*(column.tolist() for column in table.pooled)))


def test_pooled_pairs_are_unjudged_and_keep_their_mark():
    table = Judgments([0, 2], [1, 0], rating=[4, 1], sources=[CXC], pooled=([5, 0, 2, 5, 0], [1, 2, 0, 1, 1]))
    # Sorted, each once, and what has a rating is judged: (2, 0) as well as (0, 1).
    assert marks(table) == [(0, 2), (5, 1)]
    assert (len(table), len(table.pairs())) == (2, 2)
    assert repr(table) == (
        "Judgments(2 ratings of 2 pairs: 1 relevant, 1 judged not relevant, 2 pooled and unjudged; cxc)"
    )
    with pytest.raises(ValueError, match="read-only"):
        table.pooled[0][0] = 1
    assert marks(table.remap("cxc", Share(top=5))) == [(0, 2), (5, 1)]
    plain = Judgments([0], [1], sources=[ORIGINAL])
    assert marks(plain) == []
    assert repr(plain) == "Judgments(1 ratings of 1 pairs: 1 relevant, 0 judged not relevant; original)"


def test_a_rating_takes_the_mark_away():
    mine = Judgments([0], [0], sources=[ORIGINAL], pooled=([1, 2, 3], [1, 2, 3]))
    yours = Judgments([1], [1], rating=[1], sources=[CXC], pooled=([0, 2, 9], [0, 2, 9]))
    for both in (mine.merge(yours), yours.merge(mine)):
        assert marks(both) == [(2, 2), (3, 3), (9, 9)]
        assert len(both) == 2
    assert marks(mine) == [(1, 1), (2, 2), (3, 3)]


def test_what_cannot_be_pooled_is_refused():
    with pytest.raises(InputError, match="pooled pairs have 2 images and 1 captions"):
        Judgments([0], [0], sources=[ORIGINAL], pooled=([0, 1], [0]))
    with pytest.raises(InputError, match="of the pooled pairs is out of range"):
        Judgments([0], [0], sources=[ORIGINAL], pooled=([0], [-1]))
    table = Judgments([0], [0], sources=[ORIGINAL], pooled=([1], [1]))
    asked = {"t2i": np.array([1, 0])}
    with pytest.raises(InputError, match="truth 'all' is complete, with 1 pair not judged"):
        Truth("all", table, asked, complete=True)
    truth = Truth("some", table, asked)
    assert truth.n_pooled == 1
    assert [column.tolist() for column in truth.pooled("t2i")] == [[1], [1]]
    assert [column.tolist() for column in truth.pooled("i2t")] == [[], []]
    assert not truth.has_negatives


def test_pairs_of_covered_queries_are_listed_as_the_judged_ones():
    table = Judgments([0], [0], sources=[ORIGINAL], pooled=([0, 1, 3, 3], [4, 0, 0, 2]))
    truth = Truth("some", table, {"i2t": np.array([3, 0])})
    assert [column.tolist() for column in truth.pooled("i2t")] == [[3, 3, 0], [0, 2, 4]]


SHARE = Provenance("people", "0 to 1", Share(top=1))


def test_draws_of_uncertain_ratings():
    """Several sources: the highest grade that is drawn counts, and a certain rating stays."""
    people = Judgments(
        [0, 0, 1, 1], [0, 1, 0, 1], rating=[1, 0, 0, 0.5], sources=[SHARE],
        probability=[0.9, 0.2, np.nan, 0.5], grade_if_relevant=[np.nan, 0.5, np.nan, np.nan],
    )  # fmt: skip
    other = Judgments(
        [0, 1, 2], [1, 1, 2], rating=[0, 1, 1], sources=[replace(SHARE, name="other")],
        probability=[0.3, 0.1, np.nan], grade_if_relevant=[1.0, np.nan, np.nan],
    )  # fmt: skip
    original = Judgments([1], [1], rating=[0.25], sources=[replace(SHARE, name="original")])
    table = people.merge(other).merge(original)
    uncertain = table.uncertain
    assert (table.has_probabilities, uncertain.n_pairs) == (True, 3)
    luck = uncertain.luck(4000, np.random.default_rng(2))
    drawn = uncertain.draw(luck)
    pairs = list(zip(*(column.tolist() for column in (table.pairs().image, table.pairs().caption))))
    assert pairs == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)]
    for column, expected in zip(drawn.T, ({1: 0.9}, {1: 0.3}, {}, {1: 0.1, 0.5: 0.4, 0.25: 0.5}, {1: 1.0})):
        for grade, share in expected.items():
            assert (column == grade).mean() == pytest.approx(share, abs=0.03)
        assert (column > 0).mean() == pytest.approx(sum(expected.values()), abs=0.03)
    one_by_one = np.random.default_rng(2)
    parts = [uncertain.draw(uncertain.luck(size, one_by_one)) for size in (1, 3999)]
    np.testing.assert_array_equal(np.concatenate(parts), drawn)
    never = uncertain.draw(luck[:3], np.zeros(len(uncertain.pair)))
    assert never.tolist() == [[0, 0, 0, 0.25, 1]] * 3


def test_probabilities_are_checked_and_belong_to_a_mapping():
    with pytest.raises(InputError, match=r"probability of the pair \(image 0, caption 0\) is -0.1"):
        Judgments([0], [0], sources=[SHARE], probability=[-0.1])
    with pytest.raises(InputError, match=r"grade_if_relevant of the pair .* is 0; give numbers above 0"):
        Judgments([0], [0], sources=[SHARE], probability=[0.5], grade_if_relevant=[0])
    with pytest.raises(
        InputError, match=r"with the probability 0\.5, and has the grade 0; give its grade_if"
    ):
        Judgments([0], [0], rating=[0], sources=[SHARE], probability=[0.5])
    with pytest.raises(InputError, match="2 probabilities or grades of 1 ratings"):
        Judgments([0], [0], sources=[SHARE], probability=[0.5, 0.5])
    table = Judgments([1, 0], [0, 0], sources=[SHARE], probability=[0.5, 0.25])
    assert table.probability.tolist() == [0.25, 0.5]
    assert not table.remap("people", Steps([(0.5, 1.0)])).has_probabilities
    plain = Judgments([0], [0], sources=[SHARE])
    assert not plain.has_probabilities
    assert plain.uncertain.draw(plain.uncertain.luck(2, np.random.default_rng(0))).tolist() == [[1.0], [1.0]]
