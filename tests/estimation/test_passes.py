"""How often estimates pass over the scores of runs: once, and twice for measures of whole rankings."""

from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest

import karat
from karat._util import reporting
from karat.estimation import estimate_goal, estimate_project, make_candidates, next_pairs
from karat.estimation.candidates import CandidateRequest, scan_candidates
from karat.runs import Compute, MatrixRun, TableRun, table
from karat.store import Goal
from told import Told

from .projects import answer, new_project

CUTS = ("P@10", "P@5", "P@20", "P@10")
"""The measures of the stored batches: other ones than the last go deeper, or less deep."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    from .projects import make_place

    folder = tmp_path_factory.mktemp("passes")
    world, systems = make_place(folder, images=240, captions=1, runs=3)
    rng = np.random.default_rng(3)
    systems += [
        MatrixRun(systems[0].scores + rng.normal(size=systems[0].scores.shape) * k, name=f"more {k}")
        for k in (1, 2)
    ]
    return folder, world, systems


@pytest.fixture(scope="module")
def projects(place):
    """Per number of runs and batches, a project with answers to all of its tasks."""
    folder, world, systems = place
    opened = {}
    for runs in (1, 2, 5):
        for batches in (0, 1, 4):
            project = opened[runs, batches] = new_project(folder, f"{runs}-{batches}.db")
            done = 0
            for number in range(batches):
                next_pairs(project, systems[:runs], CUTS[number], budget=60, direction="t2i", seed=number)
                done = answer(project, world, after=done)
    yield opened
    for project in opened.values():
        project.close()


@contextmanager
def counted(monkeypatch):
    """Count the passes over each run's scores: over all tiles, or query by query."""
    passes = {}

    def note(run):
        passes[run.name] = passes.get(run.name, 0) + 1

    with monkeypatch.context() as patch:
        whole, by_query = table.one_pass, TableRun.query_tops
        patch.setattr(table, "one_pass", lambda run, *args: (note(run), whole(run, *args))[1])
        patch.setattr(TableRun, "query_tops", lambda run, request: (note(run), by_query(run, request))[1])
        yield passes


def once(systems):
    return {run.name: 1 for run in systems}


def twice(systems):
    """What only later runs list is placed in a second pass; the last run has heard of all by its first."""
    return {run.name: 2 for run in systems[:-1]} | {systems[-1].name: 1}


@pytest.mark.parametrize("estimator", ["mixed", "naive", "boosting"])
@pytest.mark.parametrize("batches", [0, 1, 4])
@pytest.mark.parametrize("runs", [1, 2, 5])
def test_a_project_reads_each_run_once(place, projects, monkeypatch, runs, batches, estimator):
    systems, project = place[2][:runs], projects[runs, batches]
    goal = Goal(tuple(run.name for run in systems), "P@10", "t2i", number=0.05, estimator=estimator)
    options = {"direction": "t2i", "estimator": estimator}
    with counted(monkeypatch) as passes:
        next_pairs(project, systems, "P@10", budget=20, dry_run=True, **options)
    assert passes == once(systems)
    with counted(monkeypatch) as passes:
        estimate_project(project, systems, "P@10", **options)
    assert passes == once(systems)
    with counted(monkeypatch) as passes:
        estimate_goal(project, goal, systems)
    assert passes == once(systems)


@pytest.mark.parametrize("runs", [1, 2, 5])
def test_files_simulations_and_plans_read_each_run_once(place, monkeypatch, runs):
    _, world, systems = place
    systems, bench = systems[:runs], world.benchmark()
    labels = {"noisy": "original", "vetted": "complete"}
    with counted(monkeypatch) as passes:
        karat.estimate(systems, bench, "P@10,P@5", **labels, draws=10)
    assert passes == once(systems)
    with counted(monkeypatch) as passes:
        karat.simulate(systems, bench, "P@10,P@5", **labels, times=1, batch=0.5, draws=10)
    assert passes == once(systems)
    for pilot in (None, "original"):
        with counted(monkeypatch) as passes:
            karat.plan(systems, bench, "P@10", direction="t2i", pilot=pilot)
        assert passes == once(systems)


@pytest.mark.parametrize("runs", [1, 2, 5])
def test_measures_without_a_cut_off_take_one_pass_more(place, monkeypatch, runs):
    systems, bench = place[2][:runs], place[1].benchmark()
    with counted(monkeypatch) as passes:
        karat.estimate(systems, bench, "P@10,RP", noisy="original", vetted="complete", draws=10)
    assert passes == (twice(systems) if runs > 1 else once(systems))


def test_passes_are_made_as_asked(place, monkeypatch):
    systems, bench, told = place[2][:2], place[1].benchmark(), Told()
    seen, scan = [], TableRun.scan

    def noted(run, items=(), threads=None, first=False, *, tops=(), options=None):
        seen.append((threads, options.device))
        return scan(run, items, threads, first, tops=tops, options=options)

    monkeypatch.setattr(TableRun, "scan", noted)
    compute = Compute(threads=1, device="cpu")
    with reporting(told):
        made = make_candidates(
            systems, bench, "original", direction="t2i", depth=5, compute=compute, exact=False
        )
    assert made.exact is not made
    assert set(seen) == {(1, "cpu")}
    assert told.reached["tiles"]


@pytest.mark.parametrize("ties", ["stable", "expected"])
@pytest.mark.parametrize("rounded", [False, True])
def test_places_from_lists_are_those_of_the_runs(place, ties, rounded):
    _, world, systems = place
    bench = world.benchmark()
    if rounded:
        systems = [MatrixRun(np.round(run.scores / 2), name=run.name) for run in systems]
    options = {"direction": "t2i", "depth": 6, "ties": ties, "sample": 3, "noisy_positives": True}
    exact = make_candidates(systems[:3], bench, "original", **options)
    lazy = make_candidates(systems[:3], bench, "original", **options, exact=False, list_depth=20)
    assert lazy.item.tolist() == exact.item.tolist()
    for run, system in zip(exact.runs, systems):
        scores = system.align(bench).scores[exact.item, exact.queries[exact.query]].astype(float)
        table_scores = system.align(bench).scores[:, exact.queries[exact.query]]
        above = (table_scores > scores).sum(axis=0)
        earlier = ((table_scores == scores) & (np.arange(240)[:, None] < exact.item)).sum(axis=0)
        place = above + earlier * (ties == "stable")
        assert exact.places[run].tolist() == place.tolist()
        assert lazy.exact.places[run].tolist() == place.tolist()
        known = np.isfinite(lazy.places[run])
        assert known[place < 20].all()
        assert not known.all()
        assert lazy.places[run][known].tolist() == place[known].tolist()
        whole, part = exact.rankings[run].ranked, lazy.exact.rankings[run].ranked
        assert whole.width.tolist() == part.width.tolist()


def test_several_requests_are_answered_as_each_alone(place):
    _, world, systems = place
    bench = world.benchmark()
    choices = [{"direction": way, "depth": k} for way in ("i2t", "t2i") for k in (3, 8)]
    together = scan_candidates(systems[:2], bench, [CandidateRequest("original", **one) for one in choices])
    for one, made in zip(choices, together, strict=True):
        alone = make_candidates(systems[:2], bench, "original", **one)
        assert made.item.tolist() == alone.item.tolist()
        for run in alone.runs:
            assert made.places[run].tolist() == alone.places[run].tolist()
    assert all(len(a) < len(b) for a, b in pairwise(together[:2]))
