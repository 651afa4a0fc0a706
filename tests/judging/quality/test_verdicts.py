"""Majority and mean against plain Python; what every aggregation promises."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.forms import GOLD_NO, GOLD_YES
from karat.judging.quality.verdicts import AGGREGATIONS, aggregate
from tests.judging.quality.samples import FOUR, YES_NO, answer_tables, scale, shuffled, table

GRADES = {1: 0.0, 2: 0.0, 3: 0.5, 4: 1.0}


def by_pair(answers):
    found = {}
    for image, caption, rating in zip(answers.image, answers.caption, answers.rating):
        found.setdefault((int(image), int(caption)), []).append(int(rating))
    return dict(sorted(found.items()))


def plain_majority(ratings, threshold):
    relevant = [one for one in ratings if GRADES[one] > 0]
    yes = bool(relevant) and Fraction(len(relevant), len(ratings)) >= threshold
    side = relevant if yes else [one for one in ratings if GRADES[one] == 0]
    if not side:
        # No vote for the winning side: the threshold alone chose it.
        side = [one for one in GRADES if (GRADES[one] > 0) == yes]
    most = max(side.count(one) for one in side)
    mean = Fraction(sum(ratings), len(ratings))
    return min((one for one in set(side) if side.count(one) == most), key=lambda one: (abs(one - mean), one))


@settings(deadline=None)
@given(answer_tables(), st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(1)]))
def test_majority_is_the_vote(answers, threshold):
    found = aggregate(answers, FOUR, "majority", threshold=float(threshold), even="yes")
    expected = {pair: plain_majority(said, threshold) for pair, said in by_pair(answers).items()}
    assert list(zip(found.image.tolist(), found.caption.tolist())) == list(expected)
    assert found.rating.tolist() == list(expected.values())
    assert found.grade.tolist() == [GRADES[one] for one in expected.values()]


@pytest.mark.parametrize("method", ["majority", "dawid-skene"])
def test_an_even_split_is_a_yes_only_if_one_says_so(method):
    # Of two annotators who always contradict each other, nothing can be learned.
    rows = [(0, pair, who, 4 if who == pair % 2 else 1) for pair in range(20) for who in range(2)]
    assert not aggregate(table(rows), FOUR, "majority").relevant.any()
    assert aggregate(table(rows), FOUR, "majority", even="yes").relevant.all()
    with pytest.raises(InputError, match="even"):
        aggregate(table(rows), FOUR, method, even="perhaps")


@settings(deadline=None)
@given(answer_tables())
def test_mean_is_the_mean_grade(answers):
    found = aggregate(answers, FOUR, "mean", threshold=0.4)
    means = [np.mean([GRADES[one] for one in said]) for said in by_pair(answers).values()]
    assert np.allclose(found.relevance, means)
    assert np.allclose(found.grade, [mean if mean >= 0.4 - 1e-9 else 0 for mean in means])
    assert np.allclose(found.rating, [np.mean(said) for said in by_pair(answers).values()])


@settings(deadline=None)
@given(answer_tables(gold=True), st.sampled_from([*AGGREGATIONS]), st.integers(0, 99))
def test_what_all_promise(answers, method, seed):
    found = aggregate(answers, FOUR, method)
    ratings = by_pair(answers)
    assert len(found) == len(ratings)
    assert found.answers.tolist() == [len(said) for said in ratings.values()]
    assert np.allclose(found.posterior.sum(axis=1), 1)
    # An even split is not a yes; the mean of grades has no even splits.
    reached = found.relevance >= 0.5 - 1e-9 if method == "mean" else found.relevance > 0.5 + 1e-9
    assert (found.relevant == reached).all()
    assert ((found.grade >= 0) & (found.grade <= 1)).all()
    for said, share in zip(ratings.values(), found.disagreement):
        twos = [(a, b) for k, a in enumerate(said) for b in said[:k]]
        assert np.isnan(share) if not twos else np.isclose(share, np.mean([a != b for a, b in twos]))
    again = aggregate(shuffled(answers, np.random.default_rng(seed)), FOUR, method)
    assert np.allclose(again.posterior, found.posterior, atol=1e-6)
    assert found.asked.gold.tolist() == [-1] * len(found.asked)
    assert len(found.asked) == (found.gold == -1).sum()


def test_a_pair_may_be_judged_here_and_gold_there():
    rows = [(0, 0, 0, 4, GOLD_YES), (0, 0, 1, 4, -1), (0, 1, 0, 1, GOLD_NO), (0, 2, 0, 1, -1)]
    found = aggregate(table(rows), FOUR)
    assert found.gold.tolist() == [GOLD_YES, GOLD_NO, -1]
    assert found.asked.caption.tolist() == [0, 2]


def test_two_kinds_of_yes_do_not_lose_by_splitting():
    five = table([(0, 0, k, rating) for k, rating in enumerate([1, 1, 3, 4, 4])])
    assert aggregate(five, FOUR).rating.tolist() == [4]


@pytest.mark.parametrize(
    ("said", "rating"),
    [([1, 4], 4), ([2, 3, 4], 3), ([3, 4], 3), ([1, 2], 1), ([1, 1, 3, 4], 3), ([2, 1, 4], 2)],
)
def test_ties(said, rating):
    """An even split is relevant here; of equal ratings the nearest to the mean, then the lower."""
    found = aggregate(table([(0, 0, k, one) for k, one in enumerate(said)]), FOUR, even="yes")
    assert found.rating.tolist() == [rating]


def test_the_share_of_yes():
    """Hodosh's score: the average number of positive judgments."""
    said = table([(0, 0, 0, 2), (0, 0, 1, 2), (0, 0, 2, 1), (0, 1, 0, 2), (0, 1, 1, 1), (0, 1, 2, 1)])
    found = aggregate(said, YES_NO, "mean")
    assert np.allclose(found.relevance, [2 / 3, 1 / 3])
    assert np.allclose(found.grade, [2 / 3, 0])
    assert aggregate(said, YES_NO, "mean", threshold=2 / 3).relevant.tolist() == [True, False]


def test_names():
    assert {"dawid-skene", "mean", "majority"} <= set(AGGREGATIONS)
    assert AGGREGATIONS["DS"] is AGGREGATIONS["dawid-skene"]
    said = table([(0, 0, 0, 1)])
    assert aggregate(said, FOUR, "vote").method == "majority"
    with pytest.raises(InputError, match="unknown aggregation 'medain'"):
        aggregate(said, FOUR, "medain")
    with pytest.raises(InputError, match=r"has no setting 'treshold'; did you mean threshold\?"):
        aggregate(said, FOUR, treshold=0.5)
    with pytest.raises(InputError, match=r"threshold is 1\.5; give a share from 0 to 1"):
        aggregate(said, FOUR, threshold=1.5)


def test_mistakes():
    with pytest.raises(InputError, match="the form 'test' has no rating 7"):
        aggregate(table([(0, 0, 0, 7)]), FOUR)
    with pytest.raises(InputError, match="both yes and no"):
        aggregate(table([(0, 0, 0, 1, GOLD_NO), (0, 0, 1, 1, GOLD_YES)]), FOUR)
    same = scale(0, 1)
    object.__setattr__(same.answers[1], "rating", 1)
    with pytest.raises(InputError, match="the same rating"):
        aggregate(table([(0, 0, 0, 1)]), same)


def test_nothing_to_aggregate():
    for method in AGGREGATIONS:
        assert len(aggregate(table([], annotators=2), FOUR, method)) == 0
