"""How often does a test find a difference where there is none? ``make test-statistical`` prints it."""

from dataclasses import replace

import numpy as np
import pytest

from karat.measures.aggregates import MEAN, MEDIAN
from karat.scores import compare
from karat.stats import Intervals, compare_values, mcnemar, randomisation_test
from tests.statistical.populations import KEEN, draw_images, population_column, sample, scorecard, shuffle

pytestmark = pytest.mark.statistical


def columns(measure: str, direction: str, systems: int = 2):
    """Return equal systems: the same settings, noise of their own."""
    return [population_column(measure, direction, seed) for seed in range(systems)]


def rate(test, measure: str, direction: str, images: int, repetitions: int, clustered: bool = True) -> float:
    """Return how often p ≤ 0.05 for two systems that differ by chance alone."""
    rng = np.random.default_rng([7, *f"{measure} {direction} {repetitions}".encode()])
    pair = columns(measure, direction)
    false = 0
    for _ in range(repetitions):
        drawn = draw_images(images, rng)
        first, second = shuffle([sample(column, drawn) for column in pair], rng)
        cluster = first.cluster if clustered else np.arange(len(first.values))
        false += test(first.values, second.values, cluster).p <= 0.05
    return false / repetitions


def randomisation(aggregate):
    return lambda a, b, cluster: randomisation_test(a, b, cluster, aggregate, samples=999)


def bootstrap(aggregate):
    options = {"aggregate": aggregate, "test": "bootstrap", "intervals": Intervals(resamples=999)}
    return lambda a, b, cluster=None: compare_values(a, b, cluster, **options)


def mcnemars(kind):
    return lambda a, b, _: mcnemar(a, b, kind)


CASES = {
    "randomisation, mAP@R i2t": (randomisation(MEAN), "mAP@R", "i2t", 400, 4000),
    "randomisation, mAP@R t2i": (randomisation(MEAN), "mAP@R", "t2i", 400, 4000),
    "randomisation, MedR i2t": (randomisation(MEDIAN), "MedR", "i2t", 400, 4000),
    "randomisation, MedR t2i": (randomisation(MEDIAN), "MedR", "t2i", 400, 4000),
    "paired bootstrap, R@1 t2i": (bootstrap(MEAN), "R@1", "t2i", 400, 4000),
    "paired bootstrap, mAP@R i2t": (bootstrap(MEAN), "mAP@R", "i2t", 400, 4000),
    "McNemar exact, R@1 i2t": (mcnemars("exact"), "R@1", "i2t", 3000, 8000),
    "McNemar mid-p, R@1 i2t": (mcnemars("mid-p"), "R@1", "i2t", 3000, 8000),
}


@pytest.mark.parametrize("case", CASES)
def test_false_alarms_stay_at_the_level(case, capsys):
    found = rate(*CASES[case])
    with capsys.disabled():
        print(f"\n  {case:30} {found:.4f}")
    assert 0.04 <= found <= 0.06


def test_captions_taken_as_independent_raise_false_alarms(capsys):
    found = rate(randomisation(MEAN), "mAP@R", "t2i", 400, 2000, clustered=False)
    with capsys.disabled():
        print(f"\n  randomisation, mAP@R t2i, captions as if independent: {found:.4f}")
    assert found > 0.07


def test_holm_keeps_the_chance_of_any_false_alarm(capsys):
    """Four equal systems, six pairs: without correction some pair is 'significant' far too often."""
    rng = np.random.default_rng(3)
    four = columns("mAP@R", "t2i", systems=4)
    card = scorecard(**KEEN)
    any_corrected = any_plain = 0
    repetitions = 1000
    for _ in range(repetitions):
        drawn = draw_images(300, rng)
        dealt = shuffle([sample(column, drawn) for column in four], rng)
        found = compare(replace(card, columns=dealt), samples=999, intervals=Intervals(resamples=1))
        any_corrected += any(d.corrected <= 0.05 for d in found.differences)
        any_plain += any(d.p <= 0.05 for d in found.differences)
    corrected, plain = any_corrected / repetitions, any_plain / repetitions
    with capsys.disabled():
        print(f"\n  any of six pairs: Holm {corrected:.4f}, plain {plain:.4f}")
    assert corrected <= 0.06
    assert plain > 0.10


def test_place_intervals_hold_together(capsys):
    """Five systems of rising strength, two of them equal: all true places are inside, nearly always."""
    rng = np.random.default_rng(5)
    systems = [(4.4, 0), (4.6, 0), (4.8, 0), (5.0, 0), (5.0, 1)]
    population = [population_column("mAP@R", "t2i", seed, strength=strength) for strength, seed in systems]
    truth = np.array([column.value for column in population])
    card = scorecard(**KEEN)
    held, widths = 0, []
    repetitions = 500
    for _ in range(repetitions):
        drawn = draw_images(300, rng)
        some = [sample(column, drawn) for column in population]
        found = compare(replace(card, columns=some), samples=999, intervals=Intervals(resamples=1))
        places = found.standings[0].places
        true_place = {column.run: int((truth > column.value).sum()) + 1 for column in population}
        held += all(low <= true_place[run] <= high for run, (low, high) in places.items())
        widths.append(np.mean([high - low + 1 for low, high in places.values()]))
    with capsys.disabled():
        print(f"\n  all five places inside: {held / repetitions:.3f}; a place spans {np.mean(widths):.2f}")
    assert held / repetitions >= 0.94


def test_medians_of_unequal_spread(capsys):
    """Equal medians, unequal spread: the swap asks whether ranks could be exchanged, not about medians."""
    rng = np.random.default_rng(12)
    repetitions, found = 1000, {"randomisation": 0, "bootstrap": 0}
    for _ in range(repetitions):
        tight, wide = (np.ceil(20 * np.exp(spread * rng.normal(size=500))) for spread in (0.5, 2.0))
        found["randomisation"] += randomisation_test(tight, wide, aggregate=MEDIAN, samples=499).p <= 0.05
        found["bootstrap"] += bootstrap(MEDIAN)(tight, wide).p <= 0.05
    with capsys.disabled():
        print(f"\n  equal medians, unequal spread: { ({k: v / repetitions for k, v in found.items()}) }")
    assert 0.03 <= found["bootstrap"] / repetitions <= 0.07
    assert found["randomisation"] / repetitions > 0.10
