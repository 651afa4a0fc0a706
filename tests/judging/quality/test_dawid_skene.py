"""Dawid–Skene: the paper's own example, a slow literal EM, known confusions, and edge cases."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.forms import GOLD_NO, GOLD_YES
from karat.forms.answer_table import group
from karat.judging.quality.aggregation.dawid_skene import (
    START,
    fit_dawid_skene,
    left_out_posterior,
    pseudo_counts,
    run_alike,
    run_em,
    sort_answers,
)
from karat.judging.quality.verdicts import aggregate
from karat.world.annotators import adversarial, average, careful, lazy
from tests.judging.quality.samples import FOUR, answer_tables, scale, simulated, table

PLAIN = {"prior_answers": 0, "prior_pairs": 0, "leave_one_out": False, "calibrate": False}
# Dawid and Skene (1979), table 1: 45 patients; three readings of the first anaesthetist, one of four others.
PATIENTS = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111
2223212 1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111
2322222 1111111 1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432
1111111 1111111 1212111 2322222 1211111 2222222
"""


def slow_em(answers, form, steps, assumed, prior_pairs):
    """EM in loops, with products instead of logs; gold is one more answer, of unknown reliability."""
    ratings = form.ratings.tolist()
    scale, people = len(ratings), len(answers.annotators)
    relevant = [grade > 0 for grade in form.grades(ratings)]
    rows = list(zip(answers.image, answers.caption, answers.annotator, answers.rating, answers.gold))
    pairs = sorted({row[:2] for row in rows})
    own = {pair: [(w, ratings.index(r)) for i, c, w, r, _ in rows if (i, c) == pair] for pair in pairs}
    gold = {}
    for pair in pairs:
        kinds = {g for i, c, _, _, g in rows if (i, c) == pair}
        # A pair that somebody judges is not told its answer.
        gold[pair] = -1 if -1 in kinds else kinds.pop()
    belief = {}
    for pair in pairs:
        start = [sum(g == t for _, g in own[pair]) + START for t in range(scale)]
        belief[pair] = [one / sum(start) for one in start]
    for _ in range(steps):
        share = {}
        for hidden in (False, True):
            members = [pair for pair in pairs if (gold[pair] >= 0) == hidden]
            share[hidden] = [sum(belief[pair][t] for pair in members) + prior_pairs for t in range(scale)]
            share[hidden] = [one / sum(share[hidden]) for one in share[hidden]]
        wrong, total = [1.0, 1.0], [21.0, 21.0]
        for pair in pairs:
            if gold[pair] >= 0:
                yes = sum(b for b, good in zip(belief[pair], relevant) if good)
                # Labelled yes and not relevant; labelled no and relevant.
                for side, mass in ((1, 1 - yes), (0, yes)):
                    wrong[1 - side] += mass * (gold[pair] == side)
                    total[1 - side] += mass
        wrong_yes, wrong_no = (w / n for w, n in zip(wrong, total))
        confusion = np.zeros((people, scale, scale)) + assumed
        for pair in pairs:
            for w, g in own[pair]:
                confusion[w, :, g] += belief[pair]
        confusion /= confusion.sum(axis=2, keepdims=True)
        for pair in pairs:
            new = []
            for t in range(scale):
                label = 1.0
                if gold[pair] == GOLD_YES:
                    label = 1 - wrong_no if relevant[t] else wrong_yes
                elif gold[pair] == GOLD_NO:
                    label = wrong_no if relevant[t] else 1 - wrong_yes
                new.append(
                    share[gold[pair] >= 0][t] * label * np.prod([confusion[w, t, g] for w, g in own[pair]])
                )
            belief[pair] = [one / sum(new) for one in new]
    return np.array([belief[pair] for pair in pairs]), confusion, np.array(share[False])


@settings(deadline=None, max_examples=40)
@given(
    answer_tables(gold=True),
    st.integers(1, 6),
    st.sampled_from([0.5, 2.0, 7.0]),
    st.sampled_from([0.3, 0.7, 0.9]),
)
def test_it_is_the_slow_one(answers, steps, prior_answers, prior_right):
    assumed = pseudo_counts(4, prior_answers, prior_right)
    sorted_answers = sort_answers(group(answers, FOUR))
    fast = run_em(sorted_answers, sorted_answers.shares, assumed, 0.5, steps, -np.inf)
    slow, confusion, share = slow_em(answers, FOUR, steps, assumed, 0.5)
    assert len(fast.objective) == steps
    assert np.allclose(fast.posterior, slow, atol=1e-9)
    assert np.allclose(fast.confusion, confusion[sorted_answers.who], atol=1e-9)
    assert np.allclose(fast.prior, share)


def test_a_pair_does_not_testify_for_those_who_answered_it(rng):
    """Leave-one-out: the posterior of a pair from a table without its answers, in loops."""
    answers = simulated([average().confusion] * 5, rng.choice(4, 30), 3, rng)
    grouped = group(answers, FOUR)
    sorted_answers, assumed = sort_answers(grouped), pseudo_counts(4, 3.0, 0.7)
    best = run_em(sorted_answers, sorted_answers.shares, assumed, 1.0, 50, 1e-9)
    found = left_out_posterior(sorted_answers, best, assumed, 1.0)
    for pair in range(len(grouped.image)):
        counts = np.zeros((5, 4, 4)) + assumed
        for other, who, code in zip(grouped.pair, grouped.annotator, grouped.code):
            if other != pair:
                counts[who, :, code] += best.posterior[other]
        confusion = counts / counts.sum(axis=2, keepdims=True)
        expected = 1.0 + np.delete(best.posterior, pair, axis=0).sum(axis=0)
        for other, who, code in zip(grouped.pair, grouped.annotator, grouped.code):
            if other == pair:
                expected = expected * confusion[who, :, code]
        assert np.allclose(found[pair], expected / expected.sum(), atol=1e-9)


@settings(deadline=None, max_examples=60)
@given(answer_tables(gold=True), st.sampled_from([0.0, 0.5, 4.0]))
def test_no_step_makes_it_worse(answers, prior):
    fit = fit_dawid_skene(group(answers, FOUR), prior_answers=prior, prior_pairs=prior, steps=60)[1]
    assert np.isfinite(fit.objective).all()
    # Up to rounding, also where the objective itself is nearly 0.
    assert (np.diff(fit.objective) >= -1e-9 * (1 + np.abs(fit.objective[1:]))).all()
    assert np.allclose(fit.confusion.sum(axis=2), 1)


def test_the_anaesthetists():
    """The class shares and the first observer's table, as published (table 2), to two digits."""
    rows = [
        (0, patient, who, int(said))
        for patient, line in enumerate(PATIENTS.split())
        for who, said in zip([0, 0, 0, 1, 2, 3, 4], line)
    ]
    found = aggregate(table(rows), scale(0, 0.3, 0.6, 1), "dawid-skene", tolerance=1e-12, **PLAIN)
    assert found.fit.prior.round(2).tolist() == [0.4, 0.42, 0.11, 0.07]
    assert found.fit.confusion[0].round(2).tolist() == [
        [0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]
    ]  # fmt: skip
    # The majority says 3 of the second patient and 3 of the 36th; those who said 4 are right about 4.
    assert found.rating[[1, 35]].tolist() == [4, 4]


def test_known_confusions_come_back(rng):
    people = [careful(), average(), average(), lazy(looks=0.3), adversarial(), careful()]
    confusion = np.array([one.confusion for one in people])
    right = rng.choice(4, 6000, p=[0.3, 0.2, 0.2, 0.3])
    answers = simulated(confusion, right, 5, rng)
    found = aggregate(answers, FOUR, "dawid-skene")
    assert found.fit.converged
    assert np.abs(found.fit.confusion - confusion).max() < 0.06
    assert np.abs(found.fit.prior - [0.3, 0.2, 0.2, 0.3]).max() < 0.03
    # The answers of the one who says the opposite are inverted.
    assert found.fit.right[4] < 0.1
    sides = [
        (aggregate(answers, FOUR, method).relevant == (right >= 2)).mean() for method in ("ds", "majority")
    ]
    assert sides[0] > 0.98 > sides[1]


def test_probabilities_are_calibrated(rng):
    """Of pairs that are relevant with probability p, a share of p is."""
    confusion = np.repeat(average().confusion[None], 30, axis=0)
    right = rng.choice(4, 8000, p=[0.3, 0.2, 0.2, 0.3])
    found = aggregate(simulated(confusion, right, 2, rng), FOUR, "dawid-skene")
    for low, high in ((0.02, 0.3), (0.3, 0.7), (0.7, 0.98)):
        rows = (found.relevance > low) & (found.relevance < high)
        expected, error = found.relevance[rows].mean(), 4 * np.sqrt(0.25 / rows.sum())
        assert abs((right[rows] >= 2).mean() - expected) < error + 0.03


def test_gold_pairs_teach(rng):
    """Where most annotators say the opposite, only gold pairs show which side is which."""
    people = [adversarial() if k % 3 else careful() for k in range(9)]
    right = rng.choice([0, 3], 400)
    answers = simulated([one.confusion for one in people], right, 9, rng, gold_every=4)
    blind = aggregate(answers.where(answers.gold == -1), FOUR, "ds")
    assert (blind.relevant == (right[blind.caption] >= 2)).mean() < 0.2
    found = aggregate(answers, FOUR, "ds")
    assert (found.relevant == (right >= 2)).mean() > 0.95


def test_edge_cases():
    lone = aggregate(table([(0, 0, 3, 4)], annotators=6), FOUR, "ds")
    assert lone.fit.answers.tolist() == [0, 0, 0, 1, 0, 0]
    assert lone.rating.tolist() == [4]
    # No annotator says 2, and there is no prior.
    rows = [(0, pair, who, 1 + 2 * (pair % 2)) for pair in range(10) for who in range(3)]
    found = aggregate(table(rows), FOUR, "ds", **PLAIN)
    assert np.allclose(found.posterior[:, 1], 0, atol=1e-6)
    assert np.isfinite(found.fit.log_likelihood)
    # Three thousand annotators about one pair: a product of probabilities would be 0.
    crowd = aggregate(table([(0, 0, who, 4 - (who % 3 == 0)) for who in range(3000)]), FOUR, "ds")
    assert np.isclose(crowd.posterior.sum(), 1)
    assert np.isfinite(crowd.fit.log_likelihood)


def test_a_side_that_the_form_does_not_have():
    with pytest.raises(InputError, match="gold pairs that are not relevant, and no answer of the form"):
        aggregate(table([(0, 0, 0, 1, GOLD_NO)]), scale(0.5, 1), "ds")


def test_it_says_that_it_did_not_converge(rng):
    answers = simulated([average().confusion] * 4, rng.choice(4, 100), 3, rng)
    fit = aggregate(answers, FOUR, "ds", steps=1).fit
    assert not fit.converged
    assert "did not converge after" in repr(fit)
    with pytest.raises(InputError, match="steps is 0; give a whole number from 1"):
        aggregate(answers, FOUR, "ds", steps=0)


def test_patterns_stand_for_their_pairs():
    """As if all annotators were one, with each pattern once or with each pair: the same numbers."""
    rng = np.random.default_rng(3)
    right = rng.integers(0, 4, 400)
    confusion = [pseudo_counts(4, 1, share) for share in (0.4, 0.6, 0.7, 0.9)]
    answers = sort_answers(group(simulated(confusion, right, 3, rng, gold_every=9), FOUR))
    assumed = pseudo_counts(len(answers.counts[0]), 2.0, 0.7)
    one = replace(answers, annotator=np.zeros_like(answers.annotator), who=np.zeros(1, np.int64))
    patterns, which = one.patterns()
    assert patterns.weight.sum() == len(which) > 2 * len(patterns.weight)
    assert (patterns.counts[which] == one.counts).all()
    assert (patterns.kind[which] == one.kind).all()
    for start, weighted in ((one.shares, patterns.shares), (one.gold_shares, patterns.gold_shares)):
        slow = run_em(one, start, assumed, 1.0, 300, 1e-9)
        quick = run_em(patterns, weighted, assumed, 1.0, 300, 1e-9)
        assert len(quick.objective) == len(slow.objective)
        np.testing.assert_allclose(quick.objective, slow.objective, rtol=1e-10)
        np.testing.assert_allclose(quick.confusion, slow.confusion, atol=1e-9)
        np.testing.assert_allclose(quick.posterior[which], slow.posterior, atol=1e-8)
    assert run_alike(answers, assumed, (1.0, 300, 1e-9)).posterior.shape == one.shares.shape
