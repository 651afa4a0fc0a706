"""Label Studio: its labelling interface, and files as it exports them, not as karat writes them."""

import json
from xml.etree import ElementTree

import pytest

from judging.exchange.projects import FORM, make_project
from karat.errors import InputError
from karat.forms import FORMS, load_form
from karat.judging.exchange import export_tasks, import_answers
from karat.judging.exchange.label_studio_format import config


@pytest.fixture
def project(tmp_path):
    with make_project(tmp_path) as made:
        yield made


def write(tmp_path, text, name="export.json"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


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


@pytest.mark.parametrize("name", FORMS)
def test_interfaces_of_all_forms(name):
    form = load_form(name)
    root = ElementTree.fromstring(config(form))
    controls = {one.get("name") for one in root.iter() if one.get("toName")}
    assert controls == {"answer"} | {f"details_{one.code}" for one in form.follow_ups}


@pytest.fixture
def exported(project, tmp_path):
    """Tasks as Label Studio exports them after two annotators worked; the first skipped one."""
    path = tmp_path / "tasks.json"
    export_tasks(project, path, "label-studio")
    tasks = json.loads(path.read_text(encoding="utf-8"))
    for number, task in enumerate(tasks, 1):
        task |= {"id": number, "annotations": [], "drafts": [], "predictions": [{"result": [{"x": 1}]}]}
    tasks[0]["annotations"] = [
        annotation(7, ["yes"]),
        annotation({"id": 8, "email": "b@x.org"}, ["no"], ["colour"]),
    ]
    tasks[1]["annotations"] = [annotation(7, ["yes"]) | {"was_cancelled": True}]
    return tasks


def annotation(who, answer, wrong=None, why=None):
    result = [{"from_name": "answer", "to_name": "image", "type": "choices", "value": {"choices": answer}}]
    if wrong:
        result.append({"from_name": "details_wrong", "type": "choices", "value": {"choices": wrong}})
    if why:
        result.append({"from_name": "details_why", "type": "textarea", "value": {"text": why}})
    return {
        "id": 1, "completed_by": who, "result": result, "was_cancelled": False, "lead_time": 4.288,
        "created_at": "2021-03-09T22:16:08.728353Z",
    }  # fmt: skip


def test_annotations(project, tmp_path, exported):
    path = write(tmp_path, json.dumps(exported, indent=1), "export.json")
    done = import_answers(project, path)
    assert (done.format, done.answers, done.annotators) == ("label-studio", 2, 2)
    assert done.notes == ("1 annotations that were skipped in Label Studio were left out",)
    table = project.answers.read()
    assert table.annotators == ("7", "b@x.org")
    assert table.seconds.tolist() == [4.288] * 2
    assert table.at.tolist() == pytest.approx([1615328168.728353] * 2)
    with pytest.raises(InputError, match=r"line 2: .*already"):
        import_answers(project, path)


CHANGES = {
    "no answer": (lambda a: a.update(result=[]), "line 2: has an annotation without an answer (task 1)"),
    "two answers": (lambda a: a["result"].append(a["result"][0]), "line 2: has two answers (task 1)"),
    "unknown answer": (lambda a: a["result"][0]["value"].update(choices=["Yes"]), "line 2: answer is 'Yes'"),
    "other control": (lambda a: a["result"][0].update(from_name="x"), "line 2: has a control 'x'"),
    "no choices": (lambda a: a["result"][0].update(value={"rating": 3}), "line 2: 'answer' has the value"),
    "nobody": (lambda a: a.update(completed_by=None), "line 2: completed_by is None"),
    "negative": (lambda a: a.update(lead_time=-1), "line 2: seconds is -1"),
    "no time": (lambda a: a.update(created_at="noon"), "line 2: at is 'noon'"),
    "no list": (lambda a: a.update(result={"a": 1}), "line 2: result is"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_wrong_annotations(project, tmp_path, exported, name):
    change, said = CHANGES[name]
    change(exported[0]["annotations"][0])
    check(project, tmp_path, "[\n" + ",\n".join(map(json.dumps, exported)) + "\n]", said)


def check(project, tmp_path, text, said):
    with pytest.raises(InputError) as stop:
        import_answers(project, write(tmp_path, text, "export.json"), "label-studio")
    assert stop.value.what.startswith(said)
    assert len(project.answers.read()) == 0


TEXTS = {
    "cut off": ('[{"id": 1, "data": {"task": "0"', "line 1: is not json"),
    "cut between": ('[{"data": {}},\n', "line 2: is not json"),
    "cut after": ('[{"data": {}}\n', "line 2: ends inside the list"),
    "comma": ('[{"data": {}},\n]', "line 2: has a comma before the end"),
    "no comma": ('[{"data": {}}\n{}]', "line 2: a comma is missing"),
    "more": ('[{"data": {}}]\n[]', "line 2: has more after the list"),
    "object": ('{"data": {}}', "line 1: does not start with a list"),
    "bomb": ("[" * 100_000, "line 1: is nested too deeply"),
    "numbers": ("[\n1]", "line 2: is 1, not an object"),
    "no data": ('[\n{"annotations": []}]', "line 2: is None, not an object"),
    "empty list": ("[]", "contains no answers"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_wrong_json(project, tmp_path, name):
    text, said = TEXTS[name]
    check(project, tmp_path, text, said)
