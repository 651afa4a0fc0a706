"""A hundred worlds judged by simulated people, a fifth of whom are lazy or adversarial."""

import numpy as np
import pytest

from tests.judging.pipeline import METHODS, one_seed

SEEDS = 100


@pytest.mark.statistical
@pytest.mark.parametrize("kinds", [False, True], ids=["strengths", "strengths and kinds"])
def test_corrected_labels_are_right_and_order_systems(kinds):
    found = [one_seed(seed, kinds=kinds) for seed in range(SEEDS)]
    print()
    for method in METHODS:
        precision = np.median([one.precision[method] for one in found])
        recall = np.median([one.recall[method] for one in found])
        print(f"{method}: median precision {100 * precision:.1f}, median recall {100 * recall:.1f}")
    right = {name: np.mean([one.ordered[name] for one in found]) for name in ("original", *METHODS)}
    for name, share in right.items():
        print(f"five systems in their true order by mAP@R, labels {name}: {100 * share:.0f}% of worlds")
    assert np.median([one.precision["dawid-skene"] for one in found]) >= 0.95
    assert np.median([one.recall["dawid-skene"] for one in found]) >= 0.95
    assert right["dawid-skene"] > right["original"]
    if not kinds:
        assert right["dawid-skene"] >= 0.95
