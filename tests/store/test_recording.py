"""Importing many answers: where they go, and what is refused without a change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.forms import AnswerRows
from karat.store import create_project

from .small import FORM, finish, plain_plan, plan_of
from made import make_benchmark


def rows_of(*rows, **more) -> AnswerRows:
    columns = list(zip(*rows, strict=True)) or [[]] * 5
    return AnswerRows(*map(list, columns), **more)


def test_rows_of_a_task_become_a_submitted_assignment(project):
    project.pools.add_tasks(plain_plan(2, overlap=2))
    lease = project.queue.lease("eve", now=0)
    count = project.answers.record(
        rows_of(
            (0, 0, 0, "ann", "yes"), (0, 0, 1, "ann", "no"), (0, 0, 0, "bob", "no"),
            (-1, 9, 9, "ann", "partly"),
            seconds=[1.5, None, np.nan, 2], at=[10, 11, 12, 13],
            details=[None, {"why": "other", "what": 'a, "b"\n'}, {}, {"kinds": ["a"]}],
        )
    )  # fmt: skip
    assert count == 4
    table = project.answers.read()
    assert [table.annotators[annotator] for annotator in table.annotator] == ["ann", "ann", "bob", "ann"]
    assert table.rating.tolist() == [3, 1, 1, 2]
    assert np.isnan(table.seconds).tolist() == [False, True, True, False]
    assert table.at.tolist() == [10, 11, 12, 13]
    assert [name for _, name in table.details] == ["why.other", "kinds.a"]
    assert next(d for d in (row["details"] for row in project.answers.history()) if d)["what"] == 'a, "b"\n'
    assignments = project.queue.assignments(now=1)
    # One of the task's two assignments was open, the other is Eve's: Bob's rows have a new one.
    assert assignments.task.tolist() == [0, 0, 1, 1, 0]
    assert assignments.state.tolist() == ["leased", "submitted", "open", "open", "submitted"]
    assert [project.annotators.read()[0][one] for one in assignments.annotator if one >= 0] == [
        "eve",
        "ann",
        "bob",
    ]
    assert table.assignment.tolist() == [1, 1, 4, -1]
    finish(project, lease)
    # The rest of Bob's task is added to the assignment that he has.
    project.answers.record(rows_of((0, 0, 1, "bob", "yes")))
    assert len(project.queue.assignments()) == 5
    assert project.queue.lease("ann").task == 1


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        ([(0, 0, 0, "ann", "yes"), (0, 0, 0, "ann", "no")], {}, "row 1 repeats row 0"),
        ([(-1, 5, 5, "a", "yes"), (0, 0, 0, "a", "no"), (-1, 5, 5, "a", "no")], {}, "row 2 repeats row 0"),
        ([(1, 0, 2, "old", "yes"), (0, 0, 0, "old", "yes")], {}, "row 1 is already stored"),
        ([(1, 0, 2, "old", "yes"), (-1, 3, 3, "old", "yes")], {}, "row 1 is already stored"),
        ([(0, 0, 0, "ann", "yes"), (0, 7, 7, "ann", "yes")], {}, "row 1: task 0 has no pair of image 7"),
        ([(0, 0, 0, "ann", "yes"), (5, 0, 0, "ann", "yes")], {}, "row 1 has task 5"),
        ([(-1, 40, 0, "ann", "yes")], {}, "row 0 has image 40"),
        ([(-1, 0, 120, "ann", "yes")], {}, "row 0 has caption 120"),
        ([(-1, 0, 0, "ann", "yes"), (-1, 0, 1, "ann", "maybe")], {}, "row 1 has the answer 'maybe'"),
        ([(-1, 0, 0, "ann", "yes"), (-1, 0, 1, "", "yes")], {}, "row 1: an annotator is ''"),
        ([(-1, 0, 0, "ann", "yes")], {"seconds": [-1]}, "row 0 has seconds -1"),
        ([(-1, 0, 0, "ann", "yes")], {"at": [np.inf]}, "row 0 has at inf"),
        ([(-1, 0, 0, "ann", "yes")], {"seconds": ["soon"]}, "seconds contains values that are not numbers"),
        ([(-1, 0, 0, "ann", "yes")], {"details": [{"why": "other"}]}, "row 0: 'why' is not asked"),
        ([(-1, 0, 0, "ann", "yes")], {"kind": "cat"}, "kind of an annotator"),
        ([(-1, 0, 0, "old", "yes")], {"kind": "machine"}, "is a person, not a machine"),
        ([(-1, 0, 0, "a", "yes"), (-1, 0, 1, "a", "yes")], {"kind": ["person", "machine"]}, "two kinds"),
        ([(-1, 0, 0, "ann", "yes")], {"at": [1, 2]}, "at has 2 rows"),
        ([(-1, 0.5, 0, "ann", "yes")], {}, "image contains values that are not whole numbers"),
        ([(-1, 0, 0, ["ann"], "yes")], {}, "must be text"),
    ],
)  # fmt: skip
def test_what_is_refused_changes_nothing(on_file, rows, more, message):
    on_file.pools.add_tasks(plain_plan(2))
    on_file.answers.record(rows_of((0, 0, 0, "old", "yes"), (-1, 3, 3, "old", "no")))
    before = (
        list(on_file.answers.history()),
        on_file.queue.assignments().state.tolist(),
        on_file.annotators.read(),
    )
    with pytest.raises(InputError, match=message):
        on_file.answers.record(rows_of(*rows, **more))
    assert (
        list(on_file.answers.history()),
        on_file.queue.assignments().state.tolist(),
        on_file.annotators.read(),
    ) == before


def test_a_failure_at_the_end_leaves_nothing_behind(project, monkeypatch):
    from karat.store import bulk

    project.pools.add_tasks(plain_plan(2))

    def fail(*values, **more):
        raise RuntimeError("power")

    monkeypatch.setattr(bulk, "insert", fail)
    with pytest.raises(RuntimeError):
        project.answers.record(rows_of((0, 0, 0, "ann", "yes")))
    assert project.annotators.read() == ((), ())
    assert project.queue.assignments().state.tolist() == ["open", "open"]


def test_importing_no_rows(project):
    assert project.answers.record(rows_of()) == 0
    assert len(project.answers.read()) == 0
    assert len(project.queue.assignments()) == 0


def test_answers_of_a_returned_assignment_are_not_duplicates(on_file):
    on_file.pools.add_tasks(plain_plan(1))
    lease = on_file.queue.lease("ann")
    on_file.answers.give(lease.token, lease.items[0].id, "yes")
    with pytest.raises(InputError, match="row 0 is already stored"):
        on_file.answers.record(rows_of((0, 0, 0, "ann", "no")))
    on_file.queue.release(lease.token)
    on_file.answers.record(rows_of((0, 0, 0, "ann", "no")))
    assert on_file.answers.read().rating.tolist() == [1]


ROW = st.tuples(
    st.integers(-1, 2),
    st.integers(0, 5),
    st.sampled_from(["ann", "bob", "eve"]),
    st.sampled_from(["yes", "no"]),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(ROW, max_size=8), max_size=4))
def test_imports_are_all_or_nothing_as_in_a_dictionary(tmp_path_factory, batches):
    tasks = [[(0, n) for n in range(6) if n % 3 != t] for t in range(3)]
    model: dict[tuple, str] = {}
    folder = tmp_path_factory.mktemp("import")
    with create_project(folder / "p.db", make_benchmark(), FORM, source="made") as project:
        project.pools.add_tasks(plan_of(*tasks, overlap=2))
        for batch in batches:
            fits = all(t < 0 or (0, c) in tasks[t] for t, c, _, _ in batch)
            keys = [(t, w, c) for t, c, w, _ in batch]
            fits &= len(set(keys)) == len(keys) and not set(keys) & set(model)
            given_rows = rows_of(*((t, 0, c, w, code) for t, c, w, code in batch))
            if not fits:
                with pytest.raises(InputError, match="row"):
                    project.answers.record(given_rows)
                continue
            assert project.answers.record(given_rows) == len(batch)
            model |= {key: code for key, (_, _, _, code) in zip(keys, batch, strict=True)}
        table, assignments = project.answers.read(), project.queue.assignments()
        task = np.append(assignments.task, -1)[table.assignment]
        found = {
            (int(t), table.annotators[w], int(c)): FORM.code_of(r)
            for t, w, c, r in zip(task, table.annotator, table.caption, table.rating, strict=True)
        }
        assert found == model
        used = [
            (t, w)
            for t, w in zip(assignments.task.tolist(), assignments.annotator.tolist(), strict=True)
            if w >= 0
        ]
        assert len(set(used)) == len(used)
