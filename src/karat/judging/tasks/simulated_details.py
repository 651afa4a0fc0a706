"""What simulated people say to follow-up questions: one or two choices, at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat.judging.forms import Form

ALTERNATIVE = "alternative"
"""The choice that excludes all others: nothing was misread (the form ``misread``)."""


def choose_details(form: Form, codes: Sequence[str], rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return, for each answer, choices of every follow-up question that it leads to; free text stays empty.

    Examples
    --------
    >>> from karat.judging import load_form
    >>> rng = np.random.default_rng(1)
    >>> choose_details(load_form("pair"), ["yes", "mostly_no"], rng)
    [{}, {'shortcomings': ['wrong_way'], 'errors': ['quantity', 'orientation']}]
    """
    grades = {one.code: one.grade or 0.0 for one in form.answers}
    return [choices_for(form, code, grades[code], rng) for code in codes]


def choices_for(form: Form, code: str, grade: float, rng: np.random.Generator) -> dict[str, Any]:
    """Return the choices of one answer."""
    taken: dict[str, list[str]] = {}
    for one in form.follow_ups:
        before, _, choice = one.after.partition(".")
        unasked = (one.when and code not in one.when) or (one.after and choice not in taken.get(before, ()))
        if unasked or one.kind == "text":
            continue
        codes = [choice.code for choice in one.choices]
        if ALTERNATIVE in codes and (grade == 1 or len(codes) == 1):
            taken[one.code] = [ALTERNATIVE]
            continue
        possible = [choice for choice in codes if choice != ALTERNATIVE]
        number = 1 if one.kind == "one" else min(len(possible), int(rng.integers(1, 3)))
        taken[one.code] = [possible[k] for k in sorted(rng.choice(len(possible), number, replace=False))]
    return dict(taken)
