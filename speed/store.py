"""Judging at two million answers: importing, reading, leasing, quality and publishing, on both databases."""

import contextlib
import statistics
import tempfile
import time

import numpy as np
from _made import own_captions
from _stopwatch import SMOKE, in_own_process, main, peak_mb, record, sized, timed
from tests.store.postgres import new_database, programs, server

from karat.benchmarks import Benchmark
from karat.forms import NOT_GOLD, AnswerRows, Choice, Form, Pool, TaskPlan
from karat.judging import answer_quality, publish
from karat.store import create_project, open_project

IMAGES, CAPTIONS = sized((5_000, 25_000), (200, 1_000))
TASKS, PAIRS, GOLD, OVERLAP, ANNOTATORS = sized((60_000, 16, 2, 3, 1_000), (20, 4, 2, 3, 10))
ANSWERS, LEASES = sized((2_000_000, 500), (90, 10))
FORM = Form("fit", "Fit", "Does it fit?", (Choice("yes", "Yes", "1", 1, 1), Choice("no", "No", "2", 0, 0)))


def make_benchmark() -> Benchmark:
    return own_captions(np.repeat(np.arange(IMAGES), 5))


def make_plan() -> TaskPlan:
    """Sixty thousand tasks; every pair once, but for the gold, which comes back every few hundred tasks."""
    rng = np.random.default_rng(7)
    pair = rng.choice(IMAGES * CAPTIONS, TASKS * PAIRS + 4_000, replace=False)
    asked, known = pair[: TASKS * PAIRS].reshape(TASKS, PAIRS), pair[TASKS * PAIRS :]
    first = rng.integers(0, len(known) // 2, TASKS)
    pairs = np.hstack([asked, known[first][:, None], known[first + len(known) // 2][:, None]]).ravel()
    size = PAIRS + GOLD
    position = np.tile(np.arange(size), TASKS)
    gold = np.where(position < PAIRS, NOT_GOLD, position - PAIRS)
    task = np.repeat(np.arange(TASKS), size)
    return TaskPlan(task, position, position, pairs // CAPTIONS, pairs % CAPTIONS, gold, OVERLAP)


def make_rows(plan: TaskPlan) -> AnswerRows:
    """Two million answers: three annotators for each of the first tasks."""
    rng = np.random.default_rng(8)
    size = PAIRS + GOLD
    item = np.tile(np.arange(ANSWERS // OVERLAP), OVERLAP)
    who = (plan.task[item] * OVERLAP + np.repeat(np.arange(OVERLAP), ANSWERS // OVERLAP)) % ANNOTATORS
    names = np.array([f"annotator {number:04d}" for number in range(ANNOTATORS)])
    code = np.array(["yes", "no"])[rng.integers(0, 2, len(item))]
    at = 1.7e9 + np.arange(len(item)) / size
    columns = (plan.task, plan.image, plan.caption)
    return AnswerRows(*(one[item] for one in columns), names[who], code, rng.uniform(2, 60, len(item)), at)


def make_pool(plan: TaskPlan) -> Pool:
    """Every pair to judge, suggested by two systems of which each ranked half first."""
    asked = plan.gold == NOT_GOLD
    key = np.sort(plan.image[asked].astype(np.int64) * CAPTIONS + plan.caption[asked])
    n, two = len(key), np.arange(len(key)) % 2
    queries = {"i2t": np.arange(IMAGES), "t2i": np.arange(CAPTIONS)}
    places = (np.arange(n), two, np.zeros(n, np.int64), np.ones(n, np.int64), np.full(n, np.nan))
    return Pool(key // CAPTIONS, key % CAPTIONS, np.zeros(n, np.int8), ("a", "b"), *places, queries, top=1)


def leases(project) -> dict[str, float]:
    """Fifty people with a history take tasks; every fifth is answered and handed in, the others go back."""
    took = []
    for number in range(LEASES):
        begin = time.perf_counter()
        lease = project.queue.lease(f"annotator {number % 50:04d}")
        took.append(time.perf_counter() - begin)
        if number % 5:
            project.queue.release(lease.token)
            continue
        for item in lease.items:
            project.answers.give(lease.token, item.id, "yes")
        project.queue.submit(lease.token)
    return {"median": statistics.median(took), "p99": float(np.quantile(took, 0.99))}


def side(place) -> dict[str, float]:
    """Everything, in one database."""
    found = {}
    with place() as where:
        project = create_project(where, make_benchmark(), FORM, source="made")
        plan = make_plan()
        project.pools.set(make_pool(plan))
        found["tasks"] = timed(lambda: project.pools.add_tasks(plan))
        rows = [make_rows(plan)]
        found["import"] = timed(lambda: project.answers.record(rows.pop()))
        found["import_mb"] = peak_mb()
        found["answers"] = timed(project.answers.read)
        project.close()
        with open_project(where) as project, tempfile.TemporaryDirectory() as folder:
            project._benchmark = make_benchmark()
            found["quality"] = timed(lambda: weigh(project))
            found["publish"] = timed(lambda: publish(project, f"{folder}/out"))
        with open_project(where) as project:
            found |= leases(project)
    return found | {"mb": peak_mb()}


def weigh(project) -> None:
    """What ``karat project quality`` does."""
    answer_quality(
        project.answers.read(),
        project.form,
        pool=project.pools.read(),
        assignments=project.queue.assignments(),
        reviews=project.reviews.read(),
    )


@contextlib.contextmanager
def a_file():
    with tempfile.TemporaryDirectory() as folder:
        yield f"{folder}/project.db"


@contextlib.contextmanager
def a_server():
    with server() as address:
        yield new_database(address, "speed")


SIDES = {"sqlite": lambda: side(a_file), "postgresql": lambda: side(a_server)}


def measure():
    for name in SIDES if programs() and not SMOKE else ["sqlite"]:
        found = in_own_process(__file__, name)
        many = f"{ANSWERS:,}"
        for what, size, seconds, includes in (
            ("add tasks", f"{TASKS:,}", "tasks", "tasks with 18 items and 3 assignments each"),
            ("import", many, "import", "record(): checks, assignments, one transaction on the disk"),
            ("answers()", many, "answers", "the answers in effect, as columns"),
            ("quality", many, "quality", "reading, people, known pairs, agreement, verdicts"),
            ("publish", many, "publish", "reading, Dawid–Skene, the whole folder on the disk"),
            ("lease, median", f"{LEASES}", "median", f"one lease with {many} answers stored"),
            ("lease, 99%", f"{LEASES}", "p99", "99 of 100 leases take less"),
        ):
            memory = found["import_mb"] if what == "import" else found["mb"]
            yield record(f"{name}, {what}", size, {"s": found[seconds], "mb": memory}, includes)


if __name__ == "__main__":
    main(measure, SIDES)
