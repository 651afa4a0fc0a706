"""``karat estimate``: the score that fully vetted labels would give."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_writable
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
    estimator: Annotated[
        str,
        options.option(
            "--estimator",
            panel=options.ESTIMATED,
            choices="estimators",
            help="How vetted labels become probabilities of the others: {estimators}.",
        ),
    ] = "mixed",
    target: Annotated[
        str,
        options.option(
            "--target",
            panel=options.ESTIMATED,
            choices="targets",
            help="What is estimated: {targets}, the score on these queries or on queries like these.",
        ),
    ] = "test-set",
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
    ids: options.Ids = None,
    similarity: options.Similarity = "dot",
    transpose: options.Transpose = False,
    setting: options.Setting = None,
    json: options.Json = None,
    output: Annotated[Path | None, options.output("{estimate_files}; html is a page with pictures.")] = None,
    threads: options.Threads = None,
) -> None:
    """Estimate the score that fully vetted labels would give.

    Labels that exist for all pairs are noisy; some pairs have been vetted. An estimator learns from the
    vetted pairs how probable it is that each other pair is relevant, and the expected score follows. Where
    everything is vetted, it is the score itself.
    """
    from karat.cli.show import finish, waiting
    from karat.estimate import ScoreEstimate, estimate_scores

    for path in (json, output):
        check_writable(path)
    ScoreEstimate.check_path(output)
    with waiting("estimating"):
        result = estimate_scores(
            files, benchmark, measure, noisy=noisy, vetted=vetted, estimator=estimator, target=target,
            direction=direction, unlisted=unlisted, depth=depth, sample=sample, ties=ties,
            features=parse_files(feature), draws=draws, seed=seed, name=name, ids=ids, similarity=similarity,
            transpose=transpose, setting=parse_settings(setting), threads=threads,
        )  # fmt: skip
    finish(result, json, output)
