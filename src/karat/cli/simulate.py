"""``karat simulate``: how many vetted labels would have been enough."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_amount, parse_files, parse_settings

app = typer.Typer()


@app.command(cls=Command)
def simulate(
    files: options.Files,
    noisy: options.NoisyTruth,
    vetted: options.VettedTruth,
    benchmark: options.BenchmarkName = "coco",
    measure: options.Measure = None,
    method: options.SimulatedMethod = None,
    times: options.Times = 50,
    budget: Annotated[str, options.budget("a number, or a share.")] = "100%",
    batch: options.VettedBatch = "5%",
    direction: options.Direction = None,
    unlisted: Annotated[
        str | None,
        options.unlisted(
            "no (not relevant) or leave-out (rank the listed pairs alone); by default leave-out where it "
            "lists pairs that are not relevant."
        ),
    ] = None,
    depth: options.CandidateDepth = 50,
    sample: options.CandidateSample = 0,
    ties: options.FixedTies = "stable",
    feature: options.Feature = None,
    draws: options.LabelDraws = 256,
    seed: options.Seed = 0,
    name: options.Name = None,
    similarity: options.Similarity = "dot",
    setting: options.Setting = None,
    json: options.Json = None,
    output: Annotated[
        Path | None, options.result_file("{simulation_files}; html is a page with pictures.")
    ] = None,
) -> None:
    """Simulate vetting on labels that are known in full.

    It shows how the error of an estimated score falls with the number of vetted pairs, for several ways to
    choose pairs and to estimate: figures 5 to 8 of "Active Testing" (Nguyen et al. 2018).
    """
    from karat.cli.show import finish, working
    from karat.estimation import METHODS, Simulation
    from karat.estimation import simulate as simulated
    from karat.runs import Loading

    Simulation.check_path(output)
    amount, step = parse_amount(budget, "--budget"), parse_amount(batch, "--batch")
    with working("simulating"):
        result = simulated(
            files, benchmark, measure or "P@10", noisy=noisy, vetted=vetted, method=method or METHODS,
            times=times, direction=direction, unlisted=unlisted, depth=depth, sample=sample, ties=ties,
            features=parse_files(feature), draws=draws, seed=seed,
            loading=Loading(name, similarity=similarity), setting=parse_settings(setting),
            budget=amount, batch=step,
        )  # fmt: skip
    finish(result, json, output)
