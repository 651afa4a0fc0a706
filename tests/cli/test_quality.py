"""``karat project quality`` as a user meets it, on a project with simulated annotators."""

import csv
import json

import pytest

pytest.importorskip("sqlalchemy")

from karat.benchmarks import save_benchmark
from karat.forms import load_form
from karat.judging import make_pool, make_tasks, simulate_answers
from karat.store import create_project, open_project
from karat.world import make_world, simulate_systems
from karat.world.annotators import adversarial, average, careful


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A judged project, to be copied by the tests that change it."""
    folder = tmp_path_factory.mktemp("judged")
    world = make_world(images=40, captions=2, seed=1)
    bench = world.benchmark()
    save_benchmark(bench, folder / "bench")
    form = load_form("pair")
    pool = make_pool(simulate_systems(world)[:3], bench, top=2)
    plan = make_tasks(pool, form, task_size=12, gold=2)
    people = (
        [careful(f"c{k}") for k in range(5)] + [average(f"a{k}") for k in range(5)] + [adversarial("eve")]
    )
    with create_project(folder / "p.db", bench, form, source=str(folder / "bench")) as project:
        project.pools.set(pool)
        project.pools.add_tasks(plan)
        project.answers.record(simulate_answers(world, plan, people, form, seed=3).rows())
    return folder / "p.db"


@pytest.fixture
def project(made, tmp_path):
    copy = tmp_path / "p.db"
    copy.write_bytes(made.read_bytes())
    return copy


FEW = ("--resamples", 20)


def test_the_report(both, project, tmp_path):
    found = both("project", "quality", project, *FEW, "--json", tmp_path / "q.json")
    for part in (
        "Submitted assignments",
        "Annotators",
        "eve",
        "alpha, ordinal",
        "dawid-skene",
        "Answers by system and rank",
    ):
        assert part in found.out
    records = json.loads((tmp_path / "q.json").read_text())
    assert {one["worker"] for one in records["workers"]} >= {"eve", "c0"}
    assert [one["aggregation"] for one in records["verdicts"]] == ["dawid-skene", "majority"]
    majority = both("project", "quality", project, *FEW, "-a", "majority", "--aggregate-set", "threshold=0.6")
    assert "annotators who fail the gold check" in majority.err


def test_reviewing(both, project, tmp_path):
    listed = tmp_path / "look.csv"
    both(
        "project",
        "quality",
        project,
        *FEW,
        "--approve-passed",
        "--reviewer",
        "ann",
        "--export-review",
        listed,
    )
    with open_project(project) as opened:
        reviews, assignments = opened.reviews.read(), opened.queue.assignments()
    assert {review[:2] for review in reviews.values()} == {("approve", "ann")}
    with listed.open(encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    failed = sorted({int(row["slot"]) for row in rows})
    assert sorted([*reviews, *failed]) == assignments.assignment[assignments.state == "submitted"].tolist()
    assert all(row["text"] for row in rows)
    assert {row["known"] for row in rows} == {"", "yes", "no"}
    first, second, *_ = failed
    reject = ("--reject", first, "--why", "always the opposite", "--reviewer", "ann", "--ask-again")
    assert (
        "1 task will be offered to one more annotator"
        in both("project", "quality", project, *FEW, *reject).err
    )
    # Rejecting it once more does not ask a second time.
    assert (
        "0 tasks will be offered to one more annotator"
        in both("project", "quality", project, *FEW, *reject).err
    )
    out = both("project", "quality", project, *FEW, "--approve", second, "--reviewer", "ann")
    assert "of rejected assignments" in out.err
    with open_project(project) as opened:
        reviews, assignments = opened.reviews.read(), opened.queue.assignments()
    assert assignments.state.tolist().count("open") == 1
    assert reviews[first][:3] == ("reject", "ann", "always the opposite")
    assert reviews[second][0] == "approve"
    # Nothing is approved twice.
    again = both("project", "quality", project, *FEW, "--approve-passed", "--reviewer", "bob")
    assert "approved 0 assignments" in again.err


def test_mistakes(command, project, tmp_path):
    assert "unknown aggregation" in command("project", "quality", project, "-a", "medain", code=2)
    assert "without a reason" in command("project", "quality", project, "--reject", 1, code=2)
    assert "approved and rejected" in command(
        "project", "quality", project, "--reject", 1, "--approve", 1, "--why", "x", code=2
    )
    assert "there is no submitted assignment 99999" in command(
        "project", "quality", project, "--approve", 99999, code=2
    )
    assert "--ask-again without --reject" in command("project", "quality", project, "--ask-again", code=2)
    assert "numbers of assignments" in command("project", "quality", project, "--approve", "first", code=2)
    assert "extension" in command(
        "project", "quality", project, "--export-review", tmp_path / "x.pdf", code=2
    )
    assert "karat: " in command("project", "quality", tmp_path / "none.db", code=2)
    assert "no setting 'treshold'" in command(
        "project", "quality", project, "-a", "mean", "--aggregate-set", "treshold=1", code=2
    )
    with open_project(project) as opened:
        assert not opened.reviews.read()


def test_no_answers_yet(command, tmp_path):
    world = make_world(images=10, captions=1, seed=1)
    save_benchmark(world.benchmark(), tmp_path / "bench")
    create_project(
        tmp_path / "p.db", world.benchmark(), load_form("pair"), source=str(tmp_path / "bench")
    ).close()
    assert "the project has no answers" in command("project", "quality", tmp_path / "p.db", code=2)
