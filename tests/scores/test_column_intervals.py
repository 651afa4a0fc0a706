"""Intervals of whole scorecards: every column, combination and fold from the same draws."""

import json

import numpy as np
import pytest
from scipy import stats

import karat
from karat.errors import InputError
from karat.scores.column_intervals import ColumnSamples
from karat.stats import Intervals, bootstrap_interval
from karat.stats.resampling import Resampling
from karat.world import make_world

from made import make_benchmark, make_run, recomputed

MEASURES = ["R@1", "mAP@R", "MedR", "MeanR", "RSUM"]


@pytest.fixture(scope="module")
def card():
    bench = make_benchmark()
    runs = [make_run(bench, 1.5, 1, "weak"), make_run(bench, 3, 2, "good")]
    return karat.evaluate(runs, bench, MEASURES, intervals=Intervals(resamples=300, seed=9))


def test_every_draw_of_every_column_equals_a_recount(card):
    samples = ColumnSamples(card.columns)
    assert samples.clusters == 40
    weights = np.concatenate(list(Resampling(40, 300, seed=9).blocks()))
    draws = samples.resampled(weights)
    for column, drawn in zip(samples.columns, draws):
        for w, ours in list(zip(weights, drawn))[:40]:
            assert ours == pytest.approx(recomputed(column, w)), column
        low, high = np.quantile(drawn, [0.025, 0.975])
        if column.interval_method is None:
            assert (column.low, column.high) == pytest.approx((low, high))
    assert samples.values() == pytest.approx([column.value for column in samples.columns])


def test_one_column_alone_gets_the_same_interval(card):
    column = card.column("R@1", truth="own", direction="t2i", run="weak")
    alone = bootstrap_interval(column.values, column.cluster, resamples=300, seed=9)
    assert (alone.low, alone.high) == pytest.approx((column.low, column.high))
    assert card.estimate("R@1", truth="own", direction="t2i", run="weak") == alone
    assert (column.n, column.effective) == (120, 40)


def test_records_and_tables_carry_them(card, tmp_path):
    assert all(record["low"] <= record["value"] <= record["high"] for record in card.records())
    assert " (" in str(card).splitlines()[2]
    card.save(tmp_path / "card.json")
    assert json.loads((tmp_path / "card.json").read_text())[0]["low"] is not None


def test_bca_of_every_column():
    bench = make_benchmark()
    run = make_run(bench, 1.5, 1, "weak")
    card = karat.evaluate(run, bench, MEASURES, intervals="bca")
    for column in card:
        assert column.low <= column.high
        assert column.low <= column.value <= column.high or str(column.measure) == "MedR"
    column = card.column("R@1", truth="own", direction="t2i")
    alone = bootstrap_interval(column.values, column.cluster, method="bca")
    assert (alone.low, alone.high) == pytest.approx((column.low, column.high))


def test_the_same_seed_gives_the_same_interval_and_runs_do_not_disturb_each_other():
    bench = make_benchmark()
    runs = [make_run(bench, 1.5, 1, "weak"), make_run(bench, 3, 2, "good")]
    both = karat.evaluate(runs, bench, ["R@1"], intervals=True)
    one = karat.evaluate(runs[0], bench, ["R@1"], intervals=True)
    for column in one:
        same = both.column("R@1", truth=column.truth, direction=column.direction, run="weak")
        assert (same.low, same.high) == pytest.approx((column.low, column.high))


def test_what_has_no_value_has_no_interval():
    bench = make_benchmark()
    lists = {"t2i": {str(1000 + c): [int(bench.caption_image[c])] for c in range(120)}}
    card = karat.evaluate(
        karat.load_run(lists, benchmark=bench), bench, ["R@1", "R@5"], truth="own", intervals=True
    )
    column = card.column("R@1", direction="t2i")
    assert (column.value, column.high, column.interval_method) == (1, 1, "Clopper–Pearson")
    assert 0.9 < column.low < 1
    with pytest.raises(InputError, match="no intervals"):
        karat.evaluate(karat.load_run(lists, benchmark=bench), bench, "R@1").estimate(
            "R@1", truth="own", direction="t2i"
        )


def tiny(images: int, captions: int = 5):
    """A benchmark and a run that answers everything."""
    bench = make_world(images=images, captions=captions).benchmark()
    return bench, karat.load_run(np.repeat(np.eye(images), captions, axis=1), name="all right")


def test_one_image_has_no_interval():
    bench, run = tiny(1)
    card = karat.evaluate(run, bench, ["R@1", "MedR", "RSUM"], truth="original", intervals=True)
    assert all(column.value is not None and column.low is None and column.high is None for column in card)
    assert "(100.00" not in str(card)
    assert "an interval needs 5 images, that of a median 10, and there is 1 image" in str(card)


@pytest.mark.parametrize("images", [5, 12, 29, 40])
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_no_interval_of_a_share_is_without_width(images, method):
    bench, run = tiny(images)
    card = karat.evaluate(run, bench, ["R@1", "RSUM"], truth="original", intervals=method)
    for column in card:
        assert column.low < column.value == column.high
        assert column.interval_method == "Clopper–Pearson"
    exact = stats.binomtest(images, images).proportion_ci(method="exact")
    assert card.column("R@1", direction="i2t").low == pytest.approx(exact.low)
    text = str(card)
    assert "100.00–100.00" not in text
    assert ("fewer than 30 images" in text) == (images < 30)
    assert ("so near to 0 or 100%" in text) == (images >= 30)


def test_mean_ranks_of_few_images_start_at_one():
    bench, run = tiny(12)
    scores = np.array(run.scores)
    scores[0, :] = -1
    card = karat.evaluate(karat.load_run(scores, name="one miss"), bench, ["MeanR", "MedR"],
                          truth="original", intervals=True)  # fmt: skip
    column = card.column("MeanR", direction="i2t")
    assert 1 <= column.low < column.value < column.high
    assert column.interval_method == "Student's t"


def test_a_mean_that_few_ranks_decide_is_noted():
    bench, run = tiny(60)
    scores = np.array(run.scores)
    scores[0, :] = -1
    card = karat.evaluate(karat.load_run(scores, name="one miss"), bench, ["MeanR"],
                          truth="original", direction="i2t", intervals=True)  # fmt: skip
    assert "a few very long ranks decide the mean" in str(card)
    bench = make_benchmark(300)
    card = karat.evaluate(make_run(bench, 1, 1, "weak"), bench, ["MeanR"], direction="i2t", intervals=True)
    assert "very long ranks" not in str(card)
