"""Plain arrays are compared as the command compares runs, and as a computation by hand does."""

from functools import cache
from itertools import product

import numpy as np
import pytest

import karat
from karat.errors import InputError
from karat.measures import MEAN, MEDIAN
from karat.stats import Intervals, ValueSamples, compare_values

from made import make_benchmark, make_run

IMAGES = 60


@cache
def scored(images: int, direction: str):
    bench = make_benchmark(images)
    runs = [make_run(bench, 2.5, 1, "A"), make_run(bench, 1.5, 2, "B")]
    measures = ["R@1", "mAP@R", "MeanR", "MedR"]
    return karat.evaluate(runs, bench, measures, truth="own", direction=direction)


@pytest.mark.parametrize("images", [IMAGES, 12])
@pytest.mark.parametrize("direction", ["t2i", "i2t"])
@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("test", ["randomisation", "bootstrap", "mcnemar", "mcnemar-exact"])
def test_arrays_give_the_numbers_of_the_command(images, direction, method, test):
    card = scored(images, direction)
    intervals = Intervals(method, resamples=400, seed=5)
    found = karat.compare(
        card, test=test, intervals=intervals, samples=500, seed=5, margin=20, power=0.8, alpha=0.1
    )
    for each in found.differences:
        name = str(each.measure)
        first, second = (card.column(name, direction=direction, run=run) for run in "AB")
        asked = {
            "aggregate": MEDIAN if name == "MedR" else MEAN, "better": each.measure.better, "test": test,
            "alpha": 0.1, "margin": 20 if each.measure.unit == "rank" else 0.2, "power": 0.8,
            "intervals": intervals, "samples": 500, "seed": 5,
        }  # fmt: skip
        if each.p is None:
            with pytest.raises(InputError):
                compare_values(first.values, second.values, first.cluster, **asked)
            continue
        alone = compare_values(first.values, second.values, first.cluster, **asked)
        # Numbers are added up in another order: BCa counts the draws that equal the value itself.
        near = {"abs": 0.02} if method == "bca" else {"rel": 1e-9}
        ours = [alone.difference.value, alone.difference.low, alone.difference.high, alone.detectable]
        theirs = [each.difference, each.low, each.high, each.detectable]
        assert np.array(ours, float) == pytest.approx(np.array(theirs, float), **near, nan_ok=True)
        assert (alone.p, alone.equivalent) == (each.p, each.equivalent)
        assert (alone.first, alone.second) == pytest.approx((first.value, second.value))
        won = each.better if each.p <= 0.1 else None
        verdicts = {"A": "the first is better", "B": "the second is better", None: "not shown to differ"}
        assert alone.verdict == verdicts[won]


def test_every_number_equals_what_is_computed_by_hand(rng):
    """Seven clusters of three: all 128 swaps, and Student's t of what clusters add."""
    from scipy import stats

    cluster = np.repeat(np.arange(7), 3)
    first, second = rng.random(21), rng.random(21)
    found = compare_values(first, second, cluster)
    gaps = (first - second).reshape(7, 3).sum(axis=1)
    swaps = [abs(gaps @ np.where(flip, -1, 1)) for flip in product([0, 1], repeat=7)]
    assert found.p == pytest.approx(np.mean(np.array(swaps) >= swaps[0] - 1e-12))
    assert found.difference.value == pytest.approx(gaps.sum() / 21)
    reach = stats.t.ppf(0.975, 6) * (gaps / 3).std(ddof=1) / np.sqrt(7)
    middle = found.difference.value
    assert found.difference.low == pytest.approx(max(-1, middle - reach))
    assert found.difference.high == pytest.approx(min(1, middle + reach))


def test_resampled_intervals_are_quantiles_of_redrawn_clusters(rng):
    cluster = np.repeat(np.arange(80), 2)
    first, second = rng.random(160) + 0.1, rng.random(160)
    found = compare_values(first, second, cluster, intervals=Intervals(resamples=4000))
    gaps = (first - second).reshape(80, 2).mean(axis=1)
    drawn = gaps[rng.integers(0, 80, (4000, 80))].mean(axis=1)
    expected = np.quantile(drawn, [0.025, 0.975])
    assert [found.difference.low, found.difference.high] == pytest.approx(expected, abs=0.01)


def test_values_that_are_undefined_are_left_out(rng):
    first, second = rng.random(60), rng.random(60)
    holes = np.r_[first, np.nan, 0.3], np.r_[second, 0.2, np.nan]
    assert compare_values(*holes, samples=99) == compare_values(first, second, samples=99)


def test_verdicts_follow_the_p_value_and_the_side():
    ahead, behind = np.ones(50), np.zeros(50)
    assert compare_values(ahead, behind, samples=999).verdict == "the first is better"
    assert compare_values(ahead, behind, samples=999, better="low").verdict == "the second is better"
    assert compare_values(ahead, ahead, samples=999, margin=0.2).equivalent
    assert "not shown to differ" in repr(compare_values(ahead, ahead, samples=999))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"test": "t"}, "randomisation, bootstrap, mcnemar, mcnemar-exact"),
        ({"better": "up"}, "better is 'up'"),
        ({"alpha": 2}, "alpha is 2"),
        ({"power": 2}, "power is 2"),
        ({"margin": -1}, "margin is -1"),
        ({"clusters": np.arange(60) // 2, "test": "mcnemar"}, "some are of one cluster"),
        ({"clusters": np.arange(60) // 2, "test": "bootstrap"}, "30 clusters for the paired bootstrap"),
    ],
)
def test_bad_choices_are_refused_in_one_sentence(change, message):
    with pytest.raises(InputError) as error:
        compare_values(np.ones(60), np.zeros(60), **change)
    assert message in str(error.value)


def test_samples_of_labels_equal_those_of_numbers(rng):
    values, label = rng.random(90), np.repeat([f"image {k:02}" for k in range(30)], 3)
    columns = [(values, label), (values**2, label)]
    number = np.unique(label, return_inverse=True)[1]
    first, second = (
        ValueSamples(some, Intervals(resamples=300))
        for some in (columns, [(values, number), (values**2, number)])
    )
    assert first.means() == second.means()
    assert first.means()[0].effective == 30
