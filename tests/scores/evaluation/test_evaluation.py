"""One call scores, from choices to notes: options, details, chance, machine-made truths, the single pass."""

from datetime import UTC, datetime

import numpy as np
import pytest

import karat
from karat.baselines import DirectedRun
from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
from karat.errors import InputError
from karat.reports import PageOptions, report, write_report
from karat.runs import MatrixRun
from karat.scores import check_options, details_of
from karat.world import make_world, simulate

from made import make_benchmark, make_run


@pytest.fixture
def bench():
    return make_benchmark(40)


@pytest.fixture
def reads(monkeypatch):
    """How often each row of a score table is read."""
    counts = {}
    plain = MatrixRun.block

    def block(self, begin, end):
        for row in range(begin, end):
            counts[self.name, row] = counts.get((self.name, row), 0) + 1
        return plain(self, begin, end)

    monkeypatch.setattr(MatrixRun, "block", block)
    monkeypatch.setattr(MatrixRun, "query_scores", lambda *_: pytest.fail("the scores are read again"))
    return counts


def test_a_report_reads_the_scores_once(bench, reads, tmp_path):
    runs = [make_run(bench, 2, 1, "a"), make_run(bench, 1, 2, "b")]
    report(runs, bench, ["R@1", "mAP@R", "MedR"], output=tmp_path / "page.html", samples=99)
    assert set(reads.values()) == {1}
    assert len(reads) == 2 * bench.images.size


def test_details_are_those_of_another_pass(bench):
    runs = [make_run(bench, 2, 1, "a"), make_run(bench, 1, 2, "b")]
    for choices in (
        {},
        {"ties": "expected", "unjudged": "left_out"},
        {"truth": "halves"},
        {"direction": "i2t"},
    ):
        card = karat.evaluate(runs, bench, ["R@1"], details=True, **choices)
        assert karat.evaluate(runs, bench, ["R@1"], **choices).details is None
        again = details_of(card, runs)
        for ours, theirs in zip(card.details.places, again.places, strict=True):
            assert (ours.run, ours.truth, ours.direction, str(ours.measure)) == (
                theirs.run, theirs.truth, theirs.direction, str(theirs.measure)
            )  # fmt: skip
            np.testing.assert_array_equal(ours.values, theirs.values)
        assert {str(c.measure) for c in card.details.places} == {"MeanR", "Judged@10"}
        assert card.details.sources == again.sources == dict.fromkeys("ab", (None, "score table"))
        for name in "ab":
            for direction, first in again.first[name].items():
                np.testing.assert_array_equal(card.details.first[name][direction], first)


def scores_of(bench, seed=3):
    return (
        np.random.default_rng(seed).normal(size=(bench.images.size, bench.captions.size)).astype(np.float32)
    )


def test_first_results_of_every_kind_of_run(bench):
    scores = scores_of(bench)
    rng = np.random.default_rng(8)
    rows, columns = rng.permutation(bench.images.size), rng.permutation(bench.captions.size)
    ids = {"images": bench.images.gallery[rows], "captions": bench.captions.gallery[columns]}
    shuffled = scores[np.ix_(rows, columns)]
    lists = {
        "i2t": {
            q: bench.captions.gallery[np.argsort(-scores[k])] for k, q in enumerate(bench.images.gallery)
        },
        "t2i": {
            q: bench.images.gallery[np.argsort(-scores[:, k])] for k, q in enumerate(bench.captions.gallery)
        },
    }
    u, s, v = np.linalg.svd(scores.astype(np.float64), full_matrices=False)
    runs = [
        karat.load_run(scores, name="as it is"),
        karat.load_run(np.asfortranarray(scores), name="along columns"),
        karat.load_run(shuffled, ids=ids, name="in another order"),
        karat.load_run(shuffled.T, ids=ids, transpose=True, name="transposed"),
        karat.load_run(u * s, v.T, name="embeddings"),
        karat.load_run(lists, name="lists"),
        DirectedRun(scores, scores.T, name="directed"),
    ]
    for run in runs:
        _, first = run.align(bench).scan([], first=True)
        np.testing.assert_array_equal(first["i2t"], scores.argmax(axis=1), err_msg=run.name)
        np.testing.assert_array_equal(first["t2i"], scores.argmax(axis=0), err_msg=run.name)


def test_an_empty_list_has_no_first_result(bench):
    lists = {"i2t": {bench.images.gallery[3]: [bench.captions.gallery[7]]}}
    _, first = karat.load_run(lists).align(bench).scan([], first=True)
    assert first["i2t"][3] == 7
    assert set(np.delete(first["i2t"], 3)) == {bench.captions.size}


def test_a_run_at_chance_is_noted(bench):
    big = make_benchmark(60)
    noise = karat.load_run(scores_of(big), name="noise")
    assert any(
        "noise: R@1 on own (i2t) is at chance level" in note for note in karat.evaluate(noise, big).notes
    )
    distances = karat.load_run(-make_run(big, 8, 1, "x").scores, name="distances")
    assert any("these are distances" in note for note in karat.evaluate(distances, big).notes)
    assert not any("chance" in note for note in karat.evaluate(make_run(big, 3, 1, "good"), big).notes)


def test_a_machine_makes_a_truth_on_request():
    world = make_world(40, seed=3)
    bench, run = world.benchmark(), simulate(world, strength=3, seed=1)
    card = karat.evaluate(run, bench, "R@1", truth=["original", "machine(CIDEr >= 1.0)"])
    assert list(dict.fromkeys(column.truth for column in card)) == ["original", "machine(cider>=1)"]
    assert "machine(cider>=1): made by a machine; no person judged these labels" in card.notes
    with pytest.raises(InputError, match="is not a machine-made truth"):
        karat.evaluate(run, bench, "R@1", truth="machine(cider)")


def test_files_are_grouped_and_named_as_on_the_command_line(bench, tmp_path):
    rng = np.random.default_rng(1)
    for folder in "ab":
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "sims.npy", scores_of(bench))
    np.save(tmp_path / "img.npy", rng.normal(size=(bench.images.size, 5)))
    np.save(tmp_path / "txt.npy", rng.normal(size=(bench.captions.size, 5)))
    files = [
        tmp_path / "a" / "sims.npy",
        tmp_path / "img.npy",
        tmp_path / "txt.npy",
        tmp_path / "b" / "sims.npy",
    ]
    card = karat.evaluate(files, bench, "R@1")
    assert card.runs == [str(tmp_path / "a" / "sims"), str(tmp_path / "img"), str(tmp_path / "b" / "sims")]
    assert karat.evaluate(files, bench, "R@1", loading=karat.Loading(name=["x", "y", "z"])).runs == [
        "x",
        "y",
        "z",
    ]
    assert any("not of length 1" in note for note in card.notes)
    assert not any(
        "length" in n
        for n in karat.evaluate(files, bench, "R@1", loading=karat.Loading(similarity="cosine")).notes
    )
    with pytest.raises(InputError, match="3 runs but 2 names"):
        karat.evaluate(files, bench, "R@1", loading=karat.Loading(name=["x", "y"]))


def test_wrong_choices_show_before_a_file_is_read(bench, tmp_path):
    nowhere = tmp_path / "nowhere.npy"
    for choices, message in (
        ({"measure": "R@0"}, "K|0"),
        ({"truth": "none"}, "no truth 'none'"),
        ({"ties": "none"}, "ties is 'none'"),
        ({"intervals": True, "level": 2}, "level is 2"),
        ({"measure": "NCS(cider)@5"}, "needs the captions"),
    ):
        with pytest.raises(InputError, match=message):
            karat.evaluate(nowhere, bench, **choices)


def test_options_are_checked_once(bench):
    options = check_options(
        bench, "R@1", truth="own", intervals=True, interval_method="bca", level=0.9, seed=4
    )
    assert (options.intervals.method, options.intervals.level, options.intervals.seed) == ("bca", 0.9, 4)
    assert options.directions == ("i2t", "t2i")
    assert list(options.measures) == ["own"]


def test_a_text_may_name_several_as_on_the_command_line(bench):
    run = make_run(bench, 2, 1, "a")
    text = karat.evaluate(run, bench, "R@1, P(rel=0.5)@10", truth="own", direction="i2t,t2i")
    listed = karat.evaluate(run, bench, ["R@1", "P(rel=0.5)@10"], truth=["own"], direction=["i2t", "t2i"])
    assert text.records() == listed.records()


def test_a_report_under_expected_ties_has_smaller_galleries(bench, tmp_path):
    run = karat.load_run(np.round(make_run(bench, 2, 1, "a").scores, 1), name="a")
    card = karat.evaluate(run, bench, ["R@1"], ties="expected", details=True)
    page = write_report(card, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "by the number of images to choose from" in page


def test_a_scorecard_and_its_comparison_make_the_same_page(bench, tmp_path):
    runs = [make_run(bench, 2, 1, "a"), make_run(bench, 1, 2, "b")]
    card = karat.evaluate(runs, bench, ["R@1", "MedR"], details=True)
    pages = [
        write_report(
            found, tmp_path / "page.html", page=PageOptions(made=datetime(2026, 1, 2, tzinfo=UTC))
        ).read_bytes()
        for found in (card, karat.compare(card))
    ]
    assert pages[0] == pages[1]


def test_bounds_hold_for_queries_without_a_value():
    """Three images, of which one has a known right caption: the other two can be anything, or nothing."""
    ratings = np.array([1.0, 0.0])
    judged = Judgments([0, 1], [0, 0], rating=ratings, sources=[Provenance("people")])
    ids = Ids(range(3), kind="image"), Ids(range(9), kind="caption")
    truth = Truth("some", judged, {"i2t": np.arange(3)})
    bench = Benchmark("some", *ids, {"some": truth})
    scores = np.arange(27.0).reshape(3, 9)[:, ::-1]
    card = karat.evaluate(scores, bench, ["R@1", "MRR", "MedR"], direction="i2t", unjudged="bounds")
    for measure, value, low, high in (("R@1", 1, 1 / 3, 1), ("MRR", 1, 1 / 3, 1), ("MedR", 1, 1, 9)):
        column = card.column(measure, direction="i2t")
        assert (column.n, column.value) == (1, value)
        assert (column.lower_bound, column.upper_bound) == pytest.approx((low, high)), measure
    assert "some (i2t): 2 of 3 queries have no relevant item that is known" in str(card)
