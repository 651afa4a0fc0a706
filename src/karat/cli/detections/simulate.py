"""``karat detections simulate``: how many vetted masks would have been enough."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_amount

app = typer.Typer()


@app.command(cls=Command)
def simulate(
    files: options.DetectionFiles,
    benchmark: options.InstancesFile,
    measure: options.Measure = None,
    method: options.SimulatedMethod = None,
    times: options.Times = 50,
    budget: Annotated[str, options.budget("a number of instances, or a share.")] = "100%",
    batch: options.VettedBatch = "5%",
    draws: options.LabelDraws = 256,
    seed: options.Seed = 0,
    name: options.Name = None,
    json: options.Json = None,
    output: Annotated[
        Path | None, options.result_file("{simulation_files}; html is a page with pictures.")
    ] = None,
) -> None:
    """Simulate vetting masks where all of them are known.

    It shows how the error of an estimated AP falls with the number of vetted masks, for several ways to
    choose instances and to estimate.
    """
    from karat.cli.show import finish, working
    from karat.detections import simulate as simulate_detections
    from karat.estimation import DETECTION_METHODS, Simulation

    Simulation.check_path(output)
    with working("simulating"):
        result = simulate_detections(
            files, benchmark, measure or "iAP", method=method or DETECTION_METHODS, times=times,
            budget=parse_amount(budget, "--budget"), batch=parse_amount(batch, "--batch"), draws=draws,
            seed=seed, name=name,
        )  # fmt: skip
    finish(result, json, output)
