"""All figures of a server, as Prometheus reads them; no names, no texts."""

from __future__ import annotations

import os
import threading
import time

from sqlalchemy import text

import karat
from karat.judging import Project
from karat.judging.store import LEASED, OPEN, SUBMITTED
from karat.web.operation.figures import Page, Requests
from karat.web.operation.health import HealthFinding
from karat.web.writer import Writer

COUNT = text(f"""
    SELECT CASE WHEN state = {LEASED} AND expires <= :now THEN {OPEN} ELSE state END AS now, COUNT(*) AS slots
    FROM slot GROUP BY 1
""")
STATES = {OPEN: "open", LEASED: "leased", SUBMITTED: "submitted"}
KEPT = 10.0
"""How old the count of slots may be, in seconds: it reads them all."""


class Metrics:
    """The figures of a server.

    Parameters
    ----------
    project, writer, requests
        What they are about.
    """

    def __init__(self, project: Project, writer: Writer, requests: Requests) -> None:
        self.project, self.writer, self.requests = project, writer, requests
        self.started = time.time()
        self._lock = threading.Lock()
        self._slots: dict[str, int] = {}
        self._at = float("-inf")

    def slots(self) -> dict[str, int]:
        """Return how many slots are open, leased and submitted, some seconds ago at most."""
        with self._lock:
            if time.monotonic() - self._at > KEPT:
                with self.project.database.read() as connection:
                    rows = connection.execute(COUNT, {"now": time.time()}).all()
                self._slots = dict.fromkeys(STATES.values(), 0) | {STATES[row.now]: row.slots for row in rows}
                self._at = time.monotonic()
            return self._slots

    def text(self, health: HealthFinding) -> str:
        """Return the page."""
        page = Page()
        page.add("karat_info", "gauge", "The version.", [((("version", karat.__version__),), 1)])
        page.one("process_start_time_seconds", "gauge", "When it started.", self.started)
        page.one("process_cpu_seconds_total", "counter", "Processor time.", time.process_time())
        if (memory := memory_bytes()) is not None:
            page.one("process_resident_memory_bytes", "gauge", "Memory held.", memory)
        page.one("karat_store_readable", "gauge", "1 if the store can be read.", health.readable)
        page.one("karat_store_writable", "gauge", "1 if the store can be written.", health.writable)
        self._requests(page)
        self._answers(page)
        slots = [((("state", state),), count) for state, count in self.slots().items()]
        page.add("karat_slots", "gauge", "Slots of tasks; leased ones are in somebody's hands.", slots)
        return page.text()

    def _requests(self, page: Page) -> None:
        """Add what is known about requests."""
        seen = self.requests
        # Copied at once: the event loop adds to them while this thread reads.
        done = [
            ((("method", method), ("route", route), ("status", str(status))), count)
            for (method, route, status), count in seen.done.copy().items()
        ]
        page.add("karat_http_requests_total", "counter", "Requests that were answered.", done)
        page.one("karat_http_errors_total", "counter", "Those answered with 5xx.", seen.errors)
        page.one("karat_http_requests_running", "gauge", "Requests that are being answered.", seen.running)
        page.one("karat_http_streams", "gauge", "Streams of events that are open.", seen.streams)
        took = [((("route", route),), one) for route, one in seen.seconds.copy().items()]
        page.histogram("karat_http_request_seconds", "How long requests took, but for streams.", took)

    def _answers(self, page: Page) -> None:
        """Add what is known about answers."""
        figures = self.writer.figures
        outcomes = {"saved": figures.saved, "refused": figures.refused, "failed": figures.failed}
        values = [((("outcome", outcome),), count) for outcome, count in outcomes.items()]
        page.add("karat_answers_total", "counter", "Answers and withdrawals handed to the writer.", values)
        page.one("karat_answers_waiting", "gauge", "Answers in the queue.", self.writer.depth)
        page.one("karat_answers_room", "gauge", "How many may wait.", self.writer.room)
        page.histogram("karat_batch_answers", "Answers in one transaction.", [((), figures.size)])
        page.histogram("karat_batch_seconds", "How long a transaction took.", [((), figures.seconds)])


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
