"""Does a 95% interval hold the true score in 95 of 100 samples? ``make test-statistical`` prints it."""

import numpy as np
import pytest

from karat.scores.column_intervals import ColumnSamples
from karat.stats import Intervals
from tests.statistical.populations import KEEN, TRUTH, draw_images, population_column, sample

pytestmark = pytest.mark.statistical

REPETITIONS, QUERY_IMAGES = 1000, 1000
"""As many images as the test sets of Flickr8k and Flickr30k have."""


def coverage(method: str, clustered: bool = True) -> dict[str, float]:
    """Return how often the interval of each column holds the population's own score."""
    rng = np.random.default_rng(41)
    population = {
        f"{measure} {direction}": population_column(measure, direction)
        for measure in TRUTH
        for direction in ("i2t", "t2i", "mean")
    }
    population |= {
        f"MedR {d}, a median of few ranks": population_column("MedR", d, **KEEN) for d in ("i2t", "t2i")
    }
    held = np.zeros(len(population))
    for repetition in range(REPETITIONS):
        images = draw_images(QUERY_IMAGES, rng)
        samples = ColumnSamples([sample(column, images, clustered) for column in population.values()])
        chosen = Intervals(method, resamples=1000, seed=repetition)
        low, high = chosen.ends(samples.values(), *chosen.draw(samples.resampled, samples.clusters))
        truth = np.array([column.value for column in population.values()])
        held += (low <= truth) & (truth <= high)
    return dict(zip(population, (held / REPETITIONS).tolist()))


def show(title: str, found: dict[str, float], capsys) -> None:
    with capsys.disabled():
        print(f"\n{title}, {QUERY_IMAGES} images drawn, {REPETITIONS} repetitions")
        for name, share in found.items():
            print(f"  {name:32} {share:.3f}")


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_hold_as_often_as_they_say(method, capsys):
    found = coverage(method)
    show(method, found, capsys)
    for name, share in found.items():
        # Between two whole ranks lies nothing: an interval from 3 to 5 holds more than it says.
        most = 1 if "few ranks" in name else 0.97
        assert 0.93 <= share <= most, (name, share)


def test_captions_taken_as_independent_do_not(capsys):
    found = {n: share for n, share in coverage("percentile", clustered=False).items() if "t2i" in n}
    show("percentile, captions as if each were drawn alone", found, capsys)
    assert found["R@1 t2i"] < 0.90
    assert found["mAP@R t2i"] < 0.92
    assert found["RP t2i"] < 0.92
    assert found["MedR t2i"] < 0.90
