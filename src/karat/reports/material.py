"""What a page is made of: scores and perhaps the runs themselves, estimated scores, or failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from karat._util import plural
from karat.benchmarks import asks_first
from karat.errors import InputError, KaratError
from karat.estimation import ScoreEstimate, Simulation
from karat.explanations import ExplainedFailures, Explanation
from karat.reports.page_options import PageOptions
from karat.runs import Run
from karat.scores import (
    Comparison,
    Details,
    Leaderboard,
    Scorecard,
    Standing,
    details_of,
    first_places,
    from_scorecards,
    shown_standings,
)

JUDGED = "Judged@10"


@dataclass(frozen=True, eq=False)
class Material:
    """Everything that the sections of a report collect from.

    Parameters
    ----------
    found
        What was found.
    runs
        The runs behind a scorecard without details: they give places, first results and Judged@10.
    page
        What is on the page beside what was found.
    target
        The file that is written; links to images start in its folder.
    threads
        For what is computed from the runs.
    """

    found: Comparison | Scorecard | Leaderboard
    runs: Sequence[Run] = ()
    page: PageOptions = field(default_factory=PageOptions)
    target: Path = Path("report.html")
    threads: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.found, Comparison | Scorecard | Leaderboard):
            raise InputError(
                f"no report can be made of {type(self.found).__name__}",
                fix="give a Comparison, a Scorecard or a Leaderboard",
            )
        if self.card is not None and self.runs:
            missing = set(self.card.runs) - {run.name for run in self.runs}
            if missing:
                raise InputError(f"the run {min(missing)!r} was not given", fix="give every run, or none")

    @property
    def kind(self) -> str:
        """Which sections it has."""
        return "report"

    @property
    def heading(self) -> str:
        """The page's title: as given, or what was done."""
        if self.page.title:
            return self.page.title
        systems = plural(len(self.systems), "system")
        if self.card is None:
            return f"{systems} by {plural(len(self.board.metrics), 'metric')}"  # type: ignore[union-attr]
        return f"{systems} on {self.card.benchmark.name}"

    @property
    def comparison(self) -> Comparison | None:
        """The comparison, where several runs were compared."""
        return self.found if isinstance(self.found, Comparison) else None

    @property
    def card(self) -> Scorecard | None:
        """The scorecard; None where there are only numbers."""
        if isinstance(self.found, Comparison):
            return self.found.card
        return self.found if isinstance(self.found, Scorecard) else None

    @cached_property
    def board(self) -> Leaderboard | None:
        """Systems by metrics; None for one system or one metric."""
        if isinstance(self.found, Leaderboard):
            return self.found
        assert self.card is not None
        if len(self.card.runs) < 2:
            return None
        try:
            return from_scorecards([self.card])
        except KaratError:
            # Fewer than two metrics: nothing to hold against each other.
            return None

    @property
    def systems(self) -> list[str]:
        """The names of the systems, in the order in which they were given."""
        return list(self.found.systems) if isinstance(self.found, Leaderboard) else list(self._card.runs)

    @property
    def _card(self) -> Scorecard:
        assert self.card is not None
        return self.card

    @property
    def standings(self) -> list[Standing]:
        """Who beats whom on every column that sums up both directions (or on each, where none does)."""
        return [] if self.comparison is None else shown_standings(self.comparison)

    @cached_property
    def details(self) -> Details | None:
        """Places, first results and files: the scorecard's own, or from another pass over the runs."""
        if self.card is None or self.card.details is not None or not self.runs:
            return None if self.card is None else self.card.details
        return details_of(self.card, self.runs, self.threads)

    @property
    def places(self) -> Scorecard | None:
        """Places of first relevant items and Judged@10, for truths that list their pairs.

        Without details, the scorecard itself where it holds places that are whole numbers.
        """
        card = self.card
        if card is None:
            return None
        if self.details is not None:
            return self.details.places if len(self.details.places) else None
        listed = any(not card.benchmark.truth(column.truth).implicit for column in card)
        usable = listed and card.ties != "expected" and card.unjudged != "left_out" and first_places(card)
        return card if usable else None


@dataclass(frozen=True, eq=False)
class EstimateMaterial:
    """The same of a page about estimates.

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


@dataclass(frozen=True, eq=False)
class FailureMaterial:
    """The same of a page about failures.

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
        """The failures of each run, truth and direction, queries of the second side first."""
        return sorted(self.found.columns, key=lambda column: asks_first(column.failures.direction))

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
