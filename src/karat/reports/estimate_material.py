"""What a page about estimates is made of: estimated scores, or a simulation of vetting."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from karat._util import plural
from karat.estimation import ScoreEstimate, Simulation
from karat.reports.page_options import PageOptions


@dataclass(frozen=True, eq=False)
class EstimateMaterial:
    """Everything that the sections of such a page collect from.

    Parameters
    ----------
    found
        What was found.
    page, target
        As in `Material`.
    """

    found: ScoreEstimate | Simulation
    page: PageOptions = field(default_factory=PageOptions)
    target: Path = Path("estimate.html")

    @property
    def kind(self) -> str:
        """Which sections it has."""
        return "estimate" if isinstance(self.found, ScoreEstimate) else "simulation"

    @property
    def estimate(self) -> ScoreEstimate:
        """The estimated scores."""
        assert isinstance(self.found, ScoreEstimate)
        return self.found

    @property
    def simulation(self) -> Simulation:
        """The simulation."""
        assert isinstance(self.found, Simulation)
        return self.found

    @property
    def systems(self) -> list[str]:
        """The names of the runs."""
        if isinstance(self.found, ScoreEstimate):
            return list(dict.fromkeys(run for column in self.found.columns for run in column.candidates.runs))
        return list(dict.fromkeys(run for result in self.found.results for run in result.runs))

    @property
    def heading(self) -> str:
        """The page's title: as given, or what was done."""
        if self.page.title:
            return self.page.title
        systems = plural(len(self.systems), "system")
        if isinstance(self.found, Simulation):
            return f"Vetting simulated for {systems}: from {self.found.noisy} to {self.found.vetted}"
        bench = self.found.benchmark
        return f"Estimated scores of {systems}{'' if bench is None else f' on {bench.name}'}"
