"""How far everybody is. Counting all slots for each request would be too much: it is done once in a while."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from karat.judging import Project

EVERY = 5.0
"""Seconds; one's own count is kept by the page in the meantime."""


@dataclass(frozen=True)
class ProgressCounts:
    """How many slots there are, how many were handed in, and by whom."""

    at: float
    slots: int
    done: dict[str, int]


class Progress:
    """The counts of a project, some seconds old at most.

    Parameters
    ----------
    project
        Whose.
    """

    def __init__(self, project: Project) -> None:
        self.project, self.lock = project, threading.Lock()
        self.counts: ProgressCounts | None = None

    def read(self) -> ProgressCounts:
        """Return the counts; one thread at a time counts."""
        with self.lock:
            if self.counts is None or time.monotonic() - self.counts.at > EVERY:
                slots, done = self.project.queue.progress()
                self.counts = ProgressCounts(time.monotonic(), slots, done)
            return self.counts

    def of(self, worker: str) -> dict[str, int]:
        """Return what a worker's page shows: tasks handed in by them and by all, and how many there are."""
        counts = self.read()
        return {
            "mine": counts.done.get(worker, 0), "done": sum(counts.done.values()), "all": counts.slots
        }  # fmt: skip
