"""What `quality` returns: tables in text and files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from karat._util import Layout, plural, text_of
from karat.judging.checking.accepting import Accepted
from karat.judging.checking.agreement import PeopleAgreement
from karat.judging.checking.answer_tables import Shares
from karat.judging.checking.gold_check import GoldCheck
from karat.judging.checking.hand_ins import HandIns
from karat.judging.checking.review_list import ReviewList
from karat.judging.checking.verdicts import Aggregated
from karat.judging.checking.worker_table import WorkerTable


@dataclass(frozen=True, eq=False)
class QualityReport:
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

    def to_json(self) -> str:
        """Return the records as json."""
        return json.dumps(self.to_records(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def parts(self) -> list[str | Layout]:
        """Return what there is to show, in order: lines of text, and tables."""
        out: list[str | Layout] = [self.answers, "", "Hand-ins", self.hand_ins.lay_out()]
        if self.hand_ins.submitted[-1] > self.hand_ins.reviewed:
            out.append("An unreviewed hand-in counts as approved when its known pairs are right.")
        shown = self.workers.lay_out()
        of = f", {len(shown.rows)} of {len(self.workers):,}" if len(shown.rows) < len(self.workers) else ""
        out += ["", f"People{of}", shown]
        if len(self.review):
            table = self.review.lay_out()
            of = f", {len(table.rows)} of {len(self.review):,}" if len(table.rows) < len(self.review) else ""
            out += ["", f"Hand-ins to look at{of}", table]
        out += ["", f"Agreement on {plural(self.agreement.pairs, 'pair')}", *self.agreement.lines(), self.how]
        out += ["", "Verdicts", verdict_layout(self.verdicts)]
        for shares in (*([] if self.by_rank is None else [self.by_rank]), *self.details):
            out += ["", shares.title, shares.lay_out()]
            if shares.heads == ("system",) and len(shares.labels) > 2:
                out.append(f"Cramér's V {shares.association:.3f} (0: all systems alike)")
        return out

    def __str__(self) -> str:
        shown = [part if isinstance(part, str) else text_of(part) for part in self.parts()]
        return "\n".join([*shown, *(f"note: {note}" for note in self.notes)])

    def __repr__(self) -> str:
        return f"QualityReport({self.answers})"


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
    return Layout(
        ["by", "pairs", "relevant", "mean grade", f"unlike {verdicts[-1].method}"], rows, set(), 1, set()
    )
