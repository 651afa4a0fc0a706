"""Marks from answers: what annotators chose in a follow-up question with several choices, pair by pair.

`karat.explanations.summarise_marks` turns them into shares, distributions and rules.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat._util import plural
from karat.benchmarks import Benchmark, in_order
from karat.errors import InputError, KaratError, unknown_name
from karat.explanations import Marks
from karat.forms import AnswerTable, FollowUp, Form, number_pairs, split_adjudicated
from karat.judging.quality.acceptance import check_counted


def answer_marks(
    answers: AnswerTable,
    form: Form,
    benchmark: Benchmark | None = None,
    *,
    question: str | None = None,
    notes: Sequence[str] = (),
) -> Marks:
    """Return what answers mark, without answers to hidden gold and those of adjudicators, who give no votes.

    Parameters
    ----------
    answers, form
        The answers that count, and what was asked.
    benchmark
        For the captions, and for the groups of the queries: pairs of captions of one image are a cluster.
    question
        The follow-up question, by its code; by default the form's first with several choices.
    notes
        Why other answers do not count.

    Examples
    --------
    >>> from karat.forms import ChosenDetails, load_form, make_answers
    >>> chosen = [(0, "color"), (0, "number"), (1, "color"), (2, "alternative")]
    >>> answers = make_answers([0, 0, 1], [5, 5, 2], [0, 1, 0], [3, 6, 10], ("ann", "eve"),
    ...                        details=ChosenDetails.of((row, f"misread.{code}") for row, code in chosen))
    >>> marks = answer_marks(answers, load_form("misread"))
    >>> marks.classes["color"].tolist(), marks.pair.tolist(), marks.rating.tolist()
    ([True, True, False], [0, 0, 1], [3.0, 6.0, 10.0])
    """
    asked = marked_question(form, question)
    votes = split_adjudicated(answers)[0].asked
    check_counted(votes, notes)
    marked = marks_of(votes, asked)
    missing = ~marked.any(axis=1) & must_mark(votes, form, asked)
    if missing.any():
        notes = (*notes, f"{plural(int(missing.sum()), 'answer')} without a mark left out")
        votes, marked = votes.where(~missing), marked[~missing]
        check_counted(votes, notes)
    ratings = form.ratings
    return Marks(
        {choice.code: marked[:, k] for k, choice in enumerate(asked.choices)},
        votes.rating,
        number_pairs(votes.image, votes.caption)[0],
        None if benchmark is None else groups_of_queries(votes, benchmark),
        captions_of(votes, benchmark),
        (int(np.floor(ratings.min())), int(np.ceil(ratings.max()))),
        tuple(notes),
    )


def marked_question(form: Form, question: str | None = None) -> FollowUp:
    """Return the follow-up question with several choices that is meant, or raise.

    >>> from karat.forms import load_form
    >>> marked_question(load_form("misread")).code, marked_question(load_form("pair"), "errors").code
    ('misread', 'errors')
    """
    possible = {asked.code: asked for asked in form.follow_ups if asked.kind == "several"}
    if not possible:
        raise InputError(
            f"the form {form.name!r} has no question with several choices",
            fix="judge with a form that has one, such as misread",
        )
    if question is None:
        return next(iter(possible.values()))
    if question not in possible:
        raise unknown_name("question with several choices", question, possible)
    return possible[question]


def marks_of(answers: AnswerTable, asked: FollowUp) -> np.ndarray:
    """Return which choices of a question each answer marks, answers by choices."""
    place = {f"{asked.code}.{choice.code}": k for k, choice in enumerate(asked.choices)}
    column = np.array([place.get(name, -1) for name in answers.details.names], np.int64)
    marked = np.zeros((len(answers), len(place)), bool)
    column = column[answers.details.choice]
    marked[answers.details.row[column >= 0], column[column >= 0]] = True
    return marked


def must_mark(answers: AnswerTable, form: Form, asked: FollowUp) -> np.ndarray:
    """Return after which answers the question has to be answered: no mark there is not "nothing wrong"."""
    if not asked.required or asked.after:
        return np.zeros(len(answers), bool)
    when = [answer.rating for answer in form.answers if not asked.when or answer.code in asked.when]
    return np.isin(answers.rating, np.array(when, np.float64))


def groups_of_queries(answers: AnswerTable, benchmark: Benchmark) -> np.ndarray:
    """Return the group of the query of each answer's pair: of both directions, that in which captions ask."""
    direction = benchmark.asked_directions[-1]
    return benchmark.clusters(direction, in_order(direction, answers.image, answers.caption)[0])


def captions_of(answers: AnswerTable, benchmark: Benchmark | None) -> list[str] | None:
    """Return the caption of each answer's pair; None where they are not at hand."""
    try:
        texts = None if benchmark is None else benchmark.needed_texts
    except KaratError:
        # Marks are worth something without the captions; slices say that they are missing.
        return None
    return None if texts is None else [texts[caption] for caption in answers.caption.tolist()]
