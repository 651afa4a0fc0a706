"""Forms as files: those of karat, and your own."""

import json
import re
import shutil
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError, KaratError, MissingDataError
from karat.forms import (
    FORMS,
    Choice,
    Example,
    FollowUp,
    Form,
    form_files,
    form_from_data,
    form_to_data,
    load_form,
    save_form,
)

from house import ROOT


@pytest.mark.parametrize("name", FORMS)
def test_every_form_survives_json_and_toml(name, tmp_path):
    form = load_form(name)
    assert form.name == name
    assert form_from_data(json.loads(json.dumps(form_to_data(form)))) == form
    save_form(form, tmp_path / "mine.toml")
    assert load_form(tmp_path / "mine.toml") == form
    assert form.guidelines
    assert {example.answer for example in form.examples} <= {answer.code for answer in form.answers}


def page_form():
    """The form on the page that explains how to add one."""
    text = (ROOT / "docs" / "add-a-form.md").read_text(encoding="utf-8")
    return re.search(r"```toml\n(.*?)```", text, re.DOTALL).group(1)


def test_a_file_in_the_folder_is_a_form(tmp_path, monkeypatch):
    """The form of docs/add-a-form.md, in a copy of the folder: its name is listed nowhere."""
    folder = tmp_path / "forms"
    shutil.copytree(form_files.FOLDER, folder)
    for name in ("relevance", "other"):
        (folder / f"{name}.toml").write_text(page_form(), encoding="utf-8")
    names = form_files.names_in(folder)
    assert set(names) == {*FORMS, "relevance", "other"}
    monkeypatch.setattr(form_files, "FOLDER", folder)
    monkeypatch.setattr(form_files, "FORMS", names)
    form_files.built_in_form.cache_clear()
    assert load_form("relevance").grades([0, 1, 2]).tolist() == [0, 0.5, 1]
    with pytest.raises(InputError, match="the name is 'relevance'"):
        load_form("other")
    form_files.built_in_form.cache_clear()


def test_forms_are_listed_nowhere_but_in_their_folder():
    """The command line reads the folder, and package data are a pattern."""
    from karat.cli.choices import choice_names

    folder = ROOT / "src" / "karat" / "forms"
    assert choice_names("forms") == list(FORMS) == sorted(file.stem for file in folder.glob("*.toml"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "forms/*.toml" in project["tool"]["setuptools"]["package-data"]["karat"]


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


def test_files_that_are_not_forms(tmp_path):
    with pytest.raises(KaratError, match="did you mean pair"):
        load_form("pairs")
    with pytest.raises(MissingDataError, match="no such file"):
        load_form(tmp_path / "none.toml")
    for name, content, words in (
        ("broken.toml", b"name = ", "is not TOML"),
        ("bytes.toml", b"\xff\x00\x00", "is not text"),
        ("latin.toml", "name = 'é'".encode("latin-1"), "is not UTF-8"),
        ("large.toml", b"#" * 1_000_001, "more than a million bytes"),
        ("deep.toml", b"a = " + b"[" * 5000 + b"]" * 5000, "is not TOML"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=words):
            load_form(tmp_path / name)
    with pytest.raises(InputError, match=r"ends in \.toml"):
        save_form(load_form("pair"), tmp_path / "form.json")


def test_a_form_made_in_python_is_checked_before_it_is_written(tmp_path):
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
