"""What is counted about requests, by metrics of Prometheus."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Bounds of histograms of how long something took."""


class Requests:
    """What is counted about requests; `karat.web.operation.metrics` puts it into the server's registry.

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
        self.errors = Counter("karat_http_errors_total", "Those answered with 5xx.", registry=None)
        self.running = Gauge(
            "karat_http_requests_running", "Requests that are being answered.", registry=None
        )
        self.streams = Gauge("karat_http_streams", "Streams of events that are open.", registry=None)
        self.seconds = Histogram(
            "karat_http_request_seconds", "How long requests took, but for streams.", ["route"],
            buckets=SECONDS, registry=None,
        )  # fmt: skip

    def add(self, method: str, route: str, status: int, seconds: float | None) -> None:
        """Count a request that was answered; a stream has no time that means anything."""
        self.done.labels(method if method in METHODS else "other", route, status).inc()
        if status >= 500:
            self.errors.inc()
        if seconds is not None:
            self.seconds.labels(route).observe(seconds)
