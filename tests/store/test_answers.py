"""Answers, withdrawals and the rows that are kept of them."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from karat.errors import InputError
from karat.store import Call, open_project
from karat.store.tables import APPEND_ONLY

from .small import batch_of, finish, plain_plan, plan_of


def test_the_last_answer_counts_and_every_row_is_kept(project):
    project.pools.add_tasks(plan_of([(0, 0), (5, 6)], gold={(5, 6): 1}))
    lease = project.queue.lease("ann", now=0)
    first, second = (item.id for item in lease.items)
    project.answers.give(lease.token, first, "no", {"why": "blurred"}, seconds=4.5, now=1)
    project.answers.give(lease.token, first, "partly", {"kinds": ["b", "a"]}, now=2)
    project.answers.give(lease.token, second, "yes", now=3)
    project.answers.withdraw(lease.token, second, now=4)
    table = project.answers.read()
    assert (table.rating.tolist(), table.gold.tolist(), table.at.tolist()) == ([2.0], [-1], [2.0])
    assert [name for _, name in table.details] == ["kinds.b", "kinds.a"]
    assert [item.code for item in project.queue.lease("ann", now=5).items] == ["partly", None]
    project.answers.give(lease.token, second, "yes", seconds=2, now=6)
    assert len(project.answers.read(submitted=True)) == 0
    project.queue.submit(lease.token)
    table = project.answers.read(submitted=True)
    assert (table.image.tolist(), table.caption.tolist(), table.gold.tolist()) == ([0, 5], [0, 6], [-1, 1])
    assert table.seconds.tolist()[1] == 2
    kept = list(project.answers.history())
    assert [row["code"] for row in kept] == ["no", "partly", "yes", None, "yes"]
    assert kept[0]["details"] == {"why": "blurred"}
    assert [row["annotator"] for row in kept] == ["ann"] * 5


def test_the_same_key_writes_once(project):
    project.pools.add_tasks(plain_plan(1))
    lease = project.queue.lease("ann")
    item = lease.items[0].id
    number = project.answers.give(lease.token, item, "yes", key="one")
    assert project.answers.give(lease.token, item, "yes", key="one") == number
    with pytest.raises(InputError, match="used for another answer"):
        project.answers.give(lease.token, item, "partly", key="one")
    gone = project.answers.withdraw(lease.token, item, key="two")
    assert project.answers.withdraw(lease.token, item, key="two") == gone
    assert len(list(project.answers.history())) == 2
    project.answers.give(lease.token, item, "yes", key="three")
    project.answers.give(lease.token, lease.items[1].id, "yes")
    project.queue.submit(lease.token)
    # A retry after the assignment was submitted is still the same answer.
    assert project.answers.give(lease.token, item, "yes", key="one") == number
    with pytest.raises(InputError, match="already submitted"):
        project.answers.give(lease.token, item, "yes", key="four")
    project.queue.submit(lease.token)


@pytest.mark.parametrize(
    ("code", "details", "message"),
    [
        ("maybe", {}, "has no answer 'maybe'"),
        ("yes", {"why": "blurred"}, "not asked after"),
        ("no", {"why": ["blurred", "other"]}, "has 2 answers"),
        ("no", {"why": "dark"}, "has no choice 'dark'"),
        ("no", {"why": 3}, "'why' is 3"),
        ("no", {"why": "blurred", "what": "text"}, "not asked after"),
        ("no", {"wy": "blurred"}, "did you mean why"),
        ("partly", {"kinds": ["a", "a"]}, "each choice once"),
        ("no", {"why": "other", "what": "x" * 10_001}, "10,001 characters"),
        ("no", [1], "details are"),
    ],
)
def test_answers_that_the_form_does_not_have(on_file, code, details, message):
    on_file.pools.add_tasks(plain_plan(1))
    lease = on_file.queue.lease("ann")
    with pytest.raises(InputError, match=message):
        on_file.answers.give(lease.token, lease.items[0].id, code, details)
    assert list(on_file.answers.history()) == []


def test_submitting_needs_every_answer_and_every_required_question(on_file):
    on_file.pools.add_tasks(plain_plan(1))
    lease = on_file.queue.lease("ann")
    with pytest.raises(InputError, match="the task has 2 items without an answer, the first is number 1"):
        on_file.queue.submit(lease.token)
    on_file.answers.give(lease.token, lease.items[0].id, "no", {"why": "other", "what": "a hand"})
    on_file.answers.give(lease.token, lease.items[1].id, "no")
    with pytest.raises(InputError, match="number 2 has no answer to 'why'"):
        on_file.queue.submit(lease.token)
    on_file.answers.give(lease.token, lease.items[1].id, "no", {"why": "blurred"})
    on_file.queue.submit(lease.token)
    assert on_file.answers.read().details.names == ("why.other", "why.blurred")


def test_items_of_other_tasks_and_unknown_tokens(on_file):
    on_file.pools.add_tasks(plain_plan(2))
    lease = on_file.queue.lease("ann")
    with pytest.raises(InputError, match="not in the task"):
        on_file.answers.give(lease.token, 3, "yes")
    with pytest.raises(InputError, match="its token is unknown"):
        on_file.answers.give("' OR 1 = 1 --", lease.items[0].id, "yes")


def test_the_database_refuses_changes(project):
    project.pools.add_tasks(plain_plan(1))
    finish(project, project.queue.lease("ann"))
    project.reviews.add([0], "approve", "me")
    project.reviews.mark_invalid("image", 3, "blurred", "me")
    project.journal.log("something")
    project.calls.add(Call("judge", "model", "hash", 0, 0, {"a": 1}, reply="yes", code="yes"))
    with project.database.write() as connection:
        connection.execute(text("INSERT INTO audit (what, detail, at) VALUES ('joined', '{}', 1.0)"))
    project.draws.add(batch_of([(3, 3)]))
    project.goals.set(None)
    changes = ["UPDATE {} SET id = id", "DELETE FROM {}"]
    changes.append(
        "INSERT OR REPLACE INTO {0} SELECT * FROM {0}" if project.where.endswith(".db") else "TRUNCATE {}"
    )
    for table in APPEND_ONLY:
        for change in changes:
            with pytest.raises(DBAPIError, match="append-only"), project.database.write() as connection:
                connection.execute(text(change.format(f'"{table}"')))
        with project.database.read() as connection:
            assert connection.execute(text(f'SELECT COUNT(*) FROM "{table}" WHERE id > 0')).scalar_one() >= 1


def test_reviews_marks_events_settings_and_calls_are_stored(project, where):
    project.pools.add_tasks(plain_plan(2))
    finish(project, project.queue.lease("ann"))
    project.reviews.add([0], "reject", "rule", "gold")
    project.reviews.add([0], "approve", "boss", "looked again")
    with pytest.raises(InputError, match="assignment 1 has not been submitted"):
        project.reviews.add([0, 1], "approve", "boss")
    with pytest.raises(InputError, match="the decision"):
        project.reviews.add([0], "maybe", "boss")
    project.reviews.mark_invalid("caption", 7, "empty", "me")
    project.reviews.mark_invalid("image", 0, "dark", "me")
    project.reviews.mark_valid("image", 0, "no, bright", "me")
    with pytest.raises(InputError, match="image 40 is not in the benchmark"):
        project.reviews.mark_invalid("image", 40, "dark", "me")
    project.journal.log("pooled", {"top": 5})
    project.journal.set("pay", {"task": 0.1})
    project.journal.set("pay", {"task": 0.2})
    with pytest.raises(InputError, match="json"):
        project.journal.set("pay", object())
    number = project.calls.add(Call("judge", "m", "hash", 1, 2, {"prompt": "p\0"}, reply="a\0b", cost=0.01))
    with open_project(where) as again:
        assert again.reviews.read()[0][:3] == ("approve", "boss", "looked again")
        assert again.reviews.invalid() == {"image": {}, "caption": {7: "empty"}}
        assert [(e["what"], e["detail"]) for e in again.journal.events()] == [("pooled", {"top": 5})]
        assert again.journal.get("pay") == {"task": 0.2}
        assert again.journal.get("none", 3) == 3
        (call,) = again.calls.read()
        assert (call.id, call.request, call.reply) == (number, {"prompt": "p\0"}, "a\ufffdb")
