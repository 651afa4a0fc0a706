"""``karat project next``: the next pairs that are worth a person's time, into the judging queue."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=Command)
def next(
    project: options.ProjectPlace,
    run: options.RunFile = None,
    budget: Annotated[str, options.budget("how many more now.")] = "200",
    measure: options.Measure = None,
    design: Annotated[
        str | None,
        options.option(
            "--design",
            panel=options.ESTIMATED,
            choices="designs",
            show_default=False,
            help="How pairs are drawn: {designs}; by default what fits the measure.",
        ),
    ] = None,
    estimator: options.LabelEstimator = "mixed",
    noisy: options.OptionalNoisyTruth = None,
    direction: options.Direction = None,
    depth: options.OptionalDepth = None,
    ties: options.OptionalFixedTies = None,
    task_size: options.TaskSize = None,
    gold: options.Gold = None,
    overlap: options.Overlap = 3,
    per_hour: options.PerHour = 15.0,
    fee: options.Fee = 0.2,
    dry_run: options.DryRun = False,
    seed: options.Seed = 0,
    name: options.Name = None,
    similarity: options.Similarity = "dot",
    json: options.Json = None,
) -> None:
    """Draw the next pairs that people should judge.

    Pairs are drawn at random, those that may move the score with a larger chance, and stored with their
    chances as tasks of the project: `karat project estimate` then says what the answers prove. What the
    options leave open is as for the pairs before.
    """
    from karat.benchmarks import DIRECTIONS
    from karat.cli.show import show, tell, working, write_json
    from karat.judging import Rates
    from karat.project import next
    from karat.runs import Loading

    number = int(budget) if budget.strip().isdecimal() else 0
    if not number:
        raise InputError(f"--budget is {budget!r}", fix="give a number of pairs, such as 200")
    with working("drawing pairs"):
        drawn = next(
            project, run, measure, budget=number, design=design, estimator=estimator, noisy=noisy,
            direction=direction, depth=depth, ties=ties, task_size=task_size, gold=gold, overlap=overlap,
            rates=Rates(None, per_hour, fee=fee), dry_run=dry_run, seed=seed,
            loading=Loading(name, similarity=similarity),
        )  # fmt: skip
    taken = write_json(drawn, json)
    show(drawn, quiet=taken)
    if not dry_run and not taken:
        place = shlex.quote(project)
        way = (
            f"serve {place}"
            if drawn.batch.direction in DIRECTIONS
            else f"project export {place} -o tasks.csv"
        )
        tell(f"wrote batch {drawn.batch.number} into {project}; next: karat {way}")
