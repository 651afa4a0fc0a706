"""``karat estimate``: the score that fully vetted labels would give, and what it rests on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_files, parse_settings

app = typer.Typer()


@app.command(cls=Command)
def estimate(
    files: options.Files,
    noisy: options.NoisyTruth,
    vetted: options.VettedTruth,
    benchmark: options.BenchmarkName = "coco",
    measure: options.Measure = None,
    estimator: options.LabelEstimator = "mixed",
    target: options.Target = "test-set",
    direction: options.Direction = None,
    unlisted: Annotated[
        str, options.unlisted("{unlisted}; no is not relevant.", choices="unlisted")
    ] = "unknown",
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
        Path | None, options.result_file("{estimate_files}; html is a page with pictures.")
    ] = None,
) -> None:
    """Estimate the score that fully vetted labels would give.

    Labels that exist for all pairs are noisy; some pairs have been vetted. An estimator learns from the
    vetted pairs how probable it is that each other pair is relevant, and the expected score follows. Where
    everything is vetted, it is the score itself.

    `karat project estimate` says what the answers of a project prove, `karat detections estimate` what masks
    say of detections.
    """
    from karat.cli.show import finish, working
    from karat.estimation import ScoreEstimate
    from karat.estimation import estimate as estimated
    from karat.runs import Loading

    ScoreEstimate.check_path(output)
    with working("estimating"):
        result = estimated(
            files, benchmark, measure, noisy=noisy, vetted=vetted, estimator=estimator, target=target,
            direction=direction, unlisted=unlisted, depth=depth, sample=sample, ties=ties,
            features=parse_files(feature), draws=draws, seed=seed,
            loading=Loading(name, similarity=similarity), setting=parse_settings(setting),
        )  # fmt: skip
    finish(result, json, output)
