"""A form: what people are asked about a pair, and what their answers are worth."""

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
        As people read it.
    key
        The key that gives it, printed on the button.
    rating
        Its place on the form's scale; None for choices of follow-up questions.
    grade
        What it says of the pair: 0 judged not relevant, (0, 1] relevant. None for follow-up questions.
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
        As stored, and as people read it.
    when
        After which answers it is asked, by their codes; empty: after every answer.
    after
        Only where this choice of an earlier follow-up question was taken: "question.choice". Empty: always.
    kind
        One choice, several, or free text.
    choices
        What can be chosen; empty for free text.
    required
        Whether the answer counts as unfinished without it.
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
    """What people are asked about a pair; see `karat.judging.forms.form_files` for the files that hold them.

    Parameters
    ----------
    name, title, about
        What it is called, what stands above the page, and a line on where it comes from.
    layout
        "pair": an image and a caption at a time. "grid": an image and several captions at a time, which
        are checked or not.
    question
        What is asked.
    answers
        The scale, each with a rating and a grade.
    follow_ups
        Further questions.
    guidelines
        Paragraphs that tell people how to decide.
    examples
        Worked examples.
    own_image
        Whether the image that the caption was written for is shown beside the image in question.
    pairs, gold
        How many pairs to judge, and how many hidden known ones, a task has when nothing else is asked for.
    columns
        Captions per image in a grid; 1 elsewhere.
    seconds
        What one pair takes, for estimates of cost.

    Examples
    --------
    >>> from karat.judging import load_form
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
    pairs: int = 16
    gold: int = 2
    columns: int = 1
    seconds: float = 20.0
    texts: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def ratings(self) -> np.ndarray:
        """The ratings of the answers, sorted."""
        return np.sort([float(one.rating or 0.0) for one in self.answers])

    def grades(self, rating: np.ndarray) -> np.ndarray:
        """Return the grade of each rating; every rating must be one of the form's."""
        scale = np.array([float(one.rating or 0.0) for one in self.answers])
        order = np.argsort(scale)
        rating = np.asarray(rating, dtype=np.float64)
        at = np.minimum(np.searchsorted(scale[order], rating), len(scale) - 1)
        wrong = np.flatnonzero(scale[order][at] != rating)
        if len(wrong):
            raise InputError(
                f"the rating {rating[wrong[0]]:g} is none of the form {self.name!r}",
                fix=f"its ratings are {', '.join(f'{one:g}' for one in scale[order])}",
            )
        grade = np.array([float(one.grade or 0.0) for one in self.answers])
        return grade[order][at]

    def choice(self, code: str) -> Choice:
        """Return the answer with a code."""
        for one in self.answers:
            if one.code == code:
                return one
        raise unknown_name("answer", code, [one.code for one in self.answers], owner=f"form {self.name}")

    def code_of(self, rating: float) -> str:
        """Return the code of the answer with a rating."""
        for one in self.answers:
            if one.rating == rating:
                return one.code
        raise InputError(f"the form {self.name!r} has no answer with the rating {rating:g}")
