"""A file with anything wrong changes nothing, and the message names the line."""

import pytest

from judging.exchange.projects import make_project, table_of
from karat.judging.exchange import import_answers
from karat.judging.exchange.csv_format import renamed_columns
from karat.judging.exchange.file_answers import TextColumn

HEAD = "task,item,worker,answer\n"
GOOD = HEAD + "0,1,ann,yes\n0,2,ann,no\n"


def test_the_good_file_is_good(tmp_path):
    path = tmp_path / "good.csv"
    path.write_text(GOOD)
    with make_project(tmp_path) as made:
        assert import_answers(made, path).answers == 2


TABLES = {
    "missing column": ("task,item,worker\n0,1,ann\n", "line 1: there is no column 'answer'"),
    "unknown column": (
        "task,item,worker,answer,foo\n0,1,ann,yes,1\n",
        "line 1: there is an unknown column 'foo'",
    ),
    "duplicate column": (
        "task,item,worker,answer,answer\n0,1,ann,yes,no\n",
        "line 1: there is a duplicate column 'answer'",
    ),
    "no pair": ("worker,answer\nann,yes\n", "line 1: no columns name the pair"),
    "short row": (GOOD + "0,3,ann\n", "line 4: has 3 cells"),
    "long row": (GOOD + "0,3,ann,yes,\n", "line 4: has 5 cells"),
    "short and long": (HEAD + "0,1,ann\n0,1,ann,yes,no\n", "line 2: has 3 cells"),
    "unknown task": (GOOD + "7,1,ann,yes\n", "line 4: task is '7'"),
    "task of another project": (GOOD + "0-00000000,3,ann,yes\n", "line 4: task is '0-00000000'"),
    "odd task": (GOOD + "-1,3,ann,yes\n", "line 4: task is '-1'"),
    "unknown item": (GOOD + "0,9,ann,yes\n", "line 4: names an item"),
    "item of nothing": (GOOD + "0,x,ann,yes\n", "line 4: item is 'x'"),
    "item without task": (GOOD + ",1,ann,yes\n", "line 4: has an item without a task"),
    "twice": (GOOD + "0,1,ben,yes\n0,1,ann,no\n", "line 5: 'ann' answers this pair again after line 2"),
    "no such answer": (GOOD + "0,3,ann,Yes\n", "line 4: answer is 'Yes'"),
    "no answer": (GOOD + "0,3,ann,\n", "line 4: answer is ''"),
    "no worker": (GOOD + "0,3,,yes\n", "line 4: worker is ''"),
    "long name": (GOOD + f"0,3,{'x' * 201},yes\n", "line 4: worker is"),
    "line after a long cell": (HEAD + '0,1,ann,yes\n0,2,"a\nb",yes\n', "line 3: worker is"),
    "open quote": (GOOD + '0,3,"ann,yes\n', "line 4: has broken quotes"),
    "text after quote": (GOOD + '0,3,"ann"x,yes\n0,4,ann,yes\n', "line 4: has broken quotes"),
    "huge cell": (GOOD + f"0,3,{'x' * 140_000},yes\n", "line 4: has a cell of more than 131,072"),
    "huge name": (f"task,item,worker,{'x' * 140_000}\n", "line 1: there is no column 'answer'"),
    "huge quoted name": (f'task,item,worker,"{"x" * 140_000}"\n', "line 1: has a cell of more than"),
    "guarded name twice": (HEAD + "0,1,=ann,yes\n0,1,'=ann,no\n", "line 3: '=ann' answers this pair again"),
    "old line ends": (GOOD.replace("\n", "\r") + "0,3,ann,maybe\r", "line 4: answer is 'maybe'"),
    "Windows line ends": (GOOD.replace("\n", "\r\n") + "0,3,ann,maybe\r\n", "line 4: answer is 'maybe'"),
    "empty lines": (HEAD + "\n\n0,1,ann,maybe\n", "line 4: answer is 'maybe'"),
    "only a header": (HEAD, "contains no answers"),
    "empty": ("", "is empty"),
    "blank first line": ("\n" + GOOD, "line 1 is empty"),
}
WITH = "task,item,worker,answer,seconds,at,kind,details.wrong,details.which,details.why\n"
CELLS = {
    "negative seconds": ("0,1,ann,yes,-1,,,,,", "line 2: seconds is '-1'"),
    "no number": ("0,1,ann,yes,fast,,,,,", "line 2: seconds is 'fast'"),
    "nan": ("0,1,ann,yes,nan,,,,,", "line 2: seconds is 'nan'"),
    "infinite": ("0,1,ann,yes,1e999,,,,,", "line 2: seconds is '1e999'"),
    "underscore": ("0,1,ann,yes,1_0,,,,,", "line 2: seconds is '1_0'"),
    "no time": ("0,1,ann,yes,1,yesterday,,,,", "line 2: at is 'yesterday'"),
    "no kind": ("0,1,ann,yes,1,,robot,,,", "line 2: kind is 'robot'"),
    "two kinds": (
        "0,1,ann,yes,1,,machine,,,\n0,2,ann,yes,1,,,,,",
        "line 3: 'ann' is a person here and a machine",
    ),
    "no such choice": ("0,1,ann,no,1,,,size,,", "line 2: question wrong has no choice 'size'"),
    "not asked": ("0,1,ann,yes,1,,,colour,,", "line 2: 'wrong' is not asked after the answer 'yes'"),
    "not after": ("0,1,ann,no,1,,,colour,a,", "line 2: 'which' is not asked"),
    "two of one": ("0,1,ann,no,1,,,other,a|b,", "line 2: 'which' has 2 answers"),
    "same choice twice": ("0,1,ann,no,1,,,colour|colour,,", "line 2: 'wrong' has 2 answers"),
    "long text": (f"0,1,ann,no,1,,,,,{'x' * 10_001}", "line 2: why has 10,001 characters"),
}
PAIRS = "task,image,caption,worker,answer\n"
IDS = {
    "unknown image": ("0,777,905,ann,yes", "line 2: image is '777'"),
    "unknown caption": ("0,100,1,ann,yes", "line 2: caption is '1'"),
    "half a pair": ("0,100,,ann,yes", "line 2: does not name the pair"),
    "pair of another task": ("0,104,900,ann,yes", "line 2: has a pair that is not in its task"),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(refused, name):
    data, said = TABLES[name]
    assert refused(data, format="csv").startswith(said)


@pytest.mark.parametrize("name", CELLS)
def test_cells(refused, name):
    data, said = CELLS[name]
    assert refused(WITH + data + "\n").startswith(said)


@pytest.mark.parametrize("name", IDS)
def test_ids(refused, name):
    data, said = IDS[name]
    assert refused(PAIRS + data + "\n").startswith(said)


def test_ids_that_contradict_the_item(refused):
    data = "task,item,image,caption,worker,answer\n0,1,101,902,ann,yes\n"
    assert refused(data) == "line 2: has ids of another pair than the item's"


SHEET = """task,item,{name},answer,kind,details.why
0,1,=ann,yes,,good
0,2,ben,half,machine,'-half
1,1,"ann, jr.",no,,
"""


@pytest.mark.parametrize("quoted", [False, True], ids=["plain", "quoted"])
def test_the_annotator_may_have_either_name(tmp_path, quoted):
    """`worker` is what karat writes; `annotator` is read the same, by both readers of tables."""
    tables = []
    for name in ("worker", "annotator"):
        text = SHEET.format(name=name) if quoted else SHEET.format(name=name).replace('"ann, jr."', "jr.")
        path = tmp_path / f"{name}.csv"
        path.write_text(text)
        with make_project(tmp_path, f"{name}.db") as made:
            done = import_answers(made, path)
            assert (done.answers, done.annotators, done.format) == (3, 3, "csv")
            tables.append([(*row[:8], *row[9:]) for row in table_of(made)])
    assert tables[0] == tables[1]


def test_both_names_of_the_annotator_are_refused(refused):
    data = "task,item,worker,annotator,answer\n0,1,ann,ben,yes\n"
    said = refused(data)
    assert said == "line 1: the columns 'worker' and 'annotator' mean the same"
    assert refused(data.replace("ben", "ann")) == said


def test_messages_name_the_column_of_the_file(refused):
    assert refused(HEAD + "0,1,,yes\n") == "line 2: worker is ''"
    assert refused(HEAD.replace("worker", "annotator") + "0,1,,yes\n") == "line 2: annotator is ''"
    assert refused("task,item,answer\n0,1,yes\n", format="csv") == "line 1: there is no column 'worker'"


def test_columns_are_not_changed_in_place():
    columns = {"task": TextColumn.empty(1), "worker": TextColumn.empty(1)}
    assert list(renamed_columns(columns, "a.csv")) == ["task", "annotator"]
    assert list(columns) == ["task", "worker"]
