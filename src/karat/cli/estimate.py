"""``karat estimate``: the score that fully vetted labels would give, and what it rests on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from karat._util import Result, check_writable, is_database, plural
from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_files, parse_settings
from karat.errors import InputError

app = typer.Typer()

OF_FILES = ("vetted", "benchmark", "unlisted", "sample", "feature", "draws", "setting")
"""The options that a project does not take: it has its own benchmark and labels."""
OF_PROJECTS = ("run", "level", "interval_method", "anytime", "rule", "certain")
"""The options that say how answers of a project are read."""
OF_PAIRS = (
    "target", "direction", "unlisted", "depth", "sample", "ties", "feature", "ids", "similarity", "transpose",
    "setting", "threads",
)  # fmt: skip
"""The options that detections do not take: they have no queries and no gallery."""


@app.command(cls=Command)
def estimate(
    context: typer.Context,
    files: options.FilesOrProject,
    noisy: options.OptionalNoisyTruth = None,
    vetted: options.OptionalVettedTruth = None,
    benchmark: options.BenchmarkName = "coco",
    run: options.RunFile = None,
    measure: options.Measure = None,
    estimator: options.LabelEstimator = "mixed",
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
    level: options.Level = 0.95,
    interval_method: Annotated[str, options.interval_method("interval_kinds")] = "difference",
    anytime: Annotated[
        bool,
        options.option(
            "--anytime", panel=options.SURE, help="Intervals of a project that hold at all looks together."
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

    Of a project, with its runs as --run, the labels are the answers about pairs that `karat next` drew, and
    intervals say what they prove. Without --run, the goal of the project says what is estimated.

    With -b instances.json, in COCO's form, the files are detections: --noisy boxes --vetted masks, or a
    project in which annotators approved masks, or a csv file.
    """
    from karat.benchmarks import is_instances
    from karat.cli.show import finish, waiting
    from karat.estimation import DETECTION_ESTIMATOR, ScoreEstimate, estimate_detections, estimate_scores
    from karat.runs import Compute, Loading

    for path in (json, output):
        check_writable(path)
    ScoreEstimate.check_path(output)
    typed = typed_options(context)
    if any(is_database(file) for file in files) or ("run" in typed and len(files) == 1):
        check_typed(typed, OF_FILES, "a project has its own benchmark and labels", "leave out")
        if len(files) > 1:
            raise InputError(
                f"{plural(len(files), 'file')} are given with a project", fix="name runs with --run a.npy"
            )
        given: dict[str, Any] = {name: context.params[name] for name in typed - {"files", "json", "output"}}
        estimate_answers(files[0], given, json, output)
        return
    check_typed(typed, OF_PROJECTS, "no project is given", "name a project first, or leave out")
    if noisy is None or vetted is None:
        raise InputError(
            f"--{'noisy' if noisy is None else 'vetted'} is not given",
            fix="name the truth with the labels of all pairs, and that with the right ones, or a project",
        )
    if is_instances(benchmark):
        check_typed(typed, OF_PAIRS, "detections of instances do not have it", "leave out")
        check_noisy(noisy)
        how = estimator if "estimator" in typed else DETECTION_ESTIMATOR
        with waiting("estimating"):
            found = estimate_detections(
                [Path(file) for file in files], benchmark, measure, vetted=vetted, estimator=how, draws=draws,
                seed=seed, name=name,
            )  # fmt: skip
        write_and_show(found, json, output)
        return
    with waiting("estimating"):
        result = estimate_scores(
            [Path(file) for file in files], benchmark, measure, noisy=noisy, vetted=vetted,
            estimator=estimator, target=target, direction=direction, unlisted=unlisted, depth=depth,
            sample=sample, ties=ties, features=parse_files(feature), draws=draws, seed=seed,
            loading=Loading(name, ids, similarity, transpose), compute=Compute(threads),
            setting=parse_settings(setting),
        )  # fmt: skip
    finish(result, json, output)


def check_noisy(noisy: str) -> None:
    """Raise unless the noisy labels of detections are the boxes."""
    from karat.estimation import BOXES

    if noisy != BOXES:
        raise InputError(f"the noisy labels of detections are not {noisy!r}", fix=f"write --noisy {BOXES}")


def typed_options(context: typer.Context) -> set[str]:
    """Return the names of the parameters that were typed."""
    return {
        parameter
        for parameter in context.params
        if getattr(context.get_parameter_source(parameter), "name", "") == "COMMANDLINE"
    }


def check_typed(typed: set[str], wrong: tuple[str, ...], why: str, fix: str) -> None:
    """Raise where an option was typed that does not fit."""
    for name in wrong:
        if name in typed:
            option = "--set" if name == "setting" else f"--{name.replace('_', '-')}"
            raise InputError(f"{option}: {why}", fix=f"{fix} {option}")


def estimate_answers(place: str, given: dict[str, Any], json: Path | None, output: Path | None) -> None:
    """Print what the answers of a project prove."""
    from karat.cli.show import opening, waiting
    from karat.estimation import estimate_goal, estimate_project
    from karat.runs import Compute, Loading

    runs = given.pop("run", None)
    named = {name: given.pop(name) for name in ("name", "ids", "similarity", "transpose") if name in given}
    given |= {"loading": Loading(**named), "compute": Compute(given.pop("threads", None))}
    if "interval_method" in given:
        given["method"] = given.pop("interval_method")
    with opening(place) as opened, waiting("estimating"):
        if runs is None:
            if "measure" in given and opened.goals.read() is not None:
                raise InputError("the goal of the project names the measure", fix="name the runs, too: --run")
            result = estimate_goal(opened, **given)
        else:
            result = estimate_project(opened, runs, **given)
    write_and_show(result, json, output)


def write_and_show(result: Result, json: Path | None, output: Path | None) -> None:
    """Write a result that has no report of its own, and print it."""
    from karat.cli.show import show, write_json

    taken = write_json(result, json)
    if output is not None:
        result.save(output)
    show(result, quiet=taken)
