"""The statistics of estimates on plain arrays, against formulas, enumeration and the same numbers of runs."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from karat.errors import InputError
from karat.estimation import (
    DESIGNS,
    Draw,
    VettedLabels,
    answered,
    estimate_mean,
    interval_estimates,
    known_from,
    make_candidates,
    parse_name,
    run_weights,
    truth_labels,
)
from karat.measures import parse_measure
from karat.world import make_world, simulate_systems

P10 = parse_measure("P@10")


def part_of(label, rows):
    """Return labels of which the others are unknown."""
    return np.where(np.isin(np.arange(len(label)), rows), label, np.nan)


def test_labels_alone_give_the_interval_of_textbooks():
    rng = np.random.default_rng(0)
    label = (rng.random(800) < 0.4) * 1.0
    rows = rng.permutation(800)[:200]
    made = estimate_mean(part_of(label, rows))
    mean, n = label[rows].mean(), len(rows)
    error = np.sqrt(label[rows].var(ddof=1) / n * (1 - n / 800))
    assert made.value == pytest.approx(mean)
    # One square like the largest may be unseen, which costs few of 199 degrees of freedom.
    reach = [stats.t.ppf(0.975, free) * error for free in (199, 100)]
    assert reach[0] <= made.high - made.value <= reach[1]
    assert made.n == made.effective == 200


def test_without_cost_a_useless_prediction_and_a_gain_from_a_good_one():
    rng = np.random.default_rng(1)
    p = rng.random(3000)
    label = (rng.random(3000) < p) * 1.0
    some = part_of(label, rng.permutation(3000)[:300])
    alone, good, useless = (estimate_mean(some, x) for x in (None, p, rng.random(3000)))
    assert good.high - good.low < 0.86 * (alone.high - alone.low)
    assert useless.high - useless.low == pytest.approx(alone.high - alone.low, rel=0.02)
    both = estimate_mean(some, [p, rng.random(3000)])
    assert both.high - both.low == pytest.approx(good.high - good.low, rel=0.02)


def test_unequal_chances_are_weighted_as_horvitz_and_thompson_do():
    rng = np.random.default_rng(2)
    label, chance = rng.random(60), rng.uniform(0.2, 0.9, 60)
    rows = np.flatnonzero(rng.random(60) < chance)
    made = estimate_mean(part_of(label, rows), probability=chance, method="horvitz-thompson")
    assert made.value == pytest.approx((label[rows] / chance[rows]).sum() / 60)


def test_every_sample_of_a_small_population_together_is_unbiased():
    label = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0])
    proxy = np.array([0.9, 0.2, 0.4, 0.8, 0.3, 0.1, 0.7])
    for x in (None, proxy):
        made = [
            estimate_mean(part_of(label, rows), x, method="difference" if x is None else "hajek")
            for rows in combinations(range(7), 5)
        ]
        assert np.mean([one.value for one in made]) == pytest.approx(label.mean())


def test_a_difference_has_the_weights_of_both():
    rng = np.random.default_rng(3)
    label, first, second = (rng.random(400) < 0.5) * 1.0, *rng.dirichlet(np.full(400, 5.0), 2)
    held = []
    for _ in range(200):
        some = part_of(label, rng.permutation(400)[:100])
        gap = estimate_mean(some, weight=first, minus=second)
        held.append(gap.low < (first - second) @ label < gap.high)
        one, other = (estimate_mean(some, weight=weight) for weight in (first, second))
        assert gap.half_width < one.half_width + other.half_width
    assert 0.91 <= np.mean(held) <= 0.99


def test_an_estimate_of_runs_is_that_of_their_arrays():
    world = make_world(images=40, captions=2, seed=3)
    candidates = make_candidates(
        simulate_systems(world)[:2], world.benchmark(), "original", direction="t2i", depth=10,
        noisy_positives=False,
    )  # fmt: skip
    truth = truth_labels(candidates, world.benchmark().truth("complete"))
    labels, draws, rng = VettedLabels.none(candidates), [], np.random.default_rng(0)
    for _ in range(2):
        rows = np.flatnonzero(candidates.matter(P10) & ~labels.vetted)
        design = parse_name("proportional", DESIGNS)
        draws.append(design.draw(labels, candidates.noisy * 0.6 + 0.2, P10, rows, 150, rng))
        labels = labels.add(draws[-1].rows, truth[draws[-1].rows] > 0)
    proxy = rng.random(len(candidates))
    made = interval_estimates(labels, draws, P10, estimator=None, proxies={"proxy": proxy})
    weights = run_weights(candidates, P10)
    pairs = [(weights[0], None), (weights[1], None), (weights[0], weights[1])]
    # Of one run alone the predictions are fitted to what it ranks first.
    for (weight, minus), one in list(zip(pairs, (*made.scores, *made.differences), strict=True))[2:]:
        plain = estimate_mean(labels.label, proxy, weight=weight, minus=minus, draws=draws)
        assert (plain.value, plain.low, plain.high) == pytest.approx((one.value, one.low, one.high))


def test_clusters_widen_the_interval_of_a_population():
    rng = np.random.default_rng(4)
    image = np.repeat(np.arange(100), 5)
    label = (rng.random(100) < 0.5)[image] * 1.0
    own, apart = (
        estimate_mean(label, probability=1.0, cluster=cluster, target="population")
        for cluster in (image, None)
    )
    assert own.high - own.low > 2 * (apart.high - apart.low)
    here = estimate_mean(label, probability=1.0)
    assert here.low == here.value == here.high
    assert here.value == pytest.approx(label.mean())


def test_draws_of_units_that_were_numbered_again():
    draw = Draw(np.array([0, 2, 5]), np.array([0.2, 0.4, 0.4]), query=np.array([7, 8, 8]))
    covers = np.array([True, True, True, True, False, True])
    both = Draw(draw.rows, draw.probability, covers=covers).renumbered(np.array([0, 0, 1, 1, 2, 2]), 3)
    assert both.rows.tolist() == [0, 1, 2]
    assert both.covers.tolist() == [True, True, False]
    assert draw.unit == "query"
    known = known_from(6, np.array([0, 2]), np.zeros(2, int), [draw])
    assert known.tolist() == [1, 2, 1, 2, 2, 2]
    # Query 8 lacks an answer, and too few others have one.
    assert answered([draw], known) == {}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label": np.full(5, np.nan)}, "at least one is needed"),
        ({"label": np.array([0.0, 2.0])}, "numbers from 0 to 1"),
        ({"label": np.array([0.0, 1.0]), "predicted": np.array([0.5])}, "one finite number per unit"),
        ({"label": np.array([0.0, 1.0]), "probability": 0.0}, "not above 0"),
        ({"label": np.array([0.0, 1.0]), "level": 95}, "level is 95"),
        ({"label": np.array([0.0, 1.0]), "target": "world"}, "target"),
        ({"label": np.array([0.0, 1.0]), "method": "bounds"}, "method"),
    ],
)
def test_what_makes_no_sense_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        estimate_mean(**given)
