"""Filters of a pool: by captions, by scores, by how many runs agree, and your own."""

import numpy as np
import pytest

import karat
from karat.captions.pair_filter import caption_filter
from karat.errors import KaratError
from karat.judging import make_pool
from karat.judging.pools import POOL_FILTERS, FilterKind, GoldChoice, parse_filter
from karat.world import make_world, simulate_systems

from made import make_benchmark, make_run


@pytest.fixture(scope="module")
def world():
    return make_world(images=30, captions=3, seed=5)


@pytest.fixture(scope="module")
def runs(world):
    return simulate_systems(world)[:3]


def pairs_of(pool):
    return set(zip(pool.image.tolist(), pool.caption.tolist()))


def test_captions_that_are_not_similar_are_dropped(world, runs):
    bench = world.benchmark()
    everything, kept = (
        make_pool(runs, bench, filter=rules, gold=GoldChoice(0)) for rules in ([], ["bleu-pre>=0.5"])
    )
    good = caption_filter(bench, 0.5).kept()
    assert pairs_of(kept) == {pair for pair in pairs_of(everything) if good[pair]}
    assert 0 < kept.filtered == len(everything) - len(kept)


def test_scores_and_agreement(world, runs):
    bench = world.benchmark()
    everything = make_pool(runs, bench, gold=GoldChoice(0))
    by = {
        name: make_pool(runs, bench, filter=[name], gold=GoldChoice(0))
        for name in ("score(seer)>=4", "systems >= 3")
    }
    seer = runs[0].scores
    places = {
        (int(everything.image[k]), int(everything.caption[k]))
        for k in everything.place_pair[everything.place_system == 0]
    }
    assert pairs_of(by["score(seer)>=4"]) == {pair for pair in places if seer[pair] >= 4}
    votes = sum(everything.suggested_by(k).astype(int) for k in range(3))
    assert len(by["systems >= 3"]) == (votes == 3).sum() > 0
    both = make_pool(runs, bench, filter=list(by), gold=GoldChoice(0))
    assert pairs_of(both) == pairs_of(by["score(seer)>=4"]) & pairs_of(by["systems >= 3"])


def test_your_own_filter(world, runs):
    name = "short-enough"
    POOL_FILTERS.add(
        name, FilterKind(name, "captions", lambda of, least: lambda pool, b: pool.caption >= least)
    )
    try:
        assert (
            make_pool(runs, world.benchmark(), filter=[f"{name}>=50"], gold=GoldChoice(0)).caption.min() == 50
        )
    finally:
        POOL_FILTERS._things.pop(name)
        POOL_FILTERS._names.pop(name)
    with pytest.raises(KaratError, match="returned int64 of shape"):
        make_pool(runs, world.benchmark(), filter=[lambda pool, b: pool.image], gold=GoldChoice(0))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bleu-pre", "is not a filter"),
        ("bleu-pre>0.2", "is not a filter"),
        ("bleu-pe>=0.2", "unknown filter .bleu-pe.; did you mean .*bleu-pre"),
        ("systems(a)>=2", "no argument in parentheses"),
        ("cider(a)>=2", "no argument in parentheses"),
    ],
)
def test_what_is_not_a_filter(text, words):
    with pytest.raises(KaratError, match=words):
        parse_filter(text)


def test_what_a_filter_needs():
    bench = make_benchmark(6, 2)
    run = make_run(bench, 1.0, 1, "a")
    with pytest.raises(KaratError, match="caption"):
        make_pool([run], bench, filter=["bleu-pre>=0.25"])
    with pytest.raises(KaratError, match="no run 'b'"):
        make_pool([run], bench, filter=["score(b)>=1"])
    lists = karat.load_run({"i2t": {0: [1001]}}, name="lists")
    with pytest.raises(KaratError, match="no scores"):
        make_pool([lists], bench, filter=["score>=1"])


def test_a_filter_may_drop_everything(world, runs):
    for rule in ("systems>=4", "bleu-pre>=9"):
        pool = make_pool(runs, world.benchmark(), filter=[rule], fill=10)
        assert len(pool) == 0 == pool.suggestions
        assert pool.filtered > 0
    assert len(make_pool(runs, world.benchmark(), filter=["systems>=4", "bleu-pre>=0.25"])) == 0
    assert np.array_equal(pool.gold_right, [])
