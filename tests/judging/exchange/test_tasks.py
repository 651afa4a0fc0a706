"""Exported tasks: complete, escaped, and silent about what people must not know."""

import csv
import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from judging.exchange.projects import FORM, fill, make_benchmark, make_plan, make_project
from karat.judging import load_form
from karat.judging.exchange import export_tasks, import_answers
from karat.judging.exchange.label_studio_config import config
from karat.judging.exchange.mturk_page import page

SUFFIX = {"csv": ".csv", "jsonl": ".jsonl", "mturk": ".csv", "label-studio": ".json"}


@pytest.mark.parametrize("name", SUFFIX)
def test_tasks_tell_nothing(tmp_path, name):
    """The same bytes come out whatever is known of the pairs and whoever answered; no ids of captions."""
    written = []
    for number, gold in enumerate((make_plan().gold, -make_plan().gold)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with make_project(folder) as project:
            if number:
                fill(project)
            plan = replace(project.pools.plan(), gold=gold)
            project.plan = lambda plan=plan: plan
            done = export_tasks(
                project, folder / f"tasks{SUFFIX[name]}", name, "https://host/a b/{name}?i={id}"
            )
        assert done.number == 3
        written.append([path.read_text(encoding="utf-8") for path in done.files])
    assert written[0] == written[1]
    text = "\n".join(written[0])
    assert "/secret" not in text
    for one in make_benchmark().captions.values:
        for shown in (one, html.escape(one), json.dumps(one)[1:-1]):
            assert shown not in text.replace("?i=", "")
    assert not re.search("gold|score|rank|judge", text.replace("background", ""), re.IGNORECASE)


def test_a_sheet_is_filled_in_and_imported(tmp_path):
    path = tmp_path / "tasks.csv"
    with make_project(tmp_path) as project:
        export_tasks(project, path)
        with path.open(encoding="utf-8", newline="") as stream:
            names, *rows = csv.reader(stream)
        assert len(rows) == 10
        assert names[:5] == ["task", "item", "image_address", "caption_text", "own_image_address"]
        for row in rows[:3]:
            row[names.index("worker")], row[names.index("answer")] = "ann", "yes"
        with path.open("w", encoding="utf-8-sig", newline="") as stream:
            csv.writer(stream).writerows([names, *rows])
        done = import_answers(project, path)
        assert (done.answers, done.people) == (3, 1)
        assert done.notes == ("7 rows without worker and answer were left out",)
        assert sorted(project.answers.read().caption.tolist()) == [2, 5, 9]


def test_addresses(tmp_path):
    with make_project(tmp_path) as project:
        export_tasks(project, tmp_path / "t.jsonl", images="https://host/{name}")
        first = json.loads((tmp_path / "t.jsonl").read_text().splitlines()[0])
        assert first["image_address"] == "https://host/0%20picture.jpg"
        assert first["own_image_address"] == "https://host/2%20picture.jpg"
        export_tasks(project, tmp_path / "t.jsonl", images="{id}")
        assert json.loads((tmp_path / "t.jsonl").read_text().splitlines()[0])["image_address"] == "plain.jpg"
        with pytest.raises(ValueError, match="address of images is 'nothing'"):
            export_tasks(project, tmp_path / "t.jsonl", images="nothing")


def test_unknown_formats_and_names(tmp_path):
    with make_project(tmp_path) as project:
        with pytest.raises(ValueError, match="did you mean csv"):
            export_tasks(project, tmp_path / "t.csv", "cvs")
        with pytest.raises(ValueError, match="says no format"):
            export_tasks(project, tmp_path / "t.xlsx")
        with pytest.raises(ValueError, match=r"a second file ends in \.html"):
            export_tasks(project, tmp_path / "t.html", "mturk")
        with pytest.raises(ValueError, match="there is no folder"):
            export_tasks(project, tmp_path / "none" / "t.csv")
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".db"] == []


def test_captions_without_texts_are_told(tmp_path):
    with make_project(tmp_path, texts=False) as project:
        assert export_tasks(project, tmp_path / "t.csv").notes


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_of_a_hit():
    tags = Tags()
    tags.feed(page(FORM, 3))
    names = {attrs.get("name") for _, attrs in tags.found}
    wanted = {
        f"{what}_{n}"
        for what in ("answer", "details_wrong", "details_why", "seconds", "at")
        for n in (1, 2, 3)
    }
    assert wanted <= names
    assert [tag for tag, _ in tags.found].count("script") == 2, "the form's texts start no script"
    assert "".join(tags.text).count('Is "it" right & true? ${x}') == 1
    variables = re.findall(r"\$\{(\w+)\}", page(FORM, 3))
    shown = {f"{what}_{n}" for what in ("image_url", "own_image_url", "text") for n in (1, 2, 3)}
    assert set(variables) == shown, "a form's own ${x} is no variable"


def test_the_batch_fits_the_page(tmp_path):
    with make_project(tmp_path) as project:
        done = export_tasks(project, tmp_path / "batch.csv", "mturk")
    batch, layout = done.files
    assert layout.name == "batch.html"
    with batch.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 3
    assert set(re.findall(r"\$\{(\w+)\}", layout.read_text(encoding="utf-8"))) <= set(rows[0])
    for row in rows:
        for value in row.values():
            assert not set(value) & set("<>\"'\n\r\t"), "Amazon puts cells into the page as they are"
            assert max(map(ord, value), default=0) < 0x10000, "Amazon refuses emoji"
            assert value[:1] not in ("=", "+", "-", "@")
    assert html.unescape(rows[0]["text_1"]) == "שלום עולם caption 5"
    assert rows[2]["text_3"] == "", "a shorter task leaves places empty"


@pytest.mark.parametrize("name", ["pair", "grid", "expert", "misread"])
def test_pages_and_interfaces_of_all_forms(name):
    form = load_form(name)
    assert page(form, form.pairs).count("<section") == form.pairs
    root = ElementTree.fromstring(config(form))
    controls = {one.get("name") for one in root.iter() if one.get("toName")}
    assert controls == {"answer"} | {f"details_{one.code}" for one in form.follow_ups}


def test_the_interface_of_label_studio():
    root = ElementTree.fromstring(config(FORM))
    answer = next(one for one in root.iter("Choices") if one.get("name") == "answer")
    assert [(one.get("value"), one.get("alias")) for one in answer] == [
        ("No", "no"), ("Half, but <…>", "half"), ("Yes", "yes"),
    ]  # fmt: skip
    views = [one for one in root.iter("View") if one.get("whenTagName") == "details_wrong"]
    assert [one.get("whenChoiceValue") for one in views] == ["other"]
    assert next(one for one in root.iter("View") if one.get("whenTagName") == "answer").get(
        "whenChoiceValue"
    ) == "no,half"  # fmt: skip
