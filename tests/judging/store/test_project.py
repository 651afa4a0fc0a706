"""A project is composed of parts; its methods of before version 0.5 still work, with a warning."""

import pytest

from karat.judging.store import AnswerRows, Project

from .small import plain_plan

PARTS = ("pools", "queue", "answers", "reviews", "annotators", "accounts", "calls", "journal")


def old_methods():
    return {name for name, value in vars(Project).items() if (value.__doc__ or "").startswith("Deprecated")}


def test_a_project_inherits_nothing(on_file):
    assert Project.__bases__ == (object,)
    for name in PARTS:
        assert name in vars(on_file)
        assert name not in old_methods()


def test_every_old_method_is_one_of_a_part(on_file):
    assert len(old_methods()) == 31
    for name in old_methods():
        part, method = getattr(Project, name).__doc__.split("`")[1].split(".")[1:]
        assert callable(getattr(getattr(on_file, part), method)), name


def test_old_methods_warn_and_work(on_file):
    with pytest.warns(DeprecationWarning, match=r"Project.add_tasks is now project.pools.add_tasks"):
        on_file.add_tasks(plain_plan(1))
    with pytest.warns(DeprecationWarning, match="lease"):
        lease = on_file.lease("ann")
    for item in lease.items:
        with pytest.warns(DeprecationWarning, match="answers.give"):
            on_file.answer(lease.token, item.id, "yes", key=f"key {item.id}")
    with pytest.warns(DeprecationWarning, match="submit"):
        on_file.submit(lease.token)
    with pytest.warns(DeprecationWarning, match="record"):
        assert on_file.record(AnswerRows([-1], [3], [3], ["bob"], ["yes"])) == 1
    with pytest.warns(DeprecationWarning, match=r"project.answers\(\) is now project.answers.read\(\)"):
        assert len(on_file.answers(submitted=True)) == len(lease.items) + 1
    with pytest.warns(DeprecationWarning, match="reviews"):
        assert on_file.reviews() == {}
    with pytest.warns(DeprecationWarning, match="calls"):
        assert list(on_file.calls()) == []
    with pytest.warns(DeprecationWarning, match="workers"):
        assert on_file.workers() == (("ann", "bob"), ("person", "person"))


def test_old_names_and_keywords_warn_and_work(on_file):
    from karat.judging import store

    for old, new in {
        "MOST_WORDS": "MAX_WORDS",
        "SlotTable": "AssignmentTable",
        "WORKER_KINDS": "ANNOTATOR_KINDS",
    }.items():
        with pytest.warns(DeprecationWarning, match=f"{old} is called {new} now"):
            assert getattr(store, old) is getattr(store, new)
    on_file.pools.add_tasks(plain_plan(1))
    with pytest.warns(DeprecationWarning, match="worker"):
        rows = AnswerRows(
            task=[0, 0], image=[0, 0], caption=[0, 1], worker=["ann", "ann"], code=["yes", "yes"]
        )
    with pytest.warns(DeprecationWarning, match="worker"):
        assert rows.worker == rows.annotator
    assert on_file.answers.record(rows) == 2
    with pytest.warns(DeprecationWarning, match="worker"):
        assert on_file.queue.lease(worker="bob") is None
    with pytest.warns(DeprecationWarning, match="verdict"):
        on_file.reviews.add([0], verdict="approve", by="me")
    with pytest.warns(DeprecationWarning, match="slots"):
        on_file.reviews.add(slots=[0], decision="reject", by="me")
    assert on_file.reviews.read()[0][:2] == ("reject", "me")
