"""Verdicts merged with other judged sets, pair by pair in plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.benchmarks import Judgments, Provenance, Truth
from karat.errors import InputError
from karat.judging.publication.policies import POLICIES, SourceGrades, find_conflicts, merge, truth_source

GRADES = st.sampled_from([0.0, 0.5, 1.0])
OPINIONS = st.dictionaries(st.integers(0, 7), GRADES, max_size=8)


def source(name, opinions, policy="union", everything=False):
    key = np.array(sorted(opinions), dtype=np.int64)
    return SourceGrades(name, key, np.array([opinions[k] for k in sorted(opinions)]), policy, everything)


@st.composite
def cases(draw):
    people = draw(OPINIONS)
    answers = {key: draw(st.integers(1, 5)) for key in people}
    yes = {key: draw(st.integers(0, answers[key])) for key in people}
    sets = [
        (draw(OPINIONS), draw(st.sampled_from(POLICIES)), draw(st.booleans()))
        for _ in range(draw(st.integers(0, 3)))
    ]
    return people, yes, answers, sets


def run(people, yes, answers, sets):
    order = sorted(people)
    given_sets = [source(f"set {k}", *one) for k, one in enumerate(sets)]
    counts = [np.array([table[key] for key in order], dtype=int) for table in (yes, answers)]
    return merge(source("people", people), given_sets, *counts)


def plain_outcome(key, people, yes, answers, sets):
    """The grade of one pair, or None when nobody judged it."""
    own = people.get(key)
    words = [
        (opinions.get(key, 0.0 if everything else None), policy) for opinions, policy, everything in sets
    ]
    words = [
        (grade, policy)
        for grade, policy in words
        if grade is not None and not (policy == "people" and own is not None)
    ]
    voters = [grade for grade, policy in words if policy == "majority"]
    others = [grade for grade, policy in words if policy != "majority"]
    parties = voters + ([] if own is None else [own])
    if voters and any(grade > 0 for grade in parties) and not all(grade > 0 for grade in parties):
        good = yes.get(key, 0) + sum(grade > 0 for grade in voters)
        bad = answers.get(key, 0) - yes.get(key, 0) + sum(grade == 0 for grade in voters)
        if good < bad or (good == bad and own == 0):
            parties = [0.0]
    return max(parties + others)


@settings(deadline=None)
@given(cases())
def test_every_pair_is_decided_as_one_would_by_hand(case):
    people, yes, answers, sets = case
    found = run(*case)
    universe = set(people).union(*(opinions for opinions, _, _ in sets))
    assert found.key.tolist() == sorted(universe)
    for key, grade in zip(found.key.tolist(), found.grade.tolist()):
        assert grade == plain_outcome(key, people, yes, answers, sets)


@settings(deadline=None)
@given(cases())
def test_the_judgments_say_the_same(case):
    found = run(*case)
    who = np.arange(len(case[0])) % 2
    table = found.judgments(who, ("people", "machines"))
    pairs = table.pairs()
    assert pairs.caption.tolist() == found.caption.tolist()
    assert pairs.grade.tolist() == found.grade.tolist()
    assert {each.name for each in table.sources} >= {"people", "machines"}


@settings(deadline=None)
@given(cases())
def test_conflicts_are_opposite_words(case):
    people, _, _, sets = case
    found = find_conflicts(run(*case))
    for number, (row, (opinions, _, everything)) in enumerate(zip(found.counts(), sets)):
        universe = set(people).union(*(other for other, _, _ in sets))
        theirs = {key: opinions.get(key, 0.0) for key in universe} if everything else opinions
        both = set(theirs) & set(people)
        assert row["both"] == len(both)
        assert row["set_yes"] == sum(theirs[k] > 0 and people[k] == 0 for k in both)
        assert row["answers_yes"] == sum(theirs[k] == 0 and people[k] > 0 for k in both)
        assert row["set"] == f"set {number}"


def test_sets_need_lists_and_names_of_their_own():
    class Rule:
        pass

    asked = {"i2t": np.arange(1)}
    with pytest.raises(InputError, match="is a rule"):
        truth_source(Truth("rule", None, asked, rule=Rule()), "rule")
    table = Judgments([0, 0], [0, 1], rating=[1, 0], sources=[Provenance("own")])
    assert truth_source(Truth("own", table, asked), "own").grade.tolist() == [1.0, 0.0]
    assert truth_source(Truth("own", table, asked), "own", positives=True).key.tolist() == [0]
    with pytest.raises(InputError, match="policy"):
        truth_source(Truth("own", table, asked), "own", "loudest")
    with pytest.raises(InputError, match="two sources"):
        merge(source("cxc", {}), [source("cxc", {})], np.zeros(0), np.zeros(0))
