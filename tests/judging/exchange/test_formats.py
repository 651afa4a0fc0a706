"""Answers that leave a project and enter a fresh one with the same tasks are the same answers."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judging.exchange.projects import FORM, ODD, fill, make_benchmark, make_plan, make_project, table_of
from karat.judging.exchange import FORMATS, export_answers, import_answers
from karat.judging.exchange.answer_import import check_answers
from karat.judging.exchange.export import collect_tasks
from karat.judging.exchange.file_answers import ExportedAnswer, ExportedAnswers
from karat.judging.exchange.files import read_text_bytes
from karat.judging.exchange.formats import guess_format

SUFFIX = {"csv": ".csv", "jsonl": ".jsonl", "mturk": ".csv", "label-studio": ".json"}


@pytest.mark.parametrize("number", [False, True], ids=["texts", "numbers"])
@pytest.mark.parametrize("name", SUFFIX)
def test_every_format_brings_back_the_same_answers(tmp_path, name, number):
    with (
        make_project(tmp_path, "a.db", number=number) as one,
        make_project(tmp_path, "b.db", number=number) as two,
    ):
        fill(one)
        path = tmp_path / f"answers{SUFFIX[name]}"
        done = export_answers(one, path, name)
        assert done.number == 14
        imported = import_answers(two, path)
        assert imported.format == name
        assert imported.answers == 14
        assert table_of(two) == table_of(one)
        # A second time every answer already exists, and the line is named.
        with pytest.raises(ValueError, match=r"line \d+: .*already"):
            import_answers(two, path)
        assert table_of(two) == table_of(one)


def test_every_format_is_tested():
    assert set(FORMATS) == set(SUFFIX)


storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
starts = st.sampled_from("=+-@\t\r\n'").map(lambda start: start + "=1")
texts = storable.filter(bool) | st.sampled_from(ODD) | st.just("x" * 10_000) | starts
names = st.sampled_from(ODD).filter(str.isprintable) | storable.filter(
    lambda t: t.strip() and t.isprintable()
)
numbers = st.none() | st.floats(0, 1e6) | st.integers(0, 100).map(float)


BENCHMARK, PLAN = make_benchmark(), make_plan()


@st.composite
def answer_sets(draw):
    """Answers of some annotators to some items, as they leave a project."""
    rows = []
    for assignment, annotator in enumerate(draw(st.lists(names, min_size=1, max_size=3, unique=True))):
        task = draw(st.integers(0, 2))
        for row in np.flatnonzero(PLAN.task == task):
            code = draw(st.sampled_from(["no", "yes"]))
            details = {"why": draw(texts)} if draw(st.booleans()) else {}
            if code == "no":
                details |= {
                    "wrong": draw(st.lists(st.sampled_from(["colour", "number"]), min_size=1, unique=True))
                }
            image, caption = BENCHMARK.images[PLAN.image[row]], BENCHMARK.captions[PLAN.caption[row]]
            at = draw(st.floats(1, 4e9).map(lambda t: round(t, 6)))
            rows.append(
                ExportedAnswer(task, int(PLAN.position[row]) + 1, str(image), str(caption), annotator,
                               "person", code, draw(numbers), at, details, assignment)
            )  # fmt: skip
    return rows


@pytest.mark.parametrize("name", SUFFIX)
@settings(max_examples=60, deadline=None)
@given(rows=answer_sets())
def test_odd_texts_names_and_numbers_come_back(name, rows):
    pools = SimpleNamespace(plan=lambda: PLAN)
    tasks = collect_tasks(SimpleNamespace(benchmark=lambda: BENCHMARK, form=FORM, pools=pools)).tasks
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answers")
        FORMATS[name].write_answers(ExportedAnswers(FORM, tasks, rows, {}), path)
        data = read_text_bytes(path)
    assert guess_format(data, path).name == name
    found = check_answers(FORMATS[name].read(data, FORM, path), BENCHMARK, FORM, PLAN)
    details = found.details or [None] * len(found)
    read = zip(found.task.tolist(), found.image.tolist(), found.caption.tolist(), found.annotator, found.code,
               found.seconds.tolist(), found.at.tolist(), details, found.kind)  # fmt: skip
    expected = [
        (a.task, *pair_of(a), a.annotator, a.code, a.seconds, a.at, a.details, "person") for a in rows
    ]  # fmt: skip
    assert sorted(map(plain, read)) == sorted(map(plain, expected))


def pair_of(answer):
    row = np.flatnonzero((PLAN.task == answer.task) & (PLAN.position == answer.item - 1))[0]
    return int(PLAN.image[row]), int(PLAN.caption[row])


def plain(row):
    *front, seconds, at, details, kind = row
    seconds = None if seconds is None or seconds != seconds else seconds
    details = {k: v if isinstance(v, str) else sorted(v) for k, v in (details or {}).items()}
    return repr((*front, seconds, round(at, 6), sorted(details.items()), kind))


@pytest.mark.parametrize("name", SUFFIX)
def test_cells_start_no_formula(tmp_path, name):
    with make_project(tmp_path) as project:
        fill(project)
        path = tmp_path / f"answers{SUFFIX[name]}"
        export_answers(project, path, name)
    if path.suffix == ".csv":
        import csv

        with path.open(encoding="utf-8", newline="") as stream:
            cells = [cell for row in csv.reader(stream) for cell in row]
        assert any("ann" in cell for cell in cells)
        assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\r", "＝")]


def test_reviews_of_mechanical_turk_come_back(tmp_path):
    with make_project(tmp_path, "a.db") as one, make_project(tmp_path, "b.db") as two:
        fill(one)
        assignments = one.queue.assignments()
        done = assignments.assignment[assignments.state == "submitted"]
        one.reviews.add(done[:1].tolist(), "reject", "me", "=too fast")
        one.reviews.add(done[1:2].tolist(), "approve", "me")
        path = tmp_path / "results.csv"
        export_answers(one, path, "mturk")
        assert import_answers(two, path).reviews == 2
        assert sorted((v, why) for v, _, why, _ in two.reviews.read().values()) == [
            ("approve", ""), ("reject", "=too fast"),
        ]  # fmt: skip


def test_no_answers_are_not_exported(tmp_path):
    with make_project(tmp_path) as project, pytest.raises(ValueError, match="no answers"):
        export_answers(project, tmp_path / "a.csv")
