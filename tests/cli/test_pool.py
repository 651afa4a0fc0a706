"""``karat project pool`` and ``karat project tasks``: a project, or a message that says why not."""

import re

import numpy as np
import pytest

import karat
from karat.benchmarks import save_benchmark
from karat.forms import GOLD_NO, GOLD_YES, NOT_GOLD, load_form, save_form
from karat.judging import make_pool
from karat.judging.pools import GoldChoice
from karat.judging.pools.gold import SPARE
from karat.world import make_world, simulate_systems

from made import make_benchmark


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A saved world, three score tables, and the path of a project that does not exist yet."""
    monkeypatch.chdir(tmp_path)
    world = make_world(images=40, captions=3, seed=3)
    save_benchmark(world.benchmark(), "my")
    for run in simulate_systems(world)[:3]:
        np.save(f"{run.name}.npy", run.scores)
    return tmp_path / "project.db"


RUNS = ("seer.npy", "learner.npy", "memoriser.npy", "-b", "my", "--gold-depth", "5")


def opened(path):
    from karat.store import open_project

    return open_project(str(path))


def pooled(top):
    """The pairs in the first places of any run, by sorting every list."""
    found = set()
    for name in RUNS[:3]:
        scores = np.load(name)
        for image, row in enumerate(np.argsort(-scores, axis=1, kind="stable")[:, :top]):
            found |= {(image, caption) for caption in row.tolist()}
        for caption, row in enumerate(np.argsort(-scores.T, axis=1, kind="stable")[:, :top]):
            found |= {(image, caption) for image in row.tolist()}
    return len(found)


def test_a_dry_run_prints_the_cost_and_creates_nothing(command, project):
    pairs = pooled(5)
    tasks = -(-pairs // 16)
    answers = 3 * (pairs + 2 * tasks)
    pay = answers * 18 / 3600 * 15
    out = command("project", "pool", *RUNS, "--dry-run", "-o", project.name).splitlines()
    assert out == [
        f"The first 5 items of 3 runs for 40 i2t and 120 t2i queries: 2,400 suggestions, {pairs:,} pairs.",
        f"{pairs:,} pairs to judge in {tasks} tasks of up to 16, "
        f"with {2 * tasks} gold pairs hidden among them.",
        f"3 annotators per task: {answers:,} answers, about {answers / 200:.1f} hours at 18 seconds "
        "per answer.",
        f"Pay: {pay:,.2f}, or {1.2 * pay:,.2f} with a fee of 20%.",
        f"note: {tasks} of {2 * tasks} gold pairs are also pairs to judge; their own answers decide",
    ]
    assert not project.exists()
    priced = command("project", "pool", *RUNS, "--dry-run", "--per-hour", 0, "--overlap", 2)
    assert "Pay: " not in priced


def test_a_pool_becomes_a_project_and_tasks(command, project):
    out = command("project", "pool", *RUNS, "--sample", "i2t=10,t2i=20", "--top", 3, "-o", project.name)
    assert "for 10 i2t and 20 t2i queries" in out
    assert "\nwrote project.db; next: karat project tasks project.db\n" in out
    with opened(project) as found:
        pool = found.pools.read()
        assert (len(pool.queries["i2t"]), len(pool.queries["t2i"]), pool.top) == (10, 20, 3)
        assert pool.systems == ("seer", "learner", "memoriser")
        assert len(pool.gold_right) == SPARE * 2 * -(-len(pool) // 16)
    priced = command("project", "tasks", project.name, "--dry-run", "--per-task", 0.5, "--fee", 0)
    assert not priced.count("wrote")
    assert f"Pay: {0.5 * 3 * -(-len(pool) // 16):,.2f}.\n" in priced
    out = command("project", "tasks", project.name, "--task-size", 10, "--gold", 2, "--overlap", 4)
    assert "next: karat serve project.db, or karat project export project.db -o tasks.csv\n" in out
    with opened(project) as found:
        plan = found.pools.plan()
        assert plan.overlap == 4
        assert (plan.gold != NOT_GOLD).sum() == 2 * plan.tasks == 2 * -(-len(pool) // 10)
        assert len(plan) - 2 * plan.tasks == len(pool)
    assert "every pair is already in a task" in command("project", "tasks", project.name, code=2)


def test_smaller_tasks_with_more_gold_use_none_twice(both, project):
    both("project", "pool", *RUNS, "--sample", 8, "--top", 2, "-o", project.name)
    with opened(project) as found:
        pool = found.pools.read()
    sizes = ("--task-size", 4, "--gold", 4)
    said = both("project", "tasks", project.name, *sizes)
    with opened(project) as found:
        plan, bench = found.pools.plan(), found.benchmark()
    hidden = plan.gold != NOT_GOLD
    assert hidden.sum() == 4 * plan.tasks > len(pool.gold_right)
    pairs = np.stack([plan.image, plan.caption, plan.gold], axis=1)[hidden]
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    assert f"{len(pairs) - len(pool.gold_right)} gold pairs were drawn without the runs" in said.err
    original = bench.caption_image[pairs[:, 1]] == pairs[:, 0]
    assert (original == (pairs[:, 2] == GOLD_YES)).all()
    asked = {tuple(pair) for pair in np.stack([plan.image, plan.caption], axis=1)[~hidden].tolist()}
    also = sum(tuple(pair[:2]) in asked for pair in pairs.tolist())
    assert (
        f"note: {also} of {len(pairs)} gold pairs are also pairs to judge; their own answers decide"
        in said.err
    )
    assert not asked & {tuple(pair[:2]) for pair in pairs[pairs[:, 2] == GOLD_NO].tolist()}
    assert re.search(r"^At least \d+ annotators are needed, since none gets a pair twice; ", said.out, re.M)


def test_later_tasks_do_not_repeat_gold(command, project):
    command("project", "pool", *RUNS, "--sample", 8, "--top", 1, "-o", project.name)
    command("project", "tasks", project.name, "--gold", 12)
    with opened(project) as found:
        before, pool = found.pools.plan(), found.pools.read()
        bench = found.benchmark()
        runs = [karat.load_run(np.load(name), name=name) for name in RUNS[:3]]
        found.pools.add(
            make_pool(runs, bench, top=3, queries={"i2t": range(12)}, gold=GoldChoice(2, depth=5))
        )
    command("project", "tasks", project.name, "--gold", 4)
    with opened(project) as found:
        plan = found.pools.plan()
    hidden = plan.gold != NOT_GOLD
    assert plan.tasks > before.tasks
    assert len(np.unique(np.stack([plan.image, plan.caption], axis=1)[hidden], axis=0)) == hidden.sum()
    assert len(pool) < (~hidden).sum()


def test_sizes_at_pooling_become_the_projects(command, project):
    command("project", "pool", *RUNS, "--sample", 8, "--task-size", 5, "--gold", 0, "-o", project.name)
    command("project", "tasks", project.name)
    with opened(project) as found:
        assert (found.form.pairs, found.form.gold) == (5, 0)
        plan = found.pools.plan()
        assert np.bincount(plan.task).max() == 5
        assert len(plan) == len(found.pools.read())


def test_grids_filters_and_judged_pairs(command, project):
    out = command(
        "project", "pool", *RUNS, "--form", "grid", "--judged", "original",
        "--filter", "bleu-pre>=0.3,systems>=2", "--dry-run",
    )  # fmt: skip
    assert "Left out because they are already judged: " in out
    assert "Added to fill up the images' captions: " in out
    assert " in " in out.splitlines()[3]


def test_your_own_form(command, project):
    save_form(load_form("expert"), "mine.toml")
    assert "at 12 seconds per answer" in command("project", "pool", *RUNS, "--form", "mine.toml", "--dry-run")
    with open("mine.toml", "a", encoding="utf-8") as file:
        file.write("[[answrs]]\ncode = 'x'\n")
    assert "mine.toml: the form has no field 'answrs'; did you mean answers?" in command(
        "project", "pool", *RUNS, "--form", "mine.toml", "--dry-run", code=2
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "no output is given for the project"),
        (("--dry-run", "--form", "pairs"), "did you mean pair"),
        (("--dry-run", "--form", "grid", "--task-size", "16"), "not a multiple of the 10 columns"),
        (("--dry-run", "--filter", "bleu"), "'bleu' is not a filter"),
        (("--dry-run", "--filter", "systems>=4"), "nothing is left to judge"),
        (("--dry-run", "--judged", "cxc"), "no truth 'cxc'"),
        (("--dry-run", "--judged", "complete"), "judges every pair"),
        (("--dry-run", "--sample", "i2t=1000"), "i2t has 40 queries"),
        (("--dry-run", "--sample", "q2d=10"), "unknown direction 'q2d'"),
        (("--dry-run", "--sample", "half"), "'half' is not a setting"),
        (("--dry-run", "--sample", "both=3"), "both=3 is not a sample size"),
        (("--dry-run", "--queries", "eccv"), "no truth 'eccv'"),
        (("-o", "seer.npy"), "already exists"),
        (("-o", "no/where.db"), "there is no folder no"),
    ],
)
def test_mistakes_are_one_line(command, project, options, words):
    assert words in command("project", "pool", *RUNS, *options, code=2)
    assert not project.exists()


def test_captions_are_needed_for_a_filter_by_captions(command, tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    save_benchmark(make_benchmark(6, 2), "made")
    np.save("a.npy", rng.random((6, 12)))
    error = command(
        "project", "pool", "a.npy", "-b", "made", "--filter", "bleu-pre>=0.25", "--dry-run", code=2
    )
    assert "caption" in error


def test_too_little_gold_is_noted(both, project):
    said = both("project", "pool", *RUNS[:-1], 40, "--dry-run").err
    assert f"note: 0 gold negatives for {-(-pooled(5) // 16)} tasks: none can be hidden" in said


def test_no_project(command, project):
    assert "does not exist" in command("project", "tasks", "nothing.db", code=2)
