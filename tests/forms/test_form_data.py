"""A form as plain data: every mistake is reported with its place."""

import pytest

from karat.errors import InputError
from karat.forms import form_from_data
from karat.forms.form_data import PAGE_KEYS


def tiny(**changes):
    data = {
        "name": "tiny",
        "title": "Tiny",
        "question": "Does it fit?",
        "answers": [
            {"code": "yes", "text": "Yes", "key": "1", "rating": 1, "grade": 1},
            {"code": "no", "text": "No", "key": "2", "rating": 0, "grade": 0},
        ],
    }
    return data | changes


def follow_up(**changes):
    made = {
        "code": "why",
        "text": "Why?",
        "when": ["no"],
        "choices": [{"code": "blurred", "text": "Blurred"}],
    }
    return {name: value for name, value in (made | changes).items() if value is not None}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"titel": "x"}, "no field 'titel'; did you mean title?"),
        ({"title": 3}, "title is 3; give text"),
        ({"title": "  "}, "title is empty"),
        ({"title": "a\x07b"}, "U+0007"),
        ({"title": "a\u202eb"}, "U+202E"),
        ({"title": "x" * 2001}, "2,001 characters"),
        ({"name": "Mein Formular"}, "lower-case letters"),
        ({"layout": "list"}, "choose one of pair, grid"),
        ({"answers": []}, "fewer than two answers"),
        ({"answers": {"code": "yes"}}, "answers is not a list"),
        ({"answers": ["yes", "no"]}, "answers[0] is not a table"),
        ({"answers": [{"code": "yes", "text": "Yes", "rating": 1}] * 2}, "answers[0] has no grade"),
        ({"answers": [{"code": "y", "text": "Yes", "rating": 1, "grade": 1.5}] * 2}, "from 0 to 1"),
        ({"answers": [{"code": "y", "text": "Yes", "rating": True, "grade": 1}] * 2}, "rating is True"),
        (
            {"answers": [{"code": "y", "text": "Yes", "rating": float("nan"), "grade": 1}] * 2},
            "rating is nan",
        ),
        ({"pairs": 0}, "from 1 to 1000"),
        ({"pairs": 2.5}, "whole number"),
        ({"seconds": "20"}, "seconds is '20'"),
        ({"own_image": 1}, "true or false"),
        ({"columns": 10}, "only grids"),
        ({"layout": "grid"}, "one column"),
        ({"layout": "grid", "columns": 10, "pairs": 16, "gold": 10}, "not a multiple of the 10"),
        ({"texts": {"A B": "x"}}, "lower-case letters"),
        ({"follow_ups": [follow_up(when=["maybe"])]}, "the answer 'maybe', which does not exist"),
        ({"follow_ups": [follow_up(after="other.thing")]}, "no earlier follow-up has"),
        ({"follow_ups": [follow_up(choices=None)]}, "has no choices"),
        ({"follow_ups": [follow_up(kind="text")]}, "is of kind 'text' and has choices"),
        ({"follow_ups": [follow_up(kind="any")]}, "choose one of one, several, text"),
        ({"follow_ups": [follow_up(), follow_up()]}, "two follow_ups have the code 'why'"),
        (
            {"follow_ups": [follow_up(choices=[{"code": "b", "text": "B", "key": "1"}])]},
            "two choices have the key '1'",
        ),
        ({"follow_ups": [follow_up(choices=[{"code": "b", "text": "B", "grade": 1}])]}, "no field 'grade'"),
        ({"examples": [{"caption": "c", "picture": "p", "answer": "maybe"}]}, "examples[0] has the answer"),
    ],
)
def test_a_mistake_is_reported_with_its_place(changes, words):
    with pytest.raises(InputError) as error:
        form_from_data(tiny(**changes), "mine.toml")
    assert words in str(error.value)
    assert str(error.value).startswith("mine.toml: ")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"code": "no"}, "two answers have the code 'no'"),
        ({"key": "2"}, "two choices have the key '2'"),
        ({"key": "12"}, "one letter"),
        ({"rating": 0}, "two answers have the rating 0"),
        ({"grade": 0}, "do not separate relevant pairs"),
        ({"rating": -1}, "higher rating"),
        *[({"key": key.upper()}, "which the page uses for") for key in PAGE_KEYS],
    ],
)
def test_answers_must_differ(change, words):
    data = tiny()
    data["answers"][0] |= change
    with pytest.raises(InputError, match=words):
        form_from_data(data)
