"""The annotator table against plain counting."""

import numpy as np
from hypothesis import given, settings

from karat.forms.answer_table import make_answers
from karat.judging.quality.annotators import agreement_with_others, annotator_table, median_seconds
from karat.world.annotators import adversarial, average, careful
from tests.judging.quality.samples import FOUR, YES_NO, answer_tables, simulated, table


@settings(deadline=None)
@given(answer_tables(gold=True))
def test_agreement_with_others(answers):
    agreement, chance, compared, _ = agreement_with_others(answers, FOUR)
    rows = [
        row
        for row in zip(answers.image, answers.caption, answers.annotator, answers.rating, answers.gold)
        if row[4] == -1
    ]
    shared = [row for row in rows if sum(other[:2] == row[:2] for other in rows) > 1]
    for who in range(len(answers.annotators)):
        own = [row for row in shared if row[2] == who]
        assert compared[who] == len(own)
        if not own:
            assert np.isnan(agreement[who])
            continue
        others = [row[3] for row in shared if row[2] != who]
        same = [
            np.mean([other[3] == row[3] for other in shared if other[:2] == row[:2] and other[2] != who])
            for row in own
        ]
        assert np.isclose(agreement[who], np.mean(same))
        assert np.isclose(chance[who], np.mean([others.count(row[3]) / len(others) for row in own]))


def test_flags(rng):
    people = [careful() if k % 2 else average() for k in range(8)] + [adversarial(), careful(), careful()]
    confusion = np.array([person.confusion for person in people])
    confusion[9] = [0, 0, 0, 1]
    answers = simulated(confusion, rng.choice(4, 400), 5, rng, gold_every=5)
    seconds = rng.gamma(4, 3, len(answers)) * np.where(answers.annotator == 10, 0.1, 1)
    columns = {"gold": answers.gold, "seconds": seconds}
    answers = make_answers(
        answers.image, answers.caption, answers.annotator, answers.rating, answers.annotators, **columns
    )
    found = annotator_table(answers, FOUR)
    flags = [found.flags_of(k) for k in range(len(found))]
    assert flags[:8] == [[]] * 8
    assert flags[8] == ["below chance", "gold"]
    assert flags[9] == ["same answer", "gold"]
    assert flags[10] == ["fast"]
    assert np.allclose(found.shares.sum(axis=1), 1)
    assert found.lay_out().rows[0][0] in ("w8", "w9")
    assert len(found.lay_out(most=3).rows) == 3
    record = found.records()[9]
    assert record["shares"]["yes"] == 1
    assert record["flags"] == ["same answer", "gold"]


def test_annotators_without_answers_are_not_listed():
    found = annotator_table(table([(0, 0, 2, 4)], annotators=5), FOUR)
    assert found.name.tolist() == ["w2"]
    assert found.records()[0]["agreement"] is None
    assert found.lay_out().rows[0][3:7] == ["—"] * 4


def test_few_equal_answers_are_no_habit():
    """Three times yes where all annotators say yes is not a reason to review."""
    rows = [(0, pair, who, 2) for pair in range(30) for who in range(3)]
    assert not annotator_table(table(rows), YES_NO).flags.any()


@settings(deadline=None)
@given(answer_tables())
def test_median_seconds(answers):
    rng = np.random.default_rng(len(answers))
    seconds = np.where(rng.random(len(answers)) < 0.3, np.nan, rng.integers(1, 9, len(answers)))
    timed = make_answers(
        answers.image, answers.caption, answers.annotator, answers.rating, answers.annotators, seconds=seconds
    )
    middle, count = median_seconds(timed)
    for who in range(len(answers.annotators)):
        own = seconds[(answers.annotator == who) & ~np.isnan(seconds)]
        assert count[who] == len(own)
        assert np.isnan(middle[who]) if not len(own) else middle[who] == np.median(own)
