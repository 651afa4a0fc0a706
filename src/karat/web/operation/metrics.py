"""Metrics for Prometheus, without names: requests, answers, assignments, the store; and who may read them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

from fastapi import Request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

import karat
from karat.errors import InputError
from karat.store import Project, StoreError
from karat.store.accounts import OWNER
from karat.web.access import NotAllowed, NotSignedIn, current_user
from karat.web.operation.health import HealthFinding
from karat.web.security import same
from karat.web.settings import is_loopback
from karat.web.writer import SECONDS, Writer

KEPT = 10.0
"""How many seconds the counts of assignments are kept: counting reads all of them."""
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
VARIABLE = "KARAT_METRICS_TOKEN"
LEAST = 16
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


class Requests:
    """The metrics of requests; `Metrics` adds them to the server's registry.

    Examples
    --------
    >>> requests = Requests()
    >>> requests.add("POST", "/api/judge/answer", 200, 0.003)
    >>> [(sample.labels["status"], sample.value) for sample in requests.done.collect()[0].samples[:1]]
    [('200', 1.0)]
    """

    def __init__(self) -> None:
        self.done = Counter(
            "karat_http_requests_total", "Requests that were answered.", ["method", "route", "status"],
            registry=None,
        )  # fmt: skip
        self.errors = Counter("karat_http_errors_total", "Requests answered with 5xx.", registry=None)
        self.running = Gauge(
            "karat_http_requests_running", "Requests that are being answered.", registry=None
        )
        self.streams = Gauge("karat_http_streams", "Open streams of events.", registry=None)
        self.seconds = Histogram(
            "karat_http_request_seconds", "Duration of requests, without streams.", ["route"],
            buckets=SECONDS, registry=None,
        )  # fmt: skip

    def add(self, method: str, route: str, status: int, seconds: float | None) -> None:
        """Count a request that was answered; a stream has no meaningful duration."""
        self.done.labels(method if method in METHODS else "other", route, status).inc()
        if status >= 500:
            self.errors.inc()
        if seconds is not None:
            self.seconds.labels(route).observe(seconds)


class Metrics(Collector):
    """The metrics of a server.

    Parameters
    ----------
    project, writer, requests
        What they are about.
    """

    def __init__(self, project: Project, writer: Writer, requests: Requests) -> None:
        self.project, self.writer = project, writer
        self._lock = threading.Lock()
        self._assignments: dict[str, int] = {}
        self._at = float("-inf")
        self.readable = Gauge("karat_store_readable", "1 if the store can be read.", registry=None)
        self.writable = Gauge("karat_store_writable", "1 if the store can be written.", registry=None)
        # A registry per server: two servers in one process, as in tests, have separate counts.
        self.registry = SeriesRegistry(auto_describe=False)
        ProcessCollector(registry=self.registry)
        for metric in (
            self, self.readable, self.writable, writer.figures.size, writer.figures.seconds, requests.done,
            requests.errors, requests.running, requests.streams, requests.seconds,
        ):  # fmt: skip
            self.registry.register(metric)

    def assignments(self) -> dict[str, int]:
        """Return the number of open, leased and submitted assignments, a few seconds old at most."""
        with self._lock:
            if time.monotonic() - self._at > KEPT:
                self._assignments = self.project.queue.counts()
                self._at = time.monotonic()
            return self._assignments

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics that are read on request, as the registry expects."""
        yield InfoMetricFamily("karat", "The version.", {"version": karat.__version__})
        figures = self.writer.figures
        answers = CounterMetricFamily(
            "karat_answers_total", "Answers and withdrawals passed to the writer.", labels=["outcome"]
        )
        for outcome in ("saved", "refused", "failed"):
            answers.add_metric([outcome], getattr(figures, outcome))
        yield answers
        yield GaugeMetricFamily("karat_answers_waiting", "Answers in the queue.", self.writer.depth)
        yield GaugeMetricFamily("karat_answers_room", "Maximum length of the queue.", self.writer.room)
        assignments = GaugeMetricFamily("karat_slots", "Assignments of tasks by state.", labels=["state"])
        # The other metrics are needed most while the store fails.
        with suppress(StoreError):
            for state, count in self.assignments().items():
                assignments.add_metric([state], count)
        yield assignments

    def text(self, health: HealthFinding) -> bytes:
        """Return the metrics as text."""
        self.readable.set(health.readable)
        self.writable.set(health.writable)
        return generate_latest(self.registry)


class SeriesRegistry(CollectorRegistry):
    """A registry without the creation times of series, which would double what Prometheus stores."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        for metric in super().collect():
            metric.samples = [sample for sample in metric.samples if sample.name != f"{metric.name}_created"]
            yield metric


def metrics_token() -> str:
    """Return the token that Prometheus sends, from the environment; empty if it is not set."""
    token = os.environ.get(VARIABLE, "")
    if token and len(token) < LEAST:
        raise InputError(
            f"has only {len(token)} characters", where=VARIABLE, fix=f"use at least {LEAST} random characters"
        )
    return token


def check_may_see(request: Request, token: str) -> None:
    """Raise unless a request may read the metrics.

    A proxy on this machine makes every client look local. So a local client is allowed only if no other
    machine can reach the server, and the request has no header of a proxy.

    Parameters
    ----------
    request
        The request.
    token
        The token of "Authorization: Bearer …"; empty: no token is accepted.
    """
    authorization = request.headers.get("authorization", "")
    if token and authorization.startswith("Bearer ") and same(authorization[7:], token):
        return
    forwarded = any(name in request.headers for name in FORWARDED)
    local = request.client is not None and is_loopback(request.client.host)
    if local and not forwarded and not request.app.state.settings.public:
        return
    user = current_user(request)
    if user is None:
        raise NotSignedIn
    if not user.may(OWNER):
        raise NotAllowed
