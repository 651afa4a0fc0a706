"""Acknowledged answers survive kill -9, and many processes at once never share an assignment.

KARAT_DURABILITY=full kills twenty times and starts 64 processes; the suite does with fewer.
"""

import collections
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

from .small import finish, plain_plan

WRITER = str(Path(__file__).with_name("writer.py"))
FULL = os.environ.get("KARAT_DURABILITY") == "full"
KILLS, WRITERS, PROCESSES = (20, 4, 64) if FULL else (3, 2, 16)


class Writer:
    """A writing process, and what it has said so far."""

    def __init__(self, where: str, name: str, count: int = 1, *more: str) -> None:
        self.count = count
        self.said: list[list[str]] = []
        self.ready, self.busy = threading.Event(), threading.Event()
        command = [sys.executable, WRITER, where, name, *([str(count), *more] if more else [])]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        for line in self.process.stdout:
            # A line that was cut off by the death of the process acknowledges nothing.
            if line.endswith("\n"):
                self.said.append(line.split())
                if sum(words[1] == "ready" for words in self.said[: self.count]) == self.count:
                    self.ready.set()
                if len(self.said) > 5:
                    self.busy.set()
        self.ready.set()
        self.busy.set()

    def start(self) -> None:
        assert self.ready.wait(120)
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def end(self, sign: int | None = None) -> str:
        if sign is not None:
            self.process.send_signal(sign)
        self.process.wait(timeout=120)
        self.reader.join(timeout=60)
        wrong = self.process.stderr.read()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
        return wrong

    def ids(self, what: str) -> list[tuple[int, ...]]:
        return [tuple(map(int, words[2:])) for words in self.said if words[1] == what]


def test_acknowledged_answers_survive_kill_9(project, where):
    project.pools.add_tasks(plain_plan(1100, size=4, overlap=WRITERS))
    chance = random.Random(5)
    answers, submitted = set(), set()
    for _ in range(KILLS):
        # The same names each time: an annotator whose process was killed gets the same assignment again.
        writers = [Writer(where, f"annotator-{number}") for number in range(WRITERS)]
        for one in writers:
            one.start()
        for one in writers:
            assert one.busy.wait(120)
        threading.Event().wait(chance.uniform(0.0, 0.3))
        for one in writers:
            assert one.end(signal.SIGKILL) == ""
            answers.update(one.ids("answer"))
            submitted.update(assignment for (assignment,) in one.ids("submit"))
    rows = {(row["id"], row["assignment"], row["item"]) for row in project.answers.history()}
    assert len(answers) > KILLS * WRITERS
    print(
        f"{KILLS} kills of {WRITERS} processes: {len(answers):,} acknowledged answers, {len(rows):,} stored"
    )
    assert answers <= rows
    # None twice: an item of an assignment was answered once.
    assert max(collections.Counter((assignment, item) for _, assignment, item in rows).values()) == 1
    assignments = project.queue.assignments()
    assert submitted <= set(assignments.assignment[assignments.state == "submitted"].tolist())
    # No lease is lost: an annotator who held an assignment continues with it.
    names = project.annotators.read()[0]
    held = {
        names[assignments.annotator[s]]: int(s) for s in assignments.assignment[assignments.state == "leased"]
    }
    for name in names:
        own = set(assignments.task[assignments.annotator == names.index(name)].tolist())
        lease = project.queue.lease(name)
        if lease is None:
            assert name not in held
            assert own >= set(assignments.task[assignments.state == "open"].tolist())
            continue
        assert lease.assignment == held.pop(name, lease.assignment)
        for item in lease.items:
            if item.code is None:
                project.answers.give(lease.token, item.id, "yes")
        project.queue.submit(lease.token)
    assert held == {}
    pairs = [(row["annotator"], row["item"]) for row in project.answers.history()]
    assert len(set(pairs)) == len(pairs)
    if where.endswith(".db"):
        with project.database.read() as connection:
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"


def test_many_processes_never_share_an_assignment(project, where):
    tasks, size = PROCESSES * 2, 2
    project.pools.add_tasks(plain_plan(tasks, size=size, overlap=2))
    crowd = Writer(where, "annotator-", PROCESSES, "3")
    crowd.start()
    assert crowd.end() == ""
    assert crowd.process.returncode == 0
    assert sum(words[1] == "done" for words in crowd.said) == PROCESSES
    given = [
        (int(assignment), int(task), name)
        for name, what, assignment, task in (w for w in crowd.said if w[1] == "lease")
    ]
    assignments = collections.Counter(assignment for assignment, _, _ in given)
    assert max(assignments.values()) == 1
    assert len(given) == PROCESSES * 3
    assert max(collections.Counter((task, n) for _, task, n in given).values()) == 1
    # What is left can still be taken, to the last.
    left = tasks * 2 - len(given)
    names = iter(range(10**6))
    while (lease := project.queue.lease(f"late {next(names)}")) is not None:
        finish(project, lease)
        left -= 1
    assert left == 0
    assert len(project.answers.read(submitted=True)) == tasks * 2 * size
