"""Draws: which pairs were chosen for judging by a sampling design, and with which probability."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sqlalchemy import Connection, insert, select

from karat.errors import InputError
from karat.forms import (
    NOT_GOLD,
    DrawBatch,
    Pool,
    TaskPlan,
    check_name,
    check_time,
    distinct,
    find,
    key_of,
    lookup,
    to_json,
)
from karat.store import bulk
from karat.store.assignments import take_places
from karat.store.database import Database
from karat.store.part import StorePart, Subject
from karat.store.pools import Pools
from karat.store.tables import DRAW, DRAW_BATCH

GOLD = """
    SELECT image, caption, gold FROM pool_gold
    UNION SELECT image, caption, gold FROM item WHERE gold <> -1
"""
"""The stock, and the gold that tasks hide: some of it is drawn only when tasks are made."""


class StoredDraws(StorePart):
    """What was drawn for estimates, append-only: `project.draws`.

    Parameters
    ----------
    database, subject
        As for every part.
    pools
        The pool and the tasks, to which a batch adds.
    """

    def __init__(self, database: Database, subject: Subject, pools: Pools) -> None:
        super().__init__(database, subject)
        self._pools = pools

    def add(self, batch: DrawBatch, plan: TaskPlan | None = None, pool: Pool | None = None) -> int:
        """Store a batch, together with the tasks that ask about it; return the batch's number.

        Everything is one transaction: whatever happens to the process, either all of it is stored or nothing.
        Drawn pairs that are not in the pool yet are added to it. Pairs that were answered before may be
        drawn, since their answers can be used again; a pair that an earlier batch drew is refused.

        Parameters
        ----------
        batch
            What was drawn.
        plan
            The tasks that ask about the pairs, as `karat.judging.plan_draws` returns them; None where no
            pair needs a question. The settings keep the number of the first of them and of the first after
            them, as "tasks".
        pool
            Further pairs and places for the pool, such as those of a run that was not pooled before.
        """
        pools = [*([] if pool is None else [pool]), batch.pool()]
        for each in pools:
            self._pools.check_pool(each)
        if plan is not None:
            self._pools.check_plan(plan)
        row = {
            "design": check_name(batch.design, "the design"),
            "measure": check_name(batch.measure, "the measure"),
            "direction": batch.direction, "seed": int(batch.seed), "frame": int(batch.frame),
            "runs": to_json([check_name(run, "a run") for run in batch.runs], "the runs"),
            "at": check_time(batch.at, "at"),
        }  # fmt: skip
        settings = dict(batch.settings)
        with self._db.write() as connection:
            take_places(connection, 0)
            drawn = find(self._keys(connection), batch.keys) >= 0
            if drawn.any():
                raise InputError(
                    f"{int(drawn.sum()):,} of {len(batch):,} pairs were drawn by an earlier batch",
                    fix="draw from the pairs that are not among project.draws.keys()",
                )
            for each in pools:
                self._pools.grow(connection, each)
            if plan is not None:
                first = self._pools.write_tasks(connection, plan)
                settings["tasks"] = [first, first + plan.tasks]
            row["settings"] = to_json(settings, "the settings")
            number = int(
                connection.execute(insert(DRAW_BATCH).values(**row).returning(DRAW_BATCH.c.id)).scalar_one()
            )
            bulk.insert(
                connection, DRAW, batch=[number] * len(batch), image=batch.image, caption=batch.caption,
                probability=batch.probability, stratum=bulk.or_null(batch.stratum),
                query=bulk.or_null(batch.query), gold=self._gold(connection, batch.keys),
            )  # fmt: skip
        return number

    def read(self) -> list[DrawBatch]:
        """Return all batches, in the order in which they were drawn."""
        query = """
            SELECT batch, image, caption, probability, COALESCE(stratum, -1), COALESCE(query, -1), gold
            FROM draw ORDER BY id
        """
        with self._db.read() as connection:
            rows = connection.execute(select(DRAW_BATCH).order_by(DRAW_BATCH.c.id)).mappings().all()
            number, *columns = bulk.read_columns(connection, query, "iiifiii")
        names = ("image", "caption", "probability", "stratum", "query", "gold")
        ways = {way: self._subject.direction(way) for way in {row["direction"] for row in rows}}
        batches = []
        for row in rows:
            values: dict[str, Any] = {name: row[name] for name in ("measure", "seed", "frame")}
            own = number == row["id"]
            values["direction"] = ways[row["direction"]]
            values |= {name: column[own] for name, column in zip(names, columns, strict=True)}
            runs, settings = tuple(json.loads(row["runs"])), json.loads(row["settings"])
            batches.append(
                DrawBatch(
                    row["design"], runs=runs, settings=settings, at=row["at"], number=row["id"], **values
                )
            )
        return batches

    def keys(self) -> np.ndarray:
        """Return the keys of all drawn pairs, sorted (`karat.forms.key_of`)."""
        with self._db.read() as connection:
            return self._keys(connection)

    def _keys(self, connection: Connection) -> np.ndarray:
        return distinct(key_of(*bulk.read_columns(connection, "SELECT image, caption FROM draw", "ii")))

    def _gold(self, connection: Connection, keys: np.ndarray) -> np.ndarray:
        image, caption, right = bulk.read_columns(connection, GOLD, "iii")
        order = np.argsort(gold := key_of(image, caption), kind="stable")
        return lookup(gold[order], right[order], keys, NOT_GOLD).astype(np.int64)
