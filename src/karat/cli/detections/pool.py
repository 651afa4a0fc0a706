"""``karat detections pool``: instances whose masks annotators approve or reject."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def pool(
    benchmark: options.InstancesFile,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...",
            help="Detections, as json in COCO's form: only instances that one of them overlaps are pooled. "
            "Without any, all instances are.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[str | None, options.output("a new project, a file or postgresql://…")] = None,
    force: options.Force = False,
    form: options.AskedForm = "mask",
    sample: Annotated[int | None, options.sample("instances; all by default.", min=1)] = None,
    task_size: options.TaskSize = None,
    gold: options.Gold = None,
    overlap: options.Overlap = 3,
    per_hour: options.PerHour = 15.0,
    fee: options.Fee = 0.2,
    dry_run: options.DryRun = False,
    seed: options.Seed = 0,
    setting: options.Setting = None,
) -> None:
    """Pool instances whose masks annotators approve or reject.

    The masks are drawn over the images of --set images=FOLDER. --set approved=FILE.csv lists masks that are
    known to be right or wrong. `karat project tasks` packs the pool into tasks.
    """
    from karat.cli.show import show, working
    from karat.detections import pool as pooled
    from karat.judging import Rates
    from karat.project import check_new

    # Before anything large is read.
    check_new(output, force, dry_run)
    with working("pooling instances"):
        done = pooled(
            files or (), benchmark, output, force=force, form=form, sample=sample, task_size=task_size,
            gold=gold, overlap=overlap, rates=Rates(None, per_hour, fee=fee), dry_run=dry_run, seed=seed,
            setting=parse_settings(setting),
        )  # fmt: skip
    show(done)
