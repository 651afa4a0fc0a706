"""Intervals from drawn labels: exact on small cases, honest where labels were not drawn."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from karat.errors import InputError
from karat.estimation import (
    DESIGNS,
    IntervalEstimate,
    VettedLabels,
    answer_posterior,
    clusters_of,
    interval_estimates,
    make_candidates,
    parse_name,
    truth_labels,
)
from karat.estimation.score_intervals import ask_labels, drawn_totals
from karat.estimation.statistics import Draw, Units, answer_errors, answers_again, estimate_totals
from karat.estimation.statistics.label_errors import Recalibration
from karat.estimation.statistics.total_intervals import variance_of
from karat.estimation.statistics.totals import centred, draw_weights
from karat.estimation.vetting import values_per_query
from karat.measures import parse_measure
from karat.world import make_world, simulate_systems

P10, RP = parse_measure("P@10"), parse_measure("RP")


@pytest.fixture(scope="module")
def labelled():
    world = make_world(images=40, captions=2, seed=3)
    benchmark = world.benchmark()
    candidates = make_candidates(
        simulate_systems(world)[:2], benchmark, "original", direction="t2i", depth=10
    )
    truth = truth_labels(candidates, benchmark.truth("complete"))
    return candidates, truth, clusters_of(benchmark, candidates)


def drawn(labelled, design, n, measure=P10, batches=1, seed=0):
    candidates, truth, _ = labelled
    labels, samples, rng = VettedLabels.none(candidates), [], np.random.default_rng(seed)
    for _ in range(batches):
        rows = np.flatnonzero(candidates.matter(measure) & ~labels.vetted)
        p = candidates.noisy * 0.6 + 0.2
        samples.append(parse_name(design, DESIGNS).draw(labels, p, measure, rows, n, rng))
        labels = labels.add(samples[-1].rows, truth[samples[-1].rows] > 0)
    return labels, samples


def true_scores(labelled, measure):
    return values_per_query(labelled[0], labelled[1], measure).mean(axis=1)


def units_of(y):
    return Units(np.ones((1, len(y))), y[None])


def batch(open_units, chosen, number):
    inside = np.isin(np.arange(number), open_units)
    chance = np.full(len(chosen), len(chosen) / len(open_units))
    return Draw(np.array(chosen), chance, covers=np.ones(number, bool), open=inside)


def known(y, chosen):
    return units_of(np.where(np.isin(np.arange(len(y)), chosen), y, np.nan))


def test_all_samples_together_give_the_total_and_its_variance():
    y = np.array([1.0, 0.0, 2.0, 5.0, 3.0, 3.0, 1.0])
    totals = [
        estimate_totals(known(y, s), [batch(np.arange(7), s, 7)], [np.zeros((0, 1, 7))])
        for s in combinations(range(7), 3)
    ]
    value = np.array([one.value[0] for one in totals])
    assert value.mean() == pytest.approx(y.sum())
    assert np.mean([(one.moves**2).sum() for one in totals]) == pytest.approx(value.var())


def test_batches_one_after_the_other_stay_unbiased_and_their_variances_add_up():
    y = np.array([1.0, 0.0, 2.0, 5.0, 3.0, 3.0])
    values, variances = [], []
    for first in combinations(range(6), 2):
        rest = [i for i in range(6) if i not in first]
        for second in combinations(rest, 2):
            batches = [batch(np.arange(6), first, 6), batch(np.array(rest), second, 6)]
            made = estimate_totals(known(y, first + second), batches, [np.zeros((0, 1, 6))] * 2)
            values.append(made.value[0])
            variances.append((made.moves**2).sum())
    assert np.mean(values) == pytest.approx(y.sum())
    assert np.mean(variances) == pytest.approx(np.var(values))


def test_a_batch_that_was_answered_in_part_stands_for_its_missing_answers():
    y = np.array([1.0, 0.0, 2.0, 5.0, 3.0, 3.0])
    values, variances = [], []
    for first in combinations(range(6), 3):
        rest = np.setdiff1d(np.arange(6), first)
        for answered in combinations(first, 2):
            pending = np.setdiff1d(first, answered)
            part = replace(batch(np.arange(6), answered, 6), pending=pending, rate=np.full(2, 2 / 3))
            for second in combinations(rest, 2):
                batches = [part, batch(rest, second, 6)]
                made = estimate_totals(known(y, answered + second), batches, [np.zeros((0, 1, 6))] * 2)
                assert not made.uncovered.any()
                values.append(made.value[0])
                variances.append((made.moves**2).sum())
    assert np.mean(values) == pytest.approx(y.sum())
    assert np.mean(variances) == pytest.approx(np.var(values))


def test_many_uniform_batches_are_one_sample():
    y, order = np.random.default_rng(0).random(30), np.random.default_rng(1).permutation(30)[:12]
    batches = [batch(np.setdiff1d(np.arange(30), order[:k]), order[k : k + 3], 30) for k in range(0, 12, 3)]
    several = estimate_totals(known(y, order), batches, [np.zeros((0, 1, 30))] * 4)
    assert several.value[0] == pytest.approx(30 * y[order].mean())
    assert draw_weights(batches)[:, 0].sum() == pytest.approx(1)


def test_a_stratum_of_one_draw_is_merged():
    moves, strata = centred(np.ones((1, 5)), np.full(5, 0.5), np.array([0, 1, 1, 2, 2]))
    assert strata == 2
    assert moves == pytest.approx(0)


@pytest.mark.parametrize("design", sorted(DESIGNS))
def test_with_all_labels_the_score_is_certain(labelled, design):
    labels, samples = drawn(labelled, design, 10**6)
    for one, true in zip(interval_estimates(labels, samples, P10), true_scores(labelled, P10)):
        assert (one.value, one.low, one.high) == pytest.approx((true, true, true))


def test_plain_methods_are_the_textbook_formulas(labelled):
    candidates = labelled[0]
    one_run = replace(candidates, rankings={"seer": candidates.rankings["seer"]})
    rows = np.flatnonzero(one_run.matter(P10))
    rng = np.random.default_rng(0)
    sample = parse_name("uniform", DESIGNS).draw(
        VettedLabels.none(one_run), np.full(len(one_run), 0.5), P10, rows, 200, rng
    )
    z = labelled[1][sample.rows]
    labels = VettedLabels(one_run, sample.rows, z > 0)
    for method in ("horvitz-thompson", "hajek"):
        (made,) = interval_estimates(labels, [sample], P10, method=method)
        assert made.value == pytest.approx(z.mean())
        error = np.sqrt(z.var(ddof=1) / 200 * (1 - 200 / len(rows)))
        assert made.half_width == pytest.approx(1.97 * error, rel=0.01)
        assert made.effective == 200


def test_predictions_make_intervals_shorter(labelled):
    labels, samples = drawn(labelled, "uniform", 250)
    plain, better = (interval_estimates(labels, samples, P10, method=m) for m in ("hajek", "difference"))
    proxy = {"oracle": labelled[1] * 0.8 + 0.1}
    best = interval_estimates(labels, samples, P10, estimator=None, proxies=proxy)
    assert best[0].half_width < better[0].half_width < plain[0].half_width
    assert best[0].weight == pytest.approx((1.25,))
    assert best[0].value == pytest.approx(true_scores(labelled, P10)[0])
    both = interval_estimates(labels, samples, P10, proxies=proxy)
    assert len(both[0].weight) == 2


def test_the_population_is_less_certain_than_the_test_set(labelled):
    labels, samples = drawn(labelled, "proportional", 400, batches=2)
    here, there = (
        interval_estimates(labels, samples, P10, target=target, cluster=labelled[2])
        for target in ("test-set", "population")
    )
    assert here[0].value == there[0].value
    assert here[0].half_width < there[0].half_width
    record = here.records()[-1]
    assert (record["run"], record["other"], record["verdict"]) == (
        "seer",
        "learner",
        here.differences[0].verdict,
    )
    assert "seer beats learner" in str(here)


def test_a_run_beats_another_when_the_whole_interval_says_so():
    def verdict(low, high):
        return IntervalEstimate(0.0, low, high, 0.95, "difference", 9, 9, run="a", other="b").verdict

    assert [verdict(0.1, 0.2), verdict(-0.2, 0.0), verdict(-0.1, 0.1)] == ["yes", "no", "not yet"]
    assert verdict(np.nan, np.nan) == "not yet"


def test_measures_of_whole_queries_need_whole_queries(labelled):
    labels, samples = drawn(labelled, "uniform", 200)
    with pytest.raises(InputError, match="whole queries"):
        interval_estimates(labels, samples, RP)
    labels, samples = drawn(labelled, "whole-queries", 400, measure=RP)
    made = interval_estimates(labels, samples, RP, cluster=labelled[2])
    assert all(one.low < true < one.high for one, true in zip(made, true_scores(labelled, RP)))


def test_labels_that_were_not_drawn_have_no_interval(labelled):
    candidates, truth, _ = labelled
    rows = np.flatnonzero(candidates.places["seer"] < 3)
    labels = VettedLabels(candidates, rows, truth[rows] > 0)
    with pytest.raises(InputError, match="no label was drawn"):
        interval_estimates(labels, [], P10)
    bounds = interval_estimates(labels, [], P10, method="bounds")
    for one, true in zip(bounds, true_scores(labelled, P10)):
        assert one.low <= true <= one.high
        assert np.isnan(one.value)
    assert "not an interval" in bounds.notes[0]
    with pytest.raises(InputError, match="no useful bounds"):
        interval_estimates(labels, [], RP, method="bounds")
    model = interval_estimates(labels, [], P10, method="model-based")
    assert model[0].method == "model-based"
    assert "hold only as far as" in model.notes[0]


def test_few_labels_have_no_interval(labelled):
    labels, samples = drawn(labelled, "uniform", 3)
    assert np.isnan(interval_estimates(labels, samples, P10)[0].low)


def test_answers_that_are_missing_widen_the_interval(labelled):
    labels, samples = drawn(labelled, "stratified", 300)
    whole = interval_estimates(labels, samples, P10)
    widths = []
    for seed in range(8):
        # One half may lack the few large errors, and look better than it is.
        some = np.random.default_rng(seed).permutation(300)[:150]
        part = VettedLabels(labelled[0], labels.rows[some], labels.relevant[some])
        half = interval_estimates(part, samples, P10)
        widths.append(half[0].half_width)
        assert "150 drawn pairs not answered yet" in half.notes[0]
    assert whole[0].half_width < 0.85 * np.mean(widths)


def test_pairs_that_came_later_can_be_anything(labelled):
    candidates = labelled[0]
    labels, samples = drawn(labelled, "uniform", 300)
    covers = np.ones(len(candidates), bool)
    covers[np.setdiff1d(np.arange(len(candidates)), labels.rows)[:100]] = False
    before = interval_estimates(labels, samples, P10)[0]
    after = interval_estimates(labels, [replace(samples[0], covers=covers)], P10)[0]
    assert after.half_width > before.half_width


def test_a_pair_is_drawn_once(labelled):
    labels, samples = drawn(labelled, "uniform", 50)
    with pytest.raises(InputError, match="drawn by two batches"):
        interval_estimates(labels, [samples[0], samples[0]], P10)


def test_one_answer_per_pair_is_corrected_as_rogan_and_gladen_do():
    yes = np.r_[np.ones(40), np.zeros(110)].astype(int)
    tau, versions = answer_posterior(yes, np.ones(150, int), (89, 98), (84, 98), versions=5)
    found, rejected = 90 / 100, 85 / 100
    expected = (yes - (1 - rejected)) / (found + rejected - 1)
    assert answer_errors(tau).label(tau) == pytest.approx(expected, abs=1e-3)
    assert versions.shape == (5, 150)
    assert answer_errors(np.array([0.0, 1.0, 1.0])).label(np.array([0.0, 1.0])).tolist() == [0, 1]
    with pytest.raises(InputError, match="hardly tell"):
        answer_errors(np.full(10, 0.5) + np.arange(10) * 1e-3)


def test_refined_labels_are_those_of_the_most_probable_intercept():
    from scipy.optimize import minimize_scalar
    from scipy.special import expit, logit

    rng = np.random.default_rng(0)
    p, odds = rng.uniform(0.05, 0.9, 60), rng.choice([-6.6, -2.2, 2.2, 6.6], 60)
    query = np.repeat([0, 1, 2], 20)
    made = Recalibration(np.array([0.3, 1.4]), 0.8).refined(p, odds, query)
    for q in range(3):
        line, own = 0.3 + 1.4 * logit(p[query == q]), odds[query == q]

        def surprise(u, line=line, own=own):
            prior = expit(line + u)
            return u**2 / 1.6 - np.log(prior * np.exp(own) + 1 - prior).sum()

        u = minimize_scalar(surprise, bounds=(-8, 8), method="bounded", options={"xatol": 1e-8}).x
        assert made[query == q] == pytest.approx(expit(line + u + own), abs=2e-3)


def test_answers_that_are_drawn_again_err_as_often():
    rng = np.random.default_rng(1)
    truth = rng.random(4000) < 0.3
    yes = rng.binomial(3, np.where(truth, 0.9, 0.2))
    tau, _ = answer_posterior(yes, np.full(4000, 3), (9000, 10000), (8000, 10000), versions=1)
    odds, query = answer_errors(tau).odds(tau), np.arange(4000) // 20
    again = answers_again(tau, np.full(4000, 0.5), odds, query, 20, rng)
    relevant, seen = (np.array(side) for side in zip(*again))
    assert relevant.mean() == pytest.approx(truth.mean(), abs=0.01)
    # Most of three is wrong with the probability 3 e² (1 − e) + e³.
    assert (seen < 0.5)[relevant].mean() == pytest.approx(0.028, abs=0.01)
    assert (seen > 0.5)[~relevant].mean() == pytest.approx(0.104, abs=0.02)
    assert seen.mean() == pytest.approx(relevant.mean(), abs=0.01)


@pytest.mark.parametrize(("design", "measure"), [("uniform", P10), ("whole-queries", RP)])
def test_annotators_who_err_make_intervals_wider(labelled, design, measure):
    labels, samples = drawn(labelled, design, 400, measure)
    rng = np.random.default_rng(5)
    yes = rng.binomial(3, np.where(labels.relevant, 0.9, 0.1))
    tau, versions = answer_posterior(yes, np.full(len(yes), 3), (90, 100), (90, 100), versions=8)
    unsure = VettedLabels(labelled[0], labels.rows, tau, versions=versions)
    sure = interval_estimates(labels, samples, measure)[0]
    made = interval_estimates(unsure, samples, measure)[0]
    assert made.low < true_scores(labelled, measure)[0] < made.high
    if measure is P10:
        assert made.half_width > sure.half_width


def test_the_bias_of_expected_values_is_part_of_the_interval(labelled):
    labels, samples = drawn(labelled, "whole-queries", 600, RP)
    yes = np.random.default_rng(5).binomial(3, np.where(labels.relevant, 0.8, 0.2))
    tau, _ = answer_posterior(yes, np.full(len(yes), 3), (160, 200), (160, 200), versions=1)
    question = ask_labels(VettedLabels(labelled[0], labels.rows, tau), samples, RP, estimator="direct")
    totals, _ = drawn_totals(question, "difference")
    bias = (totals.units.weight * totals.units.bias * totals.counted).sum(axis=1)
    without = replace(totals, units=replace(totals.units, bias=0.0))
    assert (np.abs(bias) > 1e-4).all()
    for a in range(len(bias)):
        both = [variance_of(one, a, None, "test_set")[0] for one in (totals, without)]
        assert both[0] == pytest.approx(both[1] + bias[a] ** 2)
