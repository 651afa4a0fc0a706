"""Reviews of assignments: the list of those to review, and approving and rejecting them."""

from __future__ import annotations

import csv
import getpass
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import Layout, check_extension, guard, plural, write_file
from karat.errors import InputError
from karat.forms import GOLD_YES, NOT_GOLD, PER_ANSWER, AnswerTable, ChosenDetails, Form
from karat.judging.quality.assignments import SUBMITTED
from karat.judging.quality.gold import APPROVE, REVIEW, GoldCheck, check_gold

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark

MAX_SHOWN = 20
"""Assignments in the printed table."""
SIDES = {NOT_GOLD: "", GOLD_YES: "yes"}
PASSED = "gold pairs right"
"""The stored reason of approvals by `approve_passing`."""
COLUMNS = ("slot", "worker", "image", "caption", "text", "known", "answer", "wrong")
"""The columns of the saved list."""


@dataclass(frozen=True, eq=False)
class ReviewList:
    """Unreviewed assignments with wrong answers to gold pairs, those with most wrong ones first.

    Parameters
    ----------
    assignment, annotator, items, right
        The assignments, their annotators, how many gold items they had and how many were judged right.
    answers
        Their answers, sorted by assignment in the order of `assignment`.
    wrong
        Which of these answers are wrong.
    codes, scale
        What each of these answers says, as the form's code, and all codes in the order of their ratings.
    benchmark
        The benchmark whose ids and captions are shown; indices without one.
    """

    assignment: np.ndarray
    annotator: tuple[str, ...]
    items: np.ndarray
    right: np.ndarray
    answers: AnswerTable
    wrong: np.ndarray
    codes: tuple[str, ...]
    scale: tuple[str, ...]
    benchmark: Benchmark | None = None

    def __len__(self) -> int:
        return len(self.assignment)

    def rows(self, rows: slice = slice(None)) -> list[dict[str, Any]]:
        """Return a record per answer of these assignments."""
        answers, benchmark = self.answers, self.benchmark
        image, caption = answers.image[rows], answers.caption[rows]
        texts = [""] * len(image)
        if benchmark is not None:
            if benchmark.texts is not None:
                texts = [benchmark.texts[k] if k < len(benchmark.texts) else "" for k in caption.tolist()]
            image, caption = benchmark.images.values[image], benchmark.captions.values[caption]
        names = np.array(answers.annotators, dtype=object)[answers.annotator[rows]]
        sides = [SIDES.get(gold, "no") for gold in answers.gold[rows].tolist()]
        columns = (
            answers.assignment[rows].tolist(), names.tolist(), image.tolist(), caption.tolist(), texts, sides,
            self.codes[rows], self.wrong[rows].tolist(),
        )  # fmt: skip
        return [dict(zip(COLUMNS, row)) for row in zip(*columns)]

    def records(self) -> list[dict[str, Any]]:
        """Return a record per assignment, with its wrong answers."""
        wrong: dict[int, list[dict[str, Any]]] = {}
        for row in self.rows():
            if row["wrong"]:
                kept = {key: row[key] for key in ("image", "caption", "known", "answer")}
                wrong.setdefault(row["slot"], []).append(kept)
        return [
            {"slot": assignment, "worker": annotator, "items": items, "right": right,
             "wrong": wrong.get(assignment, [])}
            for assignment, annotator, items, right in zip(
                self.assignment.tolist(), self.annotator, self.items.tolist(), self.right.tolist()
            )
        ]  # fmt: skip

    def lay_out(self, most: int = MAX_SHOWN) -> Layout:
        """Return the printed table of the first assignments."""
        pair = (
            "image/caption" if self.benchmark is None else "/".join(side.one for side in self.benchmark.sides)
        )
        head = [
            "assignment",
            "annotator",
            "gold right",
            f"wrong ({pair}: gold, answer)",
            "other answers",
        ]
        rows = []
        changes = np.flatnonzero(np.diff(self.answers.assignment, prepend=-1, append=-1))
        for k in range(min(most, len(self))):
            own = self.rows(slice(changes[k], changes[k + 1]))
            bad = [
                f"{row['image']}/{row['caption']}: {row['known']}, {row['answer']}"
                for row in own
                if row["wrong"]
            ]
            shown = "; ".join([*bad[:2], *([f"{len(bad) - 2} more"] if len(bad) > 2 else [])])
            judged = [row["answer"] for row in own if not row["known"]]
            counts = ", ".join(f"{judged.count(code)} {code}" for code in self.scale if code in judged)
            gold_right = f"{self.right[k]} of {self.items[k]}"
            rows.append([str(self.assignment[k]), self.annotator[k], gold_right, shown, counts])
        return Layout(head, rows, set(), 2, set())

    def save(self, path: Path) -> None:
        """Write every answer of these assignments, as .csv or .json."""
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
    """Return the assignments that failed on gold and are not reviewed yet.

    Examples
    --------
    >>> from karat.forms import load_form, make_answers
    >>> from karat.judging import check_gold
    >>> answers = make_answers([0, 1, 2], [0, 1, 2], [0, 0, 1], [1, 3, 4], ("ann", "bob"),
    ...                        gold=[1, -1, 1], assignment=[7, 7, 8])
    >>> form = load_form("pair")
    >>> failed = review_list(answers, form, check_gold(answers, form))
    >>> failed.assignment.tolist(), [(row["known"], row["answer"], row["wrong"]) for row in failed.rows()]
    ([7], [('yes', 'no', True), ('', 'partially', False)])
    """
    unreviewed = (gold.verdict == REVIEW) & ~np.isin(gold.assignment, np.fromiter(reviews or (), np.int64))
    bad = (gold.assignment_items - gold.assignment_right)[unreviewed]
    order = np.flatnonzero(unreviewed)[np.argsort(-bad, kind="stable")]
    assignment = gold.assignment[order]
    wrong = np.zeros(len(answers), dtype=bool)
    wrong[gold.wrong] = True
    by_number = np.argsort(assignment)
    rows = np.flatnonzero(np.isin(answers.assignment, assignment))
    place = by_number[np.searchsorted(assignment[by_number], answers.assignment[rows])]
    rows = rows[np.argsort(place, kind="stable")]
    own = take(answers, rows)
    scale = np.array([form.code_of(rating) for rating in form.ratings.tolist()], dtype=object)
    codes = scale[np.searchsorted(form.ratings, own.rating)]
    annotator = tuple(answers.annotators[k] for k in gold.assignment_annotator[order].tolist())
    return ReviewList(
        assignment, annotator, gold.assignment_items[order], gold.assignment_right[order], own, wrong[rows],
        tuple(codes.tolist()), tuple(scale), benchmark,
    )  # fmt: skip


def take(answers: AnswerTable, rows: np.ndarray) -> AnswerTable:
    """Return rows in the given order, without the follow-up questions."""
    columns = {name: getattr(answers, name)[rows] for name in PER_ANSWER}
    return replace(answers, **columns, details=ChosenDetails.of())


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Return records as csv; cells that a spreadsheet would run as a formula start with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([guard(cell) if isinstance(cell, str) else cell for cell in row.values()])
    return out.getvalue()


def login_name() -> str:
    """Return who is logged in and therefore reviews, or ask for a name."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise InputError("your login name is unknown", fix="name the reviewer: --reviewer NAME") from None


def review_assignments(
    project: Any,
    by: str,
    *,
    approve: Sequence[int] = (),
    reject: Sequence[int] = (),
    why: str = "",
    ask_again: bool = False,
) -> list[str]:
    """Approve and reject assignments; return what was done, as sentences.

    All are checked before any is written.

    Parameters
    ----------
    project
        As `karat.store.open_project` returns it.
    by
        The reviewer's name.
    approve, reject
        The numbers of the assignments.
    why
        The reason of rejections.
    ask_again
        Offer the task of each newly rejected assignment to one more annotator.
    """
    assignments = project.queue.assignments()
    missing = {*approve, *reject} - submitted(assignments)
    if missing:
        raise InputError(
            f"there is no submitted assignment {min(missing)}",
            fix="karat project quality lists those to review",
        )
    before = project.reviews.read()
    done = []
    for verdict, past, chosen, reason in (
        ("approve", "approved", approve, ""),
        ("reject", "rejected", reject, why),
    ):
        if chosen:
            project.reviews.add(chosen, verdict, by, reason)
            done.append(f"{past} {plural(len(chosen), 'assignment')}")
    if ask_again:
        task = dict(zip(assignments.assignment.tolist(), assignments.task.tolist()))
        newly_rejected = [number for number in reject if before.get(number, ("",))[0] != "reject"]
        tasks = [task[number] for number in newly_rejected if task[number] >= 0]
        if tasks:
            project.queue.ask_again(tasks)
        done.append(f"{plural(len(tasks), 'task')} will be offered to one more annotator")
    return done


def approve_passing(project: Any, by: str, answers: AnswerTable, **rules: Any) -> list[str]:
    """Approve every unreviewed assignment that passes on gold; return what was done, as sentences.

    Parameters
    ----------
    project, by
        As in `review_assignments`.
    answers
        The project's answers.
    rules
        What may be wrong, as in `check_gold`.
    """
    gold = check_gold(answers, project.form, **rules)
    passed = set(gold.assignment[gold.verdict == APPROVE].tolist())
    passed &= submitted(project.queue.assignments()) - set(project.reviews.read())
    if passed:
        project.reviews.add(sorted(passed), "approve", by, PASSED)
    return [f"approved {plural(len(passed), 'assignment')} whose gold pairs are right"]


def submitted(assignments: Any) -> set[int]:
    """Return the numbers of the assignments that are submitted."""
    return set(assignments.assignment[assignments.state == SUBMITTED].tolist())
