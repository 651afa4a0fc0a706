"""Slice report: the queries on which a run is weak, or weaker than another, as they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from karat._util import Layout, Part, Result, plural, signed
from karat.benchmarks import Direction
from karat.explain.slice_columns import SliceTable
from karat.measures import Named, in_percent, scale_value, show_value
from karat.scores import DIRECTION_TITLES


@dataclass(frozen=True)
class Slice:
    """Queries on which a run is worse than on the others.

    Parameters
    ----------
    name, kind
        "colour: any" and "colours".
    n, images
        How many queries it has, and of how many images.
    inside, outside
        The mean value of its queries, and of the others.
    difference, low, high
        By how much the inside is worse or better, with what is held constant, and its interval, which holds
        for all slices of the search together.
    p
        Corrected for the search.
    same
        Other names: slices of the same queries.
    explains
        Slices that are worse too, but not once this one is known.
    reference_inside, reference_outside
        The mean values of the other run; None without one.
    """

    name: str
    kind: str
    n: int
    images: int
    inside: float
    outside: float
    difference: float
    low: float
    high: float
    p: float
    same: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    reference_inside: float | None = None
    reference_outside: float | None = None


@dataclass(frozen=True, eq=False)
class SliceReport(Result):
    """The worst slices of a run's queries.

    Parameters
    ----------
    slices
        The strongest first; each adds to those before it.
    run, against
        The names of the run and of the one that it is compared with, None without.
    benchmark, truth, direction, measure
        What was scored.
    n, images
        How many queries, of how many images.
    value, reference
        The mean value of all queries, of the run and of the other one.
    searched
        How many different slices were looked at.
    adjusted
        The kinds that are held constant.
    level
        Of the intervals.
    critical
        The largest standardised difference that chance reaches anywhere in the search, at this level.
    table
        All slices that were searched.
    notes
        What a reader should know.
    """

    slices: tuple[Slice, ...]
    run: str
    against: str | None
    benchmark: str
    truth: str
    direction: Direction
    measure: Named
    n: int
    images: int
    value: float
    reference: float | None
    searched: int
    adjusted: tuple[str, ...]
    level: float
    critical: float
    table: SliceTable
    notes: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.slices)

    def __repr__(self) -> str:
        return f"SliceReport({plural(len(self), 'slice')} of {self.run} on {self.benchmark})"

    def records(self) -> list[dict[str, Any]]:
        """Return one record per slice; values are fractions, ranks are ranks."""
        head = {
            "run": self.run, "against": self.against, "truth": self.truth, "direction": self.direction,
            "measure": str(self.measure),
        }  # fmt: skip
        keys = [name for name in Slice.__dataclass_fields__ if name not in ("same", "explains")]
        return [
            {
                **head,
                **{key: getattr(each, key) for key in keys},
                "same": "; ".join(each.same),
                "explains": "; ".join(each.explains),
            }
            for each in self.slices
        ]

    def parts(self) -> list[Part]:
        """Return what was searched, and the slices."""
        return [self._heading(), *([self._layout()] if self.slices else []), self._reading()]

    def _heading(self) -> str:
        where = f"{self.measure} on {self.truth}, {DIRECTION_TITLES[self.direction]}"
        if self.against is None:
            return f"Where {self.run} is weak: {where}, {self._show(self.value)} of all queries."
        values = f"{self._show(self.value)} and {self._show(self.reference)} of all queries"
        return f"Where {self.run} is weaker than {self.against}: {where}, {values}."

    def _layout(self) -> Layout:
        paired = self.against is not None
        both = [self.run, str(self.against)] if paired else ["inside"]
        head = ["slice", "queries", *both, "elsewhere", "difference", "interval", "p"]
        rows = []
        for each in self.slices:
            other = [self._show(each.reference_inside)] if paired else []
            outside = self._show(each.outside)
            if each.reference_outside is not None:
                outside += f", {self._show(each.reference_outside)}"
            rows.append(
                [
                    each.name,
                    f"{each.n:,}",
                    self._show(each.inside),
                    *other,
                    outside,
                    self._signed(each.difference),
                    f"{self._signed(each.low)} to {self._signed(each.high)}",
                    f"{each.p:.3f}",
                ]
            )
        return Layout(head, rows)

    def _reading(self) -> str:
        lines = []
        if not self.slices:
            lines.append(
                f"No slice is worse than chance allows in a search over {self.searched:,}: which does not "
                "show that there is none."
            )
        for each in self.slices:
            if each.same:
                lines.append(f"{each.name} is also {listed(each.same)}.")
            if each.explains:
                lines.append(f"{each.name} explains {listed(each.explains)}.")
        held = f" with {' and '.join(self.adjusted)} held constant" if self.adjusted else ""
        what = "Difference: inside less elsewhere" if self.against is None else (
            "Difference: the gap between both runs inside, less the gap elsewhere"
        )  # fmt: skip
        lines.append(
            f"{what}{held}; intervals and p hold for all {self.searched:,} slices together "
            f"({100 * self.level:g}%, {self.n:,} queries of {plural(self.images, 'image')} dealt out anew)."
        )
        return "\n".join(lines)

    def _show(self, value: float | None) -> str:
        return show_value(self.measure, value)

    def _signed(self, value: float) -> str:
        number = scale_value(self.measure, value) if in_percent(self.measure) else value
        return f"+{signed(number)}" if number > 0 else signed(number)


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return the first names, and how many more there are.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most:,} more"
