"""The pool of a project (the pairs to judge, and where models ranked them), and its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike
from sqlalchemy import Connection, MetaData, Table, delete, func, insert, select, update

from karat.benchmarks import Direction, asks_first, sides_of
from karat.errors import InputError
from karat.forms import GOLD_NO, GOLD_YES, NOT_GOLD, Pool, TaskPlan, are_pairs, check_name, key_of
from karat.store import bulk
from karat.store.assignments import add_assignments, next_number, take_places
from karat.store.part import StorePart
from karat.store.tables import ITEM, POOL, POOL_GOLD, POOL_PAIR, POOL_PLACE, POOL_QUERY, POOL_SYSTEM, TASK

TABLES = (POOL, POOL_GOLD, POOL_PAIR, POOL_PLACE, POOL_QUERY, POOL_SYSTEM)
PLACES = "SELECT image, caption, system, direction, rank, score FROM pool_place"
ADD_PAIRS = """
    INSERT INTO pool_pair (image, caption, why) SELECT image, caption, why FROM incoming WHERE 1 = 1
    ON CONFLICT (image, caption) DO UPDATE SET why = excluded.why WHERE excluded.why < pool_pair.why
"""
REPLACE_PLACES = (
    """
    DELETE FROM pool_place WHERE (image, caption, system, direction)
    IN (SELECT image, caption, system, direction FROM incoming)
    """,
    """
    INSERT INTO pool_place (image, caption, system, direction, rank, score)
    SELECT image, caption, system, direction, rank, score FROM incoming
    """,
)


class Pools(StorePart):
    """The pool and the tasks of a project: `project.pools`."""

    def set(self, pool: Pool) -> None:
        """Store a pool and replace the current one; once there are tasks, a pool can only be added to."""
        self.check_pool(pool)
        with self._db.write() as connection:
            take_places(connection, 0)
            if connection.execute(select(func.count()).select_from(TASK)).scalar_one():
                raise InputError(
                    "the current pool already has tasks", fix="add to it instead (project.pools.add)"
                )
            self._write_pool(connection, pool)

    def add(self, pool: Pool) -> None:
        """Add another pool to the current one; a place that both have is taken from the new one.

        Only what is new is written: the time grows with the pool that is added, not with the current one.
        """
        self.check_pool(pool)
        with self._db.write() as connection:
            take_places(connection, 0)
            self.grow(connection, pool)

    def exists(self) -> bool:
        """Return whether the project has a pool."""
        with self._db.read() as connection:
            return connection.execute(select(POOL.c.id)).first() is not None

    def read(self, places: bool = True) -> Pool:
        """Return the pool; without the places, which are most of it, a large one is read much faster."""
        directions = self._subject.directions
        with self._db.read() as connection:
            pool = self._read_pool(connection, places, directions)
        if pool is None:
            raise InputError(
                "the project has no pool", where=self._db.place.shown, fix="create one: karat project pool"
            )
        return pool

    def add_tasks(self, plan: TaskPlan) -> int:
        """Add the tasks of a plan, numbered after the existing ones; return the number of the first."""
        self.check_plan(plan)
        with self._db.write() as connection:
            return self.write_tasks(connection, plan)

    def plan(self) -> TaskPlan:
        """Return all tasks as one plan; its overlap is the largest of any task."""
        with self._db.read() as connection:
            query = "SELECT task, position, grp, image, caption, gold FROM item ORDER BY id"
            task, position, group, image, caption, gold = bulk.read_columns(connection, query, "iiiiii")
            overlap = connection.execute(select(func.max(TASK.c.overlap))).scalar_one()
        return TaskPlan(task, position, group, image, caption, gold, overlap or 0)

    def write_tasks(self, connection: Connection, plan: TaskPlan) -> int:
        """Add the tasks of a plan that was checked within a transaction; return the number of the first."""
        place = take_places(connection, plan.tasks * plan.overlap)
        first = next_number(connection, TASK)
        bulk.insert(connection, TASK, id=first + np.arange(plan.tasks), overlap=[plan.overlap] * plan.tasks)
        bulk.insert(
            connection, ITEM, id=next_number(connection, ITEM) + np.arange(len(plan)), task=first + plan.task,
            position=plan.position, grp=plan.group, image=plan.image, caption=plan.caption, gold=plan.gold,
        )  # fmt: skip
        add_assignments(connection, first + np.repeat(np.arange(plan.tasks), plan.overlap), place)
        self._db.analyse(connection)
        return first

    def grow(self, connection: Connection, pool: Pool) -> None:
        """Add a pool that was checked within a transaction; `take_places` must be called before."""
        facts = connection.execute(select(POOL)).mappings().one_or_none()
        if facts is None:
            self._write_pool(connection, pool)
            return
        connection.execute(
            update(POOL).values(
                top=max(facts["top"], pool.top), judged=facts["judged"] + pool.judged,
                filtered=facts["filtered"] + pool.filtered,
            )
        )  # fmt: skip
        names = list(connection.execute(select(POOL_SYSTEM.c.name).order_by(POOL_SYSTEM.c.id)).scalars())
        number = {name: at for at, name in enumerate(dict.fromkeys((*names, *pool.systems)))}
        added = list(number)[len(names) :]
        bulk.insert(connection, POOL_SYSTEM, id=len(names) + np.arange(len(added)), name=added)
        system = np.array([number[name] for name in pool.systems], np.int64)[pool.place_system]
        with incoming(connection, POOL_PAIR, image=pool.image, caption=pool.caption, why=pool.why):
            # A pair that a system suggests is in the pool for that reason, also where it filled a grid.
            connection.exec_driver_sql(ADD_PAIRS)
        with incoming(connection, POOL_PLACE, **place_columns(pool, last_places(pool), system)):
            for statement in REPLACE_PLACES:
                connection.exec_driver_sql(statement)
        side, query = bulk.read_columns(connection, "SELECT direction, query FROM pool_query", "ii")
        for direction, queries in pool.queries.items():
            known = query[side == number_of(direction)]
            self._write_queries(connection, direction, np.setdiff1d(queries, known))
        self._write_gold(connection, pool, next_number(connection, POOL_GOLD))

    def check_pool(self, pool: Pool) -> None:
        """Raise for a pool that cannot be stored."""
        self._check_inside(pool.image, pool.caption, "pair", "pool")
        self._check_inside(pool.gold_image, pool.gold_caption, "pair", "pool")
        for system in pool.systems:
            check_name(system, "a system")

    def _write_pool(self, connection: Connection, pool: Pool) -> None:
        for table in TABLES:
            connection.execute(delete(table))
        facts = {"top": pool.top, "judged": pool.judged, "filtered": pool.filtered}
        connection.execute(insert(POOL).values(id=1, **facts))
        bulk.insert(connection, POOL_SYSTEM, id=np.arange(len(pool.systems)), name=list(pool.systems))
        bulk.insert(connection, POOL_PAIR, image=pool.image, caption=pool.caption, why=pool.why)
        everything = np.arange(len(pool.place_pair))
        bulk.insert(connection, POOL_PLACE, **place_columns(pool, everything, pool.place_system))
        self._write_gold(connection, pool, 0)
        for direction, queries in pool.queries.items():
            self._write_queries(connection, direction, queries)

    def _write_gold(self, connection: Connection, pool: Pool, first: int) -> None:
        # Numbered, since the gold pairs are used in this order.
        bulk.insert(
            connection, POOL_GOLD, id=first + np.arange(len(pool.gold_image)), image=pool.gold_image,
            caption=pool.gold_caption, gold=np.asarray(pool.gold_right, np.int64),
        )  # fmt: skip

    def _write_queries(self, connection: Connection, direction: Direction, queries: ArrayLike) -> None:
        queries = np.asarray(queries, dtype=np.int64)
        numbers = np.full(len(queries), number_of(direction))
        bulk.insert(connection, POOL_QUERY, direction=numbers, query=queries)

    def _read_pool(
        self, connection: Connection, places: bool, directions: Sequence[Direction]
    ) -> Pool | None:
        facts = connection.execute(select(POOL)).mappings().one_or_none()
        if facts is None:
            return None
        image, caption, why = bulk.read_columns(
            connection, "SELECT image, caption, why FROM pool_pair ORDER BY image, caption", "iii"
        )
        place_image, place_caption, system, direction, rank, score = bulk.read_columns(
            connection, f"{PLACES}{'' if places else ' WHERE 1 = 0'}", "iiiiif"
        )
        names = connection.execute(select(POOL_SYSTEM.c.name).order_by(POOL_SYSTEM.c.id)).scalars()
        side, query = bulk.read_columns(connection, "SELECT direction, query FROM pool_query", "ii")
        gold = bulk.read_columns(connection, "SELECT image, caption, gold FROM pool_gold ORDER BY id", "iii")
        width = self._subject.captions
        pair = np.searchsorted(image * width + caption, place_image * width + place_caption)
        order = np.lexsort((rank, direction, system, pair))
        queries = {name: np.sort(query[side == number_of(name)]) for name in directions}
        return Pool(
            image, caption, why, tuple(names), pair[order], system[order], direction[order], rank[order],
            score[order], queries, facts["top"], facts["judged"], facts["filtered"],
            gold[0], gold[1], gold[2].astype(np.int8),
        )  # fmt: skip

    def _check_inside(self, image: np.ndarray, caption: np.ndarray, row: str, table: str) -> None:
        """Raise where a row of a table has an item that the benchmark does not have, or is no pair."""
        direction, sizes = self._subject.directions[0], (self._subject.images, self._subject.captions)
        for side, index, size in zip(sides_of(direction), (image, caption), sizes):
            outside = np.flatnonzero((index < 0) | (index >= size))
            if len(outside):
                raise InputError(
                    f"{row} {outside[0]} of the {table} has {side.one} {index[outside[0]]}",
                    fix=f"the benchmark has {size:,}, from 0",
                )
        wrong = np.flatnonzero(~are_pairs(direction, key_of(image, caption)))
        if len(wrong):
            raise InputError(
                f"{row} {wrong[0]} of the {table} is {image[wrong[0]]} with {caption[wrong[0]]}",
                fix="pair different items, the smaller index first: the two have no direction",
            )

    def check_plan(self, plan: TaskPlan) -> None:
        """Raise for a plan that cannot be stored."""
        task, pair = plan.task, plan.image * self._subject.captions + plan.caption
        if not len(plan) or plan.overlap < 1:
            raise InputError(
                "the plan has no items, or an overlap below 1", fix="plan at least one task for one annotator"
            )
        self._check_inside(plan.image, plan.caption, "item", "plan")
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


def number_of(direction: Direction) -> int:
    """Return the number that is stored for a direction: 0 where the first side of the pairs asks, else 1."""
    return int(not asks_first(direction))


@contextmanager
def incoming(connection: Connection, table: Table, **columns: np.ndarray) -> Iterator[None]:
    """Hold rows in the temporary table `incoming`, which has the columns of `table`."""
    connection.exec_driver_sql(
        f"CREATE TEMPORARY TABLE incoming AS SELECT {', '.join(columns)} FROM {table.name} WHERE 1 = 0"
    )
    bulk.insert(connection, table.to_metadata(MetaData(), name="incoming"), **columns)
    yield
    connection.exec_driver_sql("DROP TABLE incoming")


def place_columns(pool: Pool, rows: np.ndarray, system: np.ndarray) -> dict[str, np.ndarray]:
    """Return some places of a pool as columns of their table; `system` numbers the system of each place."""
    pair = pool.place_pair[rows]
    return {
        "image": pool.image[pair], "caption": pool.caption[pair], "system": system[rows],
        "direction": pool.place_direction[rows], "rank": pool.place_rank[rows],
        "score": np.asarray(pool.place_score, np.float64)[rows],
    }  # fmt: skip


def last_places(pool: Pool) -> np.ndarray:
    """Return the rows of the places, the last one where a pair, system and direction have several."""
    place = (pool.place_pair.astype(np.int64) * len(pool.systems) + pool.place_system) * 2
    _, back = np.unique((place + pool.place_direction)[::-1], return_index=True)
    return len(place) - 1 - back
