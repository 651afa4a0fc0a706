"""What annotators answered, as columns; and the same answers grouped by pair.

`AnswerTable` is what quality, aggregation and publication read; `Grouped` is what every aggregation gets;
`AnswerRows` are answers from elsewhere, which are to be imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._util import plural
from karat.errors import InputError
from karat.forms.form import Form
from karat.forms.pairs import key_of, split_key
from karat.forms.pool import GOLD_NO, GOLD_YES, NOT_GOLD

PERSON: str = "person"
MACHINE: str = "machine"
DATASET: str = "dataset"
ADJUDICATOR: str = "adjudicator"
"""Kinds of annotators: a person, a machine judge, another judged data set that is read as one more annotator,
or a person who decides where others disagree (see `karat.judging.quality.verdicts`)."""
PER_ANSWER = ("image", "caption", "annotator", "rating", "gold", "assignment", "seconds", "at")
"""The columns of `AnswerTable`."""


@dataclass(frozen=True, eq=False)
class ChosenDetails:
    """What annotators chose in follow-up questions, one choice per row.

    Parameters
    ----------
    row
        The row of the answer.
    choice
        What was chosen, as an index into `names`.
    names
        "question.choice", such as "shortcomings.not_in_image".

    Examples
    --------
    >>> details = ChosenDetails.of([(0, "errors.colour"), (2, "errors.size")])
    >>> len(details), list(details.where(np.array([False, True, True])))
    (2, [(1, 'errors.size')])
    """

    row: np.ndarray
    choice: np.ndarray
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, chosen: Iterable[tuple[int, str]] = ()) -> ChosenDetails:
        """Return choices that are given as rows of answers and names."""
        number: dict[str, int] = {}
        pairs = [(row, number.setdefault(name, len(number))) for row, name in chosen]
        row, choice = np.array(pairs, np.int64).reshape(-1, 2).T
        return cls(row, choice, tuple(number))

    def __len__(self) -> int:
        return len(self.row)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return ((row, self.names[choice]) for row, choice in zip(self.row.tolist(), self.choice.tolist()))

    def where(self, rows: np.ndarray) -> ChosenDetails:
        """Return the choices of some answers, chosen by booleans."""
        kept = rows[self.row]
        return replace(self, row=(np.cumsum(rows) - 1)[self.row[kept]], choice=self.choice[kept])


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """The answers in effect, one per row; answers that were withdrawn or replaced are only in the store.

    Parameters
    ----------
    image, caption
        The pair, as indices into the benchmark.
    annotator
        Who answered, as an index into `annotators`.
    rating
        The answer, on the form's scale.
    gold
        NOT_GOLD, GOLD_NO or GOLD_YES.
    assignment
        The assignment that the answer belongs to; −1 for answers without a task.
    seconds
        How long it took; NaN where unknown.
    at
        When, in seconds since 1970.
    annotators, kinds
        The annotators' names, and PERSON, MACHINE, DATASET or ADJUDICATOR for each.
    details
        The choices of follow-up questions.
    """

    image: np.ndarray
    caption: np.ndarray
    annotator: np.ndarray
    rating: np.ndarray
    gold: np.ndarray
    assignment: np.ndarray
    seconds: np.ndarray
    at: np.ndarray
    annotators: tuple[str, ...]
    kinds: tuple[str, ...]
    details: ChosenDetails

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        return f"AnswerTable({plural(len(self), 'answer')} by {plural(len(self.annotators), 'annotator')})"

    def where(self, rows: np.ndarray) -> AnswerTable:
        """Return only some rows, chosen by booleans; the annotators keep their numbers."""
        rows = np.asarray(rows, dtype=bool)
        columns = {name: getattr(self, name)[rows] for name in PER_ANSWER}
        return replace(self, **columns, details=self.details.where(rows))

    @property
    def asked(self) -> AnswerTable:
        """The answers without those to hidden gold pairs."""
        return self.where(self.gold == NOT_GOLD)


def make_answers(
    image: np.ndarray,
    caption: np.ndarray,
    annotator: np.ndarray,
    rating: np.ndarray,
    annotators: tuple[str, ...],
    *,
    gold: np.ndarray | None = None,
    assignment: np.ndarray | None = None,
    seconds: np.ndarray | None = None,
    at: np.ndarray | None = None,
    kinds: tuple[str, ...] | None = None,
    details: ChosenDetails | None = None,
) -> AnswerTable:
    """Return a table of answers; columns that are not given are filled with "unknown".

    Examples
    --------
    >>> make_answers([0, 0], [3, 3], [0, 1], [4, 1], ("ann", "eve"))
    AnswerTable(2 answers by 2 annotators)
    """
    n = len(image)

    def column(values: np.ndarray | None, default: float, dtype: type) -> np.ndarray:
        return np.full(n, default, dtype) if values is None else np.asarray(values, dtype)

    return AnswerTable(
        np.asarray(image, np.int64),
        np.asarray(caption, np.int64),
        np.asarray(annotator, np.int64),
        np.asarray(rating, np.float64),
        column(gold, NOT_GOLD, np.int64),
        column(assignment, -1, np.int64),
        column(seconds, np.nan, np.float64),
        column(at, 0.0, np.float64),
        tuple(annotators),
        (PERSON,) * len(annotators) if kinds is None else tuple(kinds),
        ChosenDetails.of() if details is None else details,
    )


def split_adjudicated(answers: AnswerTable) -> tuple[AnswerTable, AnswerTable]:
    """Return the answers of all other annotators, and those of adjudicators.

    An adjudicator has seen what others answered: the answer is not a vote and says nothing about agreement.

    >>> answers = make_answers([0, 0], [0, 0], [0, 1], [1, 4], ("ann", "boss"), kinds=("person", ADJUDICATOR))
    >>> [len(part) for part in split_adjudicated(answers)]
    [1, 1]
    """
    decides = np.array([kind == ADJUDICATOR for kind in answers.kinds], dtype=bool)
    if not decides.any():
        return answers, answers.where(np.zeros(len(answers), bool))
    rows = decides[answers.annotator]
    return answers.where(~rows), answers.where(rows)


@dataclass(frozen=True, eq=False)
class Grouped:
    """Answers grouped by pair, as numbers: what an aggregation starts from.

    Parameters
    ----------
    image, caption
        The pairs, each once, sorted by image, then caption.
    gold, asked
        For each pair, NOT_GOLD, GOLD_NO or GOLD_YES, and whether it is to be judged: a pair that is judged
        in one task may be hidden gold in another.
    pair
        For each answer, the number of its pair.
    code
        For each answer, the place of its rating in `ratings`.
    annotator, annotator_count
        For each answer, who gave it, as in the table; and how many annotators the table names.
    ratings, grades
        The form's scale, sorted, and the grade of each rating.
    counts
        How often each pair got each rating, pairs by ratings.
    """

    image: np.ndarray
    caption: np.ndarray
    gold: np.ndarray
    asked: np.ndarray
    pair: np.ndarray
    code: np.ndarray
    annotator: np.ndarray
    annotator_count: int
    ratings: np.ndarray
    grades: np.ndarray
    counts: np.ndarray

    @property
    def answers(self) -> np.ndarray:
        """How many answers each pair has."""
        return self.counts.sum(axis=1)

    @property
    def shares(self) -> np.ndarray:
        """The share of each rating among a pair's answers, pairs by ratings."""
        return self.counts / self.answers[:, None]


def group(answers: AnswerTable, form: Form) -> Grouped:
    """Return the answers grouped by pair; a rating that the form does not have raises.

    Examples
    --------
    >>> from karat.forms import Choice, Form
    >>> no, yes = (Choice(text, text, rating=k, grade=k) for k, text in enumerate(("no", "yes")))
    >>> form = Form("check", "", "", (no, yes))
    >>> answers = make_answers([5, 5, 2], [0, 0, 1], [0, 1, 0], [1, 0, 1], ("ann", "eve"))
    >>> grouped = group(answers, form)
    >>> grouped.image.tolist(), grouped.pair.tolist(), grouped.counts.tolist()
    ([2, 5], [1, 1, 0], [[0, 1], [1, 1]])
    """
    ratings = form.ratings
    if len(np.unique(ratings)) < len(ratings):
        raise InputError(
            f"two answers of the form {form.name!r} have the same rating", fix="give each its own"
        )
    # This also raises for a rating that the form does not have.
    form.grades(answers.rating)
    code = np.searchsorted(ratings, answers.rating)
    pair, image, caption = number_pairs(answers.image, answers.caption)
    pairs, scale = len(image), len(ratings)
    counts = np.bincount(pair * scale + code, minlength=pairs * scale).reshape(pairs, scale)
    asked = np.bincount(pair[answers.gold == NOT_GOLD], minlength=pairs) > 0
    return Grouped(
        image, caption, gold_of(pair, answers.gold, pairs), asked, pair, code, answers.annotator,
        len(answers.annotators), ratings, form.grades(ratings), counts,
    )  # fmt: skip


def number_pairs(image: np.ndarray, caption: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of each row's pair, and the pairs' images and captions, sorted.

    >>> [column.tolist() for column in number_pairs(np.array([5, 5, 2]), np.array([0, 0, 1]))]
    [[1, 1, 0], [2, 5], [1, 0]]
    """
    keys, pair = np.unique(key_of(image, caption), return_inverse=True)
    return pair, *split_key(keys)


def gold_of(pair: np.ndarray, gold: np.ndarray, pairs: int) -> np.ndarray:
    """Return NOT_GOLD, GOLD_NO or GOLD_YES for each pair; a pair that is gold for both sides raises."""
    sides = np.full(pairs, NOT_GOLD)
    for side in (GOLD_NO, GOLD_YES):
        members = np.unique(pair[gold == side])
        if (sides[members] != NOT_GOLD).any():
            raise InputError(
                "a pair is hidden gold for both yes and no", fix="give it the same gold answer in all tasks"
            )
        sides[members] = side
    return sides


@dataclass(frozen=True, eq=False)
class AnswerRows:
    """Answers to be imported, as columns of one length.

    Parameters
    ----------
    task
        The task of each; −1 for answers that belong to none.
    image, caption
        The pair, as indices into the benchmark.
    annotator
        The names of the annotators.
    code
        The answers, by the codes of the form.
    seconds
        How long each took; None or NaN where unknown.
    at
        When, in seconds since 1970; None for the current time.
    details
        Per row, the answers to follow-up questions: a choice, a list of choices or a text by the question's
        code. None where there are none.
    kind
        PERSON, MACHINE, DATASET or ADJUDICATOR: one for all, or one for each row.

    Examples
    --------
    >>> AnswerRows([-1, -1], [0, 1], [4, 4], ["ann", "ann"], ["yes", "no"])
    AnswerRows(2 answers)
    """

    task: Sequence[int] | np.ndarray
    image: Sequence[int] | np.ndarray
    caption: Sequence[int] | np.ndarray
    annotator: Sequence[str] | np.ndarray
    code: Sequence[str] | np.ndarray
    seconds: Sequence[float | None] | np.ndarray | None = None
    at: Sequence[float] | np.ndarray | None = None
    details: Sequence[Mapping[str, Any] | None] | None = None
    kind: str | Sequence[str] | np.ndarray = "person"

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        return f"AnswerRows({len(self):,} answers)"
