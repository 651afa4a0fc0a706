"""The pool of a project, which pairs are to be judged and where models ranked them, and its tasks."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select

from karat.benchmarks import DIRECTIONS
from karat.errors import InputError
from karat.judging.pools import Pool
from karat.judging.store import bulk
from karat.judging.store.assignments import add_slots, next_number, take_places
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
from karat.judging.tasks import KNOWN_NO, KNOWN_YES, UNKNOWN, TaskPlan

TABLES = (POOL, POOL_GOLD, POOL_PAIR, POOL_PLACE, POOL_QUERY, POOL_SYSTEM)
GOLD = ("gold_image", "gold_caption", "gold_right")


class Pools(StorePart):
    """The pool and the tasks of a project: `project.pools`."""

    def set(self, pool: Pool) -> None:
        """Keep a pool in place of any before; once there are tasks, a pool can only be added to."""
        self._check_pool(pool)
        with self._db.write() as connection:
            take_places(connection, 0)
            if connection.execute(select(func.count()).select_from(TASK)).scalar_one():
                raise InputError("there are tasks of the old pool", fix="add to it instead (add_pool)")
            self._write_pool(connection, pool)

    def add(self, pool: Pool) -> None:
        """Merge another pool into the one that is there; a place that both have is taken from the new one."""
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
                "the project has no pool", where=self._db.place.shown, fix="make one: karat pool"
            )
        return pool

    def add_tasks(self, plan: TaskPlan) -> int:
        """Add the tasks of a plan, numbered on from those that are there; return the number of the first."""
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
            add_slots(connection, first + np.repeat(np.arange(plan.tasks), plan.overlap), place)
            self._db.analyse(connection)
        return first

    def plan(self) -> TaskPlan:
        """Return all tasks so far as one plan; its overlap is the largest of theirs."""
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
        # Numbered, since the stock of known pairs is used from its beginning.
        bulk.insert(
            connection, POOL_GOLD, id=np.arange(len(pool.gold_image)), image=pool.gold_image,
            caption=pool.gold_caption, gold=np.asarray(pool.gold_right, np.int64),
        )  # fmt: skip
        for number, direction in enumerate(DIRECTIONS):
            asked = np.asarray(pool.queries.get(direction, ()), dtype=np.int64)
            bulk.insert(connection, POOL_QUERY, direction=np.full(len(asked), number), query=asked)

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
        known = bulk.read_columns(connection, "SELECT image, caption, gold FROM pool_gold ORDER BY id", "iii")
        width = self._subject.captions
        pair = np.searchsorted(image * width + caption, place_image * width + place_caption)
        order = np.lexsort((rank, direction, system, pair))
        return Pool(
            image, caption, why, tuple(names), pair[order], system[order], direction[order], rank[order],
            score[order], {name: np.sort(query[side == n]) for n, name in enumerate(DIRECTIONS)},
            facts["top"], facts["judged"], facts["filtered"], known[0], known[1], known[2].astype(np.int8),
        )  # fmt: skip

    def _check_plan(self, plan: TaskPlan) -> np.ndarray:
        """Return the tasks' numbers, or raise before anybody is asked about pairs that are not there."""
        task, pair = plan.task, plan.image * self._subject.captions + plan.caption
        if not len(plan) or plan.overlap < 1:
            raise InputError(
                "the plan has no task, or wants nobody", fix="plan at least a task for one person"
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
        if not np.isin(plan.gold, (UNKNOWN, KNOWN_NO, KNOWN_YES)).all():
            raise InputError("the plan has gold that is neither known nor unknown", fix="use -1, 0 and 1")
        if task[0] != 0 or not np.isin(np.diff(task), (0, 1)).all():
            raise InputError("the tasks of the plan are not numbered from 0 in order", fix="sort its items")
        if (np.diff(plan.position)[np.diff(task) == 0] <= 0).any():
            raise InputError("the items of a task are not in order", fix="sort them by position, each once")
        order = np.lexsort((pair, task))
        again = np.flatnonzero((np.diff(task[order]) == 0) & (np.diff(pair[order]) == 0))
        if len(again):
            raise InputError(f"task {task[order][again[0]]} has a pair twice", fix="ask about a pair once")
        return task


def merge_pools(old: Pool, new: Pool) -> Pool:
    """Return the pairs and places of both; a place that both have is the new one's.

    >>> def one(image, rank):
    ...     pair, zero = np.array([image]), np.array([0])
    ...     places = (zero, zero, zero, np.array([rank]), np.array([1.0]))
    ...     return Pool(pair, zero, zero, ("a",), *places, top=rank)
    >>> merge_pools(merge_pools(one(3, 1), one(2, 5)), one(3, 2)).place_rank.tolist()
    [5, 2]
    """
    systems = tuple(dict.fromkeys((*old.systems, *new.systems)))
    image, caption = both(old.image, new.image), both(old.caption, new.caption)
    width = int(caption.max(initial=0)) + 1
    key, first, which = np.unique(image * width + caption, return_index=True, return_inverse=True)
    why = np.full(len(key), np.iinfo(np.int64).max)
    # A pair that a system suggests is pooled, also where it filled a grid before.
    np.minimum.at(why, which, both(old.why, new.why))
    number = {name: at for at, name in enumerate(systems)}
    ours = [np.array([number[name] for name in pool.systems], np.int64) for pool in (old, new)]
    pair = both(which[old.place_pair], which[len(old) + new.place_pair])
    system = both(ours[0][old.place_system], ours[1][new.place_system])
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


def both(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return two columns as one."""
    return np.concatenate([one, other])
