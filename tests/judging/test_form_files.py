"""Forms as files: the four of karat, a team's own, and a sentence for every mistake."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError, KaratError, MissingDataError
from karat.judging.forms.form import Choice, Example, FollowUp, Form
from karat.judging.forms.form_data import PAGE_KEYS
from karat.judging.forms.form_files import FORMS, form_from_data, form_to_data, load_form, save_form


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


@pytest.mark.parametrize("name", FORMS)
def test_every_form_survives_json_and_toml(name, tmp_path):
    form = load_form(name)
    assert form.name == name
    assert form_from_data(json.loads(json.dumps(form_to_data(form)))) == form
    save_form(form, tmp_path / "mine.toml")
    assert load_form(tmp_path / "mine.toml") == form
    assert form.guidelines
    assert {one.answer for one in form.examples} <= {one.code for one in form.answers}


def test_grades_follow_the_papers():
    # ECCV Caption, eq. E.4; Flickr8k's experts as karat reads them, per answer; a check is a yes.
    assert load_form("pair").grades([1, 2, 3, 4]).tolist() == [0, 0, 0.5, 1]
    assert load_form("expert").grades([1, 2, 3, 4]).tolist() == [0, 0, 0.5, 1]
    assert load_form("grid").grades([0, 1]).tolist() == [0, 1]
    assert load_form("misread").grades(range(1, 11)).tolist() == [0, 0, 0, 0, 0, 0.6, 0.7, 0.8, 0.9, 1]
    grid = load_form("grid")
    assert (grid.pairs + grid.gold, grid.columns) == (60, 10)  # six images with ten captions


def test_the_reasons_of_eccv_are_asked_when_unsure():
    shortcomings, errors = load_form("pair").follow_ups
    assert shortcomings.when == errors.when == ("partially", "mostly_no")
    assert errors.after == "shortcomings.wrong_way"
    assert (len(shortcomings.choices), len(errors.choices)) == (4, 10)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"titel": "x"}, "no field 'titel'; did you mean title?"),
        ({"title": 3}, "title is 3; give text"),
        ({"title": "  "}, "title is empty"),
        ({"title": "a\x07b"}, "U+0007"),
        ({"title": "a\u202eb"}, "U+202E"),
        ({"title": "x" * 2001}, "2,001 characters"),
        ({"name": "Mein Formular"}, "small letters"),
        ({"layout": "list"}, "choose one of pair, grid"),
        ({"answers": []}, "fewer than two"),
        ({"answers": {"code": "yes"}}, "answers is no list"),
        ({"answers": ["yes", "no"]}, "answers[0] is no table"),
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
        ({"layout": "grid", "columns": 10, "pairs": 16, "gold": 10}, "no multiple of the 10"),
        ({"texts": {"A B": "x"}}, "small letters"),
        ({"follow_ups": [follow_up(when=["maybe"])]}, "the answer 'maybe', which there is not"),
        ({"follow_ups": [follow_up(after="other.thing")]}, "no earlier follow-up has"),
        ({"follow_ups": [follow_up(choices=None)]}, "has no choices"),
        ({"follow_ups": [follow_up(kind="text")]}, "free text and has choices"),
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
def test_a_mistake_is_said_with_its_place(changes, words):
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
        ({"grade": 0}, "do not tell relevant pairs"),
        ({"rating": -1}, "higher rating"),
        *[({"key": key.upper()}, "the page's own") for key in PAGE_KEYS],
    ],
)
def test_answers_are_told_apart(change, words):
    data = tiny()
    data["answers"][0] |= change
    with pytest.raises(InputError, match=words):
        form_from_data(data)


def test_files_that_are_no_forms(tmp_path):
    with pytest.raises(KaratError, match="did you mean pair"):
        load_form("pairs")
    with pytest.raises(MissingDataError, match="no such file"):
        load_form(tmp_path / "none.toml")
    for name, content, words in (
        ("broken.toml", b"name = ", "is no TOML"),
        ("bytes.toml", b"\xff\xfe\x00", "is not text"),
        ("latin.toml", "name = 'é'".encode("latin-1"), "is no TOML"),
        ("large.toml", b"#" * 1_000_001, "more than a million bytes"),
        ("deep.toml", b"a = " + b"[" * 5000 + b"]" * 5000, "is no TOML"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=words):
            load_form(tmp_path / name)
    with pytest.raises(InputError, match=r"\.toml files"):
        save_form(load_form("pair"), tmp_path / "form.json")


def test_a_form_made_by_hand_is_checked_before_it_is_written(tmp_path):
    with pytest.raises(InputError, match="fewer than two"):
        save_form(replace(load_form("pair"), answers=()), tmp_path / "mine.toml")
    assert not (tmp_path / "mine.toml").exists()


words = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf"]), min_size=1, max_size=12).map(
    lambda text: " ".join(text.split())
)
plain = words.filter(bool)


@st.composite
def forms(draw):
    number = draw(st.integers(2, 5))
    grades = [0.0, *sorted(draw(st.lists(st.floats(0.1, 1), min_size=number - 1, max_size=number - 1)))]
    answers = tuple(Choice(f"a{k}", draw(plain), str(k), float(k), grades[k]) for k in range(number))
    choices = tuple(Choice(f"c{k}", draw(plain)) for k in range(draw(st.integers(1, 3))))
    asked = FollowUp("why", draw(plain), ("a0",), "", draw(st.sampled_from(["one", "several"])), choices)
    more = FollowUp("how", draw(plain), (), "why.c0", "text", (), draw(st.booleans()))
    return Form(
        "made",
        draw(plain),
        draw(plain),
        answers,
        about=draw(words),
        follow_ups=(asked, more)[: draw(st.integers(0, 2))],
        guidelines=tuple(draw(st.lists(plain, max_size=3))),
        examples=(Example(draw(plain), draw(plain), "a1", draw(words)),),
        own_image=draw(st.booleans()),
        seconds=draw(st.floats(0.5, 100)),
        texts={"next": draw(plain)},
    )


@given(form=forms())
@settings(max_examples=60, deadline=None)
def test_any_form_survives_its_file(form, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "made.toml"
    save_form(form, path)
    assert load_form(path) == form
