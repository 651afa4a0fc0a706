"""What the registry says about each measure, for the command line and the docs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from karat._util import REQUIRED, Layout, Param, Part, Result
from karat.measures.choice import ChoiceMeasure
from karat.measures.measure import MEASURES, Combined, Measure, Named


@dataclass(frozen=True)
class Entry:
    """One measure as people read about it."""

    usage: str
    title: str
    details: str
    measure: type[Named]
    origin: str
    """"karat", or the distribution of a plug-in with its version."""

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield labels and texts."""
        m = self.measure
        yield "formula", m.formula
        yield "paper", m.source
        if m.aliases:
            yield "also", ", ".join(m.aliases)
        if m.trec_eval:
            yield "trec_eval", ", ".join(f"{theirs} is {ours}" for theirs, ours in m.trec_eval.items())
        for param in [*([m.cutoff] if m.cutoff else []), *m.params]:
            yield "parameter", describe_param(param, after_at=param is m.cutoff)
        yield "needs", needs_of(m)
        traits = [f"{m.better} is good"]
        if issubclass(m, Measure):
            traits.append(f"{m.aggregate.name} over queries")
            traits.append("has bounds" if m.bounded else "no bounds")
        elif issubclass(m, ChoiceMeasure):
            traits.append(f"{m.aggregate.name} over examples of choices")
        elif issubclass(m, Combined):
            traits.append("made of aggregated columns")
        yield "traits", ", ".join(traits)


@dataclass(frozen=True)
class MeasureList(Result):
    """Every measure with its formula, paper and parameters."""

    entries: tuple[Entry, ...]

    def records(self) -> list[dict[str, Any]]:
        """Return one record per measure."""
        return [record_of(entry) for entry in self.entries]

    def parts(self) -> list[Layout]:
        """Return each measure as people read about it."""
        return [
            Layout(
                ["", ""],
                [*map(list, entry.lines()), ["from", entry.origin]],
                labels=2,
                title=f"{entry.usage}  {entry.title}",
            )
            for entry in self.entries
        ]


@dataclass(frozen=True)
class MeasureCard(Result):
    """One measure: what it says, its formula and paper, its parameters, and what it needs."""

    entry: Entry

    def records(self) -> list[dict[str, Any]]:
        """Return one record."""
        return [record_of(self.entry)]

    def parts(self) -> list[Part]:
        """Return the title, what there is to say, and the labelled lines."""
        entry = self.entry
        prose = [entry.details] if entry.details else []
        return [
            f"{entry.usage}  {entry.title}",
            *prose,
            Layout(["", ""], list(map(list, entry.lines())), labels=2),
        ]


def list_measures() -> MeasureList:
    """Return every registered measure, in order of name.

    Examples
    --------
    >>> import karat
    >>> [entry.usage for entry in karat.measures.list().entries][:2]
    ['acc', 'AP[@K]']
    """
    return MeasureList(tuple(describe_all()))


def show_measure(name: str) -> MeasureCard:
    """Return what there is to know about one measure: formula, paper, parameters, what it needs.

    Parameters
    ----------
    name
        With or without parameters: "R@5", "nDCG", "NCS(cider)@10".

    Examples
    --------
    >>> import karat
    >>> print(karat.measures.show("RSUM"))  # doctest: +ELLIPSIS
    RSUM  ...
    """
    base = name.partition("(")[0].strip()
    # "mAP@R" carries its cut-off in the name.
    known = base if base in MEASURES else base.partition("@")[0]
    return MeasureCard(entry_of(MEASURES[known]))


def describe_param(param: Param, after_at: bool) -> str:
    """Return a parameter in a line."""
    name = "K, after @" if after_at else param.name
    default = (
        ""
        if param.default is REQUIRED
        else f" (default: {'none' if param.default is None else param.default})"
    )
    return f"{name}: {param.help}{default}"


def describe_all() -> list[Entry]:
    """Return the entries of every registered measure, in order of name."""
    return [entry_of(MEASURES[name]) for name in sorted(MEASURES, key=str.lower)]


def entry_of(measure: type[Named]) -> Entry:
    """Return a measure as people read about it."""
    title, _, rest = inspect.cleandoc(measure.__doc__ or "").partition("\n")
    prose = rest.strip().split(">>>")[0].strip()
    return Entry(measure.usage(), title, prose, measure, MEASURES.origin(measure.name))


def record_of(entry: Entry) -> dict[str, Any]:
    """Return a measure as plain data."""
    kind = entry.measure
    return {"measure": entry.usage, "title": entry.title, "formula": kind.formula, "paper": kind.source,
            "also": ", ".join(kind.aliases), "needs": needs_of(kind), "better": kind.better,
            "origin": entry.origin}  # fmt: skip


def needs_of(measure: type[Named]) -> str:
    """Return what a query must have to get a value."""
    if issubclass(measure, Measure):
        return measure.wants if measure.of_relevance else "nothing"
    return "examples of choices" if issubclass(measure, ChoiceMeasure) else "the columns that it is made of"


def to_markdown() -> str:
    """Return the reference page of all measures."""
    lines = [
        "# Measures",
        "",
        "Made from the registry by `make docs`; `karat measures` prints the same.",
        "",
        "*m_i* is the grade of the item on place *i*: 1 or 0 with binary labels, between them with graded",
        "ones. *R* is the number of relevant items of the query, also those outside the gallery. A query",
        "without a relevant item has no value. Names parse back: `P(rel=0.5)@10` counts grades from 0.5 on,",
        "`P(rel=2)@10` a relevance of 2 or more in qrels, `P(rel=any)@10` everything relevant.",
        "",
    ]
    for entry in describe_all():
        lines += [f"## `{entry.usage}`", "", entry.title, ""]
        if entry.details:
            lines += [entry.details, ""]
        lines += [f"- **{label}**: {text}" for label, text in entry.lines()]
        lines.append("")
    return "\n".join(lines)
