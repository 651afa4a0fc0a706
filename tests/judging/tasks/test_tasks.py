"""Tasks: every pair once, hidden gold, no annotator asked twice, pairs and grids."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.forms import GOLD_NO, GOLD_YES, NOT_GOLD, Pool, key_of, load_form, without
from karat.judging import make_pool, make_tasks
from karat.judging.pools import GoldChoice
from karat.judging.tasks import unplanned
from karat.judging.tasks.tasks import Stock, partner

from made import make_benchmark, make_run


def bare_pool(image, caption, gold=()):
    """A pool of given pairs without places, and of gold pairs (image, caption, right)."""
    order = np.lexsort((caption, image))
    none = np.zeros(0, np.int64)
    stock = [np.array(column, np.int64) for column in zip(*gold)] or [none] * 3
    return Pool(
        np.asarray(image)[order], np.asarray(caption)[order], np.zeros(len(image), np.int8), ("a",),
        none, none, none, none, none.astype(float),
        gold_image=stock[0], gold_caption=stock[1], gold_right=stock[2],
    )  # fmt: skip


def check_plan(plan, pool):
    """What is true of every plan, recounted item by item."""
    items = list(
        zip(*(getattr(plan, name).tolist() for name in ("task", "position", "image", "caption", "gold")))
    )
    assert items == sorted(items, key=lambda item: item[:2])
    right = dict(zip(zip(pool.gold_image.tolist(), pool.gold_caption.tolist()), pool.gold_right.tolist()))
    asked = Counter(item[2:4] for item in items if item[4] == NOT_GOLD)
    assert asked == Counter(zip(pool.image.tolist(), pool.caption.tolist()))
    assert all(right[item[2:4]] == item[4] for item in items if item[4] != NOT_GOLD)
    for task in range(plan.tasks):
        mine = [item for item in items if item[0] == task]
        assert [item[1] for item in mine] == list(range(len(mine)))
        assert len({item[2:4] for item in mine}) == len(mine)
    return items


@st.composite
def pools(draw):
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    cells = rng.permutation(200)
    pooled, known = cells[: draw(st.integers(1, 90))], rng.permutation(200)[: draw(st.integers(0, 120))]
    # Gold positives may be in the pool; gold negatives never are.
    gold = [(k // 20, k % 20, GOLD_NO if k not in pooled and k % 2 else GOLD_YES) for k in known.tolist()]
    return bare_pool(pooled // 20, pooled % 20, gold)


@given(pools(), st.integers(1, 20), st.integers(0, 5), st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_plans_of_pairs(pool, pairs, gold, seed):
    try:
        plan = make_tasks(pool, load_form("pair"), task_size=pairs, gold=gold, seed=seed)
    except InputError:
        # Then the stock is small, or all of it is asked about in too few or too full tasks.
        wanted = -(-gold // 2)
        counts = [(pool.gold_right == right).sum() for right in (GOLD_YES, GOLD_NO)]
        if not counts[0]:
            assert counts[1] < gold
            return
        tied = np.isin(key_of(pool.gold_image, pool.gold_caption), key_of(pool.image, pool.caption))
        free = (~tied & (pool.gold_right == GOLD_YES)).sum()
        assert min(counts) < wanted or free < wanted
        return
    items = check_plan(plan, pool)
    tasks = -(-len(pool) // pairs)
    assert plan.tasks == tasks
    sizes = Counter(item[0] for item in items if item[4] == NOT_GOLD)
    assert max(sizes.values()) <= pairs
    assert max(sizes.values()) - min(sizes.values()) <= 1
    used = Counter(item[2:4] for item in items if item[4] != NOT_GOLD)
    assert sum(used.values()) == gold * tasks
    for task in range(tasks):
        yes = sum(item[4] == GOLD_YES for item in items if item[0] == task)
        # Without gold positives, all gold is negative.
        assert yes == ((gold + task % 2) // 2 if (pool.gold_right == GOLD_YES).any() else 0)


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_gold_comes_once_while_the_stock_lasts(tasks, gold, seed):
    n = 4 * tasks
    known = [(50 + k, 0, k % 2) for k in range(2 * gold * tasks)]
    plan = make_tasks(
        bare_pool(np.arange(n), np.zeros(n, int), known), load_form("pair"), task_size=4, gold=gold, seed=seed
    )
    hidden = key_of(plan.image, plan.caption)[plan.gold != NOT_GOLD]
    assert len(np.unique(hidden)) == len(hidden) == gold * tasks


@given(st.integers(2, 30), st.integers(1, 4), st.integers(0, 50))
@settings(max_examples=60, deadline=None)
def test_a_small_team_never_runs_out_of_tasks(tasks, overlap, seed):
    """All gold positives are pooled: still, only two tasks are linked (three if the number is odd)."""
    n = 6 * tasks
    known = [(k, 0, GOLD_YES) for k in range(n)] + [(k, 1, GOLD_NO) for k in range(n)]
    plan = make_tasks(
        bare_pool(np.arange(n), np.zeros(n, int), known),
        load_form("pair"),
        task_size=6,
        overlap=overlap,
        seed=seed,
    )
    keys = [set(key_of(plan.image, plan.caption)[plan.task == task].tolist()) for task in range(tasks)]
    seen = [set() for _ in range((3 if tasks % 2 else 2) * overlap)]
    rng = np.random.default_rng(seed)
    for task in rng.permutation(tasks):
        able = [number for number in rng.permutation(len(seen)) if not seen[number] & keys[task]]
        assert len(able) >= overlap
        for number in able[:overlap]:
            seen[number] |= keys[task]


def test_gold_is_at_random_places():
    known = [(1000 + k, 0, k % 2) for k in range(800)]
    plan = make_tasks(bare_pool(np.arange(3200), np.zeros(3200, int), known), load_form("pair"), task_size=8)
    places = np.bincount(plan.position[plan.gold != NOT_GOLD], minlength=10)
    assert len(places) == 10
    assert places.min() > 0.6 * 80  # 800 on ten places: 80 each, with a deviation of 8.5
    order = plan.gold[plan.gold != NOT_GOLD].reshape(-1, 2)
    assert 0.35 < (order[:, 0] == GOLD_YES).mean() < 0.65


def test_partners_are_two_by_two():
    for tasks in range(2, 30):
        other = [partner(task, tasks) for task in range(tasks)]
        assert sorted(other) == list(range(tasks))
        assert all(task != one for task, one in enumerate(other))
        assert sum(other[other[task]] != task for task in range(tasks)) == (3 if tasks % 2 else 0)


def test_a_stock_goes_round():
    stock = Stock("12345")
    assert [stock.take() for _ in range(7)] == [1, 2, 3, 4, 5, 1, 2]
    assert stock.take(lambda entry: entry == 9) is None
    assert stock.take() == 3


def test_wrong_sizes_and_too_little_gold():
    pool = bare_pool([0, 1], [0, 0], [(0, 0, GOLD_YES), (5, 5, GOLD_NO)])
    pair, grid = load_form("pair"), load_form("grid")
    for form, options, words in (
        (pair, {"task_size": 0}, "0 pairs"),
        (pair, {"overlap": 0}, "0 annotators"),
        (pair, {"gold": 4}, "2 gold positives, but the pool has 1"),
        (pair, {"gold": 2}, "most of them among the pairs that the task itself asks about"),
        (grid, {"task_size": 16}, "whole images"),
        (grid, {"gold": 2}, "whole images"),
        (grid, {}, "1 gold image, but the pool has 0"),
    ):
        with pytest.raises(InputError, match=words):
            make_tasks(pool, form, **options)
    with pytest.raises(InputError, match="the pool is empty"):
        make_tasks(bare_pool([], []), pair)
    assert len(make_tasks(pool, pair, gold=0)) == 2
    # Two pairs that are both gold: each is hidden in the task of the other.
    known = replace(pool, gold_image=np.array([0, 1, 5]), gold_caption=np.array([0, 0, 5]))
    plan = make_tasks(replace(known, gold_right=np.array([1, 1, 0])), pair, task_size=1)
    for task in range(2):
        assert set(plan.image[plan.task == task].tolist()) == {0, 1, 5}
    with pytest.raises(InputError, match="1 gold negative, but the pool has 0"):
        make_tasks(replace(known, gold_right=np.array([1, 1, 1])), pair, task_size=1)


@given(st.integers(4, 12), st.integers(1, 3), st.integers(1, 2), st.integers(0, 20))
@settings(max_examples=40, deadline=None)
def test_plans_of_grids(images, top, controls, seed):
    bench = make_benchmark(20, 4)
    runs = [make_run(bench, 1.5, seed + k, f"run {k}") for k in range(3)]
    form = load_form("grid")
    pool = make_pool(
        runs,
        bench,
        top=top,
        form=form,
        queries={"i2t": range(images)},
        seed=seed,
        gold=GoldChoice(400, depth=2),
    )
    assume(len(pool.gold_right) >= 10 * controls + 10)
    try:
        plan = make_tasks(pool, form, task_size=30, gold=10 * controls, seed=seed)
    except InputError:
        # Each of the few gold images is asked about in some task, which cannot show it.
        assert len(np.unique(pool.gold_image)) < 4 * controls
        return
    check_plan(plan, pool)
    grids = {}
    for task, group, position, image, gold in zip(
        plan.task, plan.group, plan.position, plan.image, plan.gold
    ):
        grids.setdefault((int(task), int(group)), []).append((int(position), int(image), int(gold)))
    most = np.bincount(pool.image).max() // 10
    for (_, group), rows in grids.items():
        positions, shown, gold = zip(*rows)
        assert list(positions) == list(range(10 * group, 10 * group + 10))
        assert len(set(shown)) == 1
        known = [one for one in gold if one != NOT_GOLD]
        assert len(known) in (0, 10)
        if known:
            assert 1 <= sum(one == GOLD_YES for one in known) <= 3
    for task in range(plan.tasks):
        mine = [rows for (one, _), rows in grids.items() if one == task]
        assert sum(rows[0][2] != NOT_GOLD for rows in mine) == controls
        assert len(mine) <= 3 + controls
        if most <= plan.tasks and images >= 8 and plan.tasks > 2:
            assert len({rows[0][1] for rows in mine}) >= len(mine) - 1


def test_six_images_per_task_one_of_them_gold():
    bench = make_benchmark(120, 5)
    runs = [make_run(bench, 1.5, k, f"run {k}") for k in range(4)]
    form = load_form("grid")
    pool = make_pool(
        runs, bench, direction=["i2t"], queries={"i2t": range(50)}, form=form, gold=GoldChoice(depth=5)
    )
    assert (np.bincount(pool.image)[:50] % 10 == 0).all()
    plan = make_tasks(pool, form)
    for task in range(plan.tasks):
        rows = plan.task == task
        assert len(np.unique(plan.image[rows])) == len(np.unique(plan.group[rows])) <= 6
        assert len(np.unique(plan.image[rows & (plan.gold != NOT_GOLD)])) == 1
    places = np.bincount(plan.group[plan.gold != NOT_GOLD], minlength=6)
    assert (places > 0).sum() >= 4  # the gold image is not always the first or the last


def test_what_was_pooled_later_gets_tasks_of_its_own():
    bench = make_benchmark(30, 3)
    runs = [make_run(bench, 2.0, k, f"run {k}") for k in range(2)]
    pool = make_pool(runs, bench, top=2, gold=GoldChoice(60, depth=2))
    early = pool.image < 10
    before = make_tasks(without(pool, early), load_form("pair"), task_size=8)
    rest = unplanned(pool, before)
    assert np.array_equal(rest.image, pool.image[~early])
    # Gold pairs that are in no task yet, as gold or to be judged, come first.
    used = np.isin(key_of(rest.gold_image, rest.gold_caption), key_of(before.image, before.caption))
    assert used.any()
    assert (np.diff(used.astype(int)) >= 0).all()


@given(pools(), st.integers(1, 9), st.integers(0, 3), st.integers(0, 50))
@settings(max_examples=100, deadline=None)
def test_a_chosen_subset_is_asked_about_in_its_order(pool, pairs, gold, seed):
    rng = np.random.default_rng(seed)
    # Pairs of the pool and others, some of them gold, some already in a task, in random order.
    keys = rng.permutation(200)[: rng.integers(1, 60)]
    image, caption = keys // 20, keys % 20
    planned = None
    if seed % 2:
        planned = make_tasks(without(pool, rng.random(len(pool)) < 0.3) if len(pool) > 9 else pool,
                             load_form("pair"), gold=0)  # fmt: skip
    known = set(key_of(pool.gold_image, pool.gold_caption).tolist())
    known |= set() if planned is None else set(key_of(planned.image, planned.caption).tolist())
    wanted = [key for key in key_of(image, caption).tolist() if key not in known]
    try:
        plan = make_tasks(
            pool, load_form("pair"), task_size=pairs, gold=gold, seed=seed, planned=planned,
            chosen=(image, caption),
        )  # fmt: skip
    except InputError:
        # Nothing is left to ask, or a task needs more gold of one side than the stock has.
        counts = [(pool.gold_right == right).sum() for right in (GOLD_YES, GOLD_NO)]
        assert not wanted or min(counts) < -(-gold // 2) or not counts[0]
        return
    asked = plan.gold == NOT_GOLD
    rank = [wanted.index(key) for key in key_of(plan.image, plan.caption)[asked].tolist()]
    assert sorted(rank) == list(range(len(wanted)))
    # The first tasks ask about the first pairs; within a task the order is random.
    tasks = -(-len(wanted) // pairs)
    assert plan.tasks == tasks
    expected = np.repeat(np.arange(tasks), np.diff(np.arange(tasks + 1) * len(wanted) // tasks))
    assert plan.task[asked].tolist() == expected[rank].tolist()
    assert np.bincount(plan.task[~asked], minlength=tasks).tolist() == [gold] * tasks
    # No pair that is asked about is hidden as gold.
    assert not set(key_of(plan.image, plan.caption)[~asked].tolist()) & set(wanted)
    note = f"{len(keys) - len(wanted)} of {len(keys)} pairs need no question"
    assert any(note in each for each in plan.notes) == (len(wanted) < len(keys))


def test_a_chosen_subset_gets_further_gold_that_is_not_among_it():
    bench = make_benchmark(30, 3)
    runs = [make_run(bench, 1.5, k, f"run {k}") for k in range(2)]
    pool = make_pool(runs, bench, top=2, gold=GoldChoice(0))
    own = np.arange(0, 90, 2)
    plan = make_tasks(
        pool, load_form("pair"), task_size=8, gold=4, benchmark=bench, chosen=(bench.caption_image[own], own)
    )  # fmt: skip
    keys, asked = key_of(plan.image, plan.caption), plan.gold == NOT_GOLD
    assert sorted(keys[asked].tolist()) == sorted(key_of(bench.caption_image[own], own).tolist())
    assert (~asked).sum() == 4 * plan.tasks
    assert not np.isin(keys[~asked], keys[asked]).any()


def test_a_chosen_subset_in_grids():
    bench = make_benchmark(30, 4)
    runs = [make_run(bench, 1.5, k, f"run {k}") for k in range(3)]
    form = load_form("grid")
    pool = make_pool(runs, bench, top=2, form=form, gold=GoldChoice(300, depth=2))
    rng = np.random.default_rng(1)
    rows = rng.permutation(len(pool))[:120]
    plan = make_tasks(
        pool, form, task_size=30, gold=10, benchmark=bench, chosen=(pool.image[rows], pool.caption[rows])
    )
    gold = set(key_of(pool.gold_image, pool.gold_caption).tolist())
    wanted = [key for key in key_of(pool.image[rows], pool.caption[rows]).tolist() if key not in gold]
    asked = plan.gold == NOT_GOLD
    assert sorted(key_of(plan.image, plan.caption)[asked].tolist()) == sorted(wanted)
    # Images come in the order of their first pair; only a task that shows the image as gold is skipped.
    images = list(dict.fromkeys((np.array(wanted) >> 32).tolist()))
    last = [
        max(images.index(image) for image in plan.image[asked & (plan.task == t)]) for t in range(plan.tasks)
    ]
    for place, image in enumerate(images):
        for task in range(plan.task[asked & (plan.image == image)].min()):
            assert last[task] < place or image in plan.image[~asked & (plan.task == task)]
