"""Gold pairs: positives of a truth, negatives that no run ranks high, gold images."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
from karat.errors import KaratError
from karat.forms import GOLD_NO, GOLD_YES, key_of, load_form
from karat.judging import make_pool, make_tasks
from karat.judging.pools import GoldChoice, QuerySample, pool_cost
from karat.judging.pools.gold import MOST_OWN, MOST_USES, SPARE, ranked_high

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
    pool = make_pool(runs, bench, top=1, seed=seed, gold=GoldChoice(30, depth=depth))
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


def planted(images=120, captions=3, wrong=0.2, seed=1):
    """A world, its systems, and a benchmark with wrong original pairs, which knows no other truth."""
    from karat.world import make_world, simulate_systems

    world = make_world(images=images, captions=captions, seed=seed)
    bench = world.benchmark()
    rng = np.random.default_rng(seed)
    owner = np.array(bench.caption_image)
    moved = np.flatnonzero(rng.random(len(owner)) < wrong)
    owner[moved] = rng.permutation(owner[moved])
    known = replace(bench, caption_image=owner, truths={"original": bench.truths["original"]})
    return world, simulate_systems(world, seed=seed), known


def pooled_gold(pool):
    """Which gold pairs are also pairs to judge."""
    return np.isin(key_of(pool.gold_image, pool.gold_caption), key_of(pool.image, pool.caption))


def test_gold_positives_are_right_though_original_pairs_are_wrong():
    """An original pair that no run ranks high is often wrong: it is no gold, even if it is not pooled."""
    world, runs, known = planted()
    own = np.flatnonzero(known.caption_image >= 0)
    assert 0.75 < world.pair_relevance(known.caption_image[own], own).mean() < 0.85
    pool = make_pool(runs, known, gold=GoldChoice(400))
    yes = pool.gold_right == GOLD_YES
    assert yes.sum() == 200
    assert world.pair_relevance(pool.gold_image[yes], pool.gold_caption[yes]).mean() > 0.95
    # All queries are pooled, and so is every pair that a run confirms.
    assert pooled_gold(pool)[yes].all()


@pytest.mark.parametrize(
    "options",
    [
        {"judged": ["original"]},
        {"queries": QuerySample({"i2t": 100, "t2i": 150}), "top": 2},
    ],
)
def test_gold_is_not_asked_about_where_other_pairs_are_confirmed(options):
    world, runs, known = planted(300, 4)
    pool = make_pool(runs, known, **options, gold=GoldChoice(100))
    yes = pool.gold_right == GOLD_YES
    assert yes.sum() == 50
    assert not pooled_gold(pool).any()
    assert world.pair_relevance(pool.gold_image[yes], pool.gold_caption[yes]).mean() > 0.9


def test_pooled_pairs_are_used_when_the_others_run_out():
    _, runs, known = planted(wrong=0.0)
    options = {"queries": QuerySample({"i2t": 60, "t2i": 200}), "top": 2, "seed": 4}
    few, many = (make_pool(runs, known, **options, gold=GoldChoice(number)) for number in (40, 700))
    assert not pooled_gold(few).any()
    both = pooled_gold(many)[many.gold_right == GOLD_YES]
    assert 0 < both.sum() < len(both)
    # Pairs outside the pool that a run ranks high, then pooled ones, then those that no run ranks high.
    first, last = np.flatnonzero(both)[[0, -1]]
    assert both[first:last].all()
    key = key_of(many.gold_image, many.gold_caption)[many.gold_right == GOLD_YES]
    aligned = [run.align(known) for run in runs]
    assert ranked_high(aligned, key[:first], 2).all()
    assert not ranked_high(aligned, key[last + 1 :], 2).any()


def test_enough_for_smaller_tasks_or_more_gold():
    bench = make_benchmark(60, 3)
    run = make_run(bench, 2.0, 1, "run")
    pool = make_pool([run], bench)
    tasks = -(-len(pool) // 16)
    own = key_of(bench.caption_image, np.arange(180))
    fair = int(ranked_high([run.align(bench)], own, 5).sum())
    assert tasks < fair < SPARE * tasks < 180 * 2
    # Four times what the tasks of the form need, as far as there are positives that a run ranks high.
    assert (pool.gold_right == GOLD_NO).sum() == SPARE * tasks
    assert (pool.gold_right == GOLD_YES).sum() == fair
    # Mixed at random: the place does not show the right answer.
    assert 0 < np.flatnonzero(pool.gold_right).mean() < len(pool.gold_right) - 1


def test_a_run_that_finds_nothing_still_leaves_gold():
    """Too few positives are ranked high: others are drawn until none has to be used more than three times."""
    bench = make_benchmark(60, 3)
    run = karat.load_run(np.random.default_rng(1).random((60, 180), dtype=np.float32), name="none")
    pool = make_pool([run], bench, top=2)
    tasks = -(-len(pool) // 16)
    own = key_of(bench.caption_image, np.arange(180))
    fair = int(ranked_high([run.align(bench)], own, 2).sum())
    assert (pool.gold_right == GOLD_YES).sum() == max(fair, -(-2 * tasks // MOST_USES // 2))
    assert (pool.gold_right == GOLD_YES).sum() * MOST_USES >= tasks


def test_gold_images_have_one_to_three_own_captions():
    bench = make_benchmark(60, 4)
    runs = [make_run(bench, 2.0, k, f"run {k}") for k in range(2)]
    pool = make_pool(
        runs, bench, top=2, form=load_form("grid"), queries={"i2t": range(20)}, gold=GoldChoice(depth=5)
    )
    tasks = -(-len(pool) // 50)
    assert len(pool.gold_right) == 10 * SPARE * tasks
    for image in np.unique(pool.gold_image):
        rows = pool.gold_image == image
        own = bench.caption_image[pool.gold_caption[rows]] == image
        assert rows.sum() == 10
        assert 1 <= own.sum() <= MOST_OWN
        assert np.array_equal(own, pool.gold_right[rows] == GOLD_YES)
    # There are images that are not in the pool, so that no image is shown twice.
    assert not set(pool.gold_image.tolist()) & set(pool.image.tolist())


def test_no_original_pairs_beside_the_captions_own_image():
    from karat.world import make_world, simulate_systems

    world = make_world(images=60, captions=2, seed=1)
    bench, runs, form = world.benchmark(), simulate_systems(world), load_form("misread")
    pool = make_pool(runs, bench, top=2, form=form)
    yes = pool.gold_right == GOLD_YES
    assert yes.sum() > 20
    assert (bench.caption_image[pool.gold_caption] != pool.gold_image).all()
    assert world.pair_relevance(pool.gold_image[yes], pool.gold_caption[yes]).all()
    # One of each caption comes before the second of any that is equally suitable.
    assert len(np.unique(pool.gold_caption[yes])) > 15
    # A benchmark that knows original pairs only has no gold positives for this form, and says so.
    known = replace(bench, truths={"original": bench.truths["original"]})
    for options in ({}, {"gold": GoldChoice(truth="original")}):
        pool = make_pool(runs, known, top=2, form=form, **options)
        assert (pool.gold_right == GOLD_NO).all()
        cost = pool_cost(pool, form)
        assert f"0 gold positives for {cost.tasks} tasks: all gold is negative" in cost.notes[0]
        assert "same image twice" in cost.notes[0]
        plan = make_tasks(pool, form)
        assert (plan.gold == GOLD_NO).sum() == 2 * plan.tasks


def without_owners():
    judged = Judgments([0, 0, 1], [0, 1, 2], rating=[1, 0, 1], sources=[Provenance("people")])
    asked = {"i2t": np.arange(3), "t2i": np.arange(4)}
    ids = Ids(range(3), kind="image"), Ids(range(4), kind="caption")
    return Benchmark("made", *ids, {"people": Truth("people", judged, asked)})


def test_positives_of_a_truth():
    bench = without_owners()
    run = karat.load_run(np.arange(12, dtype=np.float32).reshape(3, 4), name="run")
    pool = make_pool([run], bench, top=1, gold=GoldChoice(8, depth=1))
    assert {pair[:2] for pair in stock_of(pool) if pair[2] == GOLD_YES} == {(0, 0), (1, 2)}
    with pytest.raises(KaratError, match="no truth 'peple'"):
        make_pool([run], bench, gold=GoldChoice(truth="peple"))
    with pytest.raises(KaratError, match="no truth 'original'"):
        make_pool([run], bench, judged=["original"])


def test_truths_that_are_rules_count_too():
    from karat.world import make_world, simulate_systems

    world = make_world(images=40, captions=2, seed=2)
    pool = make_pool(
        simulate_systems(world)[:1], world.benchmark(listed=False), top=1, gold=GoldChoice(600, depth=1)
    )
    no = pool.gold_right == GOLD_NO
    assert no.sum() > 100
    assert not world.pair_relevance(pool.gold_image[no], pool.gold_caption[no]).any()
