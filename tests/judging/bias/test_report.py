"""Bias end to end on a world whose whole truth is known."""

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import karat
from karat._util.tables import text_of
from karat.benchmarks import Pairs
from karat.errors import InputError
from karat.judging import JudgedPool, make_pool, measure_bias
from karat.judging.bias.bias import curve_layout, shown_bias
from karat.stats import Intervals
from karat.world import make_world, simulate, simulate_systems

FEW = Intervals(resamples=100)


@pytest.fixture(scope="module")
def world():
    return make_world(images=80, captions=3, seed=2)


@pytest.fixture(scope="module")
def runs(world):
    return simulate_systems(world)[:5]


@pytest.fixture(scope="module")
def pool(world, runs):
    return make_pool(runs, world.benchmark(), top=5)


@pytest.fixture(scope="module")
def judged(world, pool):
    return Pairs(pool.image, pool.caption, 1.0 * world.pair_relevance(pool.image, pool.caption))


@pytest.fixture(scope="module")
def report(world, pool, judged, runs):
    return measure_bias(JudgedPool(pool, judged, world.benchmark()), runs, complete="complete", intervals=FEW)


def test_the_curve_falls(report):
    for table in report.bias.values():
        curve = [point.bias for point in table.curve()]
        assert len(table.inside) == 32
        assert curve[-1] == 0
        assert all(a > b for a, b in pairwise(curve))


def test_the_reference_is_the_score_on_all_labels(report, world, pool, judged, runs):
    """All pooled positives and the original ones, as a benchmark would publish them."""
    from dataclasses import replace

    from karat.benchmarks import Judgments, Provenance, Truth

    bench = world.benchmark()
    good = judged.grade > 0
    own = Judgments(world.caption_image, np.arange(len(world.texts)), sources=[Provenance("original")])
    found = Judgments(judged.image[good], judged.caption[good], sources=[Provenance("people")])
    both = Truth("both", own.merge(found), bench.truth("original").queries)
    card = karat.evaluate(
        list(runs), replace(bench, truths={"both": both}, defaults={}), ["R@1", "RP"], ties="stable"
    )
    for (direction, measure), table in report.bias.items():
        expected = [card.value(measure, direction=direction, run=run.name) for run in runs]
        np.testing.assert_allclose(table.reference, expected)


def test_the_truth_is_the_complete_one(report, world, runs):
    card = karat.evaluate(list(runs), world.benchmark(), ["R@1", "RP"], truth="complete", ties="stable")
    for (direction, measure), table in report.against_truth.items():
        expected = [card.value(measure, direction=direction, run=run.name) for run in runs]
        np.testing.assert_allclose(table.reference, expected)
        np.testing.assert_array_equal(table.scores, report.bias[direction, measure].scores)
    gaps = {(g.direction, g.measure, g.system): g for g in report.gaps}
    assert len(gaps) == 2 * 2 * 5
    for (direction, measure, system), gap in gaps.items():
        table = report.against_truth[direction, measure]
        at = table.systems.index(system)
        assert gap.gap.value == pytest.approx(table.signed[-1, at])
        assert gap.gap.low <= gap.gap.value <= gap.gap.high
        if measure == "R@1":
            # Every first item was judged: the pool is no source of error for R@1.
            assert gap.gap.value == gap.gap.low == gap.gap.high == 0


def test_more_labels_come_nearer_to_the_truth(report):
    for table in report.against_truth.values():
        curve = [point.bias for point in table.curve()]
        assert curve[0] > curve[1] > curve[-1]


def test_an_outsider_loses_under_r1(report):
    for one in report.left_out:
        if one.measure == "R@1":
            assert one.change.value <= 0
            assert one.others == 0


def test_json_and_tables(report):
    again = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert {
        "systems",
        "bias",
        "truth",
        "against_truth",
        "gaps",
        "leave_one_out",
        "diversity",
        "notes",
    } == set(again)
    assert len(again["bias"][0]["subsets"]) == 32
    assert again["bias"][0]["subsets"][0]["self_bias"] is None
    titles = [layout.title for layout in report.tables()]
    assert len(titles) == len(set(titles)) == 2 * 3 + 4 * 2 + 2
    for layout in report.tables():
        assert all(len(row) == len(layout.head) for row in layout.rows), layout.title
    table = report.bias["t2i", "R@1"]
    shown = text_of(curve_layout(table, "R@1")).splitlines()[1:]
    assert shown[0].split()[:3] == ["models", "subsets", "bias"]
    assert shown[3].split()[:3] == ["1", "5", f"{100 * table.curve()[1].bias:.1f}"]
    assert shown_bias(table.curve()[1]) in shown[3]
    assert shown_bias(table.curve()[1], "other_bias") in shown[3]


def test_records_have_intervals(report):
    curve = [record for record in report.records() if record["table"] == "curve"]
    assert len(curve) == 4 * 6
    for record in curve:
        if 0 < record["size"] < 5:
            for kind in ("bias", "self_bias", "other_bias"):
                assert record[f"{kind}_low"] <= record[kind] <= record[f"{kind}_high"]
            assert 0 < record["bias_low"] < record["bias_high"]
        else:
            assert (record["self_bias_low"], record["other_bias_low"]).count(None) == 1
    subset = report.as_dict()["bias"][0]["subsets"][1]
    assert subset["bias_low"] < subset["bias"] < subset["bias_high"]
    against = report.against_truth["i2t", "RP"].curve()[-1]
    assert 0 < against.bias_low < against.bias < against.bias_high


def test_notes_say_what_is_missing(world, pool, judged, runs):
    bench = world.benchmark()
    part = Pairs(judged.image[:-10], judged.caption[:-10], 0.5 * judged.grade[:-10])
    options = {"measure": ["R@1"], "intervals": FEW}
    found = measure_bias(JudgedPool(pool, part, bench), complete="complete", **options)
    assert [note.split()[0] for note in found.notes] == ["10", "without", "annotators"]
    assert found.diversity["t2i"].depth == 5
    strange = np.flatnonzero(~np.isin(np.arange(240), pool.caption[pool.image == 0]))[:2]
    more = Pairs(np.r_[judged.image, 0, 0], np.r_[judged.caption, strange], np.r_[judged.grade, 0.0, 0.0])
    found = measure_bias(JudgedPool(pool, more, bench), runs, **options)
    assert found.notes == [
        "2 judged pairs that no model suggested (hidden gold, fillers) belong to no subset"
    ]


def test_one_direction_and_many_systems(world):
    bench = world.benchmark()
    runs = [simulate(world, strength=2 + k / 4, seed=k, name=f"s{k:02d}") for k in range(11)]
    pool = make_pool(runs, bench, top=2, direction=["t2i"])
    judged = Pairs(pool.image, pool.caption, 1.0 * world.pair_relevance(pool.image, pool.caption))
    found = measure_bias(JudgedPool(pool, judged, bench), runs, measure=["R@1"], per_size=5, intervals=FEW)
    assert list(found.bias) == [("t2i", "R@1")]
    assert any("random sample of at most 11" in note for note in found.notes)
    curve = [point.bias for point in found.bias["t2i", "R@1"].curve()]
    assert curve[0] > curve[5] > curve[-1] == 0
    assert not any("scores on the labels" in layout.title for layout in found.tables())


def test_subsets_without_any_label(world, pool, judged, runs):
    """One system's suggestions are all wrong: alone it has no labels, and no bias where such are left out."""
    bench = world.benchmark()
    grade = judged.grade.copy()
    grade[pool.suggested_by(2)] = 0.0
    none = Pairs(judged.image, judged.caption, grade)
    found = measure_bias(JudgedPool(pool, none, bench), runs, original=None, drop_empty=True, intervals=FEW)
    for table in found.bias.values():
        assert np.isnan(table.bias[2])
        assert table.names(table.least(1)) != (runs[2].name,)
        assert table.curve()[0].bias == pytest.approx(np.nanmean(table.bias[:5]))
    json.dumps(found.as_dict(), allow_nan=False)
    assert found.tables()
    counted = measure_bias(JudgedPool(pool, none, bench), runs, original=None, intervals=FEW)
    for table in counted.bias.values():
        assert (table.scores[2] == 0).all()


def test_invalid_items_are_as_if_they_were_not_there(world, pool, judged, runs):
    """The same numbers as with a fold of the valid ones, which is how a benchmark is published."""
    from dataclasses import replace

    from karat.benchmarks import Fold, Judgments, Provenance, Truth

    bench = world.benchmark()
    bad = {"image": [3], "caption": [17, 100]}
    fold = Fold("valid", np.setdiff1d(np.arange(80), 3), np.setdiff1d(np.arange(240), [17, 100]))
    found = measure_bias(
        JudgedPool(pool, judged, bench, bad),
        runs,
        complete="complete",
        original=None,
        drop_empty=True,
        intervals=FEW,
    )
    good = judged.grade > 0
    people = Judgments(judged.image[good], judged.caption[good], sources=[Provenance("people")])
    truths = {
        "all": Truth("all", people, {"i2t": fold.images, "t2i": fold.captions}, folds=[fold]),
        "complete": replace(bench.truth("complete"), folds=[fold]),
    }
    card = karat.evaluate(
        list(runs), replace(bench, truths=truths, defaults={}), ["R@1", "RP"], ties="stable"
    )
    for (direction, measure), table in found.bias.items():
        for truth, ours in (("all", table), ("complete", found.against_truth[direction, measure])):
            theirs = [card.value(measure, truth=truth, direction=direction, run=run.name) for run in runs]
            np.testing.assert_allclose(ours.reference, theirs)


def test_sentences(report):
    said = report.parts()[0].splitlines()
    assert len(said) == 3 * 4
    curve = report.bias["i2t", "R@1"].curve()
    assert said[0].startswith("R@1, image→text: scores on the labels of one model differ by ")
    assert f" {shown_bias(curve[1])} points from those on the labels of all 5" in said[0]
    assert shown_bias(curve[1]).startswith(f"{100 * curve[1].bias:.1f} (")
    assert said[0].endswith(f"; on the labels of 4, they differ by {shown_bias(curve[4])} points.")
    rows = [one for one in report.left_out if (one.direction, one.measure) == ("i2t", "R@1")]
    assert f"{sum(one.rank_without > one.rank for one in rows)} would rank lower" in said[4]
    assert said[8].endswith("differ by 0.0 points from those on the truth complete.")


def test_the_code_in_the_page_runs(capsys):
    page = Path(__file__).parents[3] / "docs" / "judging-bias.md"
    exec(re.search(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL).group(1), {})
    assert "CurvePoint(size=0" in capsys.readouterr().out


def test_wrong_input(world, pool, judged, runs):
    bench = world.benchmark()
    with pytest.raises(InputError, match="'original' is not complete"):
        measure_bias(JudgedPool(pool, judged, bench), runs, complete="original")
    with pytest.raises(InputError, match="no truth 'orignal'"):
        measure_bias(JudgedPool(pool, judged, bench), runs, original="orignal")
    with pytest.raises(InputError, match="RP needs more places than are known"):
        measure_bias(JudgedPool(pool, judged, bench), measure=["RP"])
    only = make_pool(runs, bench, top=1, direction=["i2t"])
    with pytest.raises(InputError, match="no query of these directions"):
        measure_bias(JudgedPool(only, judged, bench), runs, direction=["t2i"])
