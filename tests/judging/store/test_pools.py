"""Pools go in and come out the same, and merge."""

from dataclasses import replace

import numpy as np
import pytest

from karat.errors import InputError
from karat.judging import Pool
from karat.judging.store import open_project

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
