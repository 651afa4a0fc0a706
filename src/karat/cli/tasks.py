"""``karat tasks``: a project's pool, packed into tasks with hidden gold pairs."""

from __future__ import annotations

import shlex
from typing import Any

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
    import numpy as np

    from karat.cli.show import opening, show
    from karat.judging import Rates, make_tasks
    from karat.judging.tasks import plan_cost, unplanned

    with opening(project) as opened:
        regions = opened.form.regions
        pool, planned = opened.pools.read(), opened.pools.plan()
        if len(pool) and not len(unplanned(pool, planned)):
            raise InputError("every pair is already in a task", where=project, fix="pool more pairs first")
        sizes: dict[str, Any] = {"task_size": task_size, "gold": gold, "overlap": overlap}
        plan = make_tasks(
            pool, opened.form, **sizes, planned=planned, benchmark=opened.benchmark, seed=seed
        )  # fmt: skip
        wanted = np.bincount(opened.queue.assignments().task, minlength=planned.tasks)
        rates = Rates(None, per_hour, per_task, fee)
        cost = plan_cost(plan, opened.form, planned=planned, wanted=wanted, rates=rates)
        show(cost)
        if dry_run:
            return
        first = opened.pools.add_tasks(plan)
        facts = {"tasks": plan.tasks, "first": first, "pairs": cost.pairs, "gold": cost.gold}
        opened.journal.log("tasks", facts | {"overlap": overlap, "seed": seed})
    last = first + plan.tasks - 1
    print(f"wrote tasks {first} to {last} into {project}; ", end="")
    place = shlex.quote(project)
    elsewhere = "" if regions else f", or karat answers export {place} -o tasks.csv"
    print(f"next: karat serve {place}{elsewhere}")
