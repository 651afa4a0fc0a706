"""Whether a form makes sense: codes and keys apart, grades that rise, follow-ups that lead somewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from karat.errors import InputError
from karat.judging.forms.form import Form

PAGE_KEYS = {
    "u": "undo",
    "n": "the next pair",
    "p": "the pair before",
    "z": "a larger image",
    "h": "the guidelines",
    "?": "the list of keys",
}
"""Keys that a judging page has for itself; no choice may have them."""


def check_form(form: Form, where: str | None = None) -> None:
    """Raise on the first contradiction within a form."""
    for problem in (check_answers, check_codes, check_keys, check_follow_ups, check_examples, check_sizes):
        problem(form, where)


def check_answers(form: Form, where: str | None) -> None:
    """Check the scale: at least two answers, one rating each, of which some are relevant and some are not."""
    if len(form.answers) < 2:
        raise InputError("answers has fewer than two", where=where, fix="give a scale of two or more")
    again = twice(one.rating for one in form.answers)
    if again is not None:
        raise InputError(f"two answers have the rating {again:g}", where=where, fix="give each its own")
    ordered = sorted(form.answers, key=lambda one: one.rating or 0.0)
    for low, high in pairwise(ordered):
        if (low.grade or 0.0) > (high.grade or 0.0):
            raise InputError(
                f"{high.code!r} has a higher rating than {low.code!r} and a lower grade",
                where=where,
                fix="let grades rise with ratings",
            )
    if (ordered[0].grade or 0.0) > 0 or not ordered[-1].grade:
        raise InputError(
            "the answers do not tell relevant pairs from others",
            where=where,
            fix="give at least one the grade 0 and one a grade above 0",
        )


def check_codes(form: Form, where: str | None) -> None:
    """Check that no two answers, questions, or choices of a question have the same code."""
    groups: list[tuple[str, Iterable[Any]]] = [("answers", form.answers), ("follow_ups", form.follow_ups)]
    groups += [(f"choices of {one.code!r}", one.choices) for one in form.follow_ups]
    for what, group in groups:
        again = twice(one.code for one in group)
        if again is not None:
            raise InputError(f"two {what} have the code {again!r}", where=where, fix="give each its own")


def check_keys(form: Form, where: str | None) -> None:
    """Check that a key does one thing: all questions of a pair are on the page at once."""
    keys = [one.key for one in form.answers]
    keys += [choice.key for one in form.follow_ups for choice in one.choices]
    again = twice(key for key in keys if key)
    if again is not None:
        raise InputError(f"two choices have the key {again!r}", where=where, fix="give each its own")
    for key in keys:
        if key in PAGE_KEYS:
            raise InputError(
                f"the key {key!r} is the page's own, for {PAGE_KEYS[key]}",
                where=where,
                fix=f"use none of {' '.join(PAGE_KEYS)}",
            )


def check_follow_ups(form: Form, where: str | None) -> None:
    """Check that follow-up questions come after answers and choices that there are."""
    codes = [one.code for one in form.answers]
    before: set[str] = set()
    for one in form.follow_ups:
        for code in one.when:
            if code not in codes:
                raise InputError(
                    f"the follow-up {one.code!r} comes after the answer {code!r}, which there is not",
                    where=where,
                    fix=f"the answers are {', '.join(codes)}",
                )
        if one.after and one.after not in before:
            raise InputError(
                f"the follow-up {one.code!r} comes after the choice {one.after!r}, "
                "which no earlier follow-up has",
                where=where,
                fix="write question.choice, with a question further up",
            )
        if (one.kind == "text") == bool(one.choices):
            what = "free text and has choices" if one.choices else f"of kind {one.kind!r} and has no choices"
            raise InputError(
                f"the follow-up {one.code!r} is {what}", where=where, fix="change its kind or its choices"
            )
        before |= {f"{one.code}.{choice.code}" for choice in one.choices}


def check_examples(form: Form, where: str | None) -> None:
    """Check that examples are answered with the form's own answers."""
    codes = [one.code for one in form.answers]
    for number, one in enumerate(form.examples):
        if one.answer not in codes:
            raise InputError(
                f"examples[{number}] has the answer {one.answer!r}, which there is not",
                where=where,
                fix=f"the answers are {', '.join(codes)}",
            )


def check_sizes(form: Form, where: str | None) -> None:
    """Check that a grid has columns and whole images, and that boxes are checked or not."""
    if form.layout != "grid":
        if form.columns != 1:
            raise InputError(
                f"columns is {form.columns}, but only grids have several", where=where, fix="leave it out"
            )
        return
    if form.columns < 2:
        raise InputError("a grid has one column", where=where, fix="say how many captions an image has")
    if len(form.answers) != 2:
        raise InputError(
            f"a grid has {len(form.answers)} answers", where=where, fix="give two: checked and not checked"
        )
    for value, what in ((form.pairs, "pairs"), (form.gold, "gold")):
        if value % form.columns:
            raise InputError(
                f"{what} is {value}, no multiple of the {form.columns} columns",
                where=where,
                fix="count the captions of whole images",
            )


def twice(values: Iterable[Any]) -> Any:
    """Return the first value that comes more than once; None when there is none."""
    return next((value for value, number in Counter(values).items() if number > 1), None)
