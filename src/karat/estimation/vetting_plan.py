"""A plan: expected widths against labels for several designs, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import MISSING, Layout, Part, Result, extra, plural, word_for
from karat.benchmarks import Direction, Side, direction_title
from karat.errors import InputError
from karat.estimation.design import DESIGNS
from karat.estimation.plan_basis import PlanBasis
from karat.estimation.planned_designs import PlannedDesign
from karat.estimation.score_estimate import as_json
from karat.estimation.statistics import LEAST_FREE, sequence_factor
from karat.forms import load_form
from karat.judging import Rates
from karat.judging.pools import cost_of_tasks
from karat.measures import Measure
from karat.stats import detection_reach

if TYPE_CHECKING:
    import plotly.graph_objects as go

SIZES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
"""The numbers of labels that a plan shows, as far as there are so many pairs."""
BENCHMARK_SIZES = (100, 300, 1000, 3000, 10_000)
"""The numbers of groups whose smallest detectable difference a plan shows."""
FEWEST_UNITS = 5
"""With fewer drawn units a plan says nothing of an interval."""


@dataclass(frozen=True, eq=False)
class Plan(Result):
    """How many labels it will take; `plan` makes it.

    Parameters
    ----------
    measure, direction, runs
        What is estimated.
    pairs, queries
        How many pairs and queries there are.
    basis
        What labels are taken to be like.
    designs
        The ways to ask.
    within, gap
        The wanted half-width, and the difference of two runs that is to be found, as shares.
    level, power
        How often intervals should hold, and differences be found.
    spread, clusters
        The standard deviation of the difference of the first two runs over groups, 0 where there is one run,
        and the number of groups.
    group
        The words for a group, such as an image with its captions; those of queries where each is by itself.
    overlap, rates
        How many answers a label takes; how long each takes, and what annotators are paid.
    notes
        What a reader should know.
    """

    measure: Measure
    direction: Direction
    runs: tuple[str, ...]
    pairs: int
    queries: int
    basis: PlanBasis
    designs: tuple[PlannedDesign, ...]
    within: float
    gap: float
    level: float
    power: float
    spread: float
    clusters: int
    group: Side
    overlap: int
    rates: Rates
    notes: tuple[str, ...] = ()

    @property
    def sizes(self) -> list[int]:
        """The numbers of labels that are shown."""
        return [size for size in SIZES if size < self.pairs] + [self.pairs]

    def half_width(self, design: PlannedDesign, labels: int, anytime: bool = False) -> float:
        """Return the expected half-width of a score's interval, or of its confidence sequence."""
        variance = design.score(labels)
        return self.reach(design, labels, anytime) * float(np.sqrt(variance)) if variance > 0 else 0.0

    def reach(self, design: PlannedDesign, labels: int, anytime: bool = False) -> float:
        """Return how many standard errors an interval reaches to either side."""
        from scipy.special import ndtri, stdtrit

        units = design.units(labels)
        if units < FEWEST_UNITS:
            return np.inf
        # Two degrees of freedom go into the mean and the weight of predictions.
        free = max(min(units - 2, design.free(labels)), LEAST_FREE)
        tail = (1 + self.level) / 2
        lost = np.sqrt(units / (units - 2))
        if not anytime:
            return float(stdtrit(free, tail)) * lost
        # As `karat project estimate --rule` makes it: whole queries count as one each.
        whole = DESIGNS[design.name].unit == "query"
        drawn, frame = (units, self.queries) if whole else (labels, self.pairs)
        wide = float(sequence_factor(np.asarray(drawn), frame, level=self.level))
        return wide * float(stdtrit(free, tail) / ndtri(tail)) * lost

    def detectable(self, design: PlannedDesign, labels: int) -> float:
        """Return the difference of the first two runs, on this test set, that so many labels will show."""
        if design.difference is None:
            return np.nan
        units = design.units(labels)
        if units < FEWEST_UNITS:
            return np.inf
        return detection_reach(units, 1 - self.level, self.power) * float(np.sqrt(design.difference(labels)))

    def fewest(self, what: Callable[[int], float], goal: float) -> int:
        """Return the fewest labels with which something is at most a goal."""
        low, high = min(10, self.pairs), self.pairs
        while low < high:
            middle = (low + high) // 2
            if what(middle) <= goal:
                high = middle
            else:
                low = middle + 1
        return low

    def labels(self, design: str | None = None) -> int:
        """Return how many labels give the wanted half-width: with a design, or with the best one."""
        chosen = [one for one in self.designs if design in (None, one.name) and one.predicted]
        if not chosen:
            raise InputError(f"the plan has no design {design!r}", fix=f"choose {self.designs[-1].name}")
        return min(self.needed_score(one) for one in chosen)

    def cost(self, labels: int) -> tuple[float, float]:
        """Return the hours and the money that so many labels take."""
        cost = cost_of_tasks(labels, 0, 0, self.overlap, load_form("pair"), self.rates)
        return cost.hours, cost.money

    def detectable_over_queries(self, clusters: int) -> float:
        """Return the smallest difference that a benchmark with so many groups shows, if all is labelled."""
        return detection_reach(clusters, 1 - self.level, self.power) * self.spread / np.sqrt(clusters)

    def records(self) -> list[dict[str, Any]]:
        """Return one record per design and number of labels."""
        same = {
            "measure": str(self.measure),
            "direction": self.direction,
            "basis": self.basis.source,
            "prevalence": self.basis.prevalence,
            "rho": self.basis.rho,
        }
        out = []
        for design in self.designs:
            for labels in self.sizes:
                hours, money = self.cost(labels)
                out.append(
                    {
                        "design": design.name,
                        "predictions": design.predicted,
                        "labels": labels,
                        "half_width": as_json(self.half_width(design, labels)),
                        "anytime_half_width": as_json(self.half_width(design, labels, anytime=True)),
                        "detectable": as_json(self.detectable(design, labels)),
                        "hours": hours,
                        "money": money,
                        **same,
                    }
                )
        return out

    def parts(self) -> Sequence[Part]:
        """Return what was assumed, the labels that are needed, and widths against labels."""
        basis = self.basis
        about = (
            f"{self.measure} {direction_title(self.direction)} of {', '.join(self.runs)}: "
            f"{plural(self.pairs, 'pair')} of {self.queries:,} queries count.\n{basis.source}: "
            f"{100 * basis.prevalence:.0f}% of them are relevant, predictions correlate with labels by "
            f"{basis.rho:.2f}."
        )
        best = min(self.designs, key=lambda one: self.needed_score(one))
        labels = self.needed_score(best)
        hours, money = self.cost(labels)
        answers = labels * self.overlap
        paid = f", {money:,.0f} in money" if money else ""
        answer = (
            f"± {100 * self.within:g} points take about {plural(labels, 'label')} ({best.title}): "
            f"{plural(answers, 'answer')}, {hours:,.1f} hours{paid}."
        )
        parts: list[Part] = [f"{about}\n{answer}", self.needed_table()]
        parts += [self.width_table(), *self.query_parts()]
        return parts

    def needed_score(self, design: PlannedDesign, anytime: bool = False) -> int:
        """Return how many labels a design needs for the wanted half-width."""
        return self.fewest(lambda n: self.half_width(design, n, anytime), self.within)

    def needed_table(self) -> Layout:
        """Return the labels that each design needs."""
        head = ["labels needed for", f"± {100 * self.within:g}", "anytime"]
        two = self.designs[0].difference is not None
        head += [f"a gap of {100 * self.gap:g}"] if two else []
        rows = []
        for design in self.designs:
            numbers = [self.needed_score(design), self.needed_score(design, anytime=True)]
            if two:
                numbers.append(self.fewest(partial(self.detectable, design), self.gap))
            hours, money = self.cost(numbers[0])
            rows.append(
                [
                    design.title,
                    *(f"{n:,}" for n in numbers),
                    f"{hours:,.1f}",
                    *([f"{money:,.0f}"] * bool(money)),
                ]
            )
        paid = len(rows[0]) > len(head) + 1
        words = ["anytime: looking after every answer"]
        words += [f"gap: found in {100 * self.power:g}% of projects"] if two else []
        words.append(f"hours{', money' * paid}: for ± {100 * self.within:g}")
        return Layout([*head, "hours", *(["money"] * paid)], rows, legend="; ".join(words))

    def width_table(self) -> Layout:
        """Return the expected half-widths of a score against labels, in points."""
        sizes = self.sizes
        if len(sizes) > 8:
            sizes = [*sizes[:7], sizes[-1]]
        rows = [
            [design.title, *(f"{100 * half:.1f}" if np.isfinite(half) else MISSING for half in widths)]
            for design in self.designs
            for widths in [[self.half_width(design, n) for n in sizes]]
        ]
        return Layout(["± points with", *(f"{n:,}" for n in sizes)], rows)

    def plot(self, anytime: bool = False) -> go.Figure:
        """Return a plotly figure: the expected half-width against labels, a line for each design.

        Parameters
        ----------
        anytime
            Draw confidence sequences instead, for looks after every answer.
        """
        figures = extra("plotly.graph_objects")
        sizes = np.unique(np.geomspace(min(50, self.pairs), self.pairs, 40).astype(int)).tolist()
        figure = figures.Figure()
        for design in self.designs:
            widths = [100 * self.half_width(design, n, anytime) for n in sizes]
            shown = [width if np.isfinite(width) else None for width in widths]
            figure.add_scatter(x=sizes, y=shown, name=design.title, mode="lines")
        figure.add_hline(100 * self.within, line_dash="dot")
        figure.update_xaxes(type="log", title="labels")
        figure.update_yaxes(title="half-width in points", rangemode="tozero")
        figure.update_layout(title=f"{self.measure} {direction_title(self.direction)}: {self.basis.source}")
        return figure

    def query_parts(self) -> list[Part]:
        """Return the smallest difference that benchmarks of some sizes show, if everything is labelled."""
        if len(self.runs) < 2 or not self.spread > 0:
            return []
        sizes = sorted({*BENCHMARK_SIZES, self.clusters})
        row = [f"{100 * self.detectable_over_queries(n):.2f}" for n in sizes]
        one, many = self.group.one, self.group.many
        about = (
            "Labels decide about these queries. For queries like these even full labels leave the chance of\n"
            f"which {many} were drawn. The smallest gap that a fully labelled benchmark finds in "
            f"{100 * self.power:g}% of samples,\nin points, if it varies by {100 * self.spread:.1f} from one "
            f"{one} to the next (here {self.clusters:,} {word_for(self.clusters, one, many)}):"
        )
        return [about, Layout([many, *(f"{n:,}" for n in sizes)], [["gap", *row]])]
