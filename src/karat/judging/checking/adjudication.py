"""Adjudication: where people disagree, somebody decides, and the decision stands instead of the vote."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.judging.checking.answers import ADJUDICATOR, AnswerTable
from karat.judging.forms.form import Form
from karat.judging.pools.pair_keys import distinct, find, key_of, split_key
from karat.judging.tasks.plan import UNKNOWN

if TYPE_CHECKING:
    from karat.judging.checking.aggregate import Aggregated


def split_adjudicated(answers: AnswerTable) -> tuple[AnswerTable, AnswerTable]:
    """Return the answers of everybody else, and those of adjudicators.

    An adjudicator saw what others answered, so the answer is no vote and says nothing about agreement.

    >>> from karat.judging import make_answers
    >>> said = make_answers([0, 0], [0, 0], [0, 1], [1, 4], ("ann", "boss"), kinds=("person", ADJUDICATOR))
    >>> [len(one) for one in split_adjudicated(said)]
    [1, 1]
    """
    decides = np.array([kind == ADJUDICATOR for kind in answers.kinds], dtype=bool)
    if not decides.any():
        return answers, answers.where(np.zeros(len(answers), bool))
    rows = decides[answers.worker]
    return answers.where(~rows), answers.where(rows)


def overrule(found: Aggregated, decided: AnswerTable, form: Form) -> Aggregated:
    """Return verdicts in which the last decision about a pair stands instead of what was aggregated.

    How many answers a pair has, and how far they disagree, stays as it was.

    Parameters
    ----------
    found
        The verdicts of everybody else.
    decided
        What adjudicators answered, in the order in which they did.
    form
        Its scale.

    Examples
    --------
    >>> from karat.judging import load_form, make_answers
    >>> from karat.judging.checking.aggregate import aggregate
    >>> said = make_answers([0, 0, 0, 5], [7, 7, 7, 1], [0, 1, 2, 2], [4, 4, 1, 3], ("ann", "bob", "boss"),
    ...                     kinds=("person", "person", ADJUDICATOR))
    >>> found = aggregate(said, load_form("pair"))
    >>> found.grade.tolist(), found.answers.tolist(), found.adjudicated.tolist()
    ([0.0, 0.5], [2, 0], [True, True])
    """
    if not len(decided):
        return found
    own = key_of(decided.image, decided.caption)
    key = distinct(np.concatenate([key_of(found.image, found.caption), own]))
    at = find(key_of(found.image, found.caption), key)
    # The last of each: rows stand in the order in which they were written.
    pair, back = np.unique(own[::-1], return_index=True)
    rating = decided.rating[::-1][back]
    place = find(key, pair)
    code = np.searchsorted(found.ratings, rating)
    grade = form.grades(rating)

    def widened(values: np.ndarray, missing: float | bool) -> np.ndarray:
        out = np.full((len(key), *values.shape[1:]), missing, dtype=values.dtype)
        out[at >= 0] = values[at[at >= 0]]
        return out

    columns: dict[str, Any] = {
        "grade": widened(found.grade, 0.0), "rating": widened(found.rating, 0.0),
        "relevance": widened(found.relevance, 0.0), "posterior": widened(found.posterior, 0.0),
        "answers": widened(found.answers, 0), "disagreement": widened(found.disagreement, np.nan),
        "gold": widened(found.gold, UNKNOWN), "to_judge": widened(found.to_judge, True),
        "adjudicated": widened(found.adjudicated, False),
    }  # fmt: skip
    columns["grade"][place], columns["rating"][place] = grade, rating
    columns["relevance"][place] = grade > 0
    columns["posterior"][place] = np.eye(len(found.ratings))[code]
    columns["adjudicated"][place] = True
    columns["to_judge"][place] = True
    image, caption = split_key(key)
    return replace(found, image=image, caption=caption, **columns)
