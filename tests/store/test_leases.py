"""Who gets which assignment, and for how long."""

import pytest

from karat.errors import InputError

from .small import finish, plain_plan, plan_of


def test_an_assignment_is_leased_to_one_annotator_until_it_is_submitted(project):
    project.pools.add_tasks(plain_plan(2))
    ann, bob = project.queue.lease("ann", now=0), project.queue.lease("bob", now=0)
    assert {ann.task, bob.task} == {0, 1}
    assert project.queue.lease("eve", now=1) is None
    again = project.queue.lease("ann", now=5)
    assert (again.token, again.expires) == (ann.token, ann.expires)
    finish(project, ann, now=6)
    assert project.queue.lease("ann", now=7) is None
    assert project.queue.assignments(now=8).state.tolist() == ["submitted", "leased"]
    assert project.annotators.read() == (("ann", "bob", "eve"), ("person",) * 3)


def test_items_come_in_order_and_do_not_say_what_is_gold(project):
    project.pools.add_tasks(plan_of([(3, 1), (0, 7), (2, 2)], gold={(0, 7): 1}))
    lease = project.queue.lease("ann")
    assert [(i.position, i.image, i.caption) for i in lease.items] == [(0, 3, 1), (1, 0, 7), (2, 2, 2)]
    assert "gold" not in repr(lease)
    assert lease.token not in repr(lease)


def test_nobody_gets_two_assignments_of_a_task(project):
    project.pools.add_tasks(plain_plan(1, overlap=3))
    first = project.queue.lease("ann")
    finish(project, first)
    assert project.queue.lease("ann") is None
    assert project.queue.lease("bob").assignment != first.assignment


def test_nobody_is_asked_about_a_pair_twice(project):
    gold = (9, 9)
    project.pools.add_tasks(
        plan_of([(0, 0), gold], [(1, 1), gold], [(2, 2), (3, 3)], overlap=1, gold={gold: 1})
    )
    finish(project, project.queue.lease("ann"))
    # The second task has the gold pair of the first.
    assert project.queue.lease("ann").task == 2
    assert project.queue.lease("bob").task == 1


def test_a_pair_that_was_imported_without_a_task_is_not_asked_again(project):
    from karat.forms import AnswerRows

    project.pools.add_tasks(plain_plan(2))
    project.answers.record(AnswerRows([-1], [0], [1], ["ann"], ["yes"]))
    assert project.queue.lease("ann").task == 1


def test_an_expired_lease_returns_and_its_answers_no_longer_count(project):
    project.pools.add_tasks(plain_plan(1))
    ann = project.queue.lease("ann", seconds=10, now=0)
    project.answers.give(ann.token, ann.items[0].id, "yes", now=1)
    assert project.queue.lease("bob", now=5) is None
    assert project.queue.assignments(now=11).state.tolist() == ["open"]
    bob = project.queue.lease("bob", seconds=10, now=11)
    assert bob.assignment == ann.assignment
    assert [item.code for item in bob.items] == [None, None]
    assert len(project.answers.read()) == 0
    for late in (project.queue.submit, project.queue.release, project.queue.renew):
        with pytest.raises(InputError, match="another annotator has the assignment"):
            late(ann.token)
    with pytest.raises(InputError, match="another annotator has the assignment"):
        project.answers.give(ann.token, ann.items[1].id, "yes", now=12)
    # Ann gets it back when Bob does not finish either: her answer counts again.
    back = project.queue.lease("ann", now=30)
    assert [item.code for item in back.items] == ["yes", None]
    assert len(project.answers.read()) == 1
    assert len(list(project.answers.history())) == 1


def test_a_late_annotator_keeps_an_assignment_that_nobody_took(project):
    project.pools.add_tasks(plain_plan(1))
    ann = project.queue.lease("ann", seconds=10, now=0)
    project.answers.give(ann.token, ann.items[0].id, "yes", now=20)
    # The answer extends the lease.
    assert project.queue.lease("bob", now=25) is None
    assert project.queue.lease("ann", now=31).token == ann.token


def test_open_assignments_are_leased_before_those_of_slow_annotators(project):
    project.pools.add_tasks(plain_plan(2))
    slow = project.queue.lease("slow", seconds=10, now=0)
    assert project.queue.lease("bob", now=20).assignment != slow.assignment
    assert project.queue.lease("eve", now=20).assignment == slow.assignment


def test_a_released_assignment_goes_to_the_end_and_is_not_lost(project):
    project.pools.add_tasks(plain_plan(3))
    first = project.queue.lease("ann")
    project.answers.give(first.token, first.items[0].id, "no", {"why": "blurred"})
    project.queue.release(first.token)
    assert len(project.answers.read()) == 0
    order = []
    for _ in range(3):
        lease = project.queue.lease("ann")
        order.append(lease.task)
        finish(project, lease)
    assert order == [1, 2, 0]
    assert len(project.answers.read()) == 6


def test_an_assignment_released_after_others_looked_is_found_by_them(project):
    project.pools.add_tasks(plain_plan(2))
    ann, bob = project.queue.lease("ann"), project.queue.lease("bob")
    finish(project, bob)
    assert project.queue.lease("bob") is None
    project.queue.release(ann.token)
    assert project.queue.lease("bob").assignment == ann.assignment


def test_an_annotator_who_lost_an_assignment_may_take_another_of_the_same_task(project):
    project.pools.add_tasks(plan_of([(0, 0)], overlap=2))
    ann = project.queue.lease("ann", seconds=10, now=0)
    bob = project.queue.lease("bob", seconds=10, now=0)
    taken = project.queue.lease("eve", now=100)
    assert taken.assignment in (ann.assignment, bob.assignment)
    other = project.queue.lease("dan", now=100)
    assert {taken.assignment, other.assignment} == {ann.assignment, bob.assignment}
    project.queue.release(other.token)
    for name in ("ann", "bob"):
        lease = project.queue.lease(name, now=101)
        assert lease is not None
        assert lease.assignment == other.assignment
        project.queue.release(lease.token)


def test_renewing_and_new_assignments(project):
    project.pools.add_tasks(plain_plan(1))
    ann = project.queue.lease("ann", seconds=10, now=0)
    assert project.queue.renew(ann.token, 100, now=5) == 105
    assert project.queue.lease("bob", now=50) is None
    project.queue.ask_again([0])
    assert project.queue.lease("bob", now=50).task == 0
    with pytest.raises(InputError, match="no task 7"):
        project.queue.ask_again([7])


def test_tasks_added_later_are_found_by_annotators_who_had_finished(project):
    project.pools.add_tasks(plain_plan(1))
    finish(project, project.queue.lease("ann"))
    assert project.queue.lease("ann") is None
    assert project.pools.add_tasks(plan_of([(30, 30)])) == 1
    assert project.queue.lease("ann").task == 1
    assert project.pools.plan().task.tolist() == [0, 0, 1]


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201, "nul\0", 7, "\ud800"])
def test_invalid_names(on_file, name):
    with pytest.raises(InputError):
        on_file.queue.lease(name)


@pytest.mark.parametrize("span", [-1, float("inf"), "long"])
def test_invalid_times(on_file, span):
    with pytest.raises(InputError, match="time of a lease"):
        on_file.queue.lease("ann", seconds=span)


YEAR = 365 * 86_400.0


def test_a_lease_made_under_a_wrong_clock_ends(project):
    project.pools.add_tasks(plain_plan(1))
    ann = project.queue.lease("ann", seconds=100, now=YEAR)
    # The clock is right again: the lease seems to last for a year.
    assert project.queue.counts(now=50) == {"open": 1, "leased": 0, "submitted": 0}
    assert project.queue.assignments(now=50).state.tolist() == ["open"]
    assert project.queue.can_continue(["bob"], now=50)
    bob = project.queue.lease("bob", seconds=100, now=50)
    assert bob.expires == 150
    with pytest.raises(InputError, match="another annotator has the assignment"):
        project.answers.give(ann.token, ann.items[0].id, "yes", now=51)


def test_the_annotator_who_continues_keeps_a_lease_made_under_a_wrong_clock(project):
    project.pools.add_tasks(plain_plan(2))
    ann = project.queue.lease("ann", seconds=100, now=YEAR)
    assert project.queue.lease("ann", seconds=100, now=50).expires == 150
    bob = project.queue.lease("bob", seconds=100, now=YEAR)
    project.answers.give(bob.token, bob.items[0].id, "yes", now=60)
    assert project.queue.held("bob").expires == 160
    assert (project.queue.held("ann").token, project.queue.held("bob").token) == (ann.token, bob.token)
    assert project.queue.lease("eve", now=70) is None


def test_a_clock_that_is_set_back_a_little_ends_no_lease(project):
    project.pools.add_tasks(plain_plan(1))
    ann = project.queue.lease("ann", seconds=100, now=1000)
    for now in (945, 999, 1099):
        assert project.queue.lease("bob", now=now) is None
        assert project.queue.lease("ann", now=now).expires == ann.expires
    # A lease ahead is never an expired one of another annotator.
    assert project.queue.ahead("ann", 100, now=3 * YEAR) is None
