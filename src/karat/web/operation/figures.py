"""What is counted about requests, and all figures as text for Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from karat.web.operation.histogram import Histogram

METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


@dataclass
class Requests:
    """What is counted about requests; only the event loop's thread writes."""

    done: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    seconds: dict[str, Histogram] = field(default_factory=dict)
    running: int = 0
    streams: int = 0
    errors: int = 0

    def add(self, method: str, route: str, status: int, seconds: float | None) -> None:
        """Count a request that was answered; a stream has no time that means anything."""
        self.done[method if method in METHODS else "other", route, status] += 1
        self.errors += status >= 500
        if seconds is not None:
            self.seconds.setdefault(route, Histogram()).add(seconds)


Labels = tuple[tuple[str, str], ...]


class Page:
    """Figures as text, in the format that Prometheus reads.

    Examples
    --------
    >>> page = Page()
    >>> page.add("karat_answers_total", "counter", "Answers.", [((("outcome", "saved"),), 3)])
    >>> print(page.text(), end="")
    # HELP karat_answers_total Answers.
    # TYPE karat_answers_total counter
    karat_answers_total{outcome="saved"} 3
    """

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, name: str, kind: str, words: str, values: Iterable[tuple[Labels, float]]) -> None:
        """Add a counter or a gauge, by its labels."""
        self._head(name, kind, words)
        self.lines += [f"{name}{labels_of(labels)} {number(value)}" for labels, value in values]

    def one(self, name: str, kind: str, words: str, value: float) -> None:
        """Add a counter or a gauge without labels."""
        self.add(name, kind, words, [((), value)])

    def histogram(self, name: str, words: str, values: Iterable[tuple[Labels, Histogram]]) -> None:
        """Add a histogram, by its labels."""
        self._head(name, "histogram", words)
        for labels, one in values:
            rising = one.rising()
            for bound, count in zip([*map(number, one.bounds), "+Inf"], rising, strict=True):
                self.lines.append(f"{name}_bucket{labels_of((*labels, ('le', bound)))} {count}")
            self.lines.append(f"{name}_sum{labels_of(labels)} {number(one.sum)}")
            # Not counted anew: another value may have come in the meantime.
            self.lines.append(f"{name}_count{labels_of(labels)} {rising[-1]}")

    def _head(self, name: str, kind: str, words: str) -> None:
        self.lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]

    def text(self) -> str:
        """Return the page."""
        return "\n".join(self.lines) + "\n"


def labels_of(labels: Labels) -> str:
    r"""Return labels as Prometheus reads them.

    >>> labels_of((("route", 'a"b'), ("le", "1")))
    '{route="a\\"b",le="1"}'
    """
    found = [f'{name}="{escaped(value)}"' for name, value in labels]
    return f"{{{','.join(found)}}}" if found else ""


def escaped(value: str) -> str:
    """Return a label's value with backslashes, quotes and line breaks escaped."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def number(value: float) -> str:
    """Return a number, whole ones without a point.

    >>> number(3.0), number(0.25)
    ('3', '0.25')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))
