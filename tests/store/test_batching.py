"""Many answers in one transaction: the same as one after the other, and each by itself."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.store import create_project
from karat.store.answers import Answer

from .small import FORM, plain_plan
from made import make_benchmark


def leases(project, tasks: int = 4, size: int = 3):
    project.pools.add_tasks(plain_plan(tasks, size=size))
    return [project.queue.lease(f"annotator {n}", seconds=100, now=0.0) for n in range(tasks - 1)]


def rows(project) -> list[tuple]:
    return [tuple(row.values()) for row in project.answers.history()]


def test_answers_of_many_annotators_are_stored_in_order(project):
    held = leases(project)
    answers = [
        Answer(lease.token, item.id, "yes", seconds=2.0, at=5.0) for lease in held for item in lease.items
    ]
    numbers = project.answers.store(answers)
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == 9
    history = list(project.answers.history())
    assert [row["id"] for row in history] == numbers
    assert [(row["annotator"], row["item"]) for row in history] == [
        (lease.annotator, item.id) for lease in held for item in lease.items
    ]


def test_a_refused_answer_leaves_the_others_alone(project):
    one, two, three = leases(project)
    project.answers.give(three.token, three.items[0].id, "yes", key="k", now=1.0)
    outcomes = project.answers.store(
        [
            Answer(one.token, one.items[0].id, "yes", at=1.0),
            Answer("no such token", 0, "yes"),
            Answer(one.token, two.items[0].id, "yes"),
            Answer(one.token, one.items[1].id, "maybe"),
            Answer(one.token, 2**70, "yes"),
            Answer(one.token, -1, "yes"),
            Answer(one.token, one.items[1].id, "no", {"why": ["unheard of"]}),
            Answer(three.token, three.items[0].id, "partly", key="k"),
            Answer(three.token, three.items[0].id, "yes", key="k\0"),
            Answer(two.token, two.items[0].id, "partly", {"kinds": ["a"]}, 3.5, "k", 1.0),
        ]
    )
    assert [isinstance(outcome, InputError) for outcome in outcomes] == [False, *[True] * 8, False]
    assert [(row["annotator"], row["code"]) for row in project.answers.history()] == [
        ("annotator 2", "yes"), ("annotator 0", "yes"), ("annotator 1", "partly"),
    ]  # fmt: skip


def test_the_same_key_within_one_batch_is_one_answer(project):
    one = leases(project)[0]
    first = Answer(one.token, one.items[0].id, "yes", key="k", at=1.0)
    other = Answer(one.token, one.items[0].id, "partly", key="k", at=1.0)
    number, again, wrong = project.answers.store([first, first, other])
    assert number == again
    assert isinstance(wrong, InputError)
    assert project.answers.store([first]) == [number]
    assert len(rows(project)) == 1


def test_a_refused_answer_does_not_extend_the_lease(project):
    one = leases(project)[0]
    project.answers.store([Answer(one.token, 11, "yes", at=500.0)])
    assert project.queue.assignments(now=500.0).state[one.assignment] == "open"
    project.answers.store([Answer(one.token, one.items[0].id, "yes", at=500.0)])
    assert project.queue.assignments(now=500.0).state[one.assignment] == "leased"


def test_a_store_that_fails_stores_nothing(project):
    one = leases(project)[0]
    good = Answer(one.token, one.items[0].id, "yes")
    late = Answer(one.token, one.items[1].id, "yes", at=500.0)
    with pytest.MonkeyPatch.context() as patch:
        # The lease is extended before this: that is undone too.
        patch.setattr("karat.store.answers.values_of", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            project.answers.store([good, late])
    assert project.queue.assignments(now=500.0).state[one.assignment] == "open"
    assert rows(project) == []
    assert project.answers.store([]) == []


ANSWERS = st.lists(
    st.tuples(
        st.integers(0, 3), st.integers(0, 8), st.sampled_from(["yes", "no", "maybe", None]),
        st.sampled_from(["", "a", "b"]), st.sampled_from([1.0, 99.0, 150.0]),
    ),
    max_size=12,
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers=ANSWERS, cuts=st.lists(st.integers(0, 12), max_size=3))
def test_a_batch_equals_one_after_the_other(tmp_path_factory, answers, cuts):
    """Two projects, the same answers: in batches of any size, and one by one."""
    folder = tmp_path_factory.mktemp("twins")
    with (
        create_project(folder / "a.db", make_benchmark(), FORM, source="made") as together,
        create_project(folder / "b.db", make_benchmark(), FORM, source="made") as single,
    ):
        held = [leases(project) for project in (together, single)]
        for project, own in zip((together, single), held, strict=True):
            for item in own[2].items:
                project.answers.give(own[2].token, item.id, "yes", now=1.0)
            project.queue.submit(own[2].token, now=2.0)
        tokens = [[*(one.token for one in own), "unknown"] for own in held]
        made = [Answer(tokens[0][t], i, c, None, 1.0, k, at) for t, i, c, k, at in answers]
        edges = [0, *sorted(min(cut, len(made)) for cut in cuts), len(made)]
        outcomes = [one for a, b in itertools.pairwise(edges) for one in together.answers.store(made[a:b])]
        expected = []
        for t, i, c, k, at in answers:
            try:
                token = tokens[1][t]
                number = (
                    single.answers.withdraw(token, i, k, at)
                    if c is None
                    else single.answers.give(token, i, c, None, 1.0, k, at)
                )
                expected.append(number)
            except InputError as error:
                expected.append(str(error))
        assert [one if isinstance(one, int) else str(one) for one in outcomes] == expected
        assert rows(together) == rows(single)
        assert (
            together.queue.assignments(now=120.0).state.tolist()
            == single.queue.assignments(now=120.0).state.tolist()
        )
