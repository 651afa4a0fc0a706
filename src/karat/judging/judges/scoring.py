"""A judge that is a local scoring function: the score decides the answer by thresholds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from karat.errors import InputError
from karat.judging.forms import Form
from karat.judging.judges.judge import Question, Verdict

BLOCK = 4096
"""Pairs that are scored at a time."""


@dataclass(frozen=True, eq=False)
class ScoringJudge:
    """Gives the answer whose threshold the score of a pair reaches.

    Parameters
    ----------
    name
        As tables show it.
    score
        From questions to one finite number each: higher fits better.
    thresholds
        One fewer than the form has answers, rising: below the first the lowest answer, and so on.
    form
        What is asked.
    model
        Which model computes the scores; the name when left out.
    needs_images
        Whether the function reads the pictures' files.

    Examples
    --------
    >>> from karat.judging import load_form
    >>> judge = ScoringJudge("length", lambda asked: np.array([len(q.text) for q in asked]), (5, 10, 20),
    ...                      load_form("pair"))
    >>> [verdict.code for verdict in judge.judge([Question(0, 0, "a dog"), Question(0, 1, "a")])]
    ['mostly_no', 'no']
    """

    name: str
    score: Callable[[Sequence[Question]], np.ndarray]
    thresholds: Sequence[float]
    form: Form
    model: str = ""
    needs_images: bool = False

    def __post_init__(self) -> None:
        edges = np.asarray(self.thresholds, dtype=np.float64)
        wanted = len(self.form.answers) - 1
        if len(edges) != wanted or not np.isfinite(edges).all() or (np.diff(edges) < 0).any():
            raise InputError(
                f"the judge {self.name!r} has the thresholds {', '.join(f'{one:g}' for one in edges)}",
                fix=f"the form {self.form.name!r} needs {wanted} that rise",
            )
        object.__setattr__(self, "thresholds", tuple(edges.tolist()))
        object.__setattr__(self, "model", self.model or self.name)

    @property
    def version(self) -> str:
        """A hash of what decides the answers."""
        told = "\n".join((self.name, self.model, self.form.name, repr(self.thresholds)))
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def judge(self, questions: Sequence[Question]) -> Iterator[Verdict]:
        """Score questions in blocks."""
        codes = [self.form.code_of(rating) for rating in self.form.ratings.tolist()]
        for start in range(0, len(questions), BLOCK):
            asked = questions[start : start + BLOCK]
            scores = np.asarray(self.score(asked), dtype=np.float64)
            if scores.shape != (len(asked),) or not np.isfinite(scores).all():
                raise InputError(
                    f"the judge {self.name!r} gave scores of the shape {scores.shape} or not finite",
                    fix=f"it must give a finite number for each of {len(asked)} pairs",
                )
            place = np.searchsorted(np.asarray(self.thresholds), scores, side="right")
            for question, at, score in zip(asked, place.tolist(), scores.tolist()):
                yield Verdict(question.image, question.caption, codes[at], raw=repr(score))


def fit_thresholds(scores: np.ndarray, ratings: np.ndarray, form: Form) -> tuple[float, ...]:
    """Return the thresholds under which a score's answers come out as often as people's.

    The share of pairs at or above each threshold equals the share of people's answers at or above the rating
    that it opens: a rule with nothing to search, which agrees with people as far as the scores order pairs
    as people do.

    Parameters
    ----------
    scores, ratings
        Of the same pairs; the ratings on the form's scale.
    form
        Whose answers are meant.

    Examples
    --------
    >>> from karat.judging import load_form
    >>> fit_thresholds(np.array([0.1, 0.2, 0.6, 0.9]), np.array([1, 1, 3, 4]), load_form("pair"))
    (0.4, 0.4, 0.75)
    """
    if not len(scores):
        raise InputError("there is nothing to fit thresholds to", fix="let people judge some pairs first")
    order = np.sort(np.asarray(scores, dtype=np.float64))
    found = []
    for rating in form.ratings[1:].tolist():
        below = int((np.asarray(ratings) < rating).sum())
        if below == 0:
            found.append(float(order[0]))
        elif below == len(order):
            found.append(float(np.nextafter(order[-1], np.inf)))
        else:
            # Half-way between two scores, so that a new score near either falls on its side.
            found.append(float((order[below - 1] + order[below]) / 2))
    return tuple(found)
