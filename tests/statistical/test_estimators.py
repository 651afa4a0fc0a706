"""Estimators on worlds whose labels are known in full: errors at several shares of vetted pairs.

The first comparison of docs/estimator-bench.md, by the file that makes that page: one system at a time, so
that the sample mean is that of its own first K.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from karat.estimation import ESTIMATORS

SCRIPTS = Path(__file__).parents[2] / "scripts"
LEARNED = ("learned", "direct", "mixed")
RECOMMENDED = tuple(name for name in ESTIMATORS if ESTIMATORS[name].recommended)
NAMES = tuple(ESTIMATORS)
MEASURES = ("P@10", "RP", "AP")


@cache
def table(measure: str) -> dict[str, np.ndarray]:
    """Per estimator, its mean error at 5%, 20% and 50% vetted over all worlds, which is printed."""
    sys.path.insert(0, str(SCRIPTS))
    try:
        from bench_estimators import FULL, SHARES, single_system
    finally:
        sys.path.remove(str(SCRIPTS))
    worlds = range(FULL.single_worlds)
    errors = np.array(
        [single_system(measure, NAMES, FULL.single_queries, FULL.depth, seed) for seed in worlds]
    )
    mean, sure = np.nanmean(errors, axis=0), np.nanstd(errors, axis=0, ddof=1) / np.sqrt(len(worlds))
    print(f"\n{measure}, {len(worlds)} worlds: mean error of the score in points ± its standard error")
    print(f"{'estimator':14}" + "".join(f"{share:>16.0%}" for share in SHARES))
    for name, row, spread in zip(NAMES, mean, sure):
        print(f"{name:14}" + "".join(f"{x:9.2f} ± {y:4.2f}" for x, y in zip(row, spread)))
    return dict(zip(NAMES, mean))


@pytest.mark.statistical
@pytest.mark.parametrize("measure", MEASURES)
def test_the_best_learned_estimator(measure):
    errors = table(measure)
    best = np.min([errors[name] for name in LEARNED], axis=0)
    assert (best <= errors["naive"] / 2).all()
    assert (best < errors["sample-mean"]).all()
    assert (best < errors["vetted-only"]).all()


@pytest.mark.statistical
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", RECOMMENDED)
def test_recommended_estimators_are_never_worse_than_the_sample_mean(measure, name):
    errors = table(measure)
    assert (errors[name] <= 1.1 * errors["sample-mean"]).all()
