"""``karat project calibrate``, ``judge`` and ``judges``: machine judges at work."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def calibrate(
    project: options.ProjectPlace,
    run: options.RunFile = None,
    config: options.Config = None,
    url: options.Url = None,
    model: options.ModelName = None,
    prompt: options.Prompt = "default",
    threshold: options.Threshold = None,
    judge: options.JudgeKind = None,
    judge_set: options.JudgeSetting = None,
    sample: Annotated[int, options.sample("pairs that people have judged.", min=1)] = 200,
    max_cost: options.MaxCost = None,
    similarity: options.Similarity = "dot",
    seed: options.Seed = 0,
    json: options.Json = None,
) -> None:
    """Compare a machine judge with people.

    It answers about pairs that people have judged, and the result is stored.

    A run's thresholds are learned from half of the images and tested on the other half.
    """
    from karat.cli.show import keep, working
    from karat.project import calibrate as compared
    from karat.runs import Loading

    with working():
        calibration = compared(
            project, run, config=config, url=url, model=model, prompt=prompt, threshold=threshold,
            judge=judge, judge_set=parse_settings(judge_set), sample=sample, max_cost=max_cost, seed=seed,
            loading=Loading(similarity=similarity),
        )  # fmt: skip
    keep(calibration, json)


@app.command(cls=Command)
def judge(
    project: options.ProjectPlace,
    run: options.RunFile = None,
    config: options.Config = None,
    url: options.Url = None,
    model: options.ModelName = None,
    prompt: options.Prompt = "default",
    threshold: options.Threshold = None,
    judge: options.JudgeKind = None,
    judge_set: options.JudgeSetting = None,
    all: Annotated[
        bool, options.option("--all", panel=options.INPUT, help="Also pairs that people have judged.")
    ] = False,
    min_kappa: Annotated[
        float,
        options.option(
            "--min-kappa",
            min=-1,
            max=1,
            panel=options.JUDGE,
            help="Required lower end of kappa's interval.",
        ),
    ] = 0.4,
    min_pairs: Annotated[
        int,
        options.option(
            "--min-pairs", min=1, panel=options.JUDGE, help="Required number of pairs in its comparison."
        ),
    ] = 50,
    max_cost: options.MaxCost = None,
    similarity: options.Similarity = "dot",
) -> None:
    """Let a machine judge answer the remaining pairs.

    These are the pairs of the pool that no person has judged. Run calibrate first.
    """
    from karat.cli.show import show, working
    from karat.project import judge as judged
    from karat.runs import Loading

    with working():
        done = judged(
            project, run, config=config, url=url, model=model, prompt=prompt, threshold=threshold,
            judge=judge, judge_set=parse_settings(judge_set), all=all, min_kappa=min_kappa,
            min_pairs=min_pairs, max_cost=max_cost, loading=Loading(similarity=similarity),
        )  # fmt: skip
    show(done)


@app.command(cls=Command)
def judges(project: options.ProjectPlace, json: options.Json = None) -> None:
    """Show how machine judges compared with people."""
    from karat.cli.show import keep
    from karat.project import judges

    keep(judges(project), json)
