"""Slice report: the queries on which a run is weak, or weaker than another, as they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from karat._util import MISSING, Layout, Part, Result, plural, signed, word_for
from karat.benchmarks import direction_title
from karat.explanations.slice_columns import SliceTable
from karat.explanations.slice_search import Slice, SliceSearch
from karat.measures import Named, is_in_percent, scale_value, show_value


@dataclass(frozen=True, eq=False)
class SliceReport(Result):
    """The worst slices of queries: of a run, or of any values per query.

    Parameters
    ----------
    slices
        The strongest first; each adds to those before it.
    n, images
        How many queries, of how many groups, as of images.
    value, reference
        The mean value of all queries, of the run and of the other one.
    searched
        How many different slices were looked at.
    adjusted
        What is held constant.
    level
        Of the intervals.
    search
        What was searched, with all its slices.
    notes
        What a reader should know.
    run, against
        The names of the run and of the one that it is compared with, None without.
    benchmark, truth, direction, measure
        What was scored; nothing where values were given.
    unit
        What one group is called, and several.
    """

    slices: tuple[Slice, ...]
    n: int
    images: int
    value: float
    reference: float | None
    searched: int
    adjusted: tuple[str, ...]
    level: float
    search: SliceSearch = field(repr=False)
    notes: Sequence[str] = ()
    run: str = "values"
    against: str | None = None
    benchmark: str = ""
    truth: str = ""
    direction: str = ""
    measure: Named | None = None
    unit: tuple[str, str] = ("cluster", "clusters")

    def __len__(self) -> int:
        return len(self.slices)

    def __repr__(self) -> str:
        where = f" on {self.benchmark}" if self.benchmark else ""
        return f"SliceReport({plural(len(self), 'slice')} of {self.run}{where})"

    @property
    def table(self) -> SliceTable:
        """All slices that were searched."""
        return self.search.table

    @property
    def critical(self) -> float:
        """The largest standardised difference that chance reaches anywhere in the search, at this level."""
        return self.search.critical

    def slice(self, name: str) -> Slice:
        """Return any slice that was searched with its numbers, worse or not."""
        return self.search.describe(self.table.place(name))

    def records(self) -> list[dict[str, Any]]:
        """Return one record per slice; values are fractions, ranks are ranks."""
        head = {} if self.measure is None else {
            "run": self.run, "against": self.against, "truth": self.truth, "direction": self.direction,
            "measure": str(self.measure),
        }  # fmt: skip
        # What is reported is worse.
        keys = [name for name in Slice.__dataclass_fields__ if name not in ("same", "explains", "verdict")]
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
        if self.measure is None:
            than = "" if self.against is None else f" than those of {self.against}"
            means = [self._show(value) for value in (self.value, self.reference) if value is not None]
            return f"Where {self.run} are worse{than}: {' and '.join(means)} on average of all queries."
        where = f"{self.measure} on {self.truth}, {direction_title(self.direction)}"
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
        groups = f" of {self.images:,} {word_for(self.images, *self.unit)}"
        if self.unit[1] == "queries":
            groups = ""
        lines.append(
            f"{what}{held}; intervals and p hold for all {self.searched:,} slices together "
            f"({100 * self.level:g}%, {self.n:,} queries{groups} dealt out anew)."
        )
        return "\n".join(lines)

    def _show(self, value: float | None) -> str:
        if self.measure is None:
            return MISSING if value is None else signed(value)
        return show_value(self.measure, value)

    def _signed(self, value: float) -> str:
        percent = self.measure is not None and is_in_percent(self.measure)
        number = scale_value(self.measure, value) if self.measure is not None and percent else value
        return f"+{signed(number)}" if number > 0 else signed(number)


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return the first names, and how many more there are.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most:,} more"
