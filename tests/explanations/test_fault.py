"""Whose fault: successful alternatives, few keywords, and failures that do not count."""

from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.benchmarks import build
from karat.errors import KaratError
from karat.explanations import FaultChoices, FaultFinder, find_failures
from karat.world import make_world, simulate


@pytest.fixture(scope="module")
def world():
    return make_world(60, captions=3, seed=5)


@pytest.fixture(scope="module")
def explained(world):
    run = simulate(world, strength=3)
    return karat.explain(run, world.benchmark(), faults=FaultChoices("complete", 2), rank=(1, 2))


@pytest.mark.parametrize("direction", ["t2i", "i2t"])
def test_alternatives_are_what_the_world_knows_to_be_true(world, explained, direction):
    true = world.relevance()
    [column] = [one for one in explained.columns if one.failures.direction == direction]
    found = column.failures
    pairs = (found.retrieved, found.query) if direction == "t2i" else (found.query, found.retrieved)
    np.testing.assert_array_equal(column.faults.alternative, true[pairs])
    assert column.faults.covered.all()
    assert 0 < column.faults.alternative.sum() < len(found)


def test_the_rule_of_a_truth_says_the_same(world, explained):
    rule = world.benchmark(listed=False)
    for column in explained.columns:
        faults = FaultFinder(rule, FaultChoices("complete")).of(column.failures)
        np.testing.assert_array_equal(faults.alternative, column.faults.alternative)


def test_queries_that_a_better_truth_does_not_cover_have_no_alternatives(world):
    bench = world.benchmark()
    some = replace(
        bench.truth("complete"), name="some", queries={"t2i": np.arange(10), "i2t": np.zeros(0, int)}
    )
    bench = replace(bench, truths={**bench.truths, "some": some})
    run = karat.load_run(simulate(world, strength=3).scores, bench)
    failures = find_failures(run, bench, "original", "t2i")
    faults = FaultFinder(bench, FaultChoices("some")).of(failures)
    assert faults.covered.tolist() == (failures.query < 10).tolist()
    assert not faults.alternative[failures.query >= 10].any()


def test_left_out_failures_are_counted_and_not_averaged(world, explained):
    run = simulate(world, strength=3)
    strict = karat.explain(
        run, world.benchmark(), faults=FaultChoices("complete", without="alternative"), direction="t2i"
    )
    [row], [column] = strict.records(), strict.columns
    kept = ~column.faults.alternative
    assert row["failures"] == kept.sum() == row["all_failures"] - row["left_out"]
    assert row["left_out"] == row["alternatives"] == column.faults.alternative.sum()
    assert row["agreement"] == pytest.approx(np.nanmean(column.metrics["all"].agreement[kept]))
    assert sum(pair[2] for pair in column.confusions(1)) == row["matched"]
    # Every failure is still there by itself, with its mark.
    local = strict.local.records()
    assert [one["alternative"] for one in local] == column.faults.alternative.tolist()
    assert "left out" in str(strict)
    whole = [one for one in explained.records() if (one["direction"], one["rank"]) == ("t2i", 1)]
    assert whole[0]["failures"] == row["all_failures"]
    assert whole[0]["left_out"] == 0


def test_keywords_by_hand():
    texts = [
        "A dog chases a ball on the grass", "A brown dog with a ball", "Two cats",
        "A man rides a horse", "A red bus", "A bus",
    ]  # fmt: skip
    owners = ["x", "x", "x", "y", "z", "z"]
    bench = build("tiny", ["x", "y", "z"], list(range(6)), owners, texts, where="", about="")
    scores = np.eye(3)[[1, 2, 0]][:, [0, 0, 0, 1, 2, 2]]
    failures = find_failures(karat.load_run(scores, bench), bench, "original", "t2i")
    assert failures.query.tolist() == [0, 1, 2, 3, 4, 5]
    faults = FaultFinder(bench, FaultChoices(keywords=2)).of(failures)
    # A dog and a ball twice, nothing, no other caption, a bus.
    assert faults.shared.tolist() == [2, 2, 0, -1, 1, 1]
    assert faults.few_keywords.tolist() == [False, False, True, False, True, True]
    lenient = FaultFinder(bench, FaultChoices(keywords=1)).of(failures)
    assert np.flatnonzero(lenient.few_keywords).tolist() == [2]


def test_other_captions_that_are_not_ranked_count_too():
    bench = build("tiny", ["x", "y"], [0, 1], ["x", "y"], ["a dog and a cat", "a bus"], where="", about="")
    bench = replace(bench, other_texts=[["the cat", "one dog"], []])
    failures = find_failures(karat.load_run(1 - np.eye(2), bench), bench, "original", "i2t")
    assert FaultFinder(bench, FaultChoices(keywords=2)).of(failures).shared.tolist() == [2, -1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"better": "nothing"}, "nothing"),
        ({"without": "alternative"}, "without a better truth"),
        ({"without": "keywords"}, "were not counted"),
        ({"without": "colour", "keywords": 2}, "colour"),
        ({"keywords": 0}, "keywords is 0"),
        ({"slices": {"red": [True]}}, "slice 'red'"),
    ],
)
def test_what_cannot_be_looked_for(world, options, message):
    def explain(slices=False, **faults):
        karat.explain(
            simulate(world), world.benchmark(), direction="t2i", faults=FaultChoices(**faults), slices=slices
        )

    with pytest.raises(KaratError, match=message):
        explain(**options)
