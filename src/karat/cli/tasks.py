"""``karat tasks``: a project's pool, packed into tasks with hidden gold pairs."""

from __future__ import annotations

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.errors import InputError

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

    Gold pairs, whose answers are known, are hidden among the others. Pairs that are already in a task stay
    there; pairs that were pooled later get new tasks.
    """
    from karat.cli.show import opening, show
    from karat.judging import estimate_cost, make_tasks
    from karat.judging.tasks import unplanned

    with opening(project) as opened:
        pool = opened.pools.read()
        rest = unplanned(pool, opened.pools.plan())
        if len(pool) and not len(rest):
            raise InputError("every pair is already in a task", where=project, fix="pool more pairs first")
        plan = make_tasks(rest, opened.form, task_size=task_size, gold=gold, overlap=overlap, seed=seed)
        price = {"per_hour": per_hour, "per_task": per_task, "fee": fee}
        cost = estimate_cost(
            len(rest), opened.form, task_size=task_size, gold=gold, overlap=overlap, **price  # type: ignore[arg-type]
        )  # fmt: skip
        show(cost)
        if dry_run:
            return
        first = opened.pools.add_tasks(plan)
        sizes = {"tasks": plan.tasks, "first": first, "pairs": len(rest), "gold": cost.gold}
        opened.journal.log("tasks", sizes | {"overlap": overlap, "seed": seed})
    last = first + plan.tasks - 1
    print(f"wrote tasks {first} to {last} into {project}; ", end="")
    print(f"next: karat serve {project}, or karat answers export {project}")
