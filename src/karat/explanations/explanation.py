"""Explanation of failures: what wrong items show instead, over all of them and one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from karat._util import Layout, Part, Result
from karat.benchmarks import Benchmark, direction_title
from karat.explanations.cleaning_list import CleaningList
from karat.explanations.concepts import Concepts
from karat.explanations.explained_failures import ALL, INFORMED, METRIC_HEADS, ExplainedFailures
from karat.explanations.local_failures import LocalFailures, shown
from karat.explanations.slice_report import SliceReport

CONFUSIONS = 5
"""How many confusions of each run are shown."""


@dataclass(frozen=True, eq=False)
class Explanation(Result):
    """Failures of runs with their concept metrics; `explain` makes it.

    `records` and the tables are global: a row per run, truth, direction and rank. `local` has a row per
    failure.

    Parameters
    ----------
    columns
        One per run, truth and direction.
    benchmark
        With the ids, and captions where they are known.
    concepts
        Of its images.
    ranks
        Those that were looked at.
    notes
        What a reader should know.
    slices
        By direction and name, which of the benchmark's queries a slice holds; its page filters by them.
    slice_reports
        Where runs are weak, where that was searched.
    cleaning
        The cleaning list, where it was asked for.
    """

    columns: tuple[ExplainedFailures, ...]
    benchmark: Benchmark
    concepts: Concepts
    ranks: tuple[int, ...]
    notes: tuple[str, ...] = ()
    slices: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    slice_reports: tuple[SliceReport, ...] = ()
    cleaning: CleaningList | None = None

    def records(self) -> list[dict[str, Any]]:
        """Return one record per run, truth, direction, rank and what counts."""
        return [
            column.summary(rank, counted)
            for column in self.columns
            for rank in self.ranks
            for counted in column.metrics
        ]

    @property
    def local(self) -> LocalFailures:
        """Every failure by itself."""
        return LocalFailures(self.columns, self.benchmark)

    def parts(self) -> list[Part]:
        """Return the metrics and the counts of every run, what else is compared, and what is confused."""
        records = self.records()
        single = len(self.ranks) == 1
        informed = any(record["concepts"] == INFORMED for record in records)
        label_heads = [
            "truth",
            "direction",
            "run",
            *([] if single else ["rank"]),
            *(["concepts"] if informed else []),
        ]

        def labels(record: Mapping[str, Any]) -> list[str]:
            row = [record["truth"], direction_title(record["direction"]), record["run"]]
            row += [] if single else [str(record["rank"])]
            return row + ([record["concepts"]] if informed else [])

        def table(title: str, heads: Mapping[str, tuple[str, str]]) -> Layout:
            rows = [
                [*labels(record), *(shown(record[name], form) for name, form in heads.values())]
                for record in records
            ]
            return Layout([*label_heads, *heads], rows, labels=len(label_heads), title=title)

        metrics = {
            "failures": ("failures", ","),
            "fails %": ("failure_share", "%"),
            **{head: (name, "%" if head.endswith("%") else ".3f") for name, head in METRIC_HEADS.items()},
        }
        per_pair = {
            "CA %": ("agreement_per_concept", "%"),
            "NCS": ("similarity_per_pair", ".3f"),
            "CE": ("enumeration_per_concept", ".3f"),
            "SD %": ("size_binary_per_box", "%"),
        }
        counts = {
            "hit": ("hit", ","),
            "miss": ("miss", ","),
            "of g": ("miss_ground_truth", ","),
            "matched %": ("matched_share", "%"),
            "enum.": ("differing_per_failure", ".2f"),
            "enum. %": ("differing_share", "%"),
            "CE mode": ("enumeration_mode", ","),
        }
        parts: list[Part] = [
            f"{self.benchmark.name}: concepts from {self.concepts.source}; a failure is a wrong item before "
            "a relevant one",
            table("Concept metrics, mean per failure", metrics),
            table("The same per concept, matched pair or matched box", per_pair),
            table("Counts", counts),
        ]
        if kinds := {
            kind: (f"same_{kind}", "%") for column in self.columns for kind in column.metrics[ALL].fact_counts
        }:
            parts.append(table("Agreement on common concepts, % of the ground truth's facts", kinds))
        if marked := fault_heads(records):
            parts.append(table("Whose fault: failures that may not be the model's", marked))
        if layout := self._confusion_table():
            parts.append(layout)
        for report in self.slice_reports:
            heading, *rest = report.parts()
            if isinstance(rest[0], Layout):
                parts += [replace(rest[0], title=str(heading)), *rest[1:]]
            else:
                parts += [heading, *rest]
        return parts

    def _confusion_table(self) -> Layout | None:
        rows = [
            [
                column.failures.truth, direction_title(column.failures.direction), column.failures.run,
                ground, retrieved, f"{times:,}", f"{weight:.3f}",
            ]
            for column in self.columns
            for ground, retrieved, times, weight in column.confusions(self.ranks[0])[:CONFUSIONS]
        ]  # fmt: skip
        if not rows:
            return None
        head = ["truth", "direction", "run", "instead of", "came", "failures", "similarity"]
        return Layout(head, rows, labels=5, title="Most frequent confusions")


FAULT_HEADS = {
    "failures": ("all_failures", ","),
    "covered": ("covered_by_better", ","),
    "alternatives": ("alternatives", ","),
    "few keywords": ("few_keywords", ","),
    "left out": ("left_out", ","),
}
"""Columns about marks, those that were looked for."""


def fault_heads(records: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    """Return the columns about marks that all records have."""
    return {
        head: (name, form)
        for head, (name, form) in FAULT_HEADS.items()
        if all(name in record for record in records)
    }
