"""``karat project next`` and ``karat project estimate PROJECT`` as a user meets them."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from estimation.projects import answer, make_place, new_project
from karat.estimation import estimate_project
from karat.store import Goal, open_project


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A world, three runs, and a project with 120 drawn pairs and their answers."""
    place = tmp_path_factory.mktemp("next")
    world, runs = make_place(place)
    from karat.estimation import next_pairs

    with new_project(place) as project:
        next_pairs(project, runs[:2], budget=120, direction="t2i")
        answer(project, world)
    new_project(place, "empty.db").close()
    new_project(place, "bare.db").close()
    np.save(place / "other.npy", np.random.default_rng(0).random((30, 60)))
    (place / "text.txt").write_text("no project")
    with closing(sqlite3.connect(place / "foreign.db")) as foreign:
        foreign.execute("CREATE TABLE other (a)")
        foreign.commit()
    return place


@pytest.fixture
def runs(folder):
    return "--run", folder / "seer.npy", "--run", folder / "learner.npy"


def test_next_draws_and_stores(command, both, folder, runs, tmp_path):
    place = folder / "empty.db"
    given = (
        "project",
        "next",
        place,
        *runs,
        "--budget",
        30,
        "-m",
        "P@10",
        "--direction",
        "t2i",
        "--per-hour",
        20,
    )
    out = command(*given, "--dry-run")
    assert "Would draw 30 pairs out of 1,826 for P@10 text→image of seer, learner." in out
    assert "Pay: " in out
    assert "wrote" not in out
    with open_project(place) as project:
        assert not project.draws.read()
    out = command(*given, "--json", tmp_path / "pairs.json")
    assert "Drew 30 pairs" in out
    assert f"wrote batch 1 into {place}; next: karat serve" in out
    records = json.loads((tmp_path / "pairs.json").read_text(encoding="utf-8"))
    assert len(records) == 30
    assert {"image", "caption", "probability"} <= set(records[0])
    out = command("project", "next", place, *runs, "--budget", 20)
    assert "30 had been drawn in 1 batch" in out
    with open_project(place) as project:
        assert [len(batch) for batch in project.draws.read()] == [30, 20]


def test_estimates_are_those_of_python(command, folder, runs, tmp_path):
    out = command("project", "estimate", folder / "p.db", *runs, "-m", "P@10", "--json", tmp_path / "e.json")
    with open_project(folder / "p.db") as project:
        files = [str(runs[1]), str(runs[3])]
        found = estimate_project(project, files, "P@10")
        project.goals.set(Goal(tuple(files), "P@10", "t2i", "winner"))
    assert out.rstrip() == str(found).rstrip()
    assert json.loads((tmp_path / "e.json").read_text(encoding="utf-8")) == found.records()
    assert "120 of 120 drawn pairs answered" in out
    assert "seer beats learner" in out
    by_goal = command("project", "estimate", folder / "p.db")
    assert by_goal == command("project", "estimate", folder / "p.db", *runs, "--rule", "winner")
    assert "They hold at all looks together" in by_goal
    command("project", "estimate", folder / "p.db", *runs, "-o", tmp_path / "e.html")
    assert "seer beats learner" in (tmp_path / "e.html").read_text(encoding="utf-8")


ESTIMATE = {
    ("p.db", "--vetted", "x"): "No such option: --vetted",
    ("p.db", "-b", "coco"): "No such option: -b",
    ("p.db", "seer.npy"): "Got unexpected extra argument(s) (seer.npy)",
    ("empty.db",): "empty.db: the project has no goal; name runs (--run a.npy), or set a goal.",
    ("empty.db", "-m", "P@10"): "the project has no goal",
    ("absent.db",): "absent.db: does not exist; create a project with karat project pool.",
    ("text.txt", "--run", "seer.npy"): "text.txt: is not a project; give a file that karat made.",
    ("foreign.db", "--run", "seer.npy"): "foreign.db: is not a project; create one with karat project pool.",
    ("world", "--run", "seer.npy"): "world: is a folder; give the name of a file.",
    ("p.db", "--run", "absent.npy"): "absent.npy: there is no such file",
    ("p.db", "--run", "other.npy"): "other.npy: has 30 by 60 scores, but world has 60 images by 120 captions",
    ("p.db", "--run", "seer.npy", "--rule", "winner"): "the rule winner compares two runs, and there is one",
    ("p.db", "--run", "seer.npy", "--rule", "within<=2"): "is 200 points; write within<=0.02 or 2%.",
    ("p.db", "--run", "seer.npy", "--level", "2"): "level is 2; give a share from 0.5 to below 1",
    ("seer.npy", "--rule", "winner"): "seer.npy: is not a project; give a file that karat made.",
    ("p.db", "--run", "seer.npy", "--rule", "soon"): "rule is 'soon'",
}
NEXT = {
    ("p.db",): "no run was given; name the files of the runs: --run a.npy.",
    ("p.db", "--run", "seer.npy", "--budget", "0"): "--budget is '0'; give a number of pairs",
    ("p.db", "--run", "seer.npy", "--budget", "5%"): "--budget is '5%'; give a number of pairs, such as 200.",
    ("p.db", "--run", "seer.npy", "-m", "RP", "--design", "uniform"): "draw whole queries: --design whole-qu",
    ("p.db", "--run", "seer.npy", "-m", "MedR"): "MedR is not a mean of shares over queries; choose P@10",
    ("p.db", "--run", "seer.npy", "-m", "RP", "--budget", "9"): "9 pairs are fewer than one query has",
    ("p.db", "--run", "seer.npy", "--design", "difference"): "a difference needs two runs, and there is one",
    ("p.db", "--run", "absent.npy"): "absent.npy: there is no such file",
    ("p.db", "--run", "other.npy"): "other.npy: has 30 by 60 scores, but world has 60 images by 120 captions",
    (
        "absent.db",
        "--run",
        "seer.npy",
    ): "absent.db: does not exist; create a project with karat project pool.",
    ("seer.npy", "--run", "seer.npy"): "seer.npy: is not a project; give a file that karat made.",
    ("foreign.db", "--run", "seer.npy"): "foreign.db: is not a project; create one with karat project pool.",
}
PLAN = {
    ("absent.npy",): "absent.npy: there is no such file",
    ("p.db",): "p.db: is a project",
    ("other.npy",): "other.npy: has 30 by 60 scores",
    ("seer.npy", "-m", "MedR"): "MedR is not a mean of shares over queries",
    ("seer.npy", "-m", "P@10,RP"): "a plan is for one measure; choose P@10.",
    ("seer.npy", "--within", "0"): "within is 0; give the half-width in points, such as 2.",
    ("seer.npy", "--difference", "2"): "difference is 2, and there is one run; give a second run",
    ("seer.npy", "--world", "--rho", "0.5"): "world and rho are given, and a plan rests on one of them",
    ("seer.npy", "--direction", "i2t,t2i"): "pairs are drawn for one direction; choose t2i or i2t.",
}


@pytest.mark.parametrize("typed", ESTIMATE, ids=" ".join)
def test_mistakes_of_estimates(command, folder, typed, monkeypatch):
    monkeypatch.chdir(folder)
    assert ESTIMATE[typed] in command("project", "estimate", *typed, code=2)


@pytest.mark.parametrize("typed", NEXT, ids=" ".join)
def test_mistakes_of_next(command, folder, typed, monkeypatch):
    monkeypatch.chdir(folder)
    assert NEXT[typed] in command("project", "next", *typed, code=2)


@pytest.mark.parametrize("typed", PLAN, ids=" ".join)
def test_mistakes_of_plans(command, folder, typed, monkeypatch):
    monkeypatch.chdir(folder)
    assert PLAN[typed] in command("plan", *typed, "-b", "world", code=2)


def test_plans_and_draws_are_for_image_search(command, folder, runs):
    out = command("plan", *runs[1::2], "-b", folder / "world")
    assert out.startswith("P@10 text→image of seer, learner: 1,826 pairs of 120 queries count.")
    assert "the direction is t2i, that of image search; for the other, give --direction i2t" in out


def test_nothing_is_answered_yet(command, folder, runs):
    out = command("project", "estimate", folder / "bare.db", *runs, "-m", "P@10", "--rule", "winner")
    assert "In brackets: bounds, the lowest and the highest that unknown labels allow." in out
    assert "Go on: whether seer beats learner is open; the difference is between" in out
    assert "draw some with karat project next" in out


def test_single_pairs_do_not_answer_for_whole_queries(command, folder, runs):
    out = command("project", "estimate", folder / "p.db", *runs, "-m", "mAP@R", "--rule", "winner")
    assert "single pairs were drawn, and mAP@R depends on all labels of a query together: draw whole" in out
    assert "too few" not in out
    assert "– (0.00 to 100.00)" in out


def test_more_than_is_left(command, folder, runs):
    out = command("project", "next", folder / "p.db", *runs, "--budget", 100_000, "--dry-run")
    assert "Would draw 1,706 pairs out of 1,706" in out
    assert "The chances were 100%." in out
    assert "note: these are all 1,706 pairs that were left" in out
