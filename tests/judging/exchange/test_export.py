"""Exported tasks: complete, and silent about what annotators must not know."""

import csv
import html
import json
import re
from dataclasses import replace

import pytest

from judging.exchange.projects import fill, make_benchmark, make_plan, make_project
from karat.judging.exchange import export_tasks, import_answers

SUFFIX = {"csv": ".csv", "jsonl": ".jsonl", "mturk": ".csv", "label-studio": ".json"}


@pytest.mark.parametrize("name", SUFFIX)
def test_tasks_reveal_nothing(tmp_path, name):
    """The same bytes are written whichever pairs are gold and whoever answered; no ids of captions."""
    written = []
    for number, gold in enumerate((make_plan().gold, -make_plan().gold)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with make_project(folder) as project:
            if number:
                fill(project)
            plan = replace(project.pools.plan(), gold=gold)
            project.pools.plan = lambda plan=plan: plan
            assert project.pools.plan().gold.tolist() == gold.tolist()
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
        assert (done.answers, done.annotators) == (3, 1)
        assert done.notes == ("7 rows without annotator and answer were left out",)
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
        with pytest.raises(ValueError, match="no format has files that end in"):
            export_tasks(project, tmp_path / "t.xlsx")
        with pytest.raises(
            ValueError, match=r"a second file would have this name too, since it ends in \.html"
        ):
            export_tasks(project, tmp_path / "t.html", "mturk")
        with pytest.raises(ValueError, match="there is no folder"):
            export_tasks(project, tmp_path / "none" / "t.csv")
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".db"] == []


def test_captions_without_texts_are_noted(tmp_path):
    with make_project(tmp_path, texts=False) as project:
        assert export_tasks(project, tmp_path / "t.csv").notes
