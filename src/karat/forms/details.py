"""Answers to follow-up questions: checks against the form, what is missing, and the stored json text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from karat.errors import InputError, unknown_name
from karat.forms.form import FollowUp, Form
from karat.forms.texts import check_text

MAX_TEXT = 10_000


def check_details(form: Form, code: str, details: Mapping[str, Any] | None) -> str | None:
    """Return the details as json text in the order of the form, None where there are none; or raise.

    >>> from karat.forms.form import Choice
    >>> why = FollowUp("why", "Why?", when=("no",), choices=(Choice("blurred", "Blurred"),))
    >>> form = Form("tiny", "Tiny", "Fits?", (Choice("yes", "Yes"), Choice("no", "No")), follow_ups=(why,))
    >>> check_details(form, "no", {"why": ["blurred"]})
    '{"why":["blurred"]}'
    >>> check_details(form, "yes", {"why": ["blurred"]})
    Traceback (most recent call last):
    ...
    karat.errors.InputError: 'why' is not asked after the answer 'yes'; leave it out.
    """
    if not details:
        return None
    if not isinstance(details, Mapping):
        raise InputError(f"details are {details!r:.60}", fix="give answers by the code of their question")
    questions = {question.code: question for question in form.follow_ups}
    for name in details:
        if name not in questions:
            raise unknown_name("follow-up question", str(name)[:60], questions, owner=f"form {form.name}")
    chosen = {name: choices_of(questions[name], value) for name, value in details.items()}
    for name in chosen:
        if not is_asked(questions[name], code, chosen):
            raise InputError(f"{name!r} is not asked after the answer {code!r}", fix="leave it out")
    values = {q.code: details[q.code] for q in form.follow_ups if chosen.get(q.code)}
    stored = {
        name: value if isinstance(value, str) else [str(choice) for choice in value]
        for name, value in values.items()
    }
    return json.dumps(stored, ensure_ascii=False, separators=(",", ":")) if stored else None


def choices_of(question: FollowUp, value: Any) -> tuple[str, ...]:
    """Return the chosen codes, or the free text, as a tuple; an empty tuple for no answer."""
    if question.kind == "text":
        return (check_text(value, question.code, MAX_TEXT),) if value else ()
    chosen = [value] if isinstance(value, str) else value
    if not isinstance(chosen, Sequence) or not all(isinstance(choice, str) for choice in chosen):
        raise InputError(f"{question.code!r} is {value!r:.60}", fix="give the codes of its choices")
    codes = [choice.code for choice in question.choices]
    for choice in chosen:
        if choice not in codes:
            raise unknown_name("choice", choice[:60], codes, owner=f"question {question.code}")
    if len(set(chosen)) < len(chosen) or (question.kind == "one" and len(chosen) > 1):
        raise InputError(f"{question.code!r} has {len(chosen)} answers", fix="give each choice once")
    return tuple(chosen)


def is_asked(question: FollowUp, code: str, chosen: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a question is asked after an answer and the choices made so far."""
    if question.when and code not in question.when:
        return False
    before, _, choice = question.after.partition(".")
    return not question.after or choice in chosen.get(before, ())


def unanswered(form: Form, code: str, details: str | None) -> str | None:
    """Return the code of a required question that was asked and not answered; None where there is none."""
    chosen = {
        name: (value,) if isinstance(value, str) else tuple(value)
        for name, value in read_details(details).items()
    }
    for question in form.follow_ups:
        if question.required and is_asked(question, code, chosen) and not chosen.get(question.code):
            return question.code
    return None


def read_details(details: str | None) -> dict[str, Any]:
    """Return stored details as a dictionary; an empty one for None."""
    return json.loads(details) if details else {}


def chosen_names(form: Form, details: str) -> list[str]:
    """Return "question.choice" for every choice in stored details; free text is left out."""
    closed = {question.code for question in form.follow_ups if question.kind != "text"}
    return [
        f"{name}.{choice}"
        for name, value in read_details(details).items()
        if name in closed
        for choice in ([value] if isinstance(value, str) else value)
    ]
