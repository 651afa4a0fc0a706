"""A form: what annotators are asked about a pair, and which grade each answer has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from karat.errors import InputError, unknown_name

Layout = Literal["pair", "grid"]
LAYOUTS: tuple[Layout, Layout] = ("pair", "grid")
Kind = Literal["one", "several", "text"]
KINDS: tuple[Kind, ...] = ("one", "several", "text")


@dataclass(frozen=True)
class Choice:
    """One of the answers to a question.

    Parameters
    ----------
    code
        Short and unique within its question; what is stored and exported.
    text
        What annotators read.
    key
        The key that chooses it, printed on the button.
    rating
        Its place on the form's scale; None for choices of follow-up questions.
    grade
        The pair's grade by this answer: 0 not relevant, (0, 1] relevant. None for follow-up questions.
    """

    code: str
    text: str
    key: str = ""
    rating: float | None = None
    grade: float | None = None


@dataclass(frozen=True)
class FollowUp:
    """A further question, asked after some of the answers.

    Parameters
    ----------
    code, text
        What is stored, and what annotators read.
    when
        The codes of the answers after which it is asked; empty: after every answer.
    after
        Ask only if this choice of an earlier follow-up question was made: "question.choice". Empty: always.
    kind
        One choice, several, or free text.
    choices
        What can be chosen; empty for free text.
    required
        Whether the answer is incomplete without it.
    """

    code: str
    text: str
    when: tuple[str, ...] = ()
    after: str = ""
    kind: Kind = "several"
    choices: tuple[Choice, ...] = ()
    required: bool = False


@dataclass(frozen=True)
class Example:
    """A worked example for the guidelines: a caption, its picture in words, the right answer and why."""

    caption: str
    picture: str
    answer: str
    why: str = ""


@dataclass(frozen=True)
class Form:
    """What annotators are asked about a pair; `load_form` reads one from a file.

    Parameters
    ----------
    name, title, about
        Its name, the heading of the page, and a line on where the form comes from.
    layout
        "pair": an image and a caption at a time. "grid": an image and several captions at a time, which
        are checked or not.
    question
        The question about each pair.
    answers
        The scale: each answer with a rating and a grade.
    follow_ups
        Further questions.
    guidelines
        Paragraphs that tell annotators how to decide.
    examples
        Worked examples.
    own_image
        Whether the image that the caption was written for is shown beside the image in question.
    regions
        Whether box and mask of the caption, which is an instance, are drawn over the image.
    pairs, gold
        How many pairs to judge and how many gold pairs a task has by default.
    columns
        Captions per image in a grid; 1 elsewhere.
    seconds
        The time for one pair, for estimates of cost.
    texts
        Further texts by their names, kept with the form.

    Examples
    --------
    >>> from karat.forms import load_form
    >>> form = load_form("pair")
    >>> form.grades(np.array([1, 2, 3, 4])).tolist()
    [0.0, 0.0, 0.5, 1.0]
    >>> form.choice("partially").rating
    3.0
    """

    name: str
    title: str
    question: str
    answers: tuple[Choice, ...]
    layout: Layout = "pair"
    about: str = ""
    follow_ups: tuple[FollowUp, ...] = ()
    guidelines: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    own_image: bool = False
    regions: bool = False
    pairs: int = 16
    gold: int = 2
    columns: int = 1
    seconds: float = 20.0
    texts: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def ratings(self) -> np.ndarray:
        """The ratings of the answers, sorted."""
        return np.sort([float(answer.rating or 0.0) for answer in self.answers])

    def grades(self, rating: np.ndarray) -> np.ndarray:
        """Return the grade of each rating; every rating must be one of the form's."""
        scale = np.array([float(answer.rating or 0.0) for answer in self.answers])
        order = np.argsort(scale)
        rating = np.asarray(rating, dtype=np.float64)
        at = np.minimum(np.searchsorted(scale[order], rating), len(scale) - 1)
        wrong = np.flatnonzero(scale[order][at] != rating)
        if len(wrong):
            raise InputError(
                f"the form {self.name!r} has no rating {rating[wrong[0]]:g}",
                fix=f"its ratings are {', '.join(f'{value:g}' for value in scale[order])}",
            )
        grade = np.array([float(answer.grade or 0.0) for answer in self.answers])
        return grade[order][at]

    def choice(self, code: str) -> Choice:
        """Return the answer with a code."""
        for answer in self.answers:
            if answer.code == code:
                return answer
        codes = [answer.code for answer in self.answers]
        raise unknown_name("answer", code, codes, owner=f"form {self.name}")

    def code_of(self, rating: float) -> str:
        """Return the code of the answer with a rating."""
        for answer in self.answers:
            if answer.rating == rating:
                return answer.code
        raise InputError(f"the form {self.name!r} has no answer with the rating {rating:g}")
