"""Comparisons: p-values by brute force, Holm per column, places, ties for first, files."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest

import karat
from karat.errors import InputError
from karat.stats import Intervals, holm, mcnemar, randomisation_test
from karat.stats.multiplicity import place_intervals, tied_for_first, who_beats_whom
from karat.world import make_world

from made import make_benchmark, make_run, recomputed


@pytest.fixture(scope="module")
def found():
    bench = make_benchmark(100)
    runs = [make_run(bench, s, k, n) for k, (s, n) in enumerate([(3, "good"), (3.05, "fine"), (1, "weak")])]
    return karat.compare(runs, bench, measure=["R@1", "MedR", "RSUM"], samples=2000)


def test_p_equals_all_swaps_by_hand():
    """Eight images: all 256 swaps of every column, combinations, medians and folds included."""
    bench = make_benchmark(8)
    runs = [make_run(bench, 2, 1, "A"), make_run(bench, 0.5, 2, "B"), make_run(bench, 1, 3, "C")]
    card = karat.evaluate(runs, bench, ["R@1", "mAP@R", "MedR", "RSUM"])
    found = karat.compare(card, samples=1000)
    swaps = [np.array(flip) for flip in product([0, 1], repeat=8)]

    def swapped(a, b, flip):
        """Column a with b's values where an image is flipped."""
        if a.parts:
            return replace(a, parts=tuple(swapped(x, y, flip) for x, y in zip(a.parts, b.parts)))
        return replace(a, values=np.where(flip[a.cluster] == 1, b.values, a.values))

    assert {(d.first, d.second) for d in found.differences} == {("A", "B"), ("A", "C"), ("B", "C")}
    for d in found.differences:
        a, b = (
            card.column(str(d.measure), truth=d.truth, direction=d.direction, run=run)
            for run in (d.first, d.second)
        )
        ones = np.ones(8)
        drawn = [
            recomputed(swapped(a, b, flip), ones) - recomputed(swapped(b, a, flip), ones) for flip in swaps
        ]
        assert d.difference == pytest.approx(drawn[0])
        assert d.p == pytest.approx(np.mean(np.abs(drawn) >= abs(drawn[0]) - 1e-9)), (d.measure, d.direction)


def test_a_run_that_lacks_queries_takes_them_along_in_a_swap():
    """The means of three runs, one of which has no value for some queries: all swaps by hand."""
    bench = make_benchmark(8)
    runs = [make_run(bench, signal, k, "ABC"[k]) for k, signal in enumerate((2, 1, 0.5))]
    card = karat.evaluate(runs, bench, ["R@1"], truth="own", direction="t2i")
    columns = [
        replace(column, values=np.where(np.arange(24) < 5, np.nan, column.values))
        if column.run == "B"
        else column
        for column in card
    ]
    found = karat.compare(replace(card, columns=columns), samples=1000)
    values = {column.run: column.values for column in columns}
    for d in found.differences:
        a, b = values[d.first], values[d.second]
        drawn = []
        for flip in product([False, True], repeat=8):
            moved = np.array(flip)[columns[0].cluster]
            drawn.append(np.nanmean(np.where(moved, b, a)) - np.nanmean(np.where(moved, a, b)))
        assert d.p == pytest.approx(np.mean(np.abs(drawn) >= abs(drawn[0]) - 1e-9)), (d.first, d.second)


def test_one_column_equals_the_test_of_its_values(found):
    a, b = (found.card.column("R@1", truth="own", direction="t2i", run=run) for run in ("good", "weak"))
    alone = randomisation_test(a.values, b.values, a.cluster, samples=2000)
    one = found.difference("good", "weak", "R@1", truth="own", direction="t2i")
    assert (one.difference, one.p) == pytest.approx((alone.difference, alone.p))


def test_holm_over_the_pairs_of_a_column(found):
    family = [
        d for d in found.differences if (d.truth, str(d.measure), d.direction) == ("own", "MedR", "t2i")
    ]
    assert len(family) == 3
    assert [d.corrected for d in family] == pytest.approx(holm(np.array([d.p for d in family])))


def test_places_and_ties(found):
    standing = found.standing("R@1", truth="own")
    assert set(standing.first) == {"good", "fine"}
    assert standing.places["weak"] == (3, 3)
    assert standing.places["good"] == standing.places["fine"] == (1, 2)
    low_is_good = found.standing("MedR", truth="own", direction="i2t")
    assert low_is_good.runs[-1] == "weak"
    assert low_is_good.places["weak"][1] == 3


def test_differences_read_both_ways(found):
    there = found.difference("good", "weak", "R@1", truth="own")
    back = found.difference("weak", "good", "R@1", truth="own")
    assert (there.difference, there.low, there.high) == (-back.difference, -back.high, -back.low)
    assert there.better == back.better == "good"
    assert there.low <= there.difference <= there.high
    assert there.stars == "***"
    assert there.corrected >= there.p > 0
    with pytest.raises(InputError, match="bad"):
        found.difference("good", "bad", "R@1", truth="own")


def test_equal_runs_are_tied():
    bench = make_benchmark()
    twins = [make_run(bench, 2, 1, name) for name in ("one", "two")]
    found = karat.compare(twins, bench, measure=["R@1", "MedR"], samples=500)
    assert all(d.p == 1 and d.better is None and d.difference == 0 for d in found.differences)
    assert all(set(s.first) == {"one", "two"} for s in found.standings)
    assert "Not shown to be worse than the first: “one” and “two” everywhere." in str(found)


def test_mcnemar_only_where_it_holds():
    bench = make_benchmark()
    runs = [make_run(bench, 2, 1, "A"), make_run(bench, 3, 2, "B")]
    found = karat.compare(runs, bench, measure=["R@1", "mAP@R"], truth="own", test="mcnemar-exact")
    one = found.difference("A", "B", "R@1", direction="i2t")
    a, b = (found.card.column("R@1", direction="i2t", run=run).values for run in "AB")
    assert one.p == mcnemar(a, b, "exact").p
    for measure, direction in (("R@1", "t2i"), ("R@1", "mean"), ("mAP@R", "i2t")):
        assert found.difference("A", "B", measure, direction=direction).p is None
        assert found.standing(measure, direction=direction).first == ()
    assert any("McNemar" in note for note in found.card.notes)


def test_bootstrap_agrees_with_its_interval():
    bench = make_benchmark(60)
    runs = [make_run(bench, s, k, str(k)) for k, s in enumerate([1.5, 1.8, 2.1, 2.4])]
    found = karat.compare(runs, bench, measure=["R@1", "RSUM"], test="bootstrap")
    for d in found.differences:
        outside = d.low > 0 or d.high < 0
        assert outside == (d.p < 0.05) or 0.045 < d.p < 0.055


def test_files(found, tmp_path):
    found.save(tmp_path / "all.json")
    everything = json.loads((tmp_path / "all.json").read_text())
    assert set(everything) == {"scores", "differences", "places", "method"}
    assert everything["method"]["test"] == "randomisation"
    found.save(tmp_path / "table.csv")
    assert pl.read_csv(tmp_path / "table.csv").height == len(found.differences)
    found.save(tmp_path / "table.md")
    assert "## Differences" in (tmp_path / "table.md").read_text()
    with pytest.raises(InputError, match=r"\.docx"):
        found.save(tmp_path / "table.docx")


def test_wrong_input_is_a_sentence(found):
    bench = make_benchmark()
    with pytest.raises(InputError, match="two or more"):
        karat.compare(make_run(bench, 1, 1, "alone"), bench)
    with pytest.raises(InputError, match="unknown test"):
        karat.compare(found.card, test="t")
    with pytest.raises(InputError, match="alpha"):
        karat.compare(found.card, alpha=5)
    with pytest.raises(InputError, match="scored already"):
        karat.compare(found.card, bench)
    with pytest.raises(InputError, match="no benchmark"):
        karat.compare([make_run(bench, 1, 1, "alone")])


def test_places_from_wins():
    p = np.array([[1, 0.2, 0.01], [0.2, 1, 0.03], [0.01, 0.03, 1]])
    gain = np.array([[0, 1, 2], [-1, 0, 1], [-2, -1, 0]])
    beats = who_beats_whom(gain, p)
    assert beats.tolist() == [[False, False, True], [False, False, True], [False, False, False]]
    assert place_intervals(beats).tolist() == [[1, 2], [1, 2], [3, 3]]
    assert tied_for_first(beats).tolist() == [True, True, False]
    assert not who_beats_whom(gain, np.full((3, 3), np.nan)).any()


def one_direction(bench, name):
    """A run that ranks captions for images only."""
    lists = {str(i): [f"{1000 + c}" for c in range(bench.captions.size)] for i in range(bench.images.size)}
    return karat.load_run(
        {"i2t": {k: [int(c) for c in v] for k, v in lists.items()}}, benchmark=bench, name=name
    )


def test_a_run_with_one_direction_is_not_left_out():
    bench = make_benchmark(20)
    runs = [make_run(bench, 3, 1, "A"), make_run(bench, 2, 2, "B"), one_direction(bench, "C")]
    found = karat.compare(runs, bench, measure=["R@1"], truth="own", samples=200)
    assert "C" in str(found).split("Differences")[0]
    assert "everywhere" not in str(found)


def test_captions_drawn_alone_are_said_to_be():
    from dataclasses import replace

    bench = make_benchmark(60)
    runs = [make_run(bench, 3, 1, "A"), make_run(bench, 2, 2, "B")]
    unknown = replace(bench, caption_image=None)
    found = karat.compare(runs, unknown, measure=["R@1"], truth="own", samples=200)
    assert any("does not say which captions share an image" in note for note in found.card.notes)
    assert "resamples of queries" in str(found)
    known = karat.compare(runs, bench, measure=["R@1"], truth="own", samples=200)
    assert "resamples of images with their captions" in str(known)


def test_too_few_draws_are_mentioned():
    bench = make_benchmark(40)
    runs = [make_run(bench, s, k, str(k)) for k, s in enumerate([0.5, 2, 4])]
    few = karat.compare(runs, bench, measure=["R@1"], samples=19)
    assert any("no run can beat another" in note for note in few.card.notes)
    few = karat.compare(runs, bench, measure=["R@1"], test="bootstrap", intervals=Intervals(resamples=50))
    assert any("no run can beat another" in note for note in few.card.notes)
    enough = karat.compare(runs, bench, measure=["R@1"], samples=500)
    assert not any("no run can beat another" in note for note in enough.card.notes)


def test_medians_come_with_what_the_test_asks(found):
    assert any("could be exchanged" in note for note in found.card.notes)
    assert found.standing("RSUM", truth="own").direction == "both"


def test_ranks_beyond_the_end_leave_the_interval_open():
    bench = make_benchmark(40)
    runs = []
    for name, found_of_20 in (("near", 18), ("far", 11)):
        kept = np.arange(120) * 7 % 20 < found_of_20
        lists = {
            str(1000 + c): [int(bench.caption_image[c])] if keep else [int((bench.caption_image[c] + 1) % 40)]
            for c, keep in enumerate(kept)
        }
        runs.append(karat.load_run({"t2i": lists}, benchmark=bench, name=name))
    found = karat.compare(runs, bench, measure=["MedR"], truth="own", direction="t2i", test="bootstrap")
    far = found.card.column("MedR", direction="t2i", run="far")
    assert (far.value, far.low, far.high) == (1, 1, None)
    assert found.card.column("MedR", direction="t2i", run="near").high == 1
    assert any("has no upper end" in note for note in found.card.notes)
    one = found.difference("far", "near", "MedR", direction="t2i")
    assert (one.difference, one.low, one.high) == (0, 0, None)


def test_names_of_any_width_line_up():
    from karat._util.tables import Layout, text_of

    rows = text_of(Layout(["run", "x"], [["模型", "1"], ["long name", "2"]], set(), 1, set())).splitlines()
    assert rows[2] == "模型       1"


def test_few_images_are_not_resampled_and_their_differences_are_students():
    """Two images gave p = 0.0002 and an interval of a difference without width."""
    bench = make_world(images=12, captions=5).benchmark()
    good, bad = (karat.load_run(sign * np.repeat(np.eye(12), 5, axis=1), name=name)
                 for name, sign in (("good", 1), ("bad", -1)))  # fmt: skip
    found = karat.compare([good, bad], bench, "R@1", truth="original", test="bootstrap")
    assert all(d.p is None for d in found.differences)
    assert "the paired bootstrap needs 50 images or more" in str(found)
    for d in found.differences:
        assert d.low < d.difference == d.high == 1
    same = karat.compare([good, karat.load_run(good.scores, name="twin")], bench, "R@1", truth="original")
    one = same.difference("good", "twin", "R@1")
    assert one.low == pytest.approx(-one.high) == pytest.approx(0.025 ** (1 / 12) - 1)


@pytest.fixture(scope="module")
def three():
    bench = make_benchmark(60)
    return bench, [
        make_run(bench, s, k, n) for k, (s, n) in enumerate([(3, "good"), (2.6, "fine"), (1, "weak")])
    ]


def test_all_shown_columns_can_be_corrected_together(three):
    bench, runs = three
    asked = {"measure": ["R@1", "R@5", "MedR"], "truth": "own", "samples": 500}
    plain = karat.compare(runs, bench, **asked)
    found = karat.compare(runs, bench, correction="all", **asked)
    shown = [d for d in found.differences if d.direction == "mean"]
    assert [d.p for d in plain.differences] == [d.p for d in found.differences]
    assert [d.corrected for d in shown] == pytest.approx(holm(np.array([d.p for d in shown])).tolist())
    every = holm(np.array([d.p for d in found.differences]))
    hidden = [(d.corrected, p) for d, p in zip(found.differences, every) if d.direction != "mean"]
    assert all(ours == pytest.approx(p) for ours, p in hidden)
    assert "Holm over all 9 comparisons that are shown" in str(found)
    assert "9 comparisons in 3 columns, not corrected for each other (--correction all)" in str(plain)
    # What is shown is what is corrected for.
    detailed = replace(found, detail=True)
    assert [d.corrected for d in detailed.differences] == pytest.approx(every.tolist())
    assert "Holm over all 27 comparisons" in str(detailed)
    assert found.to_dict()["method"]["correction"].startswith("Holm, over the pairs of runs of all columns")
    with pytest.raises(InputError, match="correction"):
        karat.compare(runs, bench, correction="none", **asked)


def test_equivalence_is_two_one_sided_tests(three):
    """The runs differ by no more than a margin where the 90% interval of the difference says so."""
    bench, runs = three
    asked = {"measure": ["R@1", "MedR"], "truth": "own", "samples": 500}
    narrow = karat.compare(runs, bench, level=0.9, **asked)
    for margin in (1.0, 15.0, 60.0):
        found = karat.compare(runs, bench, margin=margin, **asked)
        for ours, inner in zip(found.differences, narrow.differences):
            most = margin / 100 if str(ours.measure) == "R@1" else margin
            assert ours.equivalent == (-most <= inner.low and inner.high <= most)
            assert "equivalent" in ours.record()
            assert "equivalent" not in inner.record()
        assert f"within ±{margin:g}" in str(found)
    assert any(d.equivalent for d in found.differences)
    with pytest.raises(InputError, match="margin is -1"):
        karat.compare(runs, bench, margin=-1, **asked)


def test_what_would_have_been_found(three):
    """Against statsmodels' solution for a paired t-test of the same spread."""
    from statsmodels.stats.power import TTestPower

    bench, runs = three
    found = karat.compare(runs[:2], bench, measure="R@1", truth="own", samples=500, power=0.8)
    pair = found.difference("good", "fine", "R@1", direction="i2t")
    good, fine = (found.card.column("R@1", direction="i2t", run=run).values for run in ("good", "fine"))
    spread = (good - fine).std(ddof=1)
    oracle = spread * TTestPower().solve_power(nobs=60, alpha=0.05, power=0.8)
    assert pair.detectable == pytest.approx(oracle, rel=0.03)
    assert "detectable" in str(found)
    with pytest.raises(InputError, match=r"power is 1\.5"):
        karat.compare(runs, bench, measure="R@1", power=1.5)


def test_listed_swaps_are_counted_as_such():
    bench = make_benchmark(8)
    runs = [make_run(bench, 3, 1, "A"), make_run(bench, 1, 2, "B")]
    few = str(karat.compare(runs, bench, measure="R@1", truth="own"))
    assert "with all 256 swaps" in few
    assert "100,000" not in few.split("intervals")[0]
    assert "with 200 swaps" in str(karat.compare(runs, bench, measure="R@1", truth="own", samples=200))
