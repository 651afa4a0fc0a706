"""Looking after every label: how often a sequence ever excludes the truth, and how wide it is."""

import numpy as np
import pytest

from karat.estimation import betting_sequence, sequence_factor
from tests.statistical.monitoring import labelled_pairs, proportional_looks, uniform_looks

pytestmark = pytest.mark.statistical
TIMES = 1000


def ever_missed(value, variance, labels, truth, size, **options):
    """Return the share of projects in which any look excludes the truth."""
    factor = sequence_factor(labels, size, **options)
    with np.errstate(invalid="ignore"):
        return float((np.abs(value - truth) > factor * np.sqrt(variance)).any(axis=1).mean())


@pytest.mark.parametrize("options", [{}, {"target": 500}], ids=["mixture", "line"])
def test_uniform_draws_looked_at_after_every_label(options):
    y, p = labelled_pairs()
    _, value, variance = uniform_looks(y, p, 2000, TIMES)
    assert ever_missed(value, variance, np.arange(1, 2001), y.mean(), len(y), **options) <= 0.05


def test_proportional_draws_looked_at_after_every_ten():
    y, p = labelled_pairs()
    labels, value, variance = proportional_looks(y, p, 1000, 10, TIMES)
    for options in ({}, {"target": 500}):
        assert ever_missed(value, variance, labels, y.mean(), len(y), **options) <= 0.05


def test_labels_without_predictions():
    y, _ = labelled_pairs()
    _, value, variance = uniform_looks(y, np.zeros(len(y)), 2000, TIMES)
    assert ever_missed(value, variance, np.arange(1, 2001), y.mean(), len(y)) <= 0.05


def test_a_fixed_time_interval_does_not_survive_this():
    y, p = labelled_pairs()
    _, value, variance = uniform_looks(y, p, 2000, TIMES)
    missed = np.abs(value - y.mean()) > 1.96 * np.sqrt(variance)
    assert missed[:, -1].mean() < 0.07
    assert missed[:, 50:].any(axis=1).mean() > 0.3


def test_bets():
    y, p = labelled_pairs()
    drawn, _, _ = uniform_looks(y, p, 800, 300)
    missed = [betting_sequence(y[rows], len(y), grid=400).excludes(y.mean()) for rows in drawn]
    assert np.mean(missed) <= 0.05
