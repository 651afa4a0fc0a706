"""A process that draws batches with their tasks, and says each one that was acknowledged, until it is killed.

python -m store.drawer WHERE
"""

import os
import sys

from karat.store import open_project

from .small import batch_of, plan_of

SIZE = 30
"""Pairs of a batch; a task has five of them."""


def pairs_of(number: int) -> list[tuple[int, int]]:
    """The pairs of a batch by its number, different for each."""
    return [divmod(number * SIZE + k, 120) for k in range(SIZE)]


if __name__ == "__main__":
    with open_project(sys.argv[1]) as project:
        for number in range(len(project.draws.keys()) // SIZE, 40 * 120 // SIZE):
            pairs = pairs_of(number)
            plan = plan_of(*(pairs[at : at + 5] for at in range(0, SIZE, 5)), overlap=2)
            project.draws.add(batch_of(pairs, settings={"number": number}), plan)
            os.write(1, f"{number}\n".encode())
