"""A form as plain data, as TOML and json hold it, and back, with every mistake named.

Texts are untrusted: they are plain text, never markup, and whoever shows them escapes them.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any, cast

from karat.judging.forms.form import KINDS, LAYOUTS, Choice, Example, FollowUp, Form, Kind, Layout
from karat.judging.forms.form_checks import check_form
from karat.judging.forms.form_fields import Fields

HIGHEST = 1_000_000.0


def form_to_data(form: Form) -> dict[str, Any]:
    """Return a form as dictionaries, lists, texts and numbers: what json and TOML can hold.

    Examples
    --------
    >>> from karat.judging import load_form
    >>> data = form_to_data(load_form("grid"))
    >>> data["answers"][0]
    {'code': 'yes', 'text': 'It describes the image', 'key': 'y', 'rating': 1.0, 'grade': 1.0}
    >>> form_from_data(data) == load_form("grid")
    True
    """
    return cast(dict[str, Any], plain(asdict(form)))


def plain(value: Any) -> Any:
    """Return tuples as lists, and tables without what is not known."""
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items() if one is not None}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def form_from_data(data: Any, where: str | None = None) -> Form:
    """Return the form that plain data describe; raise on anything unknown, missing or contradictory.

    Parameters
    ----------
    data
        What `form_to_data` returns, or what TOML or json held.
    where
        The file it came from, for messages.
    """
    table = Fields(data, where)
    known = [field.name for field in fields(Form)]
    table.close(known)
    form = Form(
        name=table.code("name"),
        title=table.text("title"),
        question=table.text("question"),
        answers=tuple(read_answer(one) for one in table.tables("answers", None)),
        layout=cast(Layout, one_of(table, "layout", LAYOUTS, "pair")),
        about=table.text("about", ""),
        follow_ups=tuple(read_follow_up(one) for one in table.tables("follow_ups")),
        guidelines=table.texts("guidelines"),
        examples=tuple(read_example(one) for one in table.tables("examples")),
        own_image=table.yes_or_no("own_image", False),
        pairs=table.whole("pairs", 1, 1000, 16),
        gold=table.whole("gold", 0, 1000, 2),
        columns=table.whole("columns", 1, 100, 1),
        seconds=table.number("seconds", 0.1, 86_400, 20.0),
        texts=read_texts(table),
    )
    check_form(form, where)
    return form


def one_of(table: Fields, name: str, choices: tuple[str, ...], default: str) -> str:
    """Return one of some words."""
    value = table.text(name, default)
    if value not in choices:
        raise table.error(name, f"is {value!r}", f"choose one of {', '.join(choices)}")
    return value


def read_key(table: Fields) -> str:
    """Return the key of a choice; empty for none."""
    key = table.text("key", "")
    if len(key) > 1:
        raise table.error("key", f"is {key!r}", "give one letter, digit or sign")
    return key.lower()


def read_answer(table: Fields) -> Choice:
    """Return an answer with its rating and grade."""
    table.close(["code", "text", "key", "rating", "grade"])
    return Choice(
        table.code("code"),
        table.text("text"),
        read_key(table),
        table.number("rating", -HIGHEST, HIGHEST),
        table.number("grade", 0, 1),
    )


def read_choice(table: Fields) -> Choice:
    """Return a choice of a follow-up question, which has no rating."""
    table.close(["code", "text", "key"])
    return Choice(table.code("code"), table.text("text"), read_key(table))


def read_follow_up(table: Fields) -> FollowUp:
    """Return a further question."""
    table.close([field.name for field in fields(FollowUp)])
    return FollowUp(
        table.code("code"),
        table.text("text"),
        table.texts("when"),
        table.text("after", ""),
        cast(Kind, one_of(table, "kind", KINDS, "several")),
        tuple(read_choice(one) for one in table.tables("choices")),
        table.yes_or_no("required", False),
    )


def read_example(table: Fields) -> Example:
    """Return a worked example."""
    table.close([field.name for field in fields(Example)])
    return Example(
        table.text("caption"), table.text("picture"), table.text("answer"), table.text("why", "")
    )  # fmt: skip


def read_texts(table: Fields) -> dict[str, str]:
    """Return further texts of the page by their names."""
    given = Fields(table.take("texts", {}), table.where, "texts")
    for name in given.data:
        Fields({"name": name}, table.where, "texts").code("name")
    return {str(name): given.text(str(name)) for name in given.data}
