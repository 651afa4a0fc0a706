"""``karat plan``: how many answers a score will take, and what they will cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def plan(
    files: options.Files,
    benchmark: options.BenchmarkName = "coco",
    measure: options.Measure = None,
    within: Annotated[
        float,
        options.option(
            "--within", panel=options.ESTIMATED, metavar="POINTS", help="The wanted half-width, in points."
        ),
    ] = 2.0,
    difference: Annotated[
        float | None,
        options.option(
            "--difference",
            panel=options.ESTIMATED,
            metavar="POINTS",
            show_default=False,
            help="The gap of the first two runs that is to be found, in points; by default as --within.",
        ),
    ] = None,
    pilot: Annotated[
        str | None,
        options.option(
            "--pilot",
            panel=options.ESTIMATED,
            metavar="TRUTH",
            show_default=False,
            help="Labels of some pairs to learn from: a truth, or a file: image, caption, label (1 or 0).",
        ),
    ] = None,
    world: Annotated[
        bool,
        options.option(
            "--world", panel=options.ESTIMATED, help="Take labels to be like those of the known-truth world."
        ),
    ] = False,
    rho: Annotated[
        float | None,
        options.option(
            "--rho",
            panel=options.ESTIMATED,
            show_default=False,
            help="The assumed correlation of predictions with labels, from 0 to below 1.",
        ),
    ] = None,
    prevalence: Annotated[
        float | None,
        options.option(
            "--prevalence",
            panel=options.ESTIMATED,
            show_default=False,
            help="The assumed share of relevant pairs among those that count.",
        ),
    ] = None,
    noisy: options.OptionalNoisyTruth = None,
    direction: options.Direction = None,
    level: options.Level = 0.95,
    power: options.Power = 0.8,
    depth: options.CandidateDepth = 50,
    ties: options.FixedTies = "stable",
    overlap: options.Overlap = 3,
    per_hour: options.PerHour = 15.0,
    seed: options.Seed = 0,
    name: options.Name = None,
    similarity: options.Similarity = "dot",
    setting: options.Setting = None,
    json: options.Json = None,
    output: Annotated[Path | None, options.result_file("{plan_files}.")] = None,
) -> None:
    """Plan how many answers a score will take.

    From the labels of a pilot, or from what you assume: how many pairs have to be labelled until the interval
    is narrow enough, or until the better of two runs is known, for several ways to choose pairs, and what it
    costs.
    """
    from karat.cli.show import finish, working
    from karat.estimation import Plan
    from karat.estimation import plan as planned
    from karat.judging import Rates
    from karat.runs import Loading

    Plan.check_path(output)
    with working("planning"):
        result = planned(
            files, benchmark, ",".join(measure or ["P@10"]), within=within, pilot=pilot, world=world, rho=rho,
            prevalence=prevalence, noisy=noisy, difference=difference, level=level,
            power=0.8 if power is None else power, direction=direction, depth=depth, ties=ties,
            overlap=overlap, rates=Rates(None, per_hour), seed=seed,
            setting=parse_settings(setting), loading=Loading(name, similarity=similarity),
        )  # fmt: skip
    finish(result, json, output)
