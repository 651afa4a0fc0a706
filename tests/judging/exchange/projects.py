"""Small projects with odd ids and captions, filled with odd answers, on a real store."""

from pathlib import Path

import numpy as np

from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
from karat.forms import AnswerRows, Choice, FollowUp, Form, TaskPlan
from karat.forms.answer_table import PERSON
from karat.store import create_project

ODD = [
    "plain", "=1+1", "+49", "-5", "@me", "'=quoted", "''-", "a,b", 'say "hi"', "semi;colon|bar", "🙂 grin",
    "שלום עולם", "<b>&amp;</b> ${x} {{y}}", "tab\tin", "ＡＢ＝", "＝wide", "&lt;", "é", "’", "\\n", "%s",
]  # fmt: skip
FORM = Form(
    "odd",
    "Does it fit <really>?",
    'Is "it" right & true? ${x}',
    (
        Choice("no", "No", "1", 0.0, 0.0),
        Choice("half", "Half, but <…>", "2", 1.0, 0.5),
        Choice("yes", "Yes", "3", 2.0, 1.0),
    ),
    follow_ups=(
        FollowUp("wrong", "What is wrong?", ("no", "half"), "", "several",
                 (Choice("colour", "A colour"), Choice("number", "A number"), Choice("other", "Other"))),
        FollowUp("which", "Which?", (), "wrong.other", "one", (Choice("a", "A"), Choice("b", "B"))),
        FollowUp("why", "Why?", (), "", "text"),
    ),
    guidelines=("Look & decide. </script><script>alert(1)</script>",),
    own_image=True,
)  # fmt: skip


def make_benchmark(number: bool = False, texts: bool = True) -> Benchmark:
    """Six images with two captions each; ids are odd texts, or numbers."""
    n, m = 6, 12
    image = np.repeat(np.arange(n), 2)
    own = Judgments(image, np.arange(m), sources=[Provenance("original")])
    asked = {"i2t": np.arange(n), "t2i": np.arange(m)}
    images = list(range(100, 100 + n)) if number else [f"{ODD[k]}.jpg" for k in range(n)]
    captions = list(range(900, 900 + m)) if number else [f"{ODD[k]}.jpg#{k % 2}" for k in range(m)]
    return Benchmark(
        "odd", Ids(images, kind="image"), Ids(captions, kind="caption"), {"own": Truth("own", own, asked)},
        caption_image=image, texts=[f"{ODD[k + 6]} caption {k}" for k in range(m)] if texts else None,
        image_paths=[f"/secret/folder/{k} picture.jpg" for k in range(n)],
    )  # fmt: skip


def make_plan() -> TaskPlan:
    """Three tasks, the last one shorter; some pairs are gold."""
    task = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2])
    position = np.array([0, 1, 2, 3, 0, 1, 2, 3, 0, 1])
    image = np.array([0, 1, 2, 3, 4, 5, 0, 1, 2, 3])
    caption = np.array([5, 2, 9, 6, 0, 1, 11, 10, 4, 0])
    gold = np.array([-1, 1, -1, 1, -1, 0, -1, -1, 1, 0])
    return TaskPlan(task, position, position, image, caption, gold, 2)


def make_project(folder: Path, name: str = "project.db", form: Form = FORM, **kwargs):
    """A project with tasks and without answers."""
    project = create_project(folder / name, make_benchmark(**kwargs), form, source="odd")
    project.pools.add_tasks(make_plan())
    return project


def record(project, rows) -> None:
    """Record answers given as (task, position or pair, annotator, code, seconds, at, details, kind)."""
    plan = project.pools.plan()
    columns: list[list] = [[] for _ in range(9)]
    for task, item, annotator, code, seconds, at, details, kind in rows:
        if task >= 0:
            row = np.flatnonzero((plan.task == task) & (plan.position == item))[0]
            image, caption = int(plan.image[row]), int(plan.caption[row])
        else:
            image, caption = item
        cells = (task, image, caption, annotator, code, seconds, at, details, kind)
        for column, cell in zip(columns, cells):
            column.append(cell)
    project.answers.record(AnswerRows(*columns))


def fill(project) -> None:
    """Answers of several annotators: whole tasks, part of one, and a pair without a task."""
    details = [
        {"wrong": ["other", "colour"], "which": "b", "why": '=cmd, "x"\nnext 🙂'},
        None,
        {"why": "'-ok"},
    ]
    rows = [
        (task, item, annotator, ("no", "yes", "half")[(task + item) % 3], 0.1 * item, 1.7e9 + item / 7,
         details[(task + item) % 3], PERSON)
        for annotator, task, items in (("=ann", 0, 4), ("ben, jr.", 0, 4), ("=ann", 1, 2), ("שרה", 2, 2))
        for item in range(items)
    ]  # fmt: skip
    rows.append((-1, (3, 7), "judge", "yes", None, 1.8e9, None, "machine"))
    rows.append((-1, (5, 7), "judge", "no", 2.0, 1.8e9, None, "machine"))
    record(project, rows)


def table_of(project) -> list[tuple]:
    """The answers as plain rows, by annotator and task instead of by number; their order does not count."""
    table, assignments = project.answers.read(), project.queue.assignments()
    task = dict(zip(assignments.assignment.tolist(), assignments.task.tolist()))
    texts = {}
    for answer in project.answers.history():
        key = answer["annotator"], answer["assignment"], answer["image"], answer["caption"]
        texts[key] = answer["details"].get("why")
    rows = []
    for row in range(len(table)):
        details = sorted(name for own, name in table.details if own == row)
        annotator, assignment = table.annotators[table.annotator[row]], int(table.assignment[row])
        pair = int(table.image[row]), int(table.caption[row])
        rows.append(
            (
                task.get(assignment, -1), *pair, annotator, table.kinds[table.annotator[row]],
                float(table.rating[row]), int(table.gold[row]), repr(float(table.seconds[row])),
                round(float(table.at[row]), 6), tuple(details),
                texts.get((annotator, None if assignment < 0 else assignment, *pair)),
            )
        )  # fmt: skip
    return sorted(rows, key=repr)
