"""A new project: the pairs that runs suggest, or instances with masks; their cost, and their tasks."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import TEXT_FORMATS, Result, check_writable, plural, require, say
from karat.benchmarks import DIRECTIONS, SOURCES, Benchmark, load_benchmark, registered
from karat.errors import InputError
from karat.forms import (
    FORMS,
    Form,
    Pool,
    check_judged,
    form_from_data,
    form_to_data,
    listed_judgments,
    load_form,
    pool_sentences,
)
from karat.judging import Cost, Rates, make_instance_pool, make_pool, make_tasks, pool_cost
from karat.judging.pools import GoldChoice, QuerySample, parse_filter
from karat.judging.publication import both_sides
from karat.judging.tasks import plan_cost, unplanned
from karat.project.place import takes_place
from karat.runs import Compute, Loading, load_detections, load_runs, notes_on_loading

if TYPE_CHECKING:
    from karat.store import Project


@dataclass(frozen=True)
class PooledPairs(Result):
    """What was pooled, and what judging it costs.

    Parameters
    ----------
    cost
        The pairs, tasks, hours and money.
    where
        The new project; empty where nothing was written.
    notes
        What a reader should know.
    """

    cost: Cost
    where: str
    notes: tuple[str, ...] = ()
    formats = TEXT_FORMATS

    def records(self) -> list[dict[str, Any]]:
        """Return one record: sizes, hours, money, and the project."""
        return [record | {"project": self.where or None} for record in self.cost.records()]

    def parts(self) -> list[str]:
        """Return what is judged, the estimate, and what comes next."""
        next_step = f"wrote {self.where}; next: karat project tasks {shlex.quote(self.where)}"
        return ["\n".join([*self.cost.parts(), *([next_step] if self.where else [])])]


@dataclass(frozen=True)
class PooledTasks(Result):
    """Tasks that were made of a pool, and what they cost.

    Parameters
    ----------
    cost
        The pairs, tasks, hours, money and annotators.
    first, last
        The numbers of the new tasks; None where nothing was written.
    where
        The project.
    exportable, shown
        Whether other tools can show the tasks, and whether the judging page can.
    """

    cost: Cost
    first: int | None
    last: int | None
    where: str
    exportable: bool = True
    shown: bool = True
    formats = TEXT_FORMATS

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        return self.cost.notes

    def records(self) -> list[dict[str, Any]]:
        """Return one record: sizes, hours, money, and the numbers of the tasks."""
        return [record | {"first": self.first, "last": self.last} for record in self.cost.records()]

    def parts(self) -> list[str]:
        """Return the estimate, and what comes next."""
        if self.first is None:
            return self.cost.parts()
        place = shlex.quote(self.where)
        ways = [f"karat serve {place}"] * self.shown
        ways += [f"karat project export {place} -o tasks.csv"] * self.exportable
        written = f"wrote tasks {self.first} to {self.last} into {self.where}"
        return ["\n".join([*self.cost.parts(), f"{written}; next: {', or '.join(ways)}"])]


def pool(
    files: Any,
    benchmark: str | Path = "coco",
    output: str | Path | None = None,
    *,
    force: bool = False,
    top: int = 5,
    form: str | Form = "pair",
    direction: Iterable[str] | str | None = None,
    queries: str | None = None,
    sample: int | Mapping[Any, int] | None = None,
    judged: Iterable[str] = (),
    filter: Iterable[str] = (),
    fill: int | None = None,
    task_size: int | None = None,
    gold: int | None = None,
    gold_truth: str | None = None,
    gold_depth: int = GoldChoice.depth,
    overlap: int = 3,
    rates: Rates | None = None,
    dry_run: bool = False,
    seed: int = 0,
    loading: Loading | None = None,
    compute: Compute | None = None,
    setting: Mapping[str, str] | None = None,
) -> PooledPairs:
    """Pool what several runs suggest, and make a project in which annotators judge it.

    Parameters
    ----------
    files
        Runs, as `karat.evaluate` takes them.
    benchmark, setting
        The name or the folder of a benchmark, which the project keeps, and its settings.
    output
        The new project, a file or ``postgresql://…``.
    force
        Replace a file that exists.
    top, direction, queries, judged, filter, fill, seed
        What is pooled; see `karat.judging.make_pool`.
    form
        What annotators are asked: a name, a .toml file, or a form.
    sample
        How many queries are drawn at random: one number, or one for each of the benchmark's directions.
    task_size, gold, overlap
        Pairs and gold pairs per task, which the project keeps, and how many annotators answer each task.
    gold_truth, gold_depth
        See `karat.judging.pools.GoldChoice`.
    rates
        How long an answer takes, and what annotators are paid.
    dry_run
        Only say what it would cost.
    loading, compute
        How runs are read, and what the work is done with.

    Returns
    -------
    PooledPairs
        The cost, and where the project is.

    Examples
    --------
    >>> import tempfile
    >>> from karat.world import make
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     world = make(60, 2, 1, output=f"{folder}/my", no_images=True, systems=True)
    ...     runs = [f"{folder}/my/runs/{name}.npy" for name in ("seer", "learner")]
    ...     print(pool(runs, f"{folder}/my", top=2, dry_run=True))    # doctest: +ELLIPSIS
    The first 2 items of 2 runs for 60 i2t and 120 t2i queries: 720 suggestions, 384 pairs.
    ...
    """
    check_new(output, force, dry_run)
    asked = sized_form(form, task_size, gold)
    check_shown(asked, masks=False)
    rules = [filter] if isinstance(filter, str) else list(filter)
    for rule in rules:
        parse_filter(rule)
    if not isinstance(benchmark, str | Path):
        fix = "save it first: karat.save_benchmark(benchmark, 'folder')"
        raise InputError("a project keeps the name or the folder of its benchmark", fix=fix)
    settings = dict(setting or {})
    bench = load_benchmark(benchmark, **settings)
    check_asked(asked, bench)
    if isinstance(sample, Mapping):
        sample = {bench.direction(name): number for name, number in sample.items()}
    left_out = [judged] if isinstance(judged, str) else list(judged)
    directions = check_pooled(bench, direction, queries, left_out, gold_truth)
    runs = load_runs(files, bench, loading, compute)
    if runs[0].benchmark is not bench:
        what = f"the runs list items that {bench.name} does not have"
        raise InputError(what, fix="list all ids: --set items=FILE")
    say(f"pooling {plural(len(runs), 'run')}")
    pooled = make_pool(
        runs, bench, top=top, direction=directions,
        queries=queries if sample is None else QuerySample(sample, queries),
        judged=left_out, filter=rules, form=asked, fill=fill,
        gold=GoldChoice(truth=gold_truth, depth=gold_depth), seed=seed, compute=compute,
    )  # fmt: skip
    check_any(pooled, "pool deeper, filter less, or leave out fewer pairs")
    cost = pool_cost(pooled, asked, overlap=overlap, rates=rates)
    facts = {
        "runs": names_of(files, runs), "top": top, "queries": queries, "sample": sample, "judged": left_out,
        "filters": rules, "gold_truth": gold_truth, "gold_depth": gold_depth, "seed": seed,
    }  # fmt: skip
    source = lasting(benchmark)
    kept = {} if dry_run else lasting_settings(source, settings)
    made = None if dry_run else NewProject(str(output), bench, asked, source, kept)
    return written(made, pooled, cost, facts, notes_on_loading(runs))


def pool_instances(
    files: Any = (),
    benchmark: str | Path = "",
    output: str | Path | None = None,
    *,
    force: bool = False,
    form: str | Form = "mask",
    sample: int | None = None,
    task_size: int | None = None,
    gold: int | None = None,
    overlap: int = 3,
    rates: Rates | None = None,
    dry_run: bool = False,
    seed: int = 0,
    setting: Mapping[str, str] | None = None,
) -> PooledPairs:
    """Pool instances whose masks annotators approve or reject, and make a project of them.

    Parameters
    ----------
    files
        Detections, as json in COCO's form: only instances that one of them overlaps are pooled. Without any,
        all instances are.
    benchmark
        Instances with boxes and masks, json in COCO's form.
    output, force
        The new project, and whether a file that exists is replaced.
    form
        What annotators are asked about a mask.
    sample
        How many instances are drawn at random; all by default.
    task_size, gold, overlap, rates, dry_run
        As for `karat.project.pool`.
    seed
        Of the draws.
    setting
        ``images``, the folder of the images, which is needed; ``approved``, masks that are known to be right
        or wrong, a csv file.

    Returns
    -------
    PooledPairs
        The cost, and where the project is.
    """
    check_new(output, force, dry_run)
    asked = sized_form(form, task_size, gold)
    check_shown(asked, masks=True)
    given = dict(setting or {})
    if sample is not None and not isinstance(sample, int):
        raise InputError("instances have no directions", fix="write --sample 500")
    if "digest" in given:
        raise InputError("the digest is that of the file", fix="leave out --set digest")
    if "images" not in given:
        raise InputError("the images are not given", fix="name their folder: --set images=FOLDER")
    # Absolute, so that the project can be opened anywhere.
    places = {"file": benchmark, **given}
    settings = {name: os.path.abspath(value) for name, value in places.items()}
    say("reading instances")
    bench = load_benchmark("instances", **settings)
    instances = bench.instances
    assert instances is not None
    listed = [files] if isinstance(files, str | Path) else list(files)
    runs = [load_detections(file, instances) for file in listed]
    pooled = make_instance_pool(bench, runs, sample=sample, form=asked, seed=seed)
    check_any(pooled, "give other detections or none, or fewer known answers")
    cost = pool_cost(pooled, asked, overlap=overlap, rates=rates)
    facts = {"runs": names_of(listed, runs), "sample": sample, "seed": seed}
    settings |= {"digest": instances.digest}
    made = None if dry_run else NewProject(str(output), bench, asked, "instances", settings)
    return written(made, pooled, cost, facts)


@dataclass(frozen=True)
class NewProject:
    """A project that is to be written: where, and what it is about."""

    where: str
    benchmark: Benchmark
    form: Form
    source: str
    settings: Mapping[str, str]

    def write(self, pooled: Pool, facts: Mapping[str, Any]) -> None:
        """Write it with a pool; a file appears whole or not at all."""
        from karat.store import create_project, write_project

        def fill(place: str | Path) -> None:
            with create_project(
                place, self.benchmark, self.form, source=self.source, settings=self.settings
            ) as project:
                project.pools.set(pooled)
                project.journal.log("pool", dict(facts))

        if "://" in self.where:
            fill(self.where)
        else:
            write_project(Path(self.where), fill)


def written(
    made: NewProject | None, pooled: Pool, cost: Cost, facts: dict[str, Any], notes: Sequence[str] = ()
) -> PooledPairs:
    """Write a project, unless there is none to write, and return what was pooled."""
    if made is not None:
        say(f"writing {made.where}")
        known = {"systems": list(pooled.systems), "pairs": len(pooled), "suggestions": pooled.suggestions}
        made.write(pooled, facts | known)
    return PooledPairs(cost, "" if made is None else made.where, (*notes, *cost.notes))


@takes_place
def tasks(
    project: Project,
    *,
    task_size: int | None = None,
    gold: int | None = None,
    overlap: int = 3,
    rates: Rates | None = None,
    dry_run: bool = False,
    seed: int = 0,
) -> PooledTasks:
    """Pack a project's pool into tasks, with gold pairs hidden among the others.

    Pairs that are already in a task stay there; pairs that were pooled later get new tasks.

    Parameters
    ----------
    project
        An open project, or its file or address.
    task_size, gold
        Pairs to judge and gold pairs per task; by default as in the form.
    overlap
        How many annotators answer each task.
    rates
        How long an answer takes, and what annotators are paid.
    dry_run
        Only say what it would cost.
    seed
        Decides which pairs are together, and where.

    Returns
    -------
    PooledTasks
        The cost, and the numbers of the tasks.
    """
    pooled, planned = project.pools.read(), project.pools.plan()
    if len(pooled) and not len(unplanned(pooled, planned)):
        raise InputError("every pair is already in a task", where=project.where, fix="pool more pairs first")
    say("making tasks")
    plan = make_tasks(
        pooled, project.form, task_size=task_size, gold=gold, overlap=overlap, planned=planned,
        benchmark=project.benchmark, seed=seed,
    )  # fmt: skip
    wanted = np.bincount(project.queue.assignments().task, minlength=planned.tasks)
    cost = plan_cost(plan, project.form, planned=planned, wanted=wanted, rates=rates)
    place, ways = project.where, (not project.form.regions, project.directions == DIRECTIONS)
    if dry_run:
        return PooledTasks(cost, None, None, place, *ways)
    first = project.pools.add_tasks(plan)
    facts = {"tasks": plan.tasks, "first": first, "pairs": cost.pairs, "gold": cost.gold}
    project.journal.log("tasks", facts | {"overlap": overlap, "seed": seed})
    return PooledTasks(cost, first, first + plan.tasks - 1, place, *ways)


def check_new(output: str | Path | None, force: bool, dry_run: bool) -> None:
    """Raise if no project can be written there, before large runs are read."""
    if dry_run:
        return
    if output is None:
        fix = "give one with -o project.db, or pass --dry-run"
        raise InputError("no output is given for the project", fix=fix)
    require("pydantic", "sqlalchemy", "alembic")
    if "://" in str(output):
        return
    check_writable(Path(output))
    if Path(output).exists() and not force:
        raise InputError("already exists", where=output, fix="choose another name, or pass --force")


def check_shown(form: Form, masks: bool) -> None:
    """Raise where a form shows masks and there are none, or the reverse."""
    if form.regions and not masks:
        fix = "choose another form, or pool masks: karat detections pool"
        raise InputError(f"the form {form.name!r} shows masks", fix=fix)
    if masks and not form.regions:
        raise InputError(f"the form {form.name!r} shows no masks", fix="choose one that does: --form mask")


def check_pooled(
    benchmark: Benchmark,
    direction: Iterable[str] | str | None,
    queries: str | None,
    judged: Sequence[str],
    gold_truth: str | None,
) -> Any:
    """Return the directions, or raise for one that is unknown, or a truth that is unknown or does not fit."""
    if queries is not None:
        benchmark.truth(queries)
    if gold_truth is not None:
        listed_judgments(benchmark, gold_truth)
    for truth in judged:
        check_judged(benchmark, truth)
    ways = [direction] if isinstance(direction, str) else direction
    return None if ways is None else [benchmark.direction(way) for way in ways]


def check_asked(form: Form, benchmark: Benchmark) -> None:
    """Raise where a form asks about images and captions, and the benchmark has others."""
    if benchmark.directions == DIRECTIONS:
        return
    built_in = any(form.question == load_form(name).question for name in FORMS)
    if built_in or form.own_image:
        what = f"the form {form.name!r} asks about images and captions"
        fix = "write a form of your own: --form FILE.toml"
        raise InputError(f"{what}, and {benchmark.name} has {both_sides(benchmark)}", fix=fix)


def check_any(pooled: Pool, fix: str) -> None:
    """Raise where a pool is empty, with what it is."""
    if not len(pooled):
        raise InputError(f"nothing is left to judge. {' '.join(pool_sentences(pooled))}".rstrip("."), fix=fix)


def names_of(files: Any, runs: Sequence[Any]) -> list[str]:
    """Return the files of runs as the project keeps them; of runs without files, their names."""
    listed = [files] if isinstance(files, str | Path) else files
    paths = isinstance(listed, Sequence) and all(isinstance(file, str | Path) for file in listed)
    return [str(file) for file in listed] if paths else [run.name for run in runs]


def sized_form(form: str | Form, task_size: int | None, gold: int | None) -> Form:
    """Return a form with other sizes, which the project then keeps."""
    chosen = form if isinstance(form, Form) else load_form(form)
    sizes = {name: size for name, size in (("pairs", task_size), ("gold", gold)) if size is not None}
    return form_from_data(form_to_data(chosen) | sizes, chosen.name) if sizes else chosen


def lasting(benchmark: str | Path) -> str:
    """Return a benchmark's name, or the absolute path of its folder: the project can be opened anywhere."""
    is_name = str(benchmark) in SOURCES or str(benchmark) in registered()
    return str(benchmark) if is_name else str(Path(benchmark).resolve())


def lasting_settings(source: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings of a benchmark with absolute paths."""
    from karat.store import paths_of

    paths = paths_of(source, settings)
    return {name: os.path.abspath(value) if name in paths else value for name, value in settings.items()}
