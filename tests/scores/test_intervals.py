"""Intervals of whole scorecards: every column, combination and fold from the same draws."""

import json

import numpy as np
import pytest

import karat
from karat.errors import InputError
from karat.scores.intervals import ColumnSamples
from karat.stats import Intervals, bootstrap_interval
from karat.stats.intervals import Resampling

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
    assert card.column("R@1", direction="t2i").low == 1
    with pytest.raises(InputError, match="no intervals"):
        karat.evaluate(karat.load_run(lists, benchmark=bench), bench, "R@1").estimate(
            "R@1", truth="own", direction="t2i"
        )
