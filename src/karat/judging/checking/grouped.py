"""Answers grouped by pair: what every way of aggregating starts from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.errors import InputError
from karat.judging.checking.answers import AnswerTable
from karat.judging.forms import Form
from karat.judging.pools import key_of, split_key
from karat.judging.tasks import KNOWN_NO, KNOWN_YES, UNKNOWN


@dataclass(frozen=True, eq=False)
class Grouped:
    """Answers as numbers: which pair, which of the form's ratings.

    Parameters
    ----------
    image, caption
        The pairs, each once, sorted by image, then caption.
    gold, asked
        Of each pair, UNKNOWN, KNOWN_NO or KNOWN_YES, and whether an answer is more than a check: a pair that
        is judged in one task may be hidden gold in another.
    pair
        Of each answer, the number of its pair.
    code
        Of each answer, the place of its rating among `ratings`.
    worker, people
        Of each answer, who gave it, as in the table; and how many people the table names.
    ratings, grades
        The form's scale, sorted, and what each rating is worth.
    counts
        How often each pair got each rating, pairs by ratings.
    """

    image: np.ndarray
    caption: np.ndarray
    gold: np.ndarray
    asked: np.ndarray
    pair: np.ndarray
    code: np.ndarray
    worker: np.ndarray
    people: int
    ratings: np.ndarray
    grades: np.ndarray
    counts: np.ndarray

    @property
    def answers(self) -> np.ndarray:
        """How many answers each pair has."""
        return self.counts.sum(axis=1)

    @property
    def shares(self) -> np.ndarray:
        """The share of each rating among a pair's answers."""
        return self.counts / self.answers[:, None]


def group(answers: AnswerTable, form: Form) -> Grouped:
    """Return the answers grouped by pair; a rating that the form does not have raises.

    Examples
    --------
    >>> from karat.judging.checking.answers import make_answers
    >>> from karat.judging.forms.form import Choice, Form
    >>> no, yes = (Choice(text, text, rating=k, grade=k) for k, text in enumerate(("no", "yes")))
    >>> form = Form("check", "", "", (no, yes))
    >>> three = make_answers([5, 5, 2], [0, 0, 1], [0, 1, 0], [1, 0, 1], ("ann", "eve"))
    >>> found = group(three, form)
    >>> found.image.tolist(), found.pair.tolist(), found.counts.tolist()
    ([2, 5], [1, 1, 0], [[0, 1], [1, 1]])
    """
    ratings = form.ratings
    if len(np.unique(ratings)) < len(ratings):
        raise InputError(
            f"two answers of the form {form.name!r} have the same rating", fix="give each its own"
        )
    # Checks every rating, too.
    form.grades(answers.rating)
    code = np.searchsorted(ratings, answers.rating)
    pair, image, caption = number_pairs(answers.image, answers.caption)
    pairs, scale = len(image), len(ratings)
    counts = np.bincount(pair * scale + code, minlength=pairs * scale).reshape(pairs, scale)
    asked = np.bincount(pair[answers.gold == UNKNOWN], minlength=pairs) > 0
    return Grouped(
        image, caption, known_of(pair, answers.gold, pairs), asked, pair, code, answers.worker,
        len(answers.workers), ratings, form.grades(ratings), counts,
    )  # fmt: skip


def number_pairs(image: np.ndarray, caption: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of each row's pair, and the pairs' images and captions, sorted.

    >>> [column.tolist() for column in number_pairs(np.array([5, 5, 2]), np.array([0, 0, 1]))]
    [[1, 1, 0], [2, 5], [1, 0]]
    """
    keys, pair = np.unique(key_of(image, caption), return_inverse=True)
    return pair, *split_key(keys)


def known_of(pair: np.ndarray, gold: np.ndarray, pairs: int) -> np.ndarray:
    """Return what is known of each pair; a pair that is known as both raises."""
    known = np.full(pairs, UNKNOWN)
    for side in (KNOWN_NO, KNOWN_YES):
        hit = np.unique(pair[gold == side])
        if (known[hit] != UNKNOWN).any():
            raise InputError(
                "a pair is hidden gold for both yes and no",
                fix="a task's known pairs must agree with another's",
            )
        known[hit] = side
    return known
