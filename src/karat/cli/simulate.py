"""``karat simulate``: how many vetted labels would have been enough."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_writable
from karat.cli import options
from karat.cli.command import Command
from karat.cli.estimate import OF_PAIRS, check_noisy, check_typed, typed_options
from karat.cli.options import parse_amount, parse_files, parse_settings
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=Command)
def simulate(
    context: typer.Context,
    files: options.Files,
    noisy: options.NoisyTruth,
    vetted: options.VettedTruth,
    benchmark: options.BenchmarkName = "coco",
    measure: options.Measure = None,
    method: Annotated[
        list[str] | None,
        options.option(
            "--method",
            panel=options.ESTIMATED,
            metavar="STRATEGY+ESTIMATOR",
            help="Which, such as random+naive,meec+learned. Strategies: {strategies}. Estimators: "
            "{estimators}.",
        ),
    ] = None,
    times: Annotated[
        int, options.option("--times", min=1, panel=options.ESTIMATED, help="How many repetitions.")
    ] = 50,
    budget: Annotated[str, options.budget("a number, or a share.")] = "100%",
    batch: Annotated[
        str,
        options.option(
            "--batch",
            panel=options.ESTIMATED,
            help="How many pairs are vetted at a time: a number, or a share.",
        ),
    ] = "5%",
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
    ids: options.Ids = None,
    similarity: options.Similarity = "dot",
    transpose: options.Transpose = False,
    setting: options.Setting = None,
    json: options.Json = None,
    output: Annotated[
        Path | None, options.output("{simulation_files}; html is a page with pictures.")
    ] = None,
    threads: options.Threads = None,
) -> None:
    """Simulate vetting on labels that are known in full.

    It shows how the error of an estimated score falls with the number of vetted pairs, for several ways to
    choose pairs and to estimate: figures 5 to 8 of "Active Testing" (Nguyen et al. 2018).

    With -b instances.json, in COCO's form, the files are detections: --noisy boxes --vetted masks.
    """
    from karat.benchmarks import is_instances
    from karat.cli.show import finish, saying
    from karat.estimation import (
        DETECTION_METHODS,
        MASKS,
        METHODS,
        Simulation,
        simulate_detections,
        simulate_vetting,
    )
    from karat.runs import Compute, Loading

    for path in (json, output):
        check_writable(path)
    Simulation.check_path(output)
    amounts = {
        "budget": parse_amount(budget, "--budget"),
        "batch": parse_amount(batch, "--batch"),
    }
    if is_instances(benchmark):
        check_typed(typed_options(context), OF_PAIRS, "detections of instances do not have it", "leave out")
        check_noisy(noisy)
        if vetted != MASKS:
            raise InputError(
                f"the true labels of detections are not {vetted!r}", fix=f"write --vetted {MASKS}"
            )
        with saying() as say:
            result = simulate_detections(
                [Path(file) for file in files], benchmark, measure or "iAP",
                method=method or DETECTION_METHODS, times=times, draws=draws, seed=seed, name=name,
                progress=say, **amounts,
            )  # fmt: skip
        finish(result, json, output)
        return
    with saying() as say:
        result = simulate_vetting(
            files, benchmark, measure or "P@10", noisy=noisy, vetted=vetted, method=method or METHODS,
            times=times, direction=direction, unlisted=unlisted, depth=depth, sample=sample, ties=ties,
            features=parse_files(feature), draws=draws, seed=seed,
            loading=Loading(name, ids, similarity, transpose), compute=Compute(threads),
            setting=parse_settings(setting), progress=say,
            **amounts,
        )  # fmt: skip
    finish(result, json, output)
