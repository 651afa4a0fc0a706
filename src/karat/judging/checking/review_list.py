"""Hand-ins that somebody should look at: which known pairs went wrong, and what else was answered."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import Layout, check_extension, write_file
from karat.judging.checking.answers import AnswerTable
from karat.judging.checking.gold_check import REVIEW, GoldCheck
from karat.judging.forms import Form
from karat.judging.tasks import KNOWN_YES, UNKNOWN

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark

MOST_SHOWN = 20
SIDES = {UNKNOWN: "", KNOWN_YES: "yes"}


@dataclass(frozen=True, eq=False)
class ReviewList:
    """Hand-ins with wrong answers to known pairs that nobody has reviewed, most wrong ones first.

    Parameters
    ----------
    slot, worker, items, right
        The hand-ins, who gave them, how many control items they had and how many were judged right.
    answers
        Their answers, sorted by hand-in in the order of `slot`; `answers.slot` says which.
    wrong
        Which of these answers are wrong.
    benchmark
        Whose ids and captions the answers are shown with; indices without one.
    codes, scale
        What each of these answers says, as the form's code, and all codes in the order of their ratings.
    """

    slot: np.ndarray
    worker: tuple[str, ...]
    items: np.ndarray
    right: np.ndarray
    answers: AnswerTable
    wrong: np.ndarray
    codes: tuple[str, ...]
    scale: tuple[str, ...]
    benchmark: Benchmark | None = None

    def __len__(self) -> int:
        return len(self.slot)

    def rows(self, rows: slice = slice(None)) -> list[dict[str, Any]]:
        """Return a record per answer of these hand-ins."""
        said, benchmark = self.answers, self.benchmark
        image, caption = said.image[rows], said.caption[rows]
        texts = [""] * len(image)
        if benchmark is not None:
            if benchmark.texts is not None:
                texts = [benchmark.texts[k] if k < len(benchmark.texts) else "" for k in caption.tolist()]
            image, caption = benchmark.images.values[image], benchmark.captions.values[caption]
        columns = (said.slot[rows], said.worker[rows], image, caption, said.gold[rows])
        return [
            {"slot": slot, "worker": said.workers[worker], "image": one, "caption": two, "text": text,
             "known": SIDES.get(gold, "no"), "answer": code, "wrong": bad}
            for slot, worker, one, two, gold, text, code, bad in zip(
                *(column.tolist() for column in columns), texts, self.codes[rows], self.wrong[rows].tolist()
            )
        ]  # fmt: skip

    def records(self) -> list[dict[str, Any]]:
        """Return a record per hand-in, with its wrong answers."""
        wrong: dict[int, list[dict[str, Any]]] = {}
        for row in self.rows():
            if row["wrong"]:
                kept = {key: row[key] for key in ("image", "caption", "known", "answer")}
                wrong.setdefault(row["slot"], []).append(kept)
        return [
            {"slot": slot, "worker": worker, "items": items, "right": right, "wrong": wrong.get(slot, [])}
            for slot, worker, items, right in zip(
                self.slot.tolist(), self.worker, self.items.tolist(), self.right.tolist()
            )
        ]

    def lay_out(self, most: int = MOST_SHOWN) -> Layout:
        """Return the first hand-ins as people read them."""
        head = ["hand-in", "worker", "gold right", "wrong (image/caption: known, said)", "other answers"]
        rows = []
        changes = np.flatnonzero(np.diff(self.answers.slot, prepend=-1, append=-1))
        for k in range(min(most, len(self))):
            own = self.rows(slice(changes[k], changes[k + 1]))
            bad = [
                f"{one['image']}/{one['caption']}: {one['known']}, {one['answer']}"
                for one in own
                if one["wrong"]
            ]
            shown = "; ".join([*bad[:2], *([f"{len(bad) - 2} more"] if len(bad) > 2 else [])])
            asked = [one["answer"] for one in own if not one["known"]]
            counts = ", ".join(f"{asked.count(code)} {code}" for code in self.scale if code in asked)
            rows.append(
                [str(self.slot[k]), self.worker[k], f"{self.right[k]} of {self.items[k]}", shown, counts]
            )
        return Layout(head, rows, set(), 2, set())

    def save(self, path: Path) -> None:
        """Write every answer of these hand-ins, as .csv or .json."""
        check_extension(path, (".csv", ".json"))
        rows = self.rows()
        text = (
            json.dumps(rows, indent=1, ensure_ascii=False) + "\n" if path.suffix == ".json" else as_csv(rows)
        )
        write_file(path, lambda place: place.write_text(text, encoding="utf-8", newline=""))


def review_list(
    answers: AnswerTable,
    form: Form,
    gold: GoldCheck,
    reviews: Mapping[int, Any] | None = None,
    benchmark: Benchmark | None = None,
) -> ReviewList:
    """Return the hand-ins that failed and that nobody has reviewed.

    Examples
    --------
    >>> from karat.judging import load_form, make_answers
    >>> from karat.judging.checking.gold_check import check_gold
    >>> said = make_answers([0, 1, 2], [0, 1, 2], [0, 0, 1], [1, 3, 4], ("ann", "bob"),
    ...                     gold=[1, -1, 1], slot=[7, 7, 8])
    >>> form = load_form("pair")
    >>> failed = review_list(said, form, check_gold(said, form))
    >>> failed.slot.tolist(), [(one["known"], one["answer"], one["wrong"]) for one in failed.rows()]
    ([7], [('yes', 'no', True), ('', 'partially', False)])
    """
    open_ = (gold.verdict == REVIEW) & ~np.isin(gold.slot, np.fromiter(reviews or (), np.int64))
    bad = (gold.slot_items - gold.slot_right)[open_]
    order = np.flatnonzero(open_)[np.argsort(-bad, kind="stable")]
    slot = gold.slot[order]
    wrong = np.zeros(len(answers), dtype=bool)
    wrong[gold.wrong] = True
    sorted_slots = np.argsort(slot)
    rows = np.flatnonzero(np.isin(answers.slot, slot))
    place = sorted_slots[np.searchsorted(slot[sorted_slots], answers.slot[rows])]
    rows = rows[np.argsort(place, kind="stable")]
    own = take(answers, rows)
    codes = np.array([form.code_of(rating) for rating in form.ratings.tolist()], dtype=object)
    said = codes[np.searchsorted(form.ratings, own.rating)]
    return ReviewList(
        slot, tuple(answers.workers[k] for k in gold.slot_worker[order].tolist()), gold.slot_items[order],
        gold.slot_right[order], own, wrong[rows], tuple(said.tolist()), tuple(codes), benchmark,
    )  # fmt: skip


def take(answers: AnswerTable, rows: np.ndarray) -> AnswerTable:
    """Return rows in the order given, without the follow-up questions."""
    from dataclasses import replace

    names = ("image", "caption", "worker", "rating", "gold", "slot", "seconds", "at")
    empty = np.zeros(0, np.int64)
    columns = {name: getattr(answers, name)[rows] for name in names}
    return replace(answers, **columns, detail_row=empty, detail=empty)


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Return records as csv; cells that a spreadsheet would run are quoted by an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["slot", "worker", "image", "caption", "text", "known", "answer", "wrong"])
    for row in rows:
        cells = [
            f"'{one}" if isinstance(one, str) and one[:1] in "=+-@" and one else one for one in row.values()
        ]
        writer.writerow(cells)
    return out.getvalue()
