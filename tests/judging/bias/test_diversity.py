"""How similarly models rank, against the definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from karat.errors import InputError
from karat.judging import compare_systems
from karat.judging.bias.diversity_kernels import compare_lists
from karat.runs import MatrixRun, RankingsRun
from karat.world import make_world
from tests.judging.bias.plain_bias import ranking, tau

lists = st.lists(st.integers(0, 11), unique=True, max_size=8)


def compare(first, second):
    out = np.empty((3, 1))
    columns = []
    for listed in (first, second):
        columns += [np.array([0, len(listed)]), np.array(listed, dtype=np.int64)]
    compare_lists(*columns, 12, *out)
    return out[:, 0]


# The first call loads or compiles the kernel.
@settings(deadline=None)
@given(lists, lists)
def test_tau_is_the_definition(first, second):
    found = compare(first, second)
    np.testing.assert_allclose(found[0], tau(first, second))
    common = [item for item in first if item in second]
    if len(common) > 1:
        expected = kendalltau(range(len(common)), [second.index(item) for item in common]).statistic
        assert found[1] == pytest.approx(expected)
    else:
        assert np.isnan(found[1])
    longer = max(len(first), len(second))
    np.testing.assert_allclose(found[2], len(common) / longer if longer else np.nan)
    np.testing.assert_array_equal(found, compare(second, first))


def test_the_ends_of_tau():
    assert compare([3, 1, 2], [3, 1, 2])[0] == 1
    assert compare([3, 1, 2], [2, 1, 3])[0] == -1
    assert compare([0, 1, 2, 3], [4, 5, 6, 7])[0] == pytest.approx(-4 / 7)  # −n / (2n − 1)


@pytest.fixture
def world():
    return make_world(images=12, captions=2, seed=5)


def test_every_pair_of_systems(world, rng):
    bench = world.benchmark()
    tables = [rng.normal(size=(12, 24)).astype(np.float32) for _ in range(3)]
    runs = [MatrixRun(table, f"s{k}") for k, table in enumerate(tables)]
    for direction, asked in (("i2t", np.arange(12)), ("t2i", np.array([20, 3, 7]))):
        found = compare_systems(runs, bench, {direction: asked}, 5)[direction]
        assert found.queries == len(asked)
        for a in range(3):
            for b in range(3):
                full = [[ranking(tables[k], q, direction) for q in asked] for k in (a, b)]
                heads = [(x[:5], y[:5]) for x, y in zip(*full)]
                assert found.tau[a, b] == pytest.approx(np.mean([tau(x, y) for x, y in heads]))
                shared = np.mean([len(set(x) & set(y)) / 5 for x, y in heads])
                assert found.overlap[a, b] == pytest.approx(shared)
                places = [y.index(x[0]) + 1 for x, y in zip(*full)]
                assert found.first_rank[a, b] == pytest.approx(np.mean(places))
                assert found.first_median[a, b] == np.median(places)
                assert found.first_near[a, b] == pytest.approx(np.mean([place <= 3 for place in places]))
        assert not found.beyond.any()
    assert len(found.records()) == 6


def test_an_item_beyond_the_end_comes_after_it(world):
    """Lists of two places: the other system's first item counts as third, and is reported."""
    bench = world.benchmark()
    images = bench.images.values.tolist()
    captions = bench.captions.values.tolist()[:2]
    first = RankingsRun({"t2i": {captions[0]: images[:2], captions[1]: images[:2]}}, "a")
    second = RankingsRun({"t2i": {captions[0]: images[4:6], captions[1]: images[1::-1]}}, "b")
    found = compare_systems([first, second], bench, {"t2i": np.arange(2)})["t2i"]
    assert found.first_rank[0, 1] == (3 + 2) / 2
    assert found.beyond[0, 1] == 0.5
    assert found.first_rank[0, 0] == 1


def test_queries_without_a_list_say_nothing(world):
    bench = world.benchmark()
    images, captions = bench.images.values.tolist(), bench.captions.values.tolist()
    runs = [RankingsRun({"t2i": {captions[0]: images[:3]}}, name) for name in "ab"]
    found = compare_systems(runs, bench, depth=3)["t2i"]
    assert found.tau[0, 1] == 1
    empty = [RankingsRun({"t2i": {captions[k]: images[:3]}}, name) for k, name in enumerate("ab")]
    assert compare_systems(empty, bench, {"t2i": np.array([5])})["t2i"].records()[0]["tau"] is None


def test_wrong_input(world):
    bench = world.benchmark()
    run = MatrixRun(np.zeros((12, 24), np.float32), "one")
    with pytest.raises(InputError, match="only one model"):
        compare_systems([run], bench)
    with pytest.raises(InputError, match="depth is 0"):
        compare_systems([run, run], bench, depth=0)
