"""``karat project rules`` of a project with the form misread, and ``karat rules`` of tables."""

import json

import numpy as np
import pytest

import karat

pytest.importorskip("sqlalchemy")

from karat.benchmarks import save_benchmark
from karat.forms import load_form
from karat.judging import answer_marks, make_pool, make_tasks, simulate_answers
from karat.judging.quality import accepted_in
from karat.stats import Intervals
from karat.store import create_project, open_project
from karat.world import adversarial, careful, make_world, simulate_systems


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A judged project of the form misread, and one of a grid, without answers."""
    folder = tmp_path_factory.mktemp("judged")
    world = make_world(images=40, captions=2, seed=1)
    bench = world.benchmark()
    save_benchmark(bench, folder / "bench")
    form = load_form("misread")
    pool = make_pool(simulate_systems(world)[:2], bench, top=2)
    plan = make_tasks(pool, form, task_size=12, gold=2)
    people = [*(careful(f"c{k}") for k in range(8)), adversarial("eve")]
    with create_project(folder / "p.db", bench, form, source=str(folder / "bench")) as project:
        project.pools.set(pool)
        project.pools.add_tasks(plan)
        project.answers.record(simulate_answers(world, plan, people, form, seed=3).rows())
    for name in ("grid", "misread"):
        create_project(folder / f"{name}.db", bench, load_form(name), source=str(folder / "bench")).close()
    return folder


def test_marks_of_a_project(both, folder, tmp_path):
    found = both("project", "rules", folder / "p.db", "--json", tmp_path / "r.json", "-o", tmp_path / "r.csv")
    with open_project(folder / "p.db") as project:
        summary = karat.project.rules(project)
        quality = karat.project.quality(project, intervals=Intervals(resamples=10))
        read = project.answers.read()
    assert found.out == f"{summary}\n"
    for part in (
        "misread",
        "classes marked",
        "rating",
        "The mean rating is",
        "Rules between classes",
        "clusters",
    ):
        assert part in found.out
    records = json.loads((tmp_path / "r.json").read_text())
    assert {record["what"] for record in records} == {"class", "classes per pair", "rating", "rule"}
    assert (tmp_path / "r.csv").read_text().startswith("what,name,n,share,low,high")
    # The same marks as in the quality report, and as counted by hand.
    (shares,) = quality.details
    with open_project(folder / "p.db") as project:
        marks = answer_marks(accepted_in(project).answers, project.form)
    assert [int(column.sum()) for column in marks.classes.values()] == shares.counts[-1].tolist()
    marked: dict = {}
    for row, name in read.details:
        if read.gold[row] < 0 and name == "misread.color":
            pair = (read.image[row], read.caption[row])
            marked[pair] = marked.get(pair, 0) + 1
    number: dict = {}
    for row in np.flatnonzero(read.gold < 0).tolist():
        pair = (read.image[row], read.caption[row])
        number[pair] = number.get(pair, 0) + 1
    by_hand = sum(2 * n >= number[pair] for pair, n in marked.items())
    assert {name: n for name, n, *_ in summary.shares}["color"] == by_hand


def test_which_answers_count(both, folder):
    every, some = (
        both("project", "rules", folder / "p.db"),
        both("project", "rules", folder / "p.db", "--exclude"),
    )
    assert "annotators who fail the gold check are left out" in some.err
    assert every.out.splitlines()[0] != some.out.splitlines()[0]


def test_slices_of_captions(command, folder):
    out = command("project", "rules", folder / "p.db", "--slices", "--min-support", 5)
    rules = out.partition("Rules from slices of the captions")[2]
    assert "colour: any →" in rules
    with open_project(folder / "p.db") as project:
        summary = karat.project.rules(project, slices=True, min_support=5)
    assert out == f"{summary}\n"
    # Single slices on the left, marks on the right, never "alternative".
    classes = {name for name, *_ in summary.shares} - {"alternative"}
    for rule in summary.slice_rules.rules:
        assert len(rule.given) == 1
        assert " & " not in rule.given[0]
        assert rule.then in classes


@pytest.fixture
def table(tmp_path):
    """A table in which red queries fail, with the images that rows belong to."""
    rng = np.random.default_rng(0)
    red = rng.random(300) < 0.3
    columns = {
        "red": red,
        "large": rng.random(300) < 0.5,
        "failed": rng.random(300) < np.where(red, 0.8, 0.3),
    }
    path = tmp_path / "table.csv"
    rows = [f"q{k},im{k // 3},{','.join(str(int(c[k])) for c in columns.values())}" for k in range(300)]
    path.write_text("\n".join(["query,image,red,large,failed", *rows]) + "\n")
    return path


def test_rules_of_a_table(command, table, tmp_path):
    named = ("--then", "failed", "--given", "red,large", "--clusters", "image")
    out = command("rules", table, *named, "--json", tmp_path / "r.json")
    report = karat.rules(table, "failed", given=["red", "large"], clusters="image")
    assert out == f"{report}\n"
    assert str(report.rules[0]) == "red → failed"
    assert "Of 300 rows in 100 clusters" in out
    assert json.loads((tmp_path / "r.json").read_text())[0]["given"] == "red"
    # A column of text that is not named is in nobody's way; with all columns it is.
    assert "column 'query' is 'q0', not a number" in command("rules", table, "--then", "failed", code=2)
    assert "table.csv has no column 'faild'; did you mean failed?" in command(
        "rules", table, *named[2:], "--then", "faild", code=2
    )


def test_mistakes(command, folder, table, tmp_path):
    assert "the form 'grid' has no question with several choices" in command(
        "project", "rules", folder / "grid.db", code=2
    )
    assert "the project has no answers" in command("project", "rules", folder / "misread.db", code=2)
    assert "unknown question" in command("project", "rules", folder / "p.db", "--question", "misraed", code=2)
    assert "share is 2" in command("project", "rules", folder / "p.db", "--share", 2, code=2)
    command("rules", table, "--then", "failed", "--given", "red", "-o", tmp_path / "rules.html")
    assert "<table" in (tmp_path / "rules.html").read_text()
    (tmp_path / "no.db").write_text("not a project")
    assert "no.db" in command("project", "rules", tmp_path / "no.db", code=2)
    assert "none.db" in command("project", "rules", tmp_path / "none.db", code=2)
    assert "there is no such file" in command("rules", tmp_path / "none.csv", code=2)
    (tmp_path / "other.csv").write_text("a,b\n" + "1,2\n" * 12)
    assert "column 'b' is 2.0 in row 1" in command("rules", tmp_path / "other.csv", code=2)
    assert "extension" in command("rules", table, "-o", tmp_path / "x.pdf", code=2)
