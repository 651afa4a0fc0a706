"""``karat tasks``: a project's pool, packed into tasks with hidden gold pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.judging import Pool, TaskPlan

app = typer.Typer()


@app.command(cls=Command)
def tasks(
    project: options.ProjectPlace,
    task_size: options.TaskSize = None,
    gold: options.Gold = None,
    overlap: options.Overlap = 3,
    per_hour: options.PerHour = 15.0,
    per_task: options.PerTask = None,
    fee: options.Fee = 0.2,
    dry_run: options.DryRun = False,
    seed: options.Seed = 0,
) -> None:
    """Pack a project's pool into tasks.

    Gold pairs, whose answers are known, are hidden among the others. Pairs that are in a task already stay
    there: what was pooled later gets new tasks.
    """
    from karat.cli.show import show
    from karat.judging import estimate_cost, make_tasks, open_project

    with open_project(project) as opened:
        pool, before = opened.pools.read(), opened.pools.plan()
        rest = not_planned(pool, before)
        if len(pool) and not len(rest):
            raise InputError("every pair is in a task already", where=project, fix="pool more pairs first")
        plan = make_tasks(rest, opened.form, task_size=task_size, gold=gold, overlap=overlap, seed=seed)
        price = {"per_hour": per_hour, "per_task": per_task, "fee": fee}
        cost = estimate_cost(
            len(rest), opened.form, task_size=task_size, gold=gold, overlap=overlap, **price  # type: ignore[arg-type]
        )  # fmt: skip
        show(cost)
        if dry_run:
            return
        first = opened.pools.add_tasks(plan)
        said = {"tasks": plan.tasks, "first": first, "pairs": len(rest), "gold": cost.gold}
        opened.journal.log("tasks", said | {"overlap": overlap, "seed": seed})
    last = first + plan.tasks - 1
    print(f"wrote tasks {first} to {last} into {project}; ", end="")
    print(f"next: karat serve {project}, or karat answers export {project}")


def not_planned(pool: Pool, plan: TaskPlan) -> Pool:
    """Return the part of a pool that is in no task yet; gold pairs that a task shows already come last."""
    from dataclasses import replace

    import numpy as np

    from karat.judging.pools import key_of, without
    from karat.judging.tasks import UNKNOWN

    keys = key_of(plan.image, plan.caption)
    new = ~np.isin(key_of(pool.image, pool.caption), keys[plan.gold == UNKNOWN])
    used = np.isin(key_of(pool.gold_image, pool.gold_caption), keys)
    order = np.argsort(used, kind="stable")
    stock = {name: getattr(pool, name)[order] for name in ("gold_image", "gold_caption", "gold_right")}
    return replace(without(pool, new), **stock)
