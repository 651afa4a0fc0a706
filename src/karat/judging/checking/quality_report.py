"""The report on what answers are worth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._util import Layout, Part, Result, flat, json_text, plural
from karat.judging.checking.accepting import Accepted
from karat.judging.checking.agreement import PeopleAgreement
from karat.judging.checking.answer_tables import Shares
from karat.judging.checking.gold_check import GoldCheck
from karat.judging.checking.hand_ins import HandIns
from karat.judging.checking.review_list import ReviewList
from karat.judging.checking.verdicts import Aggregated
from karat.judging.checking.worker_table import WorkerTable


@dataclass(frozen=True, eq=False)
class QualityReport(Result):
    """What `quality` found.

    Parameters
    ----------
    answers, asked
        How many there are, of how many people, in words; about how many pairs.
    gold, hand_ins, review, workers
        What the known pairs say, table B.1, the hand-ins to look at, and a row per worker.
    agreement
        Of the answers that count.
    verdicts
        Of the answers that count, by the chosen aggregation, and by majority for comparison.
    by_rank, details
        Tables B.2 and B.3, where there is a pool and follow-up questions.
    accepted
        The answers that count.
    how
        How intervals were made, as a sentence.
    """

    answers: str
    asked: int
    gold: GoldCheck
    hand_ins: HandIns
    review: ReviewList
    workers: WorkerTable
    agreement: PeopleAgreement
    verdicts: tuple[Aggregated, ...]
    by_rank: Shares | None
    details: tuple[Shares, ...]
    accepted: Accepted
    how: str

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        fits = [one.fit for one in self.verdicts if one.fit is not None]
        late = [f"{fit}: allow more steps" for fit in fits if not fit.converged]
        lost = self.asked - len(self.verdicts[0])
        gone = [f"{plural(lost, 'pair')} {'has' if lost == 1 else 'have'} no answer left"] if lost else []
        return (*self.accepted.notes, *gone, *late)

    def to_records(self) -> dict[str, list[dict[str, Any]]]:
        """Return every number, as records under the names of the tables."""
        out = {
            "hand_ins": self.hand_ins.records(),
            "workers": self.workers.records(),
            "agreement": self.agreement.records(),
            "verdicts": [summary(one, self.verdicts[-1]) for one in self.verdicts],
            "review": self.review.records(),
        }
        if self.by_rank is not None:
            out["answers_by_rank"] = self.by_rank.records()
        for table in self.details:
            out[table.title.replace(" ", "_")] = table.records()
        return out

    def records(self) -> list[dict[str, Any]]:
        """Return the same in one list; `table` says which a record is of."""
        tables = self.to_records()
        # Bins such as "2–5" do not go into one column with the numbers of hand-ins of each worker.
        tables["hand_ins"] = [
            {"bin": record["hand_ins"], **{key: value for key, value in record.items() if key != "hand_ins"}}
            for record in tables["hand_ins"]
        ]
        return [{"table": name, **flat(record)} for name, records in tables.items() for record in records]

    def to_json(self) -> str:
        """Return `to_records` as json."""
        return json_text(self.to_records())

    def parts(self) -> list[Part]:
        """Return hand-ins, people, what to look at, agreement, verdicts, and answers by system and rank."""
        out: list[Part] = [self.answers, replace(self.hand_ins.lay_out(), title="Hand-ins")]
        if self.hand_ins.submitted[-1] > self.hand_ins.reviewed:
            out.append("An unreviewed hand-in counts as approved when its known pairs are right.")
        out.append(shortened("People", self.workers.lay_out(), len(self.workers)))
        if len(self.review):
            out.append(shortened("Hand-ins to look at", self.review.lay_out(), len(self.review)))
        agreement = f"Agreement on {plural(self.agreement.pairs, 'pair')}"
        out.append("\n".join([agreement, *self.agreement.lines(), self.how]))
        out.append(verdict_layout(self.verdicts))
        for shares in (*([] if self.by_rank is None else [self.by_rank]), *self.details):
            out.append(replace(shares.lay_out(), title=shares.title))
            # Where all gave one answer there is nothing to associate.
            if shares.heads == ("system",) and len(shares.labels) > 2 and not np.isnan(shares.association):
                out.append(f"Cramér's V {shares.association:.3f} (0: all systems alike)")
        return out

    def __repr__(self) -> str:
        return f"QualityReport({self.answers})"


def shortened(title: str, layout: Layout, rows: int) -> Layout:
    """Return a table with its title, which says how many rows there are where not all are shown."""
    of = f", {len(layout.rows)} of {rows:,}" if len(layout.rows) < rows else ""
    return replace(layout, title=f"{title}{of}")


def summary(one: Aggregated, other: Aggregated) -> dict[str, Any]:
    """Return what one way of aggregating gives, beside another on the same pairs."""
    return {
        "aggregation": one.method,
        "settings": dict(one.settings),
        "pairs": len(one),
        "relevant": int(one.relevant.sum()),
        "mean_grade": float(one.grade.mean()),
        "unlike": int((one.relevant != other.relevant).sum()),
        "other": other.method,
    }


def verdict_layout(verdicts: tuple[Aggregated, ...]) -> Layout:
    """Return the ways of aggregating side by side; the last is what the others are compared with."""
    found = [summary(one, verdicts[-1]) for one in verdicts]
    rows = [
        [one["aggregation"], f"{one['pairs']:,}", f"{one['relevant']:,}", f"{one['mean_grade']:.3f}",
         f"{one['unlike']:,}"] for one in found
    ]  # fmt: skip
    head = ["by", "pairs", "relevant", "mean grade", f"unlike {verdicts[-1].method}"]
    return Layout(head, rows, title="Verdicts")
