"""``karat detections estimate``: the true AP of detections, from boxes and a few masks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def estimate(
    files: options.DetectionFiles,
    benchmark: options.InstancesFile,
    measure: options.Measure = None,
    vetted: Annotated[
        str, options.vetted(" Or masks, or a project in which annotators approved masks.")
    ] = "masks",
    estimator: Annotated[
        str | None, options.estimator("; by default one that suits masks", show_default=False)
    ] = None,
    draws: options.LabelDraws = 256,
    seed: options.Seed = 0,
    name: options.Name = None,
    json: options.Json = None,
    output: Annotated[Path | None, options.result_file("{estimate_files}.")] = None,
) -> None:
    """Estimate the AP of detections from boxes and a few masks.

    Every instance has a box, some have a mask that was vetted. The estimator learns from these how the
    overlap with a mask follows from that with a box.
    """
    from karat.cli.show import keep, working
    from karat.detections import estimate as estimate_detections
    from karat.estimation import DETECTION_ESTIMATOR, ScoreEstimate

    ScoreEstimate.check_path(output)
    with working("estimating"):
        found = estimate_detections(
            files, benchmark, measure, vetted=vetted, estimator=estimator or DETECTION_ESTIMATOR, draws=draws,
            seed=seed, name=name,
        )  # fmt: skip
    keep(found, json, output)
