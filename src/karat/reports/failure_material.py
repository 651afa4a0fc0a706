"""What a page about failures is made of: failures of runs with their concept metrics."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from karat._util import plural
from karat.explanations import ExplainedFailures, Explanation
from karat.reports.page_options import PageOptions


@dataclass(frozen=True, eq=False)
class FailureMaterial:
    """Everything that the sections of such a page collect from.

    Parameters
    ----------
    found
        What was found.
    page, target
        As in `Material`.
    """

    found: Explanation
    page: PageOptions = field(default_factory=PageOptions)
    target: Path = Path("failures.html")

    @property
    def kind(self) -> str:
        """Which sections it has."""
        return "failures"

    @property
    def columns(self) -> list[ExplainedFailures]:
        """The failures of each run, truth and direction, captions as queries first."""
        return sorted(self.found.columns, key=lambda column: column.failures.direction != "t2i")

    @property
    def systems(self) -> list[str]:
        """The names of the runs."""
        return list(dict.fromkeys(column.failures.run for column in self.found.columns))

    @property
    def heading(self) -> str:
        """The page's title: as given, or what was done."""
        return (
            self.page.title
            or f"Failures of {plural(len(self.systems), 'system')} on {self.found.benchmark.name}"
        )
