"""``karat judge``: machine judges, compared with people before they decide anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._util import check_writable, plural, write_file
from karat.cli import judging_options, scoring
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.judging import Project
    from karat.judging.judges import Calibration, Judge

app = typer.Typer()
judge = typer.Typer(
    no_args_is_help=True,
    help="Let a machine judge pairs: a run's scores, or a chat model that looks at the pictures. "
    "First calibrate, against people; then run.",
)
app.add_typer(judge, name="judge")

RunFile = Annotated[
    list[Path] | None,
    typer.Option("--run", help="A run whose scores decide; twice for two embedding tables."),
]
Config = Annotated[
    Path | None,
    typer.Option(help="A TOML file: url, model, timeout, parallel, price_in, price_out, key_env …"),
]
Url = Annotated[str | None, typer.Option(help="A chat endpoint, such as http://127.0.0.1:8000/v1.")]
Model = Annotated[
    str | None, typer.Option(help="The model's name there. Its key comes from KARAT_JUDGE_KEY.")
]
Prompt = Annotated[str, typer.Option(help="'default' or a text file with $caption in it.")]
Thresholds = Annotated[
    list[float] | None, typer.Option(help="With --run: rising scores, one fewer than the form has answers.")
]
MostCost = Annotated[float | None, typer.Option(min=0, help="Stop when this much is spent.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Also write the figures to this file.")]


@judge.command()
def calibrate(
    project: judging_options.ProjectPlace,
    run: RunFile = None,
    config: Config = None,
    url: Url = None,
    model: Model = None,
    prompt: Prompt = "default",
    thresholds: Thresholds = None,
    pairs: Annotated[int, typer.Option(min=1, help="How many pairs that people have judged.")] = 200,
    most_cost: MostCost = None,
    similarity: scoring.Similarity = "dot",
    seed: scoring.Seed = 0,
    json_file: JsonFile = None,
) -> None:
    """Compare a judge with people on pairs that they have judged, and keep the result.

    A run's thresholds are learned from half of the images and tested on the other half.
    """
    from karat.cli.show import saying
    from karat.judging import open_project
    from karat.judging.judges import calibrate_in

    if json_file is not None:
        check_writable(json_file)
    with open_project(project) as opened:
        who, images = find_judge(opened, run, config, url, model, prompt, thresholds, similarity, seed=seed)
        with saying() as say:
            found = calibrate_in(
                opened,
                who,
                pairs,
                seed,
                images,
                most_cost,
                lambda done, of: say(f"asking about {done} of {of} pairs"),
            )
    show([found])
    write_json([found], json_file)


@judge.command("run")
def run_judge(
    project: judging_options.ProjectPlace,
    run: RunFile = None,
    config: Config = None,
    url: Url = None,
    model: Model = None,
    prompt: Prompt = "default",
    thresholds: Thresholds = None,
    everything: Annotated[bool, typer.Option("--all", help="Also pairs that people have judged.")] = False,
    least_kappa: Annotated[
        float, typer.Option(help="The lower end of kappa's interval must reach this.")
    ] = 0.4,
    least_pairs: Annotated[int, typer.Option(min=1, help="Pairs that it was compared on.")] = 50,
    most_cost: MostCost = None,
    similarity: scoring.Similarity = "dot",
) -> None:
    """Let a judge answer the pool's pairs that no person has judged; only after calibrate."""
    from karat.cli.show import saying
    from karat.judging import open_project
    from karat.judging.judges import calibration_of, judge_in

    with open_project(project) as opened:
        who, _ = find_judge(opened, run, config, url, model, prompt, thresholds, similarity)
        with saying() as say:
            added = judge_in(
                opened,
                who,
                everything=everything,
                least_pairs=least_pairs,
                least_kappa=least_kappa,
                most_cost=most_cost,
                progress=lambda done, of: say(f"asking about {done} of {of} pairs"),
            )
        compared = calibration_of(opened, who)
    print(f"added {plural(added, 'answer')}")
    if compared is not None:
        print(compared.sentence())


@judge.command("list")
def list_judges(project: judging_options.ProjectPlace, json_file: JsonFile = None) -> None:
    """Show how the judges of a project compared with people."""
    from karat.judging import open_project
    from karat.judging.judges import calibrations

    with open_project(project) as opened:
        found = calibrations(opened)
    if not found:
        print("no judge was compared with people yet: karat judge calibrate")
    else:
        show(found)
    write_json(found, json_file)


def find_judge(
    project: Project,
    run: list[Path] | None,
    config: Path | None,
    url: str | None,
    model: str | None,
    prompt: str,
    thresholds: list[float] | None,
    similarity: str,
    seed: int | None = None,
) -> tuple[Judge, Any]:
    """Return the judge that the options describe, and the images that may test it; a seed makes it learn."""
    from karat.judging.judges import (
        ChatJudge,
        judge_of_run,
        kept_judge,
        learn_judge,
        load_prompt,
        read_endpoint,
    )

    chat = config is not None or url is not None or model is not None
    if chat == bool(run):
        raise InputError(
            "it is not clear who judges", fix="give either --run, or --url and --model (or --config)"
        )
    if chat:
        return ChatJudge(read_endpoint(config, url=url, model=model), project.form, load_prompt(prompt)), None
    loaded = scoring.load_runs(
        list(run or ()), project.benchmark(), None, ids=None, similarity=similarity, transpose=False
    )
    if len(loaded) != 1:
        raise InputError(f"--run gives {plural(len(loaded), 'run')}", fix="one run is one judge")
    if thresholds:
        return judge_of_run(loaded[0], project.form, thresholds), None
    if seed is None:
        return kept_judge(project, loaded[0]), None
    return learn_judge(project, loaded[0], seed)


def show(found: list[Calibration]) -> None:
    """Print how judges compared with people."""
    from rich.markup import escape
    from rich.table import Table

    from karat.cli.show import console
    from karat.judging.judges import LEAST_KAPPA, LEAST_PAIRS

    table = Table(box=None, pad_edge=False)
    for name in (
        "judge",
        "pairs",
        "no answer",
        "agree",
        "kappa",
        "graded kappa",
        "people",
        "too kind",
        "too strict",
        "cost",
    ):
        table.add_column(name, justify="left" if name == "judge" else "right")
    for one in found:
        table.add_row(
            escape(one.judge),
            f"{one.asked:,}",
            f"{one.asked - one.answered:,}",
            f"{100 * one.agreement:.1f}%",
            f"{one.kappa.value:.2f} ({one.kappa.low:.2f}–{one.kappa.high:.2f})",
            f"{one.graded.value:.2f} ({one.graded.low:.2f}–{one.graded.high:.2f})",
            "" if one.people is None else f"{one.people.value:.2f}",
            f"{100 * one.too_kind:.1f}%",
            f"{100 * one.too_strict:.1f}%",
            f"{one.cost:.2f}",
        )
    console().print(table)
    print("kappa: relevant or not, against the median of the people, with 95% intervals over images;")
    print("people: one person against the others.")
    for one in found:
        print(one.sentence())
        for objection in one.objections(LEAST_PAIRS, LEAST_KAPPA):
            print(f"  Not fit to be used: {objection}.")


def write_json(found: list[Calibration], path: Path | None) -> None:
    """Write the figures, where a file is asked for."""
    if path is not None:
        text = json.dumps([one.as_data() for one in found], indent=1)
        write_file(path, lambda target: Path(target).write_text(text, encoding="utf-8"))
