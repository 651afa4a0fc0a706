"""Pools go in and come out the same, and merge."""

from dataclasses import replace

import numpy as np
import pytest

from karat.errors import InputError
from karat.forms import Pool
from karat.store import open_project

from .plain_pools import GOLD, merge_pools
from .small import plain_plan


def columns(*values):
    return [np.array(one) for one in values]


def make(**more) -> Pool:
    pairs = columns([0, 0, 7], [3, 5, 1], [0, 1, 0])
    places = columns([0, 0, 2], [0, 1, 1], [0, 1, 0], [1, 4, 2], [0.5, np.nan, 2.0])
    queries = {"i2t": np.array([0, 7]), "t2i": np.array([3])}
    return replace(Pool(*pairs, ("first", "second"), *places, queries, 5, 11, 2), **more)


def rows(pool: Pool):
    score = np.nan_to_num(pool.place_score, nan=-1)
    parts = (pool.place_pair, pool.place_system, pool.place_direction, pool.place_rank, score)
    return sorted(zip(*(part.tolist() for part in parts), strict=True))


def test_a_pool_comes_back_the_same(project, where):
    project.pools.set(make())
    with open_project(where) as again:
        pool = again.pools.read()
    assert (pool.image.tolist(), pool.caption.tolist(), pool.why.tolist()) == (
        [0, 0, 7],
        [3, 5, 1],
        [0, 1, 0],
    )
    assert (pool.systems, pool.top, pool.judged, pool.filtered) == (("first", "second"), 5, 11, 2)
    assert rows(pool) == rows(make())
    bare = project.pools.read(places=False)
    assert (bare.image.tolist(), bare.systems, rows(bare)) == (pool.image.tolist(), pool.systems, [])
    assert {side: asked.tolist() for side, asked in pool.queries.items()} == {"i2t": [0, 7], "t2i": [3]}


def test_a_second_pool_is_merged_and_the_first_is_not_replaced_once_there_are_tasks(project):
    with pytest.raises(InputError, match="has no pool"):
        project.pools.read()
    project.pools.add(make())
    project.pools.set(make())
    project.pools.add_tasks(plain_plan(1))
    with pytest.raises(InputError, match=r"project\.pools\.add"):
        project.pools.set(make())
    other = Pool(
        *columns([0, 2], [5, 2], [0, 0]), ("second", "third"), *columns([0, 0, 1], [0, 1, 1], [1, 1, 0]),
        *columns([3, 9, 1], [0.1, 0.2, 0.3]), {"i2t": np.array([2])}, 10,
    )  # fmt: skip
    project.pools.add(other)
    pool = project.pools.read()
    assert (pool.image.tolist(), pool.caption.tolist()) == ([0, 0, 2, 7], [3, 5, 2, 1])
    # The pair that filled a grid is suggested by a system now.
    assert pool.why.tolist() == [0, 0, 0, 0]
    assert pool.systems == ("first", "second", "third")
    assert rows(pool) == [
        (0, 0, 0, 1, 0.5), (0, 1, 1, 4, -1), (1, 1, 1, 3, 0.1), (1, 2, 1, 9, 0.2), (2, 2, 0, 1, 0.3),
        (3, 1, 0, 2, 2.0),
    ]  # fmt: skip
    assert pool.queries["i2t"].tolist() == [0, 2, 7]
    assert pool.top == 10


def random_pool(rng) -> Pool:
    """A pool of a few of 60 pairs, so that two have pairs and places in common."""
    keys = np.sort(rng.choice(60, rng.integers(1, 40), replace=False))
    systems = tuple(rng.permutation(["a", "b", "c", "d"])[: rng.integers(1, 4)].tolist())
    places = rng.choice(len(keys) * len(systems) * 2, rng.integers(0, 2 * len(keys) * len(systems)), False)
    pair, rest = np.divmod(places, len(systems) * 2)
    score = rng.choice([0.5, 2.0, np.nan], len(places))
    gold = rng.integers(0, 40, (2, rng.integers(0, 5)))
    return Pool(
        keys // 10, keys % 10, rng.integers(0, 3, len(keys)), systems, pair, rest // 2, rest % 2,
        rng.integers(1, 9, len(places)), score, {"i2t": np.sort(rng.choice(40, 6, False))},
        *rng.integers(0, 20, 3).tolist(), *gold, rng.integers(0, 2, gold.shape[1]),
    )  # fmt: skip


def test_adding_a_pool_comes_to_the_same_as_merging_both(project):
    rng = np.random.default_rng(3)
    for _ in range(12):
        expected = random_pool(rng)
        project.pools.set(expected)
        for _ in range(2):
            new = random_pool(rng)
            expected = merge_pools(expected, new)
            project.pools.add(new)
        pool = project.pools.read()
        assert rows(pool) == rows(expected)
        for name in ("image", "caption", "why", *GOLD):
            assert getattr(pool, name).tolist() == getattr(expected, name).tolist(), name
        for name in ("systems", "top", "judged", "filtered"):
            assert getattr(pool, name) == getattr(expected, name), name
        for side, queries in expected.queries.items():
            assert pool.queries[side].tolist() == queries.tolist()


def test_adding_a_pool_leaves_the_other_rows_alone(on_file):
    on_file.pools.set(make())
    changed = []
    with on_file.database.write() as connection:
        # Counted by SQLite itself, temporary tables excluded.
        for table in ("pool_pair", "pool_place", "pool_gold", "pool_query", "pool_system"):
            for kind in ("INSERT", "UPDATE", "DELETE"):
                connection.exec_driver_sql(
                    f"CREATE TRIGGER seen_{table}_{kind} AFTER {kind} ON {table} "
                    "BEGIN INSERT INTO setting VALUES (hex(randomblob(8)), "
                    f"'{kind} {table}'); END"
                )
    on_file.pools.add(make(image=np.array([0, 0, 8]), place_rank=np.array([1, 7, 3])))
    with on_file.database.read() as connection:
        changed = sorted(connection.exec_driver_sql("SELECT value FROM setting").scalars())
    # The pair (8, 1) and its place are new; the other two places, which both have, are replaced.
    expected = ["DELETE pool_place"] * 2 + ["INSERT pool_pair"] + ["INSERT pool_place"] * 3
    assert changed == expected


def test_a_pool_that_cannot_be_added_changes_nothing(project, monkeypatch):
    project.pools.set(make())

    def fail(self, *rest):
        raise OSError("the power went off")

    monkeypatch.setattr("karat.store.pools.Pools._write_gold", fail)
    with pytest.raises(OSError, match="power"):
        project.pools.add(make(image=np.array([0, 0, 8]), top=50))
    monkeypatch.undo()
    assert (len(project.pools.read()), project.pools.read().top) == (3, 5)
    project.pools.add(make(image=np.array([0, 0, 8]), top=50))
    assert (len(project.pools.read()), project.pools.read().top) == (4, 50)


def test_pairs_outside_the_benchmark(on_file):
    with pytest.raises(InputError, match="pair 2 of the pool has image 40"):
        on_file.pools.set(make(image=np.array([0, 0, 40])))
    plan = plain_plan(1)
    with pytest.raises(InputError, match="item 1 of the plan has caption 120"):
        on_file.pools.add_tasks(replace(plan, caption=np.array([0, 120])))
    with pytest.raises(InputError, match="has a duplicate pair"):
        on_file.pools.add_tasks(replace(plan, caption=np.array([1, 1])))
    with pytest.raises(InputError, match="numbered from 0"):
        on_file.pools.add_tasks(replace(plan, task=np.array([1, 1])))
