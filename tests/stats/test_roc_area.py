"""The area under the ROC curve against scikit-learn, and its interval."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from karat.errors import InputError
from karat.stats import auroc


def test_area_equals_sklearn_with_ties_and_missing_values(rng):
    scores = rng.integers(0, 12, 300).astype(float)
    positive = rng.random(300) < 0.3
    found = auroc(np.r_[scores, np.nan], np.r_[positive, True])
    assert found.value == pytest.approx(roc_auc_score(positive, scores))
    assert found.low < found.value < found.high
    assert auroc(-scores, positive).value == pytest.approx(1 - found.value)


def test_variance_equals_the_definition_of_delong(rng):
    scores, positive = rng.normal(size=40), np.arange(40) < 15
    wins = (scores[:15, None] > scores[None, 15:]).astype(float)
    variance = wins.mean(axis=1).var(ddof=1) / 15 + wins.mean(axis=0).var(ddof=1) / 25
    found, area = auroc(scores, positive), wins.mean()
    odds = np.log(found.high / (1 - found.high)) - np.log(area / (1 - area))
    assert odds == pytest.approx(1.959964 * np.sqrt(variance) / (area * (1 - area)), rel=1e-5)


def test_intervals_hold(rng):
    true = 0.760250  # Of two normal distributions whose means are one standard deviation apart.
    inside = 0
    for _ in range(300):
        positive = np.arange(200) < 40
        found = auroc(rng.normal(size=200) + positive, positive)
        inside += found.low <= true <= found.high
    assert 0.92 <= inside / 300 <= 0.98


def test_perfect_and_too_few():
    found = auroc(np.arange(10.0), np.arange(10) >= 5)
    assert found.value == 1
    assert found.low > 0.5
    with pytest.raises(InputError, match="1 are looked for"):
        auroc(np.arange(10.0), np.arange(10) == 5)
