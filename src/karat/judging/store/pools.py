"""The pool of a project (the pairs to judge, and where models ranked them), and its tasks."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select

from karat.benchmarks import DIRECTIONS
from karat.errors import InputError
from karat.judging.pools import Pool
from karat.judging.store import bulk
from karat.judging.store.assignments import add_assignments, next_number, take_places
from karat.judging.store.part import StorePart
from karat.judging.store.tables import (
    ITEM,
    POOL,
    POOL_GOLD,
    POOL_PAIR,
    POOL_PLACE,
    POOL_QUERY,
    POOL_SYSTEM,
    TASK,
)
from karat.judging.store.texts import check_name
from karat.judging.tasks import GOLD_NO, GOLD_YES, NOT_GOLD, TaskPlan

TABLES = (POOL, POOL_GOLD, POOL_PAIR, POOL_PLACE, POOL_QUERY, POOL_SYSTEM)
GOLD = ("gold_image", "gold_caption", "gold_right")


class Pools(StorePart):
    """The pool and the tasks of a project: `project.pools`."""

    def set(self, pool: Pool) -> None:
        """Store a pool and replace the current one; once there are tasks, a pool can only be added to."""
        self._check_pool(pool)
        with self._db.write() as connection:
            take_places(connection, 0)
            if connection.execute(select(func.count()).select_from(TASK)).scalar_one():
                raise InputError(
                    "the current pool already has tasks", fix="add to it instead (project.pools.add)"
                )
            self._write_pool(connection, pool)

    def add(self, pool: Pool) -> None:
        """Merge another pool into the current one; a place that both have is taken from the new one."""
        self._check_pool(pool)
        with self._db.write() as connection:
            take_places(connection, 0)
            old = self._read_pool(connection)
            self._write_pool(connection, pool if old is None else merge_pools(old, pool))

    def read(self) -> Pool:
        """Return the pool."""
        with self._db.read() as connection:
            pool = self._read_pool(connection)
        if pool is None:
            raise InputError(
                "the project has no pool", where=self._db.place.shown, fix="create one: karat pool"
            )
        return pool

    def add_tasks(self, plan: TaskPlan) -> int:
        """Add the tasks of a plan, numbered after the existing ones; return the number of the first."""
        task = self._check_plan(plan)
        with self._db.write() as connection:
            place = take_places(connection, plan.tasks * plan.overlap)
            first = next_number(connection, TASK)
            bulk.insert(
                connection, TASK, id=first + np.arange(plan.tasks), overlap=[plan.overlap] * plan.tasks
            )
            bulk.insert(
                connection, ITEM, id=next_number(connection, ITEM) + np.arange(len(plan)), task=first + task,
                position=plan.position, grp=plan.group, image=plan.image, caption=plan.caption,
                gold=plan.gold,
            )  # fmt: skip
            add_assignments(connection, first + np.repeat(np.arange(plan.tasks), plan.overlap), place)
            self._db.analyse(connection)
        return first

    def plan(self) -> TaskPlan:
        """Return all tasks as one plan; its overlap is the largest of any task."""
        with self._db.read() as connection:
            query = "SELECT task, position, grp, image, caption, gold FROM item ORDER BY id"
            task, position, group, image, caption, gold = bulk.read_columns(connection, query, "iiiiii")
            overlap = connection.execute(select(func.max(TASK.c.overlap))).scalar_one()
        return TaskPlan(task, position, group, image, caption, gold, overlap or 0)

    def _check_pool(self, pool: Pool) -> None:
        for kind, index, size in (
            ("image", pool.image, self._subject.images),
            ("caption", pool.caption, self._subject.captions),
            ("image", pool.gold_image, self._subject.images),
            ("caption", pool.gold_caption, self._subject.captions),
        ):
            outside = np.flatnonzero((index < 0) | (index >= size))
            if len(outside):
                raise InputError(
                    f"pair {outside[0]} of the pool has {kind} {index[outside[0]]}",
                    fix=f"the benchmark has {size:,}, from 0",
                )
        for system in pool.systems:
            check_name(system, "a system")

    def _write_pool(self, connection: Connection, pool: Pool) -> None:
        for table in TABLES:
            connection.execute(delete(table))
        facts = {"top": pool.top, "judged": pool.judged, "filtered": pool.filtered}
        connection.execute(insert(POOL).values(id=1, **facts))
        bulk.insert(connection, POOL_SYSTEM, id=np.arange(len(pool.systems)), name=list(pool.systems))
        bulk.insert(connection, POOL_PAIR, image=pool.image, caption=pool.caption, why=pool.why)
        bulk.insert(
            connection, POOL_PLACE, image=pool.image[pool.place_pair], caption=pool.caption[pool.place_pair],
            system=pool.place_system, direction=pool.place_direction, rank=pool.place_rank,
            score=np.asarray(pool.place_score, np.float64),
        )  # fmt: skip
        # Numbered, since the gold pairs are used in this order.
        bulk.insert(
            connection, POOL_GOLD, id=np.arange(len(pool.gold_image)), image=pool.gold_image,
            caption=pool.gold_caption, gold=np.asarray(pool.gold_right, np.int64),
        )  # fmt: skip
        for number, direction in enumerate(DIRECTIONS):
            queries = np.asarray(pool.queries.get(direction, ()), dtype=np.int64)
            bulk.insert(connection, POOL_QUERY, direction=np.full(len(queries), number), query=queries)

    def _read_pool(self, connection: Connection) -> Pool | None:
        facts = connection.execute(select(POOL)).mappings().one_or_none()
        if facts is None:
            return None
        image, caption, why = bulk.read_columns(
            connection, "SELECT image, caption, why FROM pool_pair ORDER BY image, caption", "iii"
        )
        place_image, place_caption, system, direction, rank, score = bulk.read_columns(
            connection, "SELECT image, caption, system, direction, rank, score FROM pool_place", "iiiiif"
        )
        names = connection.execute(select(POOL_SYSTEM.c.name).order_by(POOL_SYSTEM.c.id)).scalars()
        side, query = bulk.read_columns(connection, "SELECT direction, query FROM pool_query", "ii")
        gold = bulk.read_columns(connection, "SELECT image, caption, gold FROM pool_gold ORDER BY id", "iii")
        width = self._subject.captions
        pair = np.searchsorted(image * width + caption, place_image * width + place_caption)
        order = np.lexsort((rank, direction, system, pair))
        return Pool(
            image, caption, why, tuple(names), pair[order], system[order], direction[order], rank[order],
            score[order], {name: np.sort(query[side == n]) for n, name in enumerate(DIRECTIONS)},
            facts["top"], facts["judged"], facts["filtered"], gold[0], gold[1], gold[2].astype(np.int8),
        )  # fmt: skip

    def _check_plan(self, plan: TaskPlan) -> np.ndarray:
        """Return the numbers of the tasks, or raise for a plan that cannot be stored."""
        task, pair = plan.task, plan.image * self._subject.captions + plan.caption
        if not len(plan) or plan.overlap < 1:
            raise InputError(
                "the plan has no items, or an overlap below 1", fix="plan at least one task for one annotator"
            )
        for kind, index, size in (
            ("image", plan.image, self._subject.images),
            ("caption", plan.caption, self._subject.captions),
        ):
            outside = np.flatnonzero((index < 0) | (index >= size))
            if len(outside):
                raise InputError(
                    f"item {outside[0]} of the plan has {kind} {index[outside[0]]}",
                    fix=f"the benchmark has {size:,}, from 0",
                )
        if not np.isin(plan.gold, (NOT_GOLD, GOLD_NO, GOLD_YES)).all():
            raise InputError(
                "the gold of the plan has values other than -1, 0 and 1",
                fix="use -1 for pairs that are not gold",
            )
        if task[0] != 0 or not np.isin(np.diff(task), (0, 1)).all():
            raise InputError("the tasks of the plan are not numbered from 0 in order", fix="sort its items")
        if (np.diff(plan.position)[np.diff(task) == 0] <= 0).any():
            raise InputError(
                "the items of a task are not in order", fix="sort them by position, without duplicates"
            )
        order = np.lexsort((pair, task))
        repeated = np.flatnonzero((np.diff(task[order]) == 0) & (np.diff(pair[order]) == 0))
        if len(repeated):
            raise InputError(
                f"task {task[order][repeated[0]]} has a duplicate pair", fix="remove one of them"
            )
        return task


def merge_pools(old: Pool, new: Pool) -> Pool:
    """Return the pairs and places of both; a place that both have is the new one's.

    >>> def pool_of(image, rank):
    ...     pair, zero = np.array([image]), np.array([0])
    ...     places = (zero, zero, zero, np.array([rank]), np.array([1.0]))
    ...     return Pool(pair, zero, zero, ("a",), *places, top=rank)
    >>> merge_pools(merge_pools(pool_of(3, 1), pool_of(2, 5)), pool_of(3, 2)).place_rank.tolist()
    [5, 2]
    """
    systems = tuple(dict.fromkeys((*old.systems, *new.systems)))
    image, caption = both(old.image, new.image), both(old.caption, new.caption)
    width = int(caption.max(initial=0)) + 1
    key, first, which = np.unique(image * width + caption, return_index=True, return_inverse=True)
    why = np.full(len(key), np.iinfo(np.int64).max)
    # A pair that a system suggests is in the pool for that reason, also where it filled a grid before.
    np.minimum.at(why, which, both(old.why, new.why))
    number = {name: at for at, name in enumerate(systems)}
    renumbered = [np.array([number[name] for name in pool.systems], np.int64) for pool in (old, new)]
    pair = both(which[old.place_pair], which[len(old) + new.place_pair])
    system = both(renumbered[0][old.place_system], renumbered[1][new.place_system])
    direction = both(old.place_direction, new.place_direction)
    place = (pair * len(systems) + system) * 2 + direction
    # The last of equal places: the new pool's.
    _, back = np.unique(place[::-1], return_index=True)
    kept = len(place) - 1 - back
    queries = {
        side: np.union1d(old.queries.get(side, ()), new.queries.get(side, ())).astype(np.int64)
        for side in DIRECTIONS
    }
    return Pool(
        image[first], caption[first], why, systems, pair[kept], system[kept], direction[kept],
        both(old.place_rank, new.place_rank)[kept], both(old.place_score, new.place_score)[kept], queries,
        max(old.top, new.top), old.judged + new.judged, old.filtered + new.filtered,
        *(both(getattr(old, name), getattr(new, name)) for name in GOLD),
    )  # fmt: skip


def both(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return two columns as one."""
    return np.concatenate([old, new])
