"""Pools against a slow literal recount, and ECCV Caption's arithmetic."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.benchmarks import DIRECTIONS
from karat.errors import InputError, KaratError
from karat.forms import FILLED, POOLED, load_form
from karat.judging import make_pool
from karat.judging.pools import GoldChoice, QuerySample
from karat.judging.pools.candidates import choose_queries

from made import make_benchmark, make_run
from worlds import smalls


def by_hand(runs, bench, top, judged=()):
    """Every suggestion as (image, caption, system, direction, rank), by sorting each query's scores."""
    places = set()
    for system, scores in enumerate(runs):
        for direction, table in (("i2t", scores), ("t2i", scores.T)):
            for query, row in enumerate(table):
                ranked = sorted(range(len(row)), key=lambda item: (-row[item], item))[:top]
                for rank, item in enumerate(ranked, start=1):
                    image, caption = (query, item) if direction == "i2t" else (item, query)
                    if (image, caption) not in judged:
                        places.add((image, caption, system, DIRECTIONS.index(direction), rank, row[item]))
    return places


def places_of(pool):
    pair = pool.place_pair
    columns = (pool.image[pair], pool.caption[pair], pool.place_system, pool.place_direction, pool.place_rank)
    return set(zip(*(column.tolist() for column in (*columns, pool.place_score))))


@given(small=smalls(), top=st.integers(1, 6), left_out=st.booleans(), seed=st.integers(0, 5))
@settings(max_examples=80, deadline=None)
def test_a_pool_is_what_sorting_every_list_gives(small, top, left_out, seed):
    # Scores are whole numbers from 0 to 3: ties everywhere, and lists shorter than `top`.
    other = np.random.default_rng(seed).integers(0, 3, small.scores.shape).astype(np.float32)
    tables = [small.scores, other]
    runs = [karat.load_run(table, name=f"run {k}") for k, table in enumerate(tables)]
    known = small.benchmark.truths["whole"].judgments.pairs()
    judged = set(zip(known.image.tolist(), known.caption.tolist())) if left_out else set()
    pool = make_pool(runs, small.benchmark, top=top, judged=["whole"] if left_out else [], gold=GoldChoice(4))
    expected = by_hand(tables, small.benchmark, top, judged)
    assert places_of(pool) == expected
    assert pool.suggestions == len(expected)
    pairs = list(zip(pool.image.tolist(), pool.caption.tolist()))
    assert pairs == sorted({place[:2] for place in expected})
    everything = {place[:2] for place in by_hand(tables, small.benchmark, top)}
    assert pool.judged == len(everything & judged)
    assert (pool.why == POOLED).all()


def test_the_arithmetic_of_eccv_caption(coco):
    rng = np.random.default_rng(1)
    runs = [
        karat.load_run(*(rng.normal(size=(n, 8)).astype(np.float32) for n in (5000, 25000)), name=f"m{k}")
        for k in range(5)
    ]
    pool = make_pool(runs, coco, queries=QuerySample({"i2t": 1261, "t2i": 1333}), gold=GoldChoice(0))
    assert pool.suggestions == (1261 + 1333) * 5 * 5 == 64_850
    assert len(pool) == len(np.unique(pool.image * 25_000 + pool.caption)) < 64_850
    # The truth itself has one caption less: it was removed as invalid.
    queries = choose_queries(coco, queries="eccv")
    assert (len(queries["i2t"]), len(queries["t2i"])) == (1261, 1332)


def test_one_run_suggests_each_pair_at_most_twice():
    bench = make_benchmark(12, 2)
    pool = make_pool([make_run(bench, 2.0, 1, "only")], bench, top=3, gold=GoldChoice(0))
    assert pool.suggestions == (12 + 24) * 3
    assert np.bincount(pool.place_pair).max() <= 2
    assert pool.suggested_by(0).all()


def test_ranked_lists_have_no_scores_and_may_have_one_direction():
    bench = make_benchmark(4, 2)
    lists = karat.load_run({"i2t": {image: [1003, 1001, 1000] for image in range(4)}}, name="lists")
    pool = make_pool([lists], bench, top=2, gold=GoldChoice(0))
    assert sorted(set(pool.caption.tolist())) == [1, 3]
    assert list(pool.queries) == ["i2t"]
    assert np.isnan(pool.place_score).all()
    with pytest.raises(InputError, match="no run has the direction t2i"):
        make_pool([lists], bench, direction=["t2i"])


def test_queries_are_drawn_per_direction_and_by_seed():
    bench = make_benchmark(50, 2)
    one = choose_queries(bench, queries=QuerySample({"i2t": 10, "t2i": 10}), seed=3)
    both = choose_queries(bench, queries=QuerySample({"i2t": 10, "t2i": 40}), seed=3)
    assert one["i2t"].tolist() == both["i2t"].tolist()
    assert (
        choose_queries(bench, ["i2t"], queries=QuerySample(10), seed=4)["i2t"].tolist() != one["i2t"].tolist()
    )
    assert choose_queries(bench, queries={"t2i": [7, 3, 3]})["t2i"].tolist() == [3, 7]
    for wrong, words in (
        ({"queries": QuerySample(51)}, "the sample size is 51"),
        ({"queries": {"i2t": [50]}}, "outside the gallery"),
        ({"queries": {"i2t": [], "t2i": []}}, "no queries"),
        ({"directions": []}, "is empty"),
        ({"directions": ["both"]}, "unknown direction 'both'"),
        ({"queries": "ecv"}, "no truth 'ecv'"),
    ):
        with pytest.raises(KaratError, match=words):
            choose_queries(bench, **wrong)


def test_only_chosen_queries_are_pooled():
    bench = make_benchmark(20, 2)
    run = make_run(bench, 1.0, 2, "run")
    pool = make_pool([run], bench, direction=["t2i"], queries={"t2i": [5]}, top=4, gold=GoldChoice(0))
    assert set(pool.caption.tolist()) == {5}
    assert len(pool) == 4


def test_original_pairs_are_judged_by_name_whatever_the_truths_are_called():
    bench = make_benchmark(10, 2)
    runs = [make_run(bench, 5.0, 3, "good")]
    pool = make_pool(runs, bench, judged=["original"], gold=GoldChoice(0))
    assert (bench.caption_image[pool.caption] != pool.image).all()
    assert pool.judged > 0
    # A form that shows the caption's own image has nothing to ask about it.
    assert len(make_pool(runs, bench, form=load_form("misread"), gold=GoldChoice(0))) == len(pool)
    with pytest.raises(KaratError, match="no truth 'cxc'"):
        make_pool(runs, bench, judged=["cxc"])


def test_impossible_values_are_refused():
    bench = make_benchmark(6, 2)
    run = make_run(bench, 1.0, 1, "a")
    for runs, options, words in (
        ([], {}, "no run"),
        ([run, run], {}, "same name"),
        ([run], {"top": 0}, "top is 0"),
        ([run], {"fill": 0}, "fill is 0"),
    ):
        with pytest.raises(InputError, match=words):
            make_pool(runs, bench, **options)
    with pytest.raises(InputError, match="gold is -1"):
        make_pool([run], bench, gold=GoldChoice(-1))
    with pytest.raises(InputError, match="the depth of gold is -1"):
        make_pool([run], bench, gold=GoldChoice(depth=-1))


def test_a_complete_truth_leaves_nothing_to_judge():
    from karat.world import make_world, simulate_systems

    world = make_world(images=10, captions=1, seed=1)
    with pytest.raises(InputError, match="judges every pair"):
        make_pool(simulate_systems(world), world.benchmark(), judged=["complete"])


@given(st.integers(2, 9), st.floats(0, 1), st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_filling_up(columns, share, seed):
    bench = make_benchmark(9, 3)
    runs = [make_run(bench, 1.0, k, f"run {k}") for k in range(3)]
    luck = np.random.default_rng(seed)
    kept = {}

    def keep(pool, benchmark):
        kept.update(
            zip(zip(pool.image.tolist(), pool.caption.tolist()), (luck.random(len(pool)) < share).tolist())
        )
        return np.array(list(kept.values()), bool)

    pool = make_pool(runs, bench, top=2, filter=[keep], fill=columns, seed=seed, gold=GoldChoice(0))
    why = {(i, c): w for i, c, w in zip(pool.image.tolist(), pool.caption.tolist(), pool.why.tolist())}
    assert len(why) == len(pool)
    # Every kept pair is there; what is filled in was not kept.
    assert {pair for pair, w in why.items() if w == POOLED} == {pair for pair, yes in kept.items() if yes}
    filled = [pair for pair, w in why.items() if w == FILLED]
    for image in range(9):
        mine = [pair for pair in why if pair[0] == image]
        good = sum(yes for pair, yes in kept.items() if pair[0] == image)
        assert len(mine) == min(-(-good // columns) * columns, 27)
        # Dropped pairs come before captions that no run suggests.
        dropped = [pair for pair, yes in kept.items() if pair[0] == image and not yes]
        fresh = [pair for pair in filled if pair[0] == image and pair not in kept]
        assert not fresh or set(dropped) <= set(mine)
    assert pool.filtered == sum(not yes for yes in kept.values()) - sum(pair in kept for pair in filled)
    # Pairs that no run suggests have no place; the others keep theirs.
    placed = {(int(pool.image[k]), int(pool.caption[k])) for k in pool.place_pair}
    assert placed == {pair for pair in why if pair in kept}


def test_the_same_seed_gives_the_same_pool():
    bench = make_benchmark(15, 3)
    runs = [make_run(bench, 1.0, k, f"run {k}") for k in range(2)]
    options = {"queries": QuerySample(8), "fill": 10, "filter": ["systems>=2"], "form": load_form("grid")}
    one, two, other = (
        make_pool(runs, bench, seed=seed, **options, gold=GoldChoice(depth=1)) for seed in (1, 1, 2)
    )
    for name in ("image", "caption", "why", "gold_image", "gold_caption", "gold_right"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    assert not np.array_equal(one.gold_caption, other.gold_caption)
