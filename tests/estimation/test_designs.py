"""Sampling designs: what is drawn has the probability that is logged."""

import numpy as np
import pytest

from karat.errors import InputError
from karat.estimation import DESIGNS, Draw, VettedLabels, make_candidates, parse_name, run_weights
from karat.estimation.designs.stratified import allocate, merged
from karat.estimation.designs.whole_queries import plan
from karat.estimation.statistics import inclusion_probabilities, systematic
from karat.measures import parse_measure
from karat.world import make_world, simulate_systems

P10, RP = parse_measure("P@10"), parse_measure("RP")


@pytest.fixture(scope="module")
def candidates():
    world = make_world(images=20, captions=2, seed=3)
    return make_candidates(
        simulate_systems(world)[:2], world.benchmark(), "original", direction="t2i", depth=10
    )


def draw(candidates, design, n, seed=0, rows=None):
    p = np.random.default_rng(9).random(len(candidates))
    rows = np.flatnonzero(candidates.matter(P10)) if rows is None else rows
    rng = np.random.default_rng(seed)
    return parse_name(design, DESIGNS).draw(VettedLabels.none(candidates), p, P10, rows, n, rng)


@pytest.mark.parametrize("design", sorted(DESIGNS))
@pytest.mark.parametrize("n", [25, 160, 100_000])
def test_draws_are_open_different_and_never_too_many(candidates, design, n):
    rows = np.flatnonzero(candidates.matter(P10))[::2]
    sample = draw(candidates, design, n, rows=rows)
    assert len(sample) <= n
    assert len(np.unique(sample.rows)) == len(sample)
    assert np.isin(sample.rows, rows).all()
    if n > len(rows):
        assert len(sample) == len(rows)
        assert (sample.probability == 1).all()
    elif sample.unit == "pair":
        assert len(sample) == n


@pytest.mark.parametrize("design", sorted(DESIGNS))
def test_pairs_are_drawn_as_often_as_their_probabilities_say(candidates, design):
    times, rows = 600, np.flatnonzero(candidates.matter(P10))
    often, chance = np.zeros(len(candidates)), np.zeros(len(candidates))
    for seed in range(times):
        sample = draw(candidates, design, 120, seed)
        often[sample.rows] += 1
        chance[sample.rows] = sample.probability
    assert (chance[rows] > 0).all()
    z = (often - times * chance)[rows] / np.sqrt(times * chance * (1 - chance) + 1e-9)[rows]
    assert np.abs(z).max() < 5
    # The probabilities add up to what is drawn.
    units = np.unique(candidates.query[rows], return_index=True)[1] if sample.unit == "query" else slice(None)
    assert chance[rows][units].sum() == pytest.approx(
        len(np.unique(sample.query)) if sample.unit == "query" else 120
    )


def test_weights_of_runs_add_up_to_one(candidates):
    assert run_weights(candidates, P10).sum(axis=1) == pytest.approx([1, 1])
    assert run_weights(candidates, RP) is None


def test_single_pairs_are_not_drawn_for_measures_of_whole_queries(candidates):
    none, p = VettedLabels.none(candidates), np.full(len(candidates), 0.5)
    for name in DESIGNS:
        design = parse_name(name, DESIGNS)
        if design.unit == "query":
            continue
        with pytest.raises(InputError, match="depends on all labels of a query together"):
            design.draw(none, p, RP, np.arange(len(candidates)), 10, np.random.default_rng(0))


def test_the_difference_design_prefers_what_tells_runs_apart(candidates):
    sample = draw(candidates, "difference(floor=0.1)", 100)
    first, second = run_weights(candidates, P10)[:, sample.rows]
    assert (first != second).mean() > 0.8
    with pytest.raises(InputError, match="no run 'x'"):
        draw(candidates, "difference(first=x)", 100)


def test_whole_queries_need_room_for_one(candidates):
    with pytest.raises(InputError, match="fewer than one query has"):
        draw(candidates, "whole-queries", 3)


def test_little_of_a_budget_of_whole_queries_is_left():
    cost = np.sort(np.random.default_rng(0).integers(20, 60, 1000))
    stratum, number = plan(cost, 8000, 10)
    worst = sum(cost[stratum == h][-number[h] :].sum() for h in range(len(number)))
    assert 7500 < worst <= 8000


def test_probabilities_above_one_are_cut():
    size = np.array([100.0, 50.0, 1, 1, 1, 1, 1, 1])
    chance = inclusion_probabilities(size, 5)
    assert chance.sum() == pytest.approx(5)
    assert chance.max() == 1
    assert chance[2:] == pytest.approx(0.5)
    assert len(systematic(chance, np.random.default_rng(1))) == 5


def test_strata_give_two_each_and_all_together_n():
    number = allocate(np.array([3, 50, 2, 400]), np.array([0.0, 5.0, 0.0, 20.0]), 60)
    assert number.sum() == 60
    assert number.min() == 2
    assert np.bincount(merged(np.array([0, 1, 1, 1, 2, 5, 5, 9]), 5)).min() >= 2


def test_a_sample_without_probabilities_is_refused():
    with pytest.raises(InputError, match="inclusion probability"):
        Draw(np.array([3]), np.array([0.0]))
