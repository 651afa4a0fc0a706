"""Gold pairs: positives of a truth, negatives that no run ranks high, gold images."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
from karat.errors import KaratError
from karat.judging import load_form, make_pool
from karat.judging.pools import key_of
from karat.judging.pools.gold import MOST_OWN, ranked_high
from karat.judging.tasks import GOLD_NO, GOLD_YES

from made import make_benchmark, make_run


def stock_of(pool):
    return list(zip(pool.gold_image.tolist(), pool.gold_caption.tolist(), pool.gold_right.tolist()))


def within(scores, image, caption, depth):
    """Whether fewer than `depth` items score strictly higher, in either direction."""
    row, column = scores[image], scores[:, caption]
    return (row > scores[image, caption]).sum() < depth or (column > scores[image, caption]).sum() < depth


@given(st.integers(0, 20), st.integers(1, 4), st.integers(0, 12))
@settings(max_examples=40, deadline=None)
def test_gold_negatives_are_not_among_the_first_items_of_any_run(seed, signal, depth):
    bench = make_benchmark(14, 2)
    runs = [make_run(bench, signal, 10 * seed + k, f"run {k}") for k in range(2)]
    pool = make_pool(runs, bench, top=1, gold=30, gold_depth=depth, seed=seed)
    pooled = set(zip(pool.image.tolist(), pool.caption.tolist()))
    stock = stock_of(pool)
    assert len({pair[:2] for pair in stock}) == len(stock)
    own = set(zip(bench.caption_image.tolist(), range(28)))
    for image, caption, right in stock:
        if right == GOLD_YES:
            assert (image, caption) in own
        else:
            assert (image, caption) not in own | pooled
            assert not any(within(run.scores, image, caption, depth) for run in runs)
    # All that exist, up to the requested number.
    free = [
        (image, caption)
        for image in range(14)
        for caption in range(28)
        if (image, caption) not in own | pooled
        and not any(within(run.scores, image, caption, depth) for run in runs)
    ]
    assert sum(right == GOLD_NO for *_, right in stock) == min(15, len(free))
    assert sum(right == GOLD_YES for *_, right in stock) == 15


def test_ties_and_truncated_lists():
    bench = make_benchmark(3, 1)
    flat = karat.load_run(np.zeros((3, 3), np.float32), name="flat").align(bench)
    keys = key_of(np.array([0, 1, 2]), np.array([2, 2, 0]))
    assert ranked_high([flat], keys, 1).all()  # no item is above another
    lists = karat.load_run({"i2t": {0: [1000, 1002], 1: [1001]}}, name="lists").align(bench)
    assert ranked_high([lists], keys, 2).tolist() == [True, False, False]
    assert ranked_high([lists], keys, 1).tolist() == [False, False, False]


def test_positives_that_could_not_be_pooled_come_first():
    bench = make_benchmark(20, 3)
    run = make_run(bench, 3.0, 1, "run")
    pool = make_pool([run], bench, queries={"i2t": range(10), "t2i": range(30, 45)}, gold=20)
    yes = pool.gold_right == GOLD_YES
    assert yes.sum() == 10
    assert (pool.gold_image[yes] >= 15).all()
    # Sixteen more than these: the others come too, whether a run ranks them high or not.
    pool = make_pool([run], bench, queries={"i2t": range(10), "t2i": range(30, 45)}, gold=62)
    assert (pool.gold_right == GOLD_YES).sum() == 31


def test_as_many_as_the_tasks_need():
    bench = make_benchmark(60, 3)
    pool = make_pool([make_run(bench, 2.0, 1, "run")], bench)
    tasks = -(-len(pool) // 16)
    assert sorted(pool.gold_right.tolist()) == [GOLD_NO] * tasks + [GOLD_YES] * tasks
    # In random order: the place does not show the right answer.
    assert 0 < np.flatnonzero(pool.gold_right).mean() < len(pool.gold_right) - 1


def test_gold_images_have_one_to_three_own_captions():
    bench = make_benchmark(60, 4)
    runs = [make_run(bench, 2.0, k, f"run {k}") for k in range(2)]
    pool = make_pool(runs, bench, top=2, form=load_form("grid"), queries={"i2t": range(20)}, gold_depth=5)
    assert len(pool.gold_right) == 10 * -(-len(pool) // 50)
    for image in np.unique(pool.gold_image):
        rows = pool.gold_image == image
        own = bench.caption_image[pool.gold_caption[rows]] == image
        assert rows.sum() == 10
        assert 1 <= own.sum() <= MOST_OWN
        assert np.array_equal(own, pool.gold_right[rows] == GOLD_YES)
    # There are images that are not in the pool, so that no image is shown twice.
    assert not set(pool.gold_image.tolist()) & set(pool.image.tolist())


def without_owners():
    judged = Judgments([0, 0, 1], [0, 1, 2], rating=[1, 0, 1], sources=[Provenance("people")])
    asked = {"i2t": np.arange(3), "t2i": np.arange(4)}
    ids = Ids(range(3), kind="image"), Ids(range(4), kind="caption")
    return Benchmark("made", *ids, {"people": Truth("people", judged, asked)})


def test_positives_of_a_truth():
    bench = without_owners()
    run = karat.load_run(np.arange(12, dtype=np.float32).reshape(3, 4), name="run")
    pool = make_pool([run], bench, top=1, gold=8, gold_depth=1)
    assert {pair[:2] for pair in stock_of(pool) if pair[2] == GOLD_YES} == {(0, 0), (1, 2)}
    with pytest.raises(KaratError, match="no truth 'peple'"):
        make_pool([run], bench, gold_truth="peple")
    with pytest.raises(KaratError, match="no truth 'original'"):
        make_pool([run], bench, judged=["original"])


def test_truths_that_are_rules_count_too():
    from karat.world import make_world, simulate_systems

    world = make_world(images=40, captions=2, seed=2)
    pool = make_pool(
        simulate_systems(world)[:1], world.benchmark(listed=False), top=1, gold=600, gold_depth=1
    )
    no = pool.gold_right == GOLD_NO
    assert no.sum() > 100
    assert not world.pair_relevance(pool.gold_image[no], pool.gold_caption[no]).any()
