"""Failures of runs against a plain reading of their definition."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.benchmarks import Judgments, Provenance, Truth, build
from karat.errors import InputError
from karat.explanations import find_failures
from karat.runs import MatrixRun, RankingsRun
from karat.world import make_world, simulate_systems

from worlds import smalls


def plain(small, direction, fold, ties, ranks):
    """Return (query, rank, retrieved) of every failure, by sorting each query's items."""
    images, captions = (range(n) for n in small.scores.shape)
    if fold is not None:
        images, captions = small.folds[fold]
    queries, items = (images, captions) if direction == "i2t" else (captions, images)
    failures = []
    for query in queries:
        row = small.scores[query] if direction == "i2t" else small.scores[:, query]
        n_items = len(row)
        grades = small.grades[query] if direction == "i2t" else [grade[query] for grade in small.grades]
        good = {item for item, grade in enumerate(grades) if grade} & (
            {*items} | {*range(n_items, len(grades))}
        )
        if not good & {*items}:
            continue
        second = {"pessimistic": 1, "optimistic": -1, "stable": 0}[ties]
        order = sorted(items, key=lambda item: (-row[item], second * (item in good), item))
        for rank in ranks:
            if rank <= len(order) and order[rank - 1] not in good and good - {*order[:rank]}:
                failures.append((query, rank, order[rank - 1]))
    return sorted(failures)


@settings(max_examples=100, deadline=None)
@given(
    smalls(), st.sampled_from(["pessimistic", "optimistic", "stable"]), st.sets(st.integers(1, 5), min_size=1)
)
def test_failures_are_wrong_items_before_relevant_ones(small, ties, ranks):
    run = MatrixRun(small.scores).align(small.benchmark)
    for direction in ("i2t", "t2i"):
        whole = find_failures(run, small.benchmark, "whole", direction, rank=ranks, ties=ties)
        listed = list(zip(whole.query.tolist(), whole.rank.tolist(), whole.retrieved.tolist()))
        assert listed == plain(small, direction, None, ties, sorted(ranks))
        folds = find_failures(run, small.benchmark, "folds", direction, rank=ranks, ties=ties)
        listed = sorted(zip(folds.query.tolist(), folds.rank.tolist(), folds.retrieved.tolist()))
        expected = [plain(small, direction, k, ties, sorted(ranks)) for k in range(len(small.folds))]
        assert listed == sorted(row for part in expected for row in part)


@pytest.mark.parametrize("ties", ["pessimistic", "optimistic", "stable"])
def test_share_of_failures_is_what_recall_misses(ties):
    world = make_world(30, seed=4)
    bench = world.benchmark()
    for run in simulate_systems(world)[:2]:
        coarse = karat.load_run(np.round(run.scores, 1), bench)
        for truth in bench.truths:
            for direction in ("i2t", "t2i"):
                card = karat.evaluate(coarse, bench, "R@1", truth=truth, direction=direction, ties=ties)
                failures = find_failures(coarse, bench, truth, direction, ties=ties)
                recall = card.value("R@1", truth=truth, direction=direction)
                assert 1 - len(failures) / failures.n_queries == pytest.approx(recall)
                own = (
                    failures.ground_image == failures.query
                    if direction == "i2t"
                    else (failures.ground == bench.caption_image[failures.query])
                )
                assert own.all()
                if truth == "original":
                    assert (failures.ground_rank > 1).all()


def test_lists_and_tables_fail_alike():
    world = make_world(12, captions=2, seed=1)
    bench = world.benchmark()
    scores = np.random.default_rng(2).permutation(12 * 24).reshape(12, 24)
    lists = {
        "t2i": {
            bench.captions.values[c]: [bench.images.values[i] for i in np.argsort(-scores[:, c])[:5]]
            for c in range(24)
            if c != 3
        }
    }
    table = find_failures(karat.load_run(scores, bench), bench, "original", "t2i", rank=[1, 2])
    cut = find_failures(RankingsRun(lists).align(bench), bench, "original", "t2i", rank=[1, 2])
    keep = table.query != 3
    for name in ("query", "rank", "ground", "retrieved"):
        np.testing.assert_array_equal(getattr(table, name)[keep], getattr(cut, name))
    known = np.where(table.ground_rank > 5, 0, table.ground_rank)[keep]
    np.testing.assert_array_equal(known, cut.ground_rank)
    assert (cut.n_queries, cut.missing) == (23, 1)
    with pytest.raises(InputError, match=r"has no i2t rankings; choose t2i\."):
        find_failures(RankingsRun(lists).align(bench), bench, "original", "i2t")


def test_ground_truth_is_the_original_positive_or_the_first():
    texts = ["a dog", "a brown dog", "a cat", "a bus"]
    tiny = build("t", ["x", "y", "z"], range(4), ["x", "x", "y", "z"], texts, where="", about="")
    # Caption 0 fits y too; caption 2 fits x and z, not the image that it was written for; 3 is not covered.
    labels = Judgments([0, 1, 0, 2, 0], [0, 0, 2, 2, 1], sources=[Provenance("people")])
    truth = Truth("people", labels, {"i2t": np.arange(3), "t2i": np.arange(3)})
    run = karat.load_run(np.array([[1, 1, 1, 9], [1, 1, 9, 9], [9, 9, 1, 1.0]]), benchmark=tiny)
    t2i = find_failures(run, tiny, truth, "t2i")
    assert t2i.query.tolist() == [0, 1, 2]
    assert t2i.ground.tolist() == [0, 0, 0]
    assert t2i.retrieved.tolist() == [2, 2, 1]
    i2t = find_failures(run, tiny, truth, "i2t")
    # The first caption of x; y and z have captions of other images alone.
    assert dict(zip(i2t.query.tolist(), i2t.ground.tolist())) == {0: 0, 1: 0, 2: 2}
    assert i2t.retrieved.tolist() == [3, 2, 0]
    assert i2t.retrieved_image.tolist() == [2, 1, 0]


def test_captions_of_unknown_images():
    tiny = build("t", ["x", "y"], [0, 1], ["x", "y"], ["a dog", "a cat"], where="", about="")
    tiny = replace(tiny, caption_image=None)
    run = karat.load_run(np.array([[0.1, 0.9], [0.9, 0.1]]), tiny)
    failures = find_failures(run, tiny, "original", "i2t")
    assert failures.retrieved.tolist() == [1, 0]
    assert failures.retrieved_image.tolist() == [-1, -1]
    assert find_failures(run, tiny, "original", "t2i").retrieved_image.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rank": 0}, "rank is 0; give whole numbers from 1."),
        ({"rank": [1, 2.5]}, "rank is 2.5; give whole numbers from 1."),
        ({"rank": []}, "no rank was given"),
        ({"ties": "expected"}, "ties is 'expected'; choose one of pessimistic, optimistic, stable."),
    ],
)
def test_wrong_options_are_one_sentence(options, words):
    tiny = build("t", ["x", "y"], [0, 1], ["x", "y"], ["a dog", "a cat"], where="", about="")
    with pytest.raises(InputError) as error:
        find_failures(karat.load_run(np.eye(2), tiny), tiny, "original", "t2i", **options)
    assert words in str(error.value)
