"""Files as Amazon Mechanical Turk and Label Studio write them, not as karat does."""

import json

import pytest

from judging.exchange.projects import make_project
from karat.errors import InputError
from karat.judging.exchange import export_tasks, import_answers
from karat.judging.exchange.task_names import TaskNames

RESULTS = (
    '"HITId","HITTypeId","Title","RequesterAnnotation","AssignmentId","WorkerId","AssignmentStatus","AcceptTime",'
    '"SubmitTime","RequesterFeedback","WorkTimeInSeconds","LifetimeApprovalRate","Input.task","Input.text_1",'
    '"Answer.answer_1.no","Answer.answer_1.half","Answer.answer_1.yes","Answer.answer_2","Answer.details_wrong_1",'
    '"Answer.details_wrong_2.colour","Answer.details_wrong_2.other","Approve","Reject"\n'
)


def result(task, worker="A1", status="Submitted", first="false,false,true", second="no", more=",,true,false"):
    return (
        f'"3H1T","3TYPE","T","BatchId:12;","3ASSIGN","{worker}","{status}","Sun Sep 13 05:26:00 PDT 2020",'
        '"Sun Sep 13 05:26:40 PDT 2020","","40","100% (2/2)",'
        f'"{task}","a &lt; b",{first},{second}{more},"",""\n'
    )


@pytest.fixture
def project(tmp_path):
    with make_project(tmp_path) as made:
        yield made


def write(tmp_path, text, name="file.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_results_of_a_crowd_form(project, tmp_path):
    name = TaskNames(project.pools.plan())[0]
    done = import_answers(project, write(tmp_path, RESULTS + result(name)))
    assert (done.format, done.answers, done.reviews) == ("mturk", 2, 0)
    table = project.answers.read()
    assert table.seconds.tolist() == [20.0, 20.0], "the work time is shared out"
    assert table.at.tolist() == [1_600_000_000.0] * 2
    assert table.rating.tolist() == [2.0, 0.0]
    assert [table.details[one] for one in table.detail] == ["wrong.colour"]


def test_rejected_work_is_kept_and_marked(project, tmp_path):
    name = TaskNames(project.pools.plan())[1]
    done = import_answers(project, write(tmp_path, RESULTS + result(name, status="Rejected")))
    assert (done.answers, done.reviews) == (2, 1)
    assert [one[:2] for one in project.reviews.read().values()] == [("reject", "mturk")]


def test_rejected_work_without_answers_is_left_out(project, tmp_path):
    names = TaskNames(project.pools.plan())
    empty = result(names[1], "A2", "Rejected", "false,false,false", "", ",,false,false")
    done = import_answers(project, write(tmp_path, RESULTS + result(names[0]) + empty))
    assert done.answers == 2
    assert done.notes == ("1 rejected hand-ins without an answer were left out",)


WRONG = {
    "status": (lambda t: result(t, status="Pending"), "line 2: AssignmentStatus is 'Pending'"),
    "two answers": (lambda t: result(t, first="true,false,true"), "line 2: answer is 'no|yes'"),
    "nothing": (lambda t: result(t, first=",,", second="", more=",,,"), "line 2: has no answer at all"),
    "other project": (lambda t: result("0-12345678"), "line 2: task is '0-12345678'"),
    "bad time": (lambda t: result(t).replace('"40"', '"-4"'), "line 2: WorkTimeInSeconds is '-4'"),
    "twice": (lambda t: result(t) + result(t), "line 3: 'A1' answers this pair again after line 2"),
    "not asked": (lambda t: result(t, second="yes"), "line 2: 'wrong' is not asked"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_results(project, tmp_path, name):
    make, said = WRONG[name]
    path = write(tmp_path, RESULTS + make(TaskNames(project.pools.plan())[0]))
    with pytest.raises(InputError) as stop:
        import_answers(project, path)
    assert stop.value.what.startswith(said)
    assert len(project.answers.read()) == 0


def test_columns_of_another_layout(project, tmp_path):
    for old, new, said in (
        ("Answer.answer_2", "Answer.sentiment", "there is a column 'Answer.sentiment'"),
        ("Input.task", "Input.hit", "there is no column 'Input.task'"),
        ("WorkerId", "Worker", "there is no column 'WorkerId'"),
    ):
        with pytest.raises(InputError, match=said):
            import_answers(project, write(tmp_path, RESULTS.replace(old, new)), "mturk")


@pytest.fixture
def exported(project, tmp_path):
    """Tasks as Label Studio exports them after two people worked; the first skipped one."""
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
    assert (done.format, done.answers, done.people) == ("label-studio", 2, 2)
    assert done.notes == ("1 annotations that were skipped there were left out",)
    table = project.answers.read()
    assert table.workers == ("7", "b@x.org")
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
    "cut off": ('[{"id": 1, "data": {"task": "0"', "line 1: is no json"),
    "cut between": ('[{"data": {}},\n', "line 2: is no json"),
    "cut after": ('[{"data": {}}\n', "line 2: ends within the list"),
    "comma": ('[{"data": {}},\n]', "line 2: has a comma before the end"),
    "no comma": ('[{"data": {}}\n{}]', "line 2: misses a comma"),
    "more": ('[{"data": {}}]\n[]', "line 2: has more after the list"),
    "object": ('{"data": {}}', "line 1: does not start with a list"),
    "bomb": ("[" * 100_000, "line 1: is nested too deeply"),
    "numbers": ("[\n1]", "line 2: is 1, not an object"),
    "no data": ('[\n{"annotations": []}]', "line 2: is None, not an object"),
    "empty list": ("[]", "holds no answers"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_wrong_json(project, tmp_path, name):
    text, said = TEXTS[name]
    check(project, tmp_path, text, said)
