"""Simulations: errors by hand, repetitions, gaps between runs, and how unlisted pairs are read."""

from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.benchmarks import Judgments, Provenance, Truth
from karat.errors import InputError
from karat.estimation import Method, make_candidates, simulate_candidates
from karat.estimation.relevance import labels_of
from karat.estimation.vetting import truth_labels, values_per_query, vet
from karat.measures import parse_measure

BOTH = {"noisy": "original", "vetted": "complete", "direction": "t2i"}


@pytest.fixture(scope="module")
def simulation(bench, runs):
    return karat.simulate(
        runs, bench, "P@5", **BOTH, method="random+naive,mcm+naive", times=3, batch=0.2, budget=0.5, seed=2
    )


def test_errors_by_hand(simulation, bench, runs):
    [result] = simulation.results
    p5 = parse_measure("P@5")
    candidates = make_candidates(runs, bench, "original", direction="t2i", depth=5, noisy_positives=False)
    label = truth_labels(candidates, bench.truth("complete"))
    true = values_per_query(candidates, label, p5)
    np.testing.assert_allclose(result.truth, true.mean(axis=1), atol=1e-12)
    for name, scores in (("complete", result.truth), ("original", result.noisy)):
        card = karat.evaluate(runs, bench, ["P@5"], truth=name, direction="t2i")
        np.testing.assert_allclose(scores, [column.value for column in card], atol=1e-12)
    curve = result.curves[0]
    assert curve.method == "random+naive"
    assert curve.error.shape == (3, 3)
    for time in range(3):
        done = vet(
            candidates, lambda rows: label[rows] > 0, p5, estimator="naive", strategy="random", batch=0.2,
            budget=0.5, seed=2 * 1_000_003 + time,
        )  # fmt: skip
        np.testing.assert_array_equal(done.effort, curve.effort)
        np.testing.assert_allclose(curve.error[time], np.abs(done.values() - true).mean(axis=(1, 2)))
        np.testing.assert_allclose(curve.estimate[time], done.values().mean(axis=2))


def test_records_and_tables(simulation):
    records = simulation.records()
    assert [record["effort"] for record in records[:3]] == pytest.approx([0.2, 0.4, 0.5], abs=0.005)
    assert {record["method"] for record in records} == {"random+naive", "mcm+naive"}
    [result] = simulation.results
    first, curve = records[0], result.curves[0]
    off = curve.estimate[:, 0] - result.truth
    assert first["error"] == pytest.approx(curve.error[:, 0].mean())
    assert first["bias"] == pytest.approx(off.mean())
    assert first["error_of_mean"] == pytest.approx(np.abs(off).mean())
    assert first["error_before"] is None
    assert first["defined"] == 1
    assert first["labels"] == round(first["effort"] * result.looked_at)
    text = str(simulation)
    assert text.startswith("Vetting simulated 3 times: noisy labels original, true labels complete.")
    for title in ("Mean absolute error per query:", "Error of the mean score:", "Pairs of runs in the wrong"):
        assert title in text


def test_gaps_by_hand(simulation):
    [result] = simulation.results
    curve = replace(
        result.curves[0], estimate=np.array([[[0.5, 0.3]], [[0.3, 0.3]], [[0.2, 0.6]], [[np.nan, 0.1]]])
    )
    made = replace(result, truth=np.array([0.6, 0.5]))
    squared, wrong = made.gaps(curve)
    np.testing.assert_allclose(squared.ravel(), [0.01, 0.01, 0.25, np.nan])
    np.testing.assert_array_equal(wrong.ravel(), [0, 0.5, 1, np.nan])
    # Runs that are truly equal have no order.
    assert np.isnan(replace(made, truth=np.array([0.5, 0.5])).gaps(curve)[1]).all()


def test_one_run_has_no_gaps(bench, runs):
    done = karat.simulate(runs[:1], bench, "P@5", **BOTH, method="random+naive", times=1, batch=0.5)
    assert {record["wrong_order"] for record in done.records()} == {None}
    assert "wrong order" not in str(done)


def test_the_same_seed_gives_the_same_curves(bench, runs):
    options = {**BOTH, "method": "random+naive", "times": 2, "batch": 0.3, "budget": 0.6}
    one, same, other = (
        karat.simulate(runs, bench, "P@5", **options, seed=seed).results[0].curves[0] for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.estimate, same.estimate)
    assert (one.estimate != other.estimate).any()


def test_unlisted_pairs(bench, runs):
    rng = np.random.default_rng(3)
    image, caption = np.divmod(np.flatnonzero(rng.random(1800) < 0.3), 60)
    relevant = labels_of(bench.truth("complete"), "i2t", image, caption)
    asked = {"i2t": np.arange(30), "t2i": np.arange(60)}
    judged = Judgments(image, caption, rating=relevant, sources=[Provenance("people")])
    part = replace(bench, truths={**bench.truths, "part": Truth("part", judged, asked)})
    options = {**BOTH, "vetted": "part", "method": "random+naive", "times": 1, "batch": 0.5}
    # It lists pairs that are not relevant, so its own pairs are ranked alone.
    condensed = karat.simulate(runs, part, "AP", **options)
    assert condensed.results[0].candidates == len(image)
    assert condensed.results[0].recall == 1
    assert "condensed to the" in condensed.notes[0]
    card = karat.evaluate(runs, part, ["AP"], truth="part", direction="t2i", unjudged="left_out")
    # A query without a relevant pair counts as 0.
    expected = [np.nan_to_num(column.values).mean() for column in card]
    np.testing.assert_allclose(condensed.results[0].truth, expected, atol=1e-12)
    missing = karat.simulate(runs, part, "AP", **options, unlisted="no", depth=8)
    assert missing.results[0].recall < 1
    assert "are not listed in part and count as no" in missing.notes[0]
    with pytest.raises(InputError, match="unlisted is 'yes'"):
        karat.simulate(runs, part, "AP", **options, unlisted="yes")


def test_given_candidates(bench, runs):
    candidates = make_candidates(runs, bench, "original", direction="i2t", depth=5)
    label = truth_labels(candidates, bench.truth("complete")) > 0
    result = simulate_candidates(
        candidates, label, parse_measure("AP"), [Method.parse("random+naive")], times=2, batch=0.5, seed=1
    )
    np.testing.assert_allclose(result.curves[0].error[:, -1], 0, atol=1e-12)
    assert result.recall == 1


def test_mistakes(bench, runs):
    with pytest.raises(InputError, match="'naive' is not a method; write STRATEGY\\+ESTIMATOR, as in random"):
        karat.simulate(runs, bench, "P@5", **BOTH, method="naive")
    with pytest.raises(InputError, match="times is 0; give a whole number from 1"):
        karat.simulate(runs, bench, "P@5", **BOTH, times=0, method="random+naive")
    with pytest.raises(InputError, match="unknown estimator 'magic'"):
        karat.simulate(runs, bench, "P@5", **BOTH, method="random+magic")


def test_commas_inside_of_parentheses_do_not_separate(bench, runs):
    done = karat.simulate(
        runs[:1], bench, "P(rel=0.5)@5, R@1", **BOTH,
        method="random+learned(by=query, C=2), random+naive", times=1, batch=0.5,
    )  # fmt: skip
    assert [str(one.measure) for one in done.results] == ["P(rel=0.5)@5", "R@1"]
    names = [curve.method for curve in done.results[0].curves]
    assert names == ["random+learned(by=query, C=2)", "random+naive"]
