"""Processes that lease and answer, and say each thing that was acknowledged.

    python writer.py WHERE NAME                 one, until it is killed
    python writer.py WHERE NAME PROCESSES MAX   many at once, each until it has submitted MAX tasks

They begin when a line comes in. Lines: "NAME lease ASSIGNMENT TASK", "NAME answer ID ASSIGNMENT ITEM",
"NAME submit ASSIGNMENT", "NAME done".
"""

import os
import sys

from karat.store import open_project


def say(*words: object) -> None:
    # In one write: lines of several processes do not mix.
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def work(where: str, name: str, limit: int, wait: int) -> None:
    with open_project(where) as project:
        say(name, "ready")
        os.read(wait, 1)
        for _ in range(limit):
            lease = project.queue.lease(name, seconds=3600)
            if lease is None:
                break
            say(name, "lease", lease.assignment, lease.task)
            for item in lease.items:
                if item.code is None:
                    say(
                        name,
                        "answer",
                        project.answers.give(lease.token, item.id, "yes"),
                        lease.assignment,
                        item.id,
                    )
            project.queue.submit(lease.token)
            say(name, "submit", lease.assignment)
        say(name, "done")


def work_all(where: str, name: str, processes: int, limit: int) -> int:
    """Fork the processes from this one, which has imported everything; they begin when the pipe closes."""
    wait, go = os.pipe()
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            os.close(go)
            status = 1
            try:
                work(where, f"{name}{number}", limit, wait)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    sys.stdin.readline()
    os.close(go)
    return sum(os.waitpid(child, 0)[1] != 0 for child in children)


if __name__ == "__main__":
    if len(sys.argv) > 3:
        sys.exit(work_all(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    work(sys.argv[1], sys.argv[2], 1_000_000, 0)
