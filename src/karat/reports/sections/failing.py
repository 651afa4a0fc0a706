"""How often systems fail and what they show instead: the first screen of a page of failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat._util import in_percent
from karat.explanations import ExplainedFailures, SliceReport
from karat.reports.material import FailureMaterial
from karat.reports.presentation import called, direction_heading
from karat.reports.section import SectionData, section

WORST = 3
"""How many slices of a run the first screen names."""
CONFUSIONS = 3
"""How many confusions the first screen names."""


@section("failing", "Failures", "Summary", order=10, scripted=False, pages=["failures"])
def collect(material: FailureMaterial) -> SectionData:
    """Return the finding about the first run, and its numbers."""
    column, rank = material.columns[0], material.found.ranks[0]
    row = column.summary(rank)
    tiles = [
        {"number": f"{row['failures']:,}", "text": f"failures of {row['queries']:,} queries at rank {rank}"},
        *(
            {"number": text, "text": about}
            for name, text, about in (
                ("agreement", in_percent(row["agreement"], 1), "of the ground truth's concepts in what came"),
                ("similarity", number(row["similarity"]), "mean path similarity of matched other concepts"),
                ("enumeration", number(row["enumeration"]), "mean difference in numbers of things"),
                ("size_binary", in_percent(row["size_binary"], 1), "of matched things disagree in size"),
            )
            if row[name] is not None
        ),
        *fault_tiles(row),
    ]
    points = [*weak_slices(material.found.slice_reports), *confusions(column, rank)]
    return {"finding": finding(material, column, row), "tiles": tiles, "points": points}


def finding(material: FailureMaterial, column: ExplainedFailures, row: dict[str, Any]) -> str:
    """Return one sentence on how often a run fails, and with what."""
    share = 0.0 if row["failure_share"] is None else row["failure_share"]
    what = material.found.benchmark.query_side(column.failures.direction).many
    where = direction_heading(column.failures.direction)
    text = f"{called(row['run'])} fails on {in_percent(share, 1)} of {what} ({where}, {called(row['truth'])})"
    return f"{text}: a wrong item comes before a relevant one."


def fault_tiles(row: dict[str, Any]) -> list[dict[str, str]]:
    """Return the numbers of failures that may not be the model's fault."""
    tiles = []
    if "alternatives" in row:
        tiles.append(
            {"number": f"{row['alternatives']:,}", "text": f"successful alternatives by {row['better']}"}
        )
    if "few_keywords" in row:
        tiles.append({"number": f"{row['few_keywords']:,}", "text": "with few keywords in other captions"})
    return tiles


def confusions(column: ExplainedFailures, rank: int) -> list[dict[str, str]]:
    """Return the most frequent confusions in words."""
    found = column.confusions(rank)[:CONFUSIONS]
    if not found:
        return []
    text = "; ".join(
        f"{called(retrieved)} instead of {called(ground)} ({times:,})"
        for ground, retrieved, times, _ in found
    )
    return [{"term": "Most frequent confusions", "text": f"{text}."}]


def weak_slices(reports: Sequence[SliceReport]) -> list[dict[str, str]]:
    """Return in words where each run is weak, or weaker than another, the strongest slices first."""
    points = []
    for report in reports:
        if report.slices:
            than = "" if report.against is None else f" than {called(report.against)}"
            term = f"{called(report.run)} is weak{'er' if than else ''}{than} on"
            named = ", ".join(f"{called(one.name)} ({one.n:,} queries)" for one in report.slices[:WORST])
            where = direction_heading(report.direction)
            points.append({"term": term, "text": f"{named}: {report.measure}, {where}."})
    return points


def number(value: float | None) -> str:
    """Return a number with two digits."""
    return "—" if value is None else f"{value:.2f}"
