"""Confidence sequences and rules for stopping."""

import numpy as np
import pytest
from scipy import optimize, stats

from karat.errors import InputError
from karat.estimation import (
    StoppingRule,
    betting_sequence,
    confidence_sequence,
    decide,
    parse_rules,
    sequence_factor,
    sequence_level,
)
from karat.estimation.statistics.boundaries import best_scale, clock_of, mixture_factor


def test_the_mixture_is_that_of_the_paper():
    # Waudby-Smith et al. 2024, theorem 2.2, with ρ: √(2 (tσ²ρ² + 1) / (t²ρ²) log(√(tσ²ρ² + 1) / α)).
    t, sigma, alpha = np.array([30.0, 500.0, 9000.0]), 0.4, 0.05
    rho = np.sqrt(best_scale() / 500) / sigma
    inner = t * sigma**2 * rho**2 + 1
    published = np.sqrt(2 * inner / (t**2 * rho**2) * np.log(np.sqrt(inner) / alpha))
    ours = sigma / np.sqrt(t) * sequence_factor(t, np.inf, target=500, boundary="mixture", burn_in=1)
    assert ours == pytest.approx(published, rel=1e-9)


def test_the_mixture_is_narrowest_at_the_target():
    def at_target(scale: float) -> float:
        return float((1 + scale) / scale * np.log((1 + scale) / 0.05**2))

    best = optimize.minimize_scalar(at_target, bounds=(1, 40), method="bounded").x
    assert best_scale() == pytest.approx(best, abs=1e-3)
    assert mixture_factor(np.array([1.0]))[0] ** 2 == pytest.approx(at_target(best))


def test_a_line_is_crossed_as_often_as_it_should():
    # A Brownian motion with bridges between its steps: P(cross a + bt) = exp(−2ab), 0.025 for each side.
    rng = np.random.default_rng(0)
    time = np.geomspace(1e-3, 40, 60)
    path = np.cumsum(rng.normal(size=(8000, 60)) * np.sqrt(np.diff(time, prepend=0)), axis=1)
    bound = np.sqrt(time) * sequence_factor(time, np.inf, target=1, boundary="line", burn_in=0)
    gap = np.maximum(bound - path, 0)
    stay = 1 - np.exp(-2 * gap[:, :-1] * gap[:, 1:] / np.diff(time))
    crossed = 1 - (stay.prod(axis=1) * (gap > 0).all(axis=1)).mean()
    assert crossed == pytest.approx(0.025, abs=0.006)


def test_without_replacement_it_closes():
    looks = confidence_sequence([0.3, 0.3, 0.3], [1e-3, 1e-5, 0.0], [100, 990, 1000], 1000)
    assert looks.width[-1] == 0
    assert not looks.excludes(0.3)
    assert looks.excludes(0.31)
    assert np.isinf(clock_of(np.array(1000), 1000))


def test_labels_that_are_all_alike_prove_nothing_yet():
    looks = confidence_sequence([0.0, 0.0], [0.0, 0.0], [60, 400], 4000)
    assert np.isinf(looks.width).all()


def test_nothing_is_said_before_the_burn_in():
    looks = confidence_sequence([0.9, 0.3], [1e-6, 1e-3], [10, 60], 4000, burn_in=50)
    assert np.isinf(looks.width[0])
    assert np.isfinite(looks.width[1])
    assert not looks.excludes(0.3)


def test_ends_never_move_back():
    looks = confidence_sequence([0.30, 0.36], [1e-4, 1e-4], [400, 500], 4000)
    assert looks.low[1] == pytest.approx(0.36 - 1e-2 * sequence_factor(np.array(500), 4000), abs=1e-9)
    assert looks.high[1] == looks.high[0] < 0.36


def test_a_level_gives_the_same_interval():
    level = sequence_level(300, 4000, target=500)
    assert stats.norm.ppf((1 + level) / 2) == pytest.approx(
        float(sequence_factor(np.array(300), 4000, target=500))
    )
    assert sequence_level(10, 4000) == 1
    assert sequence_level(4000, 4000) == 0.95


def test_bets_against_every_composition_of_a_small_frame_are_exact():
    # All orders of 6 units with any number of ones: the chance to exclude the truth ever is at most 20%.
    from itertools import combinations

    for ones in range(7):
        misses = [
            betting_sequence(np.isin(np.arange(6), places), 6, level=0.8, target=4, grid=60).excludes(
                ones / 6
            )
            for places in combinations(range(6), ones)
        ]
        assert np.mean(misses) <= 0.2


def test_bets_on_differences_stay_inside_their_bounds():
    values = np.random.default_rng(1).choice([-0.4, 0.1, 0.6], 300)
    looks = betting_sequence(values, 3000, low=-1, high=1)
    assert looks.low[-1] <= values.mean() <= looks.high[-1]
    assert looks.width[-1] < 0.3
    with pytest.raises(InputError, match="outside of 0 to 1"):
        betting_sequence(values, 3000)


@pytest.mark.parametrize("text", ["width<=0.04", "within<=0.02", "winner", "budget=500"])
def test_rules_are_printed_as_they_are_read(text: str):
    assert str(StoppingRule.parse(text)) == text


@pytest.mark.parametrize("text", ["width", "winner=3", "budget", "width<=0", "width<=1.2.3", "soon", ""])
def test_other_rules_are_refused(text: str):
    with pytest.raises(InputError):
        StoppingRule.parse(text)


def test_a_percentage_is_a_share():
    assert StoppingRule.parse("within <= 2%").limit == pytest.approx(0.02)
    assert [rule.name for rule in parse_rules("winner,budget=9")] == ["winner", "budget"]


def test_decisions():
    looks = confidence_sequence([0.31, 0.29], [9e-4, 1e-4], [60, 500], 4000)
    gap = confidence_sequence([0.02, 0.01], [9e-4, 1e-4], [60, 500], 4000)
    assert not decide("within<=0.02", looks).stop
    assert decide("within<=0.05", looks).stop
    assert decide("width<=0.1", looks).stop
    assert not decide("width<=0.05", looks).stop
    assert decide("budget=500", looks).sentence == "Stop: the budget of 500 labels is spent."
    assert decide("winner", looks, difference=gap).sentence == (
        "Go on: whether A beats B is open at 95%; the difference is between -2.04 and +4.04 points."
    )
    assert decide("winner,budget=400", looks, difference=gap).stop
    behind = confidence_sequence([-0.07, -0.08], [9e-4, 1e-4], [60, 500], 4000)
    assert decide("winner", looks, difference=behind, runs=("a", "b")).sentence == "Stop: b beats a at 95%."
    with pytest.raises(InputError, match="compares two runs"):
        decide("winner", looks)


def test_an_interval_with_such_a_level_is_a_look():
    from karat.estimation import (
        DESIGNS,
        VettedLabels,
        interval_estimates,
        make_candidates,
        parse_name,
        truth_labels,
    )
    from karat.measures import parse_measure
    from karat.world import make_world, simulate_systems

    world = make_world(images=60, captions=2, seed=1)
    bench, p10 = world.benchmark(), parse_measure("P@10")
    pairs = make_candidates(simulate_systems(world)[:1], bench, "original", direction="t2i", depth=10)
    rows = np.flatnonzero(pairs.matter(p10))
    batch = parse_name("uniform", DESIGNS).draw(
        VettedLabels.none(pairs), pairs.noisy * 1.0, p10, rows, 300, np.random.default_rng(0)
    )
    labels = VettedLabels(pairs, batch.rows, truth_labels(pairs, bench.truth("complete"))[batch.rows] > 0)
    levels = (0.95, sequence_level(300, len(rows), target=300))
    fixed, look = (interval_estimates(labels, [batch], p10, level=level)[0] for level in levels)
    assert look.value == fixed.value
    assert look.half_width / fixed.half_width == pytest.approx(2.716 / 1.96, rel=0.03)
