"""Answers to follow-up questions: what fits the form, what is missing, and how it is written down."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from karat.errors import InputError, unknown_name
from karat.judging.forms import FollowUp, Form
from karat.judging.store.texts import check_text

MOST_TEXT = 10_000


def check_details(form: Form, code: str, details: Mapping[str, Any] | None) -> str | None:
    """Return the details as json text in the order of the form, None where there are none; or raise.

    >>> from karat.judging.forms.form import Choice
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
    known = {question.code: question for question in form.follow_ups}
    for name in details:
        if name not in known:
            raise unknown_name("follow-up question", str(name)[:60], known, owner=f"form {form.name}")
    taken = {name: choices_of(known[name], given) for name, given in details.items()}
    for name in taken:
        if not asked(known[name], code, taken):
            raise InputError(f"{name!r} is not asked after the answer {code!r}", fix="leave it out")
    kept = {q.code: details[q.code] for q in form.follow_ups if taken.get(q.code)}
    written = {
        name: given if isinstance(given, str) else [str(one) for one in given] for name, given in kept.items()
    }
    return json.dumps(written, ensure_ascii=False, separators=(",", ":")) if written else None


def choices_of(question: FollowUp, given: Any) -> tuple[str, ...]:
    """Return what was chosen, or the text that was written, as a tuple; empty where it is nothing."""
    if question.kind == "text":
        return (check_text(given, question.code, MOST_TEXT),) if given else ()
    chosen = [given] if isinstance(given, str) else given
    if not isinstance(chosen, Sequence) or not all(isinstance(one, str) for one in chosen):
        raise InputError(f"{question.code!r} is {given!r:.60}", fix="give the codes of its choices")
    codes = [choice.code for choice in question.choices]
    for one in chosen:
        if one not in codes:
            raise unknown_name("choice", one[:60], codes, owner=f"question {question.code}")
    if len(set(chosen)) < len(chosen) or (question.kind == "one" and len(chosen) > 1):
        raise InputError(f"{question.code!r} has {len(chosen)} answers", fix="give each choice once")
    return tuple(chosen)


def asked(question: FollowUp, code: str, taken: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a question is asked after an answer and the choices that were taken before."""
    if question.when and code not in question.when:
        return False
    before, _, choice = question.after.partition(".")
    return not question.after or choice in taken.get(before, ())


def unanswered(form: Form, code: str, details: str | None) -> str | None:
    """Return the code of a required question that was asked and not answered; None where all were."""
    found = read_details(details)
    taken = {name: (given,) if isinstance(given, str) else tuple(given) for name, given in found.items()}
    for question in form.follow_ups:
        if question.required and asked(question, code, taken) and not taken.get(question.code):
            return question.code
    return None


def read_details(details: str | None) -> dict[str, Any]:
    """Return details as they were given."""
    return json.loads(details) if details else {}


def chosen_names(form: Form, details: str) -> list[str]:
    """Return "question.choice" for every choice in written details; free text is left out."""
    closed = {question.code for question in form.follow_ups if question.kind != "text"}
    found = read_details(details)
    return [
        f"{name}.{one}"
        for name, given in found.items()
        if name in closed
        for one in ([given] if isinstance(given, str) else given)
    ]
