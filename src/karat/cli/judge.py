"""``karat judge``: machine judges, compared with people before their answers are used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._util import check_writable, plural
from karat.cli import options
from karat.cli.command import Command, Group
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.judging import Project
    from karat.judging.machine_judges import Judge

app = typer.Typer()
judge = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Let a machine judge answer about pairs, after it was compared with people.\n\n"
    "It is a run's scores, or a chat model that looks at the pictures. First calibrate, then run.",
)
app.add_typer(judge, name="judge")


@judge.command(cls=Command)
def calibrate(
    project: options.ProjectPlace,
    run: options.RunFile = None,
    config: options.Config = None,
    url: options.Url = None,
    model: options.ModelName = None,
    prompt: options.Prompt = "default",
    threshold: options.Threshold = None,
    sample: Annotated[int, options.sample("pairs that people have judged.", min=1)] = 200,
    max_cost: options.MaxCost = None,
    similarity: options.Similarity = "dot",
    seed: options.Seed = 0,
    json_file: options.Json = None,
) -> None:
    """Compare a machine judge with people.

    It answers about pairs that people have judged, and the result is stored.

    A run's thresholds are learned from half of the images and tested on the other half.
    """
    from karat.cli.show import opening, saying, show, write_json
    from karat.judging.machine_judges import calibrate_in

    if json_file is not None:
        check_writable(json_file)
    with opening(project) as opened:
        machine, images = find_judge(
            opened, run, config, url, model, prompt, threshold, similarity, seed=seed
        )
        with saying() as say:
            calibration = calibrate_in(
                opened,
                machine,
                sample,
                seed,
                images,
                max_cost,
                lambda done, of: say(f"asking about {done} of {of} pairs"),
            )
    show(calibration, quiet=write_json(calibration, json_file))


@judge.command("run", cls=Command)
def run_judge(
    project: options.ProjectPlace,
    run: options.RunFile = None,
    config: options.Config = None,
    url: options.Url = None,
    model: options.ModelName = None,
    prompt: options.Prompt = "default",
    threshold: options.Threshold = None,
    everything: Annotated[
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
    from karat.cli.show import opening, saying
    from karat.judging.machine_judges import calibration_of, judge_in

    with opening(project) as opened:
        machine, _ = find_judge(opened, run, config, url, model, prompt, threshold, similarity)
        with saying() as say:
            added = judge_in(
                opened,
                machine,
                everything=everything,
                min_pairs=min_pairs,
                min_kappa=min_kappa,
                max_cost=max_cost,
                progress=lambda done, of: say(f"asking about {done} of {of} pairs"),
            )
        calibration = calibration_of(opened, machine)
    print(f"added {plural(added, 'answer')}")
    if calibration is not None:
        print(calibration.sentence())


@judge.command("list", cls=Command)
def list_judges(project: options.ProjectPlace, json_file: options.Json = None) -> None:
    """Show how machine judges compared with people."""
    from karat.cli.show import opening, show, write_json
    from karat.judging.machine_judges import CalibrationTable, calibrations

    with opening(project) as opened:
        table = CalibrationTable(tuple(calibrations(opened)))
    show(table, quiet=write_json(table, json_file))


def find_judge(
    project: Project,
    run: list[Path] | None,
    config: Path | None,
    url: str | None,
    model: str | None,
    prompt: str,
    threshold: list[float] | None,
    similarity: str,
    seed: int | None = None,
) -> tuple[Judge, Any]:
    """Return the machine judge of the options, and the images to test it on; with a seed it learns first."""
    from karat.judging.machine_judges import (
        ChatJudge,
        check_thresholds,
        judge_of_run,
        kept_judge,
        learn_judge,
        load_prompt,
        read_endpoint,
    )
    from karat.runs import Loading, fewest_runs

    chat = config is not None or url is not None or model is not None
    if chat == bool(run):
        raise InputError(
            "no single machine judge is given", fix="give either --run, or --url and --model (or --config)"
        )
    if chat and threshold:
        raise InputError("--threshold without --run", fix="leave it out: a chat model gives answers")
    if chat:
        return ChatJudge(read_endpoint(config, url=url, model=model), project.form, load_prompt(prompt)), None
    files, loading = list(run or ()), Loading(similarity=similarity)
    if threshold:
        check_thresholds(threshold, project.form, files[0].stem)
    check_one(fewest_runs(files, project.benchmark()))
    loaded = options.load_runs(files, project.benchmark(), loading)
    check_one(len(loaded))
    if threshold:
        return judge_of_run(loaded[0], project.form, threshold), None
    if seed is None:
        return kept_judge(project, loaded[0]), None
    return learn_judge(project, loaded[0], seed)


def check_one(runs: int) -> None:
    """Raise unless there is one run."""
    if runs != 1:
        raise InputError(f"--run gives {plural(runs, 'run')}", fix="one run is one machine judge")
