"""What ``karat evaluate`` and ``karat compare`` share: their options, loading runs and scoring them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._util import plural
from karat.cli.options import parse_settings, split_names
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark
    from karat.runs import Run
    from karat.scores import Scorecard
    from karat.stats import Intervals

Files = Annotated[
    list[Path],
    typer.Argument(
        help="Score tables (images by captions), pairs of embedding tables (images and captions), or "
        "ranked lists: npy, npz, safetensors, Parquet, csv, json, TREC, clip-retrieval folders.",
        show_default=False,
    ),
]
BenchmarkName = Annotated[str, typer.Option("--benchmark", "-b", help="See `karat benchmarks`.")]
Names = Annotated[list[str] | None, typer.Option(help="A name for each run: --names A B.")]
Measures = Annotated[
    list[str] | None, typer.Option("--measures", "-m", help="Such as R@1 mAP@R; see `karat measures`.")
]
Truths = Annotated[
    list[str] | None,
    typer.Option(help="Which of the benchmark's truths; or one made of captions: 'machine(cider>=1)'."),
]
Phi = Annotated[
    list[str] | None,
    typer.Option(
        "--phi", help="For NCS and SR: your own similarity, --phi mine=N.npy; cider, spice … come with karat."
    ),
]
Directions = Annotated[list[str] | None, typer.Option(help="i2t, t2i; both by default.")]
Ties = Annotated[str, typer.Option(help="Equal scores: pessimistic, optimistic, expected or stable.")]
Unjudged = Annotated[
    str, typer.Option(help="Unjudged pairs: misses, left-out, or bounds (misses, with bounds).")
]
IdsFile = Annotated[
    Path | None, typer.Option(help="Order of rows and columns; by default NAME.ids.json beside NAME.npy.")
]
Similarity = Annotated[str, typer.Option(help="For embeddings: dot or cosine.")]
Transpose = Annotated[bool, typer.Option("--transpose", help="Score tables are captions by images.")]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting of the benchmark: --set cxc_ratings=sits_test.csv."),
]
Threads = Annotated[int | None, typer.Option(min=1, help="How many; all by default.")]
Test = Annotated[
    str, typer.Option(help="The paired test: randomisation, bootstrap, mcnemar or mcnemar-exact.")
]
Samples = Annotated[int, typer.Option(min=1, help="How many random swaps.")]
Alpha = Annotated[float, typer.Option(help="The level at which one run beats another.")]
Method = Annotated[str, typer.Option(help="How intervals are made: percentile or bca.")]
Level = Annotated[float, typer.Option(help="How often an interval should hold.")]
Resamples = Annotated[int, typer.Option(min=1, help="How many bootstrap draws.")]
Seed = Annotated[int, typer.Option(min=0, help="Of every random draw.")]


def score_files(
    files: list[Path],
    benchmark: str,
    *,
    names: list[str] | None,
    measures: list[str] | None,
    truths: list[str] | None,
    directions: list[str] | None,
    ties: str,
    unjudged: str,
    setting: list[str] | None,
    threads: int | None,
    intervals: Intervals | None = None,
    phi: list[str] | None = None,
    fewest: int = 1,
    **loading: Any,
) -> tuple[Scorecard, list[Run], list[str]]:
    """Load and score every run; return the scorecard, the runs, and what looks wrong with those at chance."""
    from karat.benchmarks import DIRECTIONS, load_benchmark
    from karat.cli.show import progress
    from karat.scores import Similarities, evaluate, make_plan, misread, runs_at_chance

    bench, chosen = with_made_truths(
        load_benchmark(benchmark, **parse_settings(setting)), split_names(truths)
    )
    asked: dict[str, Any] = {
        "measures": split_names(measures),
        "truths": chosen,
        "directions": split_names(directions) or DIRECTIONS,
        "ties": ties,
        "unjudged": unjudged,
    }
    plan, _ = make_plan(bench, **asked)  # mistakes in these show before large files are read
    similarities = Similarities(bench, {name: Path(file) for name, file in parse_settings(phi).items()})
    similarities.check(named for group in plan.measures.values() for named in group)
    runs = load_runs(files, bench, split_names(names), **loading)
    if len(runs) < fewest:
        raise InputError(f"there is only the run {runs[0].name!r} to compare", fix="give two or more")
    with progress(len(runs)) as step:
        card = evaluate(
            runs,
            bench,
            progress=step,
            threads=threads,
            intervals=intervals,
            similarities=similarities.given,
            **asked,
        )
    if all(column.value is None for column in card):
        raise InputError(f"nothing could be computed: {card.notes[0]}", fix="karat inspect says more")
    suspicions = []
    for name, note in runs_at_chance(card).items():
        run = next(run for run in runs if run.name == name)
        for kind, text in misread(run, bench):
            if kind == "order":
                raise InputError(f"{note}, but {text}", where=run.where)
            note = f"{note}; {text}"
        suspicions.append(note)
    return card, runs, suspicions


def with_made_truths(bench: Benchmark, truths: list[str] | None) -> tuple[Benchmark, list[str] | None]:
    """Return the benchmark with the machine-made truths that were asked for, and all truths' names."""
    made = [name for name in truths or () if name.lower().startswith("machine(") and name not in bench.truths]
    if truths is None or not made:
        return bench, truths
    from karat.captions import proper_name, with_machine_truths

    names = [proper_name(name) if name in made else name for name in truths]
    return with_machine_truths(bench, made), names


def load_runs(files: list[Path], benchmark: Benchmark, names: list[str] | None, **options: Any) -> list[Run]:
    """Load every run, two embedding tables together, and name them."""
    from karat.runs import RankingsRun, group_sources, load_run

    groups = group_sources(files, benchmark)
    if names is not None and len(names) != len(groups):
        given = f"{plural(len(groups), 'run')} but {plural(len(names), 'name')}"
        raise InputError(given, fix="give as many names as runs")
    default = [group[0].stem for group in groups]
    if len(set(default)) < len(default):
        # a/sims.npy and b/sims.npy: the folders tell them apart.
        default = [str(group[0].with_suffix("")) for group in groups]
    runs = [
        load_run(*group, benchmark=benchmark, name=name, **options)
        for group, name in zip(groups, names or default)
    ]
    if all(isinstance(run, RankingsRun) for run in runs) and (options["ids"] or options["transpose"]):
        raise InputError(
            "ranked lists carry their own ids and directions", fix="leave out --ids and --transpose"
        )
    for run in runs:
        if options["similarity"] == "dot" and not getattr(run, "unit_length", True):
            print(
                f"note: {run.name}: the embeddings are not of length 1 and scores are plain products; "
                "--similarity cosine scales them",
                file=sys.stderr,
            )
    return runs
