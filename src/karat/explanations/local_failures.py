"""Local failures: every failure by itself, with what was matched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from karat._util import MISSING, Layout, Part, Result, or_none, plural
from karat.benchmarks import Benchmark, in_order
from karat.errors import KaratError
from karat.explanations.concept_metrics import ConceptMetrics
from karat.explanations.explained_failures import ALL, INFORMED, METRIC_HEADS, ExplainedFailures
from karat.explanations.fault import Faults

LOCAL_ROWS = 20
"""How many failures are shown one by one."""


@dataclass(frozen=True, eq=False)
class LocalFailures(Result):
    """Failures one by one: what was asked, what should have come and what came, and the metrics.

    Parameters
    ----------
    columns
        As in `Explanation`.
    benchmark
        With the ids, and captions where they are known.
    """

    columns: tuple[ExplainedFailures, ...]
    benchmark: Benchmark

    def __len__(self) -> int:
        return sum(len(column.failures) for column in self.columns)

    def records(self) -> list[dict[str, Any]]:
        """Return one record per failure.

        ``pairs`` lists the matched concepts, ``sizes`` the matched boxes, both in words; metrics for what the
        query mentions begin with ``informed_``.
        """
        return [record for column in self.columns for record in self._rows(column)]

    def _rows(self, column: ExplainedFailures, most: int | None = None) -> list[dict[str, Any]]:
        failures = column.failures
        queries, items = (
            ids.values.tolist()
            for ids in (self.benchmark.queries(failures.direction), self.benchmark.items(failures.direction))
        )
        texts = captions_of(self.benchmark)
        rows = zip(
            *(
                getattr(failures, name)[:most].tolist()
                for name in ("query", "rank", "ground", "retrieved", "ground_rank")
            )
        )
        metrics = column.metrics[ALL]
        values = {
            f"{'informed_' if counted == INFORMED else ''}{name}": [*map(or_none, numbers.tolist())]
            for counted, computed in column.metrics.items()
            for name, numbers in computed.values().items()
        }
        records = []
        for k, (query, rank, ground, retrieved, ground_rank) in enumerate(rows):
            _, caption = in_order(failures.direction, query, retrieved)
            record = {
                "run": failures.run, "truth": failures.truth, "direction": failures.direction, "rank": rank,
                "query": queries[query], "ground_truth": items[ground], "retrieved": items[retrieved],
                "ground_truth_rank": ground_rank or None,
                "caption": texts[caption] if caption < len(texts) else None,
                "common": int(metrics.common[k]), "ground_truth_only": int(metrics.ground_only[k]),
                "retrieved_only": int(metrics.retrieved_only[k]),
                **{name: numbers[k] for name, numbers in values.items()},
                "pairs": pairs_in_words(metrics, k),
                "sizes": sizes_in_words(metrics, k),
                **marks_of(column.faults, k),
            }  # fmt: skip
            records.append(record)
        return records

    def parts(self) -> list[Part]:
        """Return how many there are, and the first of them."""
        head = ["run", "query", "ground truth", "retrieved", "CA %", "NCS", "CE", "SD %", "matched"]
        rows: list[list[str]] = []
        for column in self.columns:
            for record in self._rows(column, LOCAL_ROWS - len(rows)):
                forms = [
                    shown(record[name], "%" if text.endswith("%") else ".3f")
                    for name, text in METRIC_HEADS.items()
                ]
                ids = [str(record[name]) for name in ("run", "query", "ground_truth", "retrieved")]
                rows.append([*ids, *forms, record["pairs"]])
        return [
            f"{plural(len(self), 'failure')}, the first {len(rows):,}",
            Layout(head, rows, labels=4),
        ]


def marks_of(faults: Faults | None, failure: int) -> dict[str, Any]:
    """Return the marks of one failure that were looked for."""
    if faults is None:
        return {}
    marks: dict[str, Any] = {}
    if faults.better is not None:
        marks |= {
            "alternative": bool(faults.alternative[failure]),
            "covered_by_better": bool(faults.covered[failure]),
        }
    if faults.keywords is not None:
        shared = int(faults.shared[failure])
        marks |= {
            "few_keywords": bool(faults.few_keywords[failure]),
            "keywords": None if shared < 0 else shared,
        }
    return marks


def captions_of(benchmark: Benchmark) -> Sequence[str]:
    """Return the captions of a benchmark; none where they are not known."""
    try:
        return benchmark.needed_texts
    except KaratError:
        return ()


def pairs_in_words(metrics: ConceptMetrics, pair: int) -> str:
    """Return the matched concepts of a pair of images: "tree.n.01 – grass.n.01 0.167; …"."""
    names, places = metrics.concepts.synsets, slice(metrics.pair_ptr[pair], metrics.pair_ptr[pair + 1])
    rows = zip(*metrics.pair_concepts[:, places].tolist(), metrics.pair_similarity[places].tolist())
    return "; ".join(f"{names[g]} – {names[r]} {weight:.3f}" for g, r, weight in rows)


def sizes_in_words(metrics: ConceptMetrics, pair: int) -> str:
    """Return the matched boxes of a pair of images: "mane.n.01 0.01 – 0.033 2.30; …"."""
    names, places = metrics.concepts.synsets, slice(metrics.size_ptr[pair], metrics.size_ptr[pair + 1])
    rows = zip(
        metrics.size_concept[places].tolist(),
        *metrics.size_area[:, places].tolist(),
        metrics.size_difference[places].tolist(),
    )
    return "; ".join(f"{names[c]} {a:.4g} – {b:.4g} {apart:.2f}" for c, a, b, apart in rows)


def shown(value: float | None, form: str) -> str:
    """Return a number as text; "%" gives percent.

    >>> shown(0.2229, "%"), shown(None, "%"), shown(1234, ",")
    ('22.29', '—', '1,234')
    """
    if value is None:
        return MISSING
    return f"{100 * value:.2f}" if form == "%" else f"{value:{form}}"
