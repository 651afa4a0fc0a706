"""A form as json text, as it is kept inside a project: data, checked when it is read."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from karat.judging.forms.form import KINDS, LAYOUTS, Choice, Example, FollowUp, Form
from karat.validation import InputError

MOST = 2_000_000
"""Characters of the longest form that is read."""


def write_form(form: Form) -> str:
    """Return a form as json text."""
    return json.dumps(asdict(form), ensure_ascii=False, sort_keys=True)


def read_form(text: str) -> Form:
    """Return the form that `write_form` wrote, or raise.

    >>> form = Form("tiny", "Tiny", "Does it fit?", (Choice("yes", "Yes", "y", 1.0, 1.0), Choice("no", "No")))
    >>> read_form(write_form(form)) == form
    True
    """
    try:
        if len(text) > MOST:
            raise ValueError("too long")
        found = json.loads(text)
        form = Form(
            **{
                **found,
                "answers": tuple(Choice(**one) for one in found["answers"]),
                "follow_ups": tuple(read_follow_up(one) for one in found["follow_ups"]),
                "guidelines": tuple(map(str, found["guidelines"])),
                "examples": tuple(Example(**one) for one in found["examples"]),
                "texts": dict(found["texts"]),
            }
        )
        check_form(form)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InputError("its form cannot be read", fix="restore a copy of the project") from None
    return form


def read_follow_up(found: dict[str, Any]) -> FollowUp:
    """Return one further question."""
    choices = tuple(Choice(**one) for one in found["choices"])
    return FollowUp(**{**found, "when": tuple(map(str, found["when"])), "choices": choices})


def check_form(form: Form) -> None:
    """Raise ValueError unless the codes are text and each stands once, and ratings are numbers."""
    questions = [("", form.answers), *((one.code, one.choices) for one in form.follow_ups)]
    for question, choices in questions:
        codes = [choice.code for choice in choices]
        if not all(isinstance(code, str) and code for code in codes) or len(set(codes)) < len(codes):
            raise ValueError(f"codes of {question}")
    codes = [one.code for one in form.follow_ups]
    if not all(isinstance(code, str) and code for code in codes) or len(set(codes)) < len(codes):
        raise ValueError("codes of follow-up questions")
    for choice in form.answers:
        if not all(
            value is None or isinstance(value, int | float) for value in (choice.rating, choice.grade)
        ):
            raise ValueError("ratings")
    if form.layout not in LAYOUTS or not all(one.kind in KINDS for one in form.follow_ups):
        raise ValueError("kinds")
    if not form.answers or not isinstance(form.name, str):
        raise ValueError("answers")
