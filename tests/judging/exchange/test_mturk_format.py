"""Amazon Mechanical Turk: the batch and its page, and results as Amazon writes them, not as karat does."""

import csv
import html
import re
from html.parser import HTMLParser

import pytest

from judging.exchange.projects import FORM, make_project
from karat.errors import InputError
from karat.forms import FORMS, load_form
from karat.judging.exchange import export_tasks, import_answers
from karat.judging.exchange.mturk_format import page
from karat.judging.exchange.tasks import TaskNames

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
    assert [name for _, name in table.details] == ["wrong.colour"]


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
    assert done.notes == ("1 rejected assignments without an answer were left out",)


WRONG = {
    "status": (lambda t: result(t, status="Pending"), "line 2: AssignmentStatus is 'Pending'"),
    "two answers": (lambda t: result(t, first="true,false,true"), "line 2: answer is 'no|yes'"),
    "nothing": (lambda t: result(t, first=",,", second="", more=",,,"), "line 2: has no answers"),
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
        ("Answer.answer_2", "Answer.sentiment", "there is an unknown column 'Answer.sentiment'"),
        ("Input.task", "Input.hit", "there is no column 'Input.task'"),
        ("WorkerId", "Worker", "there is no column 'WorkerId'"),
    ):
        with pytest.raises(InputError, match=said):
            import_answers(project, write(tmp_path, RESULTS.replace(old, new)), "mturk")


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


@pytest.mark.parametrize("name", FORMS)
def test_pages_of_all_forms(name):
    form = load_form(name)
    assert page(form, form.pairs).count("<section") == form.pairs
