"""The pool of a project: which pairs are to be judged, and where the systems ranked them."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select

from karat.benchmarks import DIRECTIONS
from karat.errors import InputError
from karat.judging.pools import Pool
from karat.judging.store import bulk
from karat.judging.store.base import StorePart, take_places
from karat.judging.store.merging import merge_pools
from karat.judging.store.schema import POOL, POOL_GOLD, POOL_PAIR, POOL_PLACE, POOL_QUERY, POOL_SYSTEM, TASK
from karat.judging.store.texts import check_name

TABLES = (POOL, POOL_GOLD, POOL_PAIR, POOL_PLACE, POOL_QUERY, POOL_SYSTEM)


class Pools(StorePart):
    """Keeping the pool."""

    def set_pool(self, pool: Pool) -> None:
        """Keep a pool in place of any before; once there are tasks, a pool can only be added to."""
        self._check_pool(pool)
        with self._db.write() as connection:
            take_places(connection, 0)
            if connection.execute(select(func.count()).select_from(TASK)).scalar_one():
                raise InputError("there are tasks of the old pool", fix="add to it instead (add_pool)")
            self._write_pool(connection, pool)

    def add_pool(self, pool: Pool) -> None:
        """Merge another pool into the one that is there; a place that both have is taken from the new one."""
        self._check_pool(pool)
        with self._db.write() as connection:
            take_places(connection, 0)
            old = self._read_pool(connection)
            self._write_pool(connection, pool if old is None else merge_pools(old, pool))

    def pool(self) -> Pool:
        """Return the pool."""
        with self._db.read() as connection:
            pool = self._read_pool(connection)
        if pool is None:
            raise InputError(
                "the project has no pool", where=self._db.place.shown, fix="make one: karat pool"
            )
        return pool

    def _check_pool(self, pool: Pool) -> None:
        for kind, index, size in (
            ("image", pool.image, self._images),
            ("caption", pool.caption, self._captions),
            ("image", pool.gold_image, self._images),
            ("caption", pool.gold_caption, self._captions),
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
        width = self._captions
        pair = np.searchsorted(image * width + caption, place_image * width + place_caption)
        order = np.lexsort((rank, direction, system, pair))
        return Pool(
            image, caption, why, tuple(names), pair[order], system[order], direction[order], rank[order],
            score[order], {name: np.sort(query[side == n]) for n, name in enumerate(DIRECTIONS)},
            facts["top"], facts["judged"], facts["filtered"], known[0], known[1], known[2].astype(np.int8),
        )  # fmt: skip
