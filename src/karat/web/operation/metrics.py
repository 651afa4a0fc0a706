"""All figures of a server, as Prometheus reads them; no names, no texts."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

import karat
from karat.judging import Project
from karat.web.operation.figures import Requests
from karat.web.operation.health import HealthFinding
from karat.web.writer import Writer

KEPT = 10.0
"""How old the count of slots may be, in seconds: it reads them all."""


class Metrics(Collector):
    """The figures of a server.

    Parameters
    ----------
    project, writer, requests
        What they are about.
    """

    def __init__(self, project: Project, writer: Writer, requests: Requests) -> None:
        self.project, self.writer = project, writer
        self.started = time.time()
        self._lock = threading.Lock()
        self._slots: dict[str, int] = {}
        self._at = float("-inf")
        self.readable = Gauge("karat_store_readable", "1 if the store can be read.", registry=None)
        self.writable = Gauge("karat_store_writable", "1 if the store can be written.", registry=None)
        # Of this server alone: two in one process, as in tests, do not count for each other.
        self.registry = SeriesRegistry(auto_describe=False)
        for metric in (
            self, self.readable, self.writable, writer.figures.size, writer.figures.seconds, requests.done,
            requests.errors, requests.running, requests.streams, requests.seconds,
        ):  # fmt: skip
            self.registry.register(metric)

    def slots(self) -> dict[str, int]:
        """Return how many slots are open, leased and submitted, some seconds ago at most."""
        with self._lock:
            if time.monotonic() - self._at > KEPT:
                self._slots = self.project.queue.counts()
                self._at = time.monotonic()
            return self._slots

    def collect(self) -> Iterator[Metric]:
        """Return what is read when it is asked for, as the registry wants it."""
        yield InfoMetricFamily("karat", "The version.", {"version": karat.__version__})
        yield GaugeMetricFamily("process_start_time_seconds", "When it started.", self.started)
        yield CounterMetricFamily("process_cpu_seconds_total", "Processor time.", time.process_time())
        if (memory := memory_bytes()) is not None:
            yield GaugeMetricFamily("process_resident_memory_bytes", "Memory held.", memory)
        figures = self.writer.figures
        answers = CounterMetricFamily(
            "karat_answers_total", "Answers and withdrawals handed to the writer.", labels=["outcome"]
        )
        for outcome in ("saved", "refused", "failed"):
            answers.add_metric([outcome], getattr(figures, outcome))
        yield answers
        yield GaugeMetricFamily("karat_answers_waiting", "Answers in the queue.", self.writer.depth)
        yield GaugeMetricFamily("karat_answers_room", "How many may wait.", self.writer.room)
        slots = GaugeMetricFamily(
            "karat_slots", "Slots of tasks; leased ones are in somebody's hands.", labels=["state"]
        )
        for state, count in self.slots().items():
            slots.add_metric([state], count)
        yield slots

    def text(self, health: HealthFinding) -> bytes:
        """Return the page."""
        self.readable.set(health.readable)
        self.writable.set(health.writable)
        return generate_latest(self.registry)


class SeriesRegistry(CollectorRegistry):
    """A registry without the times at which series began: they would double what Prometheus keeps."""

    def collect(self) -> Iterator[Metric]:
        """Return the figures."""
        for metric in super().collect():
            metric.samples = [one for one in metric.samples if one.name != f"{metric.name}_created"]
            yield metric


def memory_bytes() -> int | None:
    """Return the memory that this process holds; None where the system does not tell.

    >>> memory_bytes() is None or memory_bytes() > 1_000_000
    True
    """
    try:
        with open("/proc/self/statm", encoding="ascii") as handle:
            return int(handle.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None
