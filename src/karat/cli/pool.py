"""``karat pool``: the pairs that several runs suggest, what judging them costs, and a project for it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._util import plural, require
from karat.cli import options
from karat.cli.command import Command
from karat.cli.estimate import check_typed, typed_options
from karat.cli.options import parse_settings
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark
    from karat.judging import Form, Pool

app = typer.Typer()

OF_PAIRS = (
    "top", "direction", "queries", "judged", "filter", "fill", "gold_truth", "gold_depth", "ids",
    "similarity", "transpose", "name", "memory", "scheduler", "tls_ca", "tls_cert", "tls_key",
)  # fmt: skip
"""The options that instances do not take: they have no rankings."""
REGIONS = "mask"
"""The form of instances, unless another is given."""


@app.command(cls=Command)
def pool(
    context: typer.Context,
    files: options.FilesOrNone = None,
    benchmark: options.BenchmarkName = "coco",
    output: Annotated[str | None, options.output("a new project, a file or postgresql://…")] = None,
    force: options.Force = False,
    top: options.Top = 5,
    form: Annotated[
        str,
        options.option(
            "--form",
            panel=options.SCORED,
            choices="forms",
            help="What annotators are asked: {forms}; or a .toml file.",
        ),
    ] = "pair",
    direction: options.Direction = None,
    queries: Annotated[
        str | None,
        options.option(
            "--queries",
            panel=options.SCORED,
            metavar="TRUTH",
            help="Only the queries that this truth covers.",
        ),
    ] = None,
    sample: Annotated[
        list[str] | None, options.sample("queries, 500 or i2t=1261,t2i=1333; or instances.")
    ] = None,
    judged: Annotated[
        list[str] | None,
        options.option(
            "--judged",
            panel=options.SCORED,
            metavar="TRUTH",
            help="Leave out pairs that these truths judge; `original` is each caption with its own image.",
        ),
    ] = None,
    filter: Annotated[
        list[str] | None,
        options.option(
            "--filter",
            panel=options.SCORED,
            metavar="RULE",
            help="Keep only some pairs: 'bleu-pre>=0.25', 'score(a)>=0.3' or 'systems>=2'.",
        ),
    ] = None,
    fill: Annotated[
        int | None,
        options.option(
            "--fill",
            min=1,
            panel=options.SCORED,
            help="Fill up each image's captions to a multiple of this; by default the form's columns.",
        ),
    ] = None,
    task_size: options.TaskSize = None,
    gold: options.Gold = None,
    overlap: options.Overlap = 3,
    gold_truth: Annotated[
        str | None,
        options.option(
            "--gold-truth",
            panel=options.COST,
            metavar="TRUTH",
            help="The truth of gold positives; by default captions with their own images.",
        ),
    ] = None,
    gold_depth: Annotated[
        int,
        options.option(
            "--gold-depth",
            min=0,
            panel=options.COST,
            help="Gold negatives are not among the first N items of any run.",
        ),
    ] = 25,
    per_hour: options.PerHour = 15.0,
    per_task: options.PerTask = None,
    fee: options.Fee = 0.2,
    dry_run: options.DryRun = False,
    seed: options.Seed = 0,
    name: options.Name = None,
    ids: options.Ids = None,
    similarity: options.Similarity = "dot",
    transpose: options.Transpose = False,
    setting: options.Setting = None,
    memory: options.Memory = None,
    scheduler: options.SchedulerAddress = None,
    tls_ca: options.TlsCa = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
) -> None:
    """Pool what several runs suggest, for annotators to judge.

    Takes the first items of each run, and prints what judging them costs before anything is written. `karat
    tasks` packs the pool into tasks.

    With -b instances.json, in COCO's form, annotators approve or reject the masks of instances, which are
    drawn over the images of --set images=FOLDER: all, or those that the detections in FILE overlap.
    """
    from karat.benchmarks import is_instances, load_benchmark
    from karat.cli.show import show, waiting
    from karat.judging import Rates, make_pool, pool_cost
    from karat.judging.pools import GoldChoice, QuerySample, parse_filter
    from karat.runs import Compute, Loading

    # Mistakes in these are reported before anything large is read.
    if output is None and not dry_run:
        raise InputError(
            "no output is given for the project", fix="give one with -o project.db, or pass --dry-run"
        )
    if output is not None and not dry_run:
        require("pydantic", "sqlalchemy", "alembic")
        check_new(output, force)
    cluster = options.scheduler_of(scheduler, tls_ca, tls_cert, tls_key)
    of_instances = is_instances(benchmark)
    typed = typed_options(context)
    sized = sized_form(REGIONS if of_instances and "form" not in typed else form, task_size, gold)
    if sized.regions != of_instances:
        raise InputError(
            f"the form {sized.name!r} {'shows masks' if sized.regions else 'shows no masks'}",
            fix="give instances of COCO's form and images: -b instances.json --set images=FOLDER --form mask",
        )
    priced: dict[str, Any] = {"overlap": overlap, "rates": Rates(None, per_hour, per_task, fee)}
    if of_instances:
        check_typed(typed, OF_PAIRS, "instances do not have it", "leave out")
        kept, bench, pooled = pool_instances(
            files or [], benchmark, parse_settings(setting), parse_sample(sample), sized, seed
        )
        check_any(pooled, "give other detections or none, or fewer known answers")
        show(pool_cost(pooled, sized, **priced))
        if output is not None and not dry_run:
            facts: dict[str, Any] = {
                "runs": [str(file) for file in files or []],
                "sample": sample,
                "seed": seed,
            }
            save_pool(output, bench, sized, pooled, "instances", kept, facts)
        return
    if not files:
        raise InputError("no run is given", fix="name one or more files")
    rules = filter or []
    for rule in rules:
        parse_filter(rule)
    settings = parse_settings(setting)
    bench = load_benchmark(benchmark, **settings)
    left_out = judged or []
    drawn = parse_sample(sample)
    directions: Any = check_pooled(bench, direction, queries, left_out, gold_truth)
    compute = Compute(memory=memory, scheduler=cluster)
    runs = options.load_runs(files, bench, Loading(name, ids, similarity, transpose), compute)
    if runs[0].benchmark is not bench:
        raise InputError(
            f"the runs list items that {bench.name} does not have", fix="list all ids: --set items=FILE"
        )
    with waiting(f"pooling {plural(len(runs), 'run')}"):
        pooled = make_pool(
            runs,
            bench,
            top=top,
            direction=directions,
            queries=queries if drawn is None else QuerySample(drawn, queries),
            judged=left_out,
            filter=rules,
            form=sized,
            fill=fill,
            gold=GoldChoice(truth=gold_truth, depth=gold_depth),
            seed=seed,
            compute=compute,
        )
    check_any(pooled, "pool deeper, filter less, or leave out fewer pairs")
    show(pool_cost(pooled, sized, **priced))
    if dry_run or output is None:
        return
    facts = {
        "runs": [str(file) for file in files], "top": top, "queries": queries, "sample": sample,
        "judged": left_out, "filters": rules, "gold_truth": gold_truth, "gold_depth": gold_depth,
        "seed": seed,
    }  # fmt: skip
    save_pool(output, bench, sized, pooled, lasting(benchmark), settings, facts)


def check_pooled(
    benchmark: Benchmark,
    direction: list[str] | None,
    queries: str | None,
    judged: list[str],
    gold_truth: str | None,
) -> Any:
    """Return the directions, or raise for one that is unknown, or a truth that is unknown or does not fit."""
    from karat._util import check_choice
    from karat.benchmarks import DIRECTIONS
    from karat.judging.pools import check_judged, listed_judgments

    if queries is not None:
        benchmark.truth(queries)
    if gold_truth is not None:
        listed_judgments(benchmark, gold_truth)
    for truth in judged:
        check_judged(benchmark, truth)
    return direction and [check_choice(way, DIRECTIONS, "directions") for way in direction]


def pool_instances(
    files: list[Path],
    benchmark: str,
    settings: dict[str, str],
    sample: Any,
    form: Form,
    seed: int,
) -> tuple[dict[str, str], Benchmark, Pool]:
    """Return settings that load the instances again, the benchmark, and the pool."""
    from karat.benchmarks import load_benchmark
    from karat.cli.show import waiting
    from karat.judging import make_instance_pool
    from karat.runs import load_detections

    if isinstance(sample, dict):
        raise InputError("instances have no directions", fix="write --sample 500")
    if "digest" in settings:
        raise InputError("the digest is that of the file", fix="leave out --set digest")
    if "images" not in settings:
        raise InputError("the images are not given", fix="name their folder: --set images=FOLDER")
    # Absolute, so that the project can be opened anywhere.
    kept = {key: os.path.abspath(value) for key, value in {"file": benchmark, **settings}.items()}
    with waiting("pooling instances"):
        bench = load_benchmark("instances", **kept)
        instances = bench.instances
        assert instances is not None
        runs = [load_detections(file, instances) for file in files]
        pooled = make_instance_pool(bench, runs, sample=sample, form=form, seed=seed)
    return {**kept, "digest": instances.digest}, bench, pooled


def check_any(pool: Pool, fix: str) -> None:
    """Print what a pool is and raise where it is empty."""
    from karat.judging.pools import pool_sentences

    if not len(pool):
        print("\n".join(pool_sentences(pool)))
        raise InputError("nothing is left to judge", fix=fix)


def save_pool(
    output: str,
    benchmark: Benchmark,
    form: Form,
    pool: Pool,
    source: str,
    settings: dict[str, str],
    facts: dict[str, Any],
) -> None:
    """Write a new project with a pool, and say what comes next."""
    from karat.judging import create_project
    from karat.judging.store import write_project

    facts = {**facts, "systems": list(pool.systems), "pairs": len(pool), "suggestions": pool.suggestions}

    def write(place: str | Path) -> None:
        with create_project(place, benchmark, form, source=source, settings=settings) as project:
            project.pools.set(pool)
            project.journal.log("pool", facts)

    if "://" in output:
        write(output)
    else:
        write_project(Path(output), write)
    print(f"wrote {output}; next: karat tasks {shlex.quote(str(output))}")


def sized_form(name: str, task_size: int | None, gold: int | None) -> Form:
    """Return a form with other sizes, which the project then keeps."""
    from karat.judging import load_form
    from karat.judging.forms import form_from_data, form_to_data

    data = form_to_data(load_form(name))
    sizes = {"pairs": task_size, "gold": gold}
    return form_from_data(data | {field: size for field, size in sizes.items() if size is not None}, name)


def check_new(output: str, force: bool) -> None:
    """Raise if the project's file already exists or its folder does not, before large runs are read."""
    from karat._util import check_writable

    if "://" in output:
        return
    check_writable(Path(output))
    if Path(output).exists() and not force:
        raise InputError("already exists", where=output, fix="choose another name, or pass --force")


def lasting(benchmark: str) -> str:
    """Return a benchmark's name, or the absolute path of its folder: the project can be opened anywhere."""
    from karat.benchmarks import SOURCES, registered

    is_name = benchmark in SOURCES or benchmark in registered()
    return benchmark if is_name else str(Path(benchmark).resolve())


def parse_sample(texts: list[str] | None) -> Any:
    """Return a number for both directions, or one for each.

    >>> parse_sample(["i2t=1261", "t2i=1333"]), parse_sample(["500"]), parse_sample(None)
    ({'i2t': 1261, 't2i': 1333}, 500, None)
    """
    if texts is None:
        return None
    if len(texts) == 1 and texts[0].isdecimal():
        if not int(texts[0]):
            raise InputError("--sample is 0", fix="give 1 or more")
        return int(texts[0])
    numbers = parse_settings(texts)
    for name, value in numbers.items():
        if name not in ("i2t", "t2i") or not value.isdecimal():
            raise InputError(
                f"{name}={value} is not a sample size", fix="write --sample 500, or i2t=1261,t2i=1333"
            )
    return {name: int(value) for name, value in numbers.items()}
