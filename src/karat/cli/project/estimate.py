"""``karat project estimate``: what the answers of a project prove."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def estimate(
    project: options.ProjectPlace,
    run: options.RunFile = None,
    measure: Annotated[list[str] | None, options.measure(" By default as in the latest batch.")] = None,
    noisy: options.OptionalNoisyTruth = None,
    estimator: Annotated[
        str | None, options.estimator("; as in the goal by default, or mixed", show_default=False)
    ] = None,
    target: options.Target = "test-set",
    direction: options.Direction = None,
    depth: options.OptionalDepth = None,
    ties: options.OptionalFixedTies = None,
    level: Annotated[
        float | None,
        options.level("; as in the goal by default, or 0.95", show_default=False),
    ] = None,
    interval_method: Annotated[str, options.interval_method("interval_kinds")] = "difference",
    anytime: Annotated[
        bool,
        options.option(
            "--anytime", panel=options.SURE, help="Make intervals that hold at all looks together."
        ),
    ] = False,
    rule: Annotated[
        list[str] | None,
        options.option(
            "--rule",
            panel=options.SURE,
            show_default=False,
            help="When enough is answered: 'within<=0.02', winner, budget=500.",
        ),
    ] = None,
    certain: Annotated[
        bool,
        options.option("--certain", panel=options.SURE, help="Take verdicts as right: annotators never err."),
    ] = False,
    seed: options.Seed = 0,
    name: options.Name = None,
    similarity: options.Similarity = "dot",
    json: options.Json = None,
    output: Annotated[Path | None, options.result_file("{estimate_files}.")] = None,
) -> None:
    """Estimate scores from the answers of a project.

    The labels are the answers about pairs that `karat project next` drew, and intervals say what they prove.
    Without --run, the goal of the project says what is estimated.
    """
    from karat.cli.show import keep, working
    from karat.estimation import ProjectEstimate
    from karat.project import estimate as estimated
    from karat.runs import Loading

    ProjectEstimate.check_path(output)
    with working("estimating"):
        found = estimated(
            project, run, measure, noisy=noisy, estimator=estimator, target=target, direction=direction,
            depth=depth, ties=ties, level=level, interval_method=interval_method, anytime=anytime, rule=rule,
            certain=certain, seed=seed, loading=Loading(name, similarity=similarity),
        )  # fmt: skip
    keep(found, json, output)
