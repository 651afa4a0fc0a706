"""Versions of the labels from one pass: the same as one evaluation for each version."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.benchmarks import Judgments, Provenance, Share, Truth
from karat.errors import InputError
from karat.measures import TIE_POLICIES, ColumnKey, parse_measure
from karat.scores import place_labels
from karat.scores.evaluation import label_versions as module

from made import make_benchmark, make_run
from reference import MEASURES
from worlds import Small, build, smalls

DIRECTIONS = ("i2t", "t2i")


def as_graded(benchmark: karat.Benchmark, grades: np.ndarray) -> karat.Benchmark:
    """Return the benchmark with other grades of the listed pairs."""
    pairs = benchmark.truth("whole").judgments.pairs()
    table = Judgments(
        pairs.image, pairs.caption, rating=grades, sources=[Provenance("version", "0 to 1", Share(top=1))]
    )
    return replace(
        benchmark, truths={name: replace(truth, judgments=table) for name, truth in benchmark.truths.items()}
    )


@pytest.mark.parametrize("policy", TIE_POLICIES)
@settings(max_examples=15, deadline=None)
@given(small=smalls(), seed=st.integers(0, 10**6))
def test_versions_equal_repeated_evaluations(small: Small, policy: str, seed: int):
    """Draws of all grades, in both directions, with ties, folds and items outside the gallery."""
    rng = np.random.default_rng(seed)
    runs = [
        karat.load_run(small.scores, name="first"),
        karat.load_run(rng.integers(0, 3, small.scores.shape).astype(np.float32), name="second"),
    ]
    measures = [parse_measure(name) for name in MEASURES]
    placed = place_labels(runs, small.benchmark, ["whole", "folds"], ties=policy)
    draws = rng.choice([0.0, 0.5, 1.0], size=(3, len(placed["whole"].pairs)))
    cards = [
        karat.evaluate(runs, as_graded(small.benchmark, grades), measures, ties=policy) for grades in draws
    ]
    for truth, labels in placed.items():
        aggregates = labels.aggregates(draws, measures)
        for key, table in aggregates.items():
            assert table.shape == (3, 2)
            for column, run in enumerate(labels.runs):
                values = labels.values(draws, run, key.direction, key.measure)
                for row, card in enumerate(cards):
                    theirs = card.column(str(key.measure), truth=truth, direction=key.direction, run=run)
                    np.testing.assert_array_equal(labels.queries(key.direction), theirs.query)
                    np.testing.assert_allclose(values[row], theirs.values, atol=1e-12)
                    if np.isfinite(table[row, column]):
                        assert theirs.value == pytest.approx(table[row, column], abs=1e-12)
                    else:
                        assert theirs.value is None
        assert len(aggregates) == len(measures) * 2


@pytest.fixture(scope="module")
def case():
    bench = make_benchmark()
    runs = [make_run(bench, 1.5, 1, "weak"), make_run(bench, 3, 2, "good")]
    return bench, runs, np.random.default_rng(4)


def test_each_run_is_read_once(case, monkeypatch):
    bench, runs, rng = case
    reads = []
    plain = type(runs[0]).place
    monkeypatch.setattr(
        type(runs[0]), "place", lambda run, *rest: reads.append(run.name) or plain(run, *rest)
    )
    placed = place_labels(runs, bench, list(bench.truths))
    for labels in placed.values():
        draws = (rng.random((5, len(labels.pairs))) < 0.5).astype(np.float64)
        labels.aggregates(draws, [parse_measure("R@1"), parse_measure("MedR")])
    assert reads == ["weak", "good"]


@pytest.mark.parametrize("ties", ["stable", "expected"])
def test_blocks_do_not_matter(case, monkeypatch, ties):
    bench, runs, rng = case
    measures = [parse_measure(name) for name in ("R@5", "mAP@R", "MedR")]
    labels = place_labels(runs, bench, ["own"], ties=ties)["own"]
    draws = (rng.random((7, len(labels.pairs))) < 0.7).astype(np.float64)
    whole = labels.aggregates(draws, measures)
    values = labels.values(draws, "good", "t2i", measures[0])
    monkeypatch.setattr(module, "BLOCK", 2 * len(labels.pairs))
    given_as = (lambda: draws, lambda: iter([draws[:1], draws[1:]]))
    for form in given_as:
        again = labels.aggregates(form(), measures)
        assert again.keys() == whole.keys()
        for key, table in whole.items():
            np.testing.assert_array_equal(again[key], table)
        np.testing.assert_array_equal(labels.values(form(), "good", "t2i", measures[0]), values)


def test_combinations_come_from_the_parts(case):
    bench, runs, _ = case
    rsum = parse_measure("RSUM")
    labels = place_labels(runs, bench, ["own"])["own"]
    parts = labels.aggregates(labels.pairs.grade[None], {part.measure for part in rsum.parts("own")})
    scores = rsum.combine([parts[part] for part in rsum.parts("own")])
    card = karat.evaluate(runs, bench, ["RSUM"], truth="own")
    assert scores[0] == pytest.approx([card.value("RSUM", run=run.name) for run in runs])


def test_queries_that_count_in_every_version():
    """A version without a positive of a query leaves it out, or counts it as 0."""
    small = build([[1.0, 0.5], [None, 1.0]], 2, np.eye(2, dtype=np.float32), halves=False)
    labels = place_labels([karat.load_run(small.scores, name="a")], small.benchmark, ["whole"])["whole"]
    versions = np.array([[1.0, 0.5, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    r1, strict = parse_measure("R@1"), parse_measure("RP(rel=1)")
    left_out = labels.values(versions, "a", "i2t", r1)
    np.testing.assert_array_equal(left_out, [[1, 1], [np.nan, 1], [np.nan, np.nan]])
    counted = labels.values(versions, "a", "i2t", r1, counted_under=versions[0])
    np.testing.assert_array_equal(counted, [[1, 1], [0, 1], [0, 0]])
    key = ColumnKey(r1, "whole", "i2t")
    np.testing.assert_array_equal(labels.aggregates(versions, [r1])[key], [[1], [1], [np.nan]])
    np.testing.assert_array_equal(labels.aggregates(versions, [r1], versions[0])[key], [[1], [0.5], [0]])
    half = np.array([0.5, 0.5, 1.0])
    np.testing.assert_array_equal(
        labels.values(half[None], "a", "i2t", strict, counted_under=half), [[np.nan, 1]]
    )


def test_what_cannot_be_scored():
    small = build([[1.0, 1.0, 1.0]] * 3, 3, np.eye(3, dtype=np.float32), halves=False)
    lists = {"i2t": {f"img{k}": [100 + k] for k in range(3)}}
    run = karat.load_run(lists, name="short")
    with pytest.raises(InputError, match="short: has no t2i rankings"):
        place_labels([run], small.benchmark, ["whole"])
    labels = place_labels([run], small.benchmark, ["whole"], directions=["i2t"])["whole"]
    assert labels.directions == ("i2t",)
    grades = np.ones((1, 9))
    assert labels.aggregates(grades, [parse_measure("R@1")])[
        ColumnKey(parse_measure("R@1"), "whole", "i2t")
    ].tolist() == [[1.0]]
    with pytest.raises(InputError, match=r"short: RP needs more places than are known, for 3 of 3 queries"):
        labels.aggregates(grades, [parse_measure("RP")])
    with pytest.raises(InputError, match=r"NCS\(cider\)@5 looks at similarities"):
        labels.aggregates(grades, [parse_measure("NCS(cider)@5")])
    with pytest.raises(InputError, match="two runs are called 'short'"):
        place_labels([run, run], small.benchmark, ["whole"], directions=["i2t"])
    rule = Truth("rule", None, {"i2t": np.arange(3)}, rule=object())
    with pytest.raises(InputError, match="is a rule"):
        place_labels([run], small.benchmark, [rule], directions=["i2t"])
