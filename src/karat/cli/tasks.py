"""``karat tasks``: a project's pool in packs with hidden known pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli import judging_options, scoring
from karat.cli.pool import Fee, Gold, Overlap, Pairs, PerHour, PerTask
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.judging import Pool, TaskPlan

app = typer.Typer()


@app.command()
def tasks(
    project: judging_options.ProjectPlace,
    pairs: Pairs = None,
    gold: Gold = None,
    overlap: Overlap = 3,
    per_hour: PerHour = 15.0,
    per_task: PerTask = None,
    fee: Fee = 0.2,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would cost.")] = False,
    seed: scoring.Seed = 0,
) -> None:
    """Pack the pool of a project into tasks, with known pairs hidden among the others.

    Pairs that are in a task already stay there: what was pooled later gets tasks of its own.
    """
    from karat.judging import estimate_cost, make_tasks, open_project

    with open_project(project) as opened:
        pool, before = opened.pool(), opened.plan()
        rest = not_planned(pool, before)
        if len(pool) and not len(rest):
            raise InputError("every pair is in a task already", where=project, fix="pool more pairs first")
        plan = make_tasks(rest, opened.form, pairs=pairs, gold=gold, overlap=overlap, seed=seed)
        price = {"per_hour": per_hour, "per_task": per_task, "fee": fee}
        cost = estimate_cost(
            len(rest), opened.form, pairs=pairs, gold=gold, overlap=overlap, **price  # type: ignore[arg-type]
        )  # fmt: skip
        print("\n".join(cost.sentences()))
        if dry_run:
            return
        first = opened.add_tasks(plan)
        said = {"tasks": plan.tasks, "first": first, "pairs": len(rest), "gold": cost.gold}
        opened.log("tasks", said | {"overlap": overlap, "seed": seed})
    last = first + plan.tasks - 1
    print(f"wrote tasks {first} to {last} into {project}; ", end="")
    print(f"next: karat serve {project}, or karat answers export {project}")


def not_planned(pool: Pool, plan: TaskPlan) -> Pool:
    """Return the part of a pool that is in no task yet; known pairs that a task shows already come last."""
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
