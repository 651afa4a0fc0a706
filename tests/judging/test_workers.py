"""The worker table, tables by system, and agreement, against plain counting."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from karat.judging.checking.agreement import people_agreement
from karat.judging.checking.answer_tables import Shares, answers_by_rank, details_by_system
from karat.judging.checking.answers import MACHINE, PERSON, make_answers
from karat.judging.checking.workers import agreement_with_others, median_seconds, worker_table
from karat.judging.forms.form import Choice, FollowUp
from karat.judging.pools.pool import Pool
from karat.stats import krippendorff_alpha
from karat.stats.intervals import Intervals
from karat.stats.kappa import cohen_kappa
from karat.world.annotators import adversarial, average, careful
from tests.judging.asked import FOUR, YES_NO, answer_tables, simulated, table

FEW = Intervals(resamples=20)


@settings(deadline=None)
@given(answer_tables(gold=True))
def test_agreement_with_others(answers):
    agreement, chance, compared, _ = agreement_with_others(answers, FOUR)
    rows = [
        row
        for row in zip(answers.image, answers.caption, answers.worker, answers.rating, answers.gold)
        if row[4] == -1
    ]
    shared = [row for row in rows if sum(other[:2] == row[:2] for other in rows) > 1]
    for who in range(len(answers.workers)):
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
    confusion = np.array([one.confusion for one in people])
    confusion[9] = [0, 0, 0, 1]
    answers = simulated(confusion, rng.choice(4, 400), 5, rng, gold_every=5)
    seconds = rng.gamma(4, 3, len(answers)) * np.where(answers.worker == 10, 0.1, 1)
    columns = {"gold": answers.gold, "seconds": seconds}
    answers = make_answers(
        answers.image, answers.caption, answers.worker, answers.rating, answers.workers, **columns
    )
    found = worker_table(answers, FOUR)
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


def test_people_without_answers_are_not_listed():
    found = worker_table(table([(0, 0, 2, 4)], workers=5), FOUR)
    assert found.name.tolist() == ["w2"]
    assert found.records()[0]["agreement"] is None
    assert found.lay_out().rows[0][3:7] == ["—"] * 4


def test_few_equal_answers_are_no_habit():
    """Three times yes where everybody says yes is no reason to look."""
    rows = [(0, pair, who, 2) for pair in range(30) for who in range(3)]
    assert not worker_table(table(rows), YES_NO).flags.any()


@settings(deadline=None)
@given(answer_tables())
def test_median_seconds(answers):
    rng = np.random.default_rng(len(answers))
    seconds = np.where(rng.random(len(answers)) < 0.3, np.nan, rng.integers(1, 9, len(answers)))
    timed = make_answers(
        answers.image, answers.caption, answers.worker, answers.rating, answers.workers, seconds=seconds
    )
    middle, count = median_seconds(timed)
    for who in range(len(answers.workers)):
        own = seconds[(answers.worker == who) & ~np.isnan(seconds)]
        assert count[who] == len(own)
        assert np.isnan(middle[who]) if not len(own) else middle[who] == np.median(own)


def small_pool():
    """Two systems; the pair (0, 0) is ranked by both, and by the first in both directions."""
    place = np.array([(0, 0, 0, 1), (0, 0, 1, 2), (0, 1, 0, 1), (1, 0, 0, 2), (2, 1, 1, 2)])
    pairs = np.array([0, 0, 4]), np.array([0, 3, 1])
    return Pool(*pairs, np.zeros(3, int), ("a", "b"), *place.T, np.full(5, np.nan), top=2)


def test_answers_by_rank():
    said = table(
        [
            (0, 0, 0, 4, -1),
            (0, 0, 1, 1, -1),
            (0, 3, 0, 3, -1),
            (4, 1, 0, 2, -1),
            (9, 9, 0, 4, -1),
            (0, 3, 1, 4, 1),
        ]
    )
    found = answers_by_rank(said, FOUR, small_pool())
    counts = dict(zip(found.labels, found.counts.tolist()))
    assert counts == {
        ("a", "1"): [1, 0, 0, 1], ("a", "2"): [1, 0, 1, 1], ("a", "all"): [2, 0, 1, 2],
        ("b", "1"): [1, 0, 0, 1], ("b", "2"): [0, 1, 0, 0], ("b", "all"): [1, 1, 0, 1],
    }  # fmt: skip
    assert found.lay_out().rows[1] == ["", "2", "3", "33.3%", "0.0%", "33.3%", "33.3%"]
    assert sum(one["count"] for one in found.records() if one["rank"] == "all") == 8


def test_details_by_system():
    """In the form's order; a question that nobody answered has no table."""
    said = make_answers(
        [0, 0, 4, 9], [0, 3, 1, 9], [0, 0, 0, 0], [3, 3, 2, 2], ("w",),
        detail_row=[0, 0, 1, 2, 3], detail=[0, 2, 1, 1, 1],
        details=("shortcomings.grammar", "shortcomings.wrong", "errors.colour"),
    )  # fmt: skip
    choices = {"shortcomings": ("wrong", "absent", "grammar"), "errors": ("colour",), "mood": ("good",)}
    further = [FollowUp(code, "", choices=tuple(Choice(c, c) for c in own)) for code, own in choices.items()]
    form = replace(FOUR, follow_ups=tuple(further))
    short, errors = details_by_system(said, form, small_pool())
    assert short.answers == ("wrong", "absent", "grammar")
    counts = dict(zip(short.labels, short.counts.tolist()))
    assert counts == {("a",): [1, 0, 1], ("b",): [1, 0, 1], ("all",): [3, 0, 1]}
    assert errors.counts.tolist() == [[1], [1], [1]]
    assert [one.counts.tolist() for one in details_by_system(said, form)] == [[[3, 0, 1]], [[1]]]
    assert details_by_system(table([(0, 0, 0, 4)]), form, small_pool()) == ()


def test_cramers_v(rng):
    from scipy.stats.contingency import association

    counts = rng.integers(1, 30, (5, 5))
    labels = (("x",), ("y",), ("z",), ("v",), ("all",))
    found = Shares("", ("system",), labels, tuple("abcde"), counts)
    # The row of all is no group.
    assert np.isclose(found.association, association(counts[:4], method="cramer"))
    assert np.isnan(Shares("", ("system",), (("x",), ("all",)), ("a", "b"), counts[:2, :2]).association)


def wide(answers):
    """Pairs by people, NaN where nobody answered."""
    pairs = sorted({*zip(answers.image.tolist(), answers.caption.tolist())})
    out = np.full((len(pairs), len(answers.workers)), np.nan)
    for image, caption, who, rating in zip(answers.image, answers.caption, answers.worker, answers.rating):
        out[pairs.index((image, caption)), who] = rating
    return out, [image for image, _ in pairs]


@settings(deadline=None, max_examples=40)
@given(answer_tables())
def test_alpha_and_kappa_are_those_of_the_library(answers):
    found = people_agreement(answers, FOUR, FEW, common=2)
    ratings, images = wide(answers)
    for scale, one in found.alpha.items():
        expected = krippendorff_alpha(ratings, scale, clusters=images, resamples=20)
        for end in ("value", "low", "high"):
            assert np.isclose(getattr(one, end), getattr(expected, end), equal_nan=True)
    kappas = []
    for a in range(ratings.shape[1]):
        for b in range(a):
            if (~np.isnan(ratings[:, [a, b]]).any(axis=1)).sum() >= 2:
                kappas.append(cohen_kappa(ratings[:, a], ratings[:, b], resamples=1).value)
    assert found.couples == len(kappas)
    known = [one for one in kappas if not np.isnan(one)]
    assert np.isclose(found.kappa.value, np.mean(known)) if known else np.isnan(found.kappa.value)


def test_machines_and_known_pairs_do_not_count():
    rows = [(pair, 0, who, 1 + (pair + (who == 2)) % 4) for pair in range(40) for who in range(3)]
    people = table(rows, kinds=(PERSON, PERSON, MACHINE))
    assert people_agreement(people, FOUR, FEW).alpha["nominal"].value == pytest.approx(1)
    everyone = table(rows)
    assert people_agreement(everyone, FOUR, FEW).alpha["nominal"].value < 0.5
    assert people_agreement(everyone, FOUR, FEW).couples == 3
    known = table([(*row, 1) for row in rows])
    assert people_agreement(known, FOUR, FEW).pairs == 0
