"""``karat project tasks``: a project's pool, packed into tasks with hidden gold pairs."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def tasks(
    project: options.ProjectPlace,
    task_size: options.TaskSize = None,
    gold: options.Gold = None,
    overlap: options.Overlap = 3,
    per_hour: options.PerHour = 15.0,
    per_task: Annotated[
        float | None,
        options.option("--per-task", min=0, panel=options.COST, help="Pay per task, in place of hours."),
    ] = None,
    fee: options.Fee = 0.2,
    dry_run: options.DryRun = False,
    seed: options.Seed = 0,
) -> None:
    """Pack a project's pool into tasks.

    Gold pairs, whose answers are known, are hidden among the others. Pairs that are already in a task stay
    there; pairs that were pooled later get new tasks.
    """
    from karat.cli.show import show, working
    from karat.judging import Rates
    from karat.project import tasks as packed

    with working("making tasks"):
        done = packed(
            project, task_size=task_size, gold=gold, overlap=overlap, dry_run=dry_run, seed=seed,
            rates=Rates(None, per_hour, per_task, fee),
        )  # fmt: skip
    show(done)
