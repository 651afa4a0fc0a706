"""The task at hand and the next one, in both databases."""

import threading
import time

import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")

from karat.store import LEASED, open_project
from karat.web.judging.answer_requests import LeaseLost, check_own
from store.conftest import postgres, project, where  # noqa: F401
from store.small import finish, plain_plan, plan_of
from web.servers import make_project

NOW = 1.8e9


def test_the_next_task_follows_the_one_at_hand(project):  # noqa: F811
    project.pools.add_tasks(plain_plan(3))
    assert project.queue.held("ann") is None
    assert project.queue.ahead("ann", 60) is None, "nothing comes after nothing"
    first = project.queue.at_hand("ann", 60)
    second = project.queue.ahead("ann", 60)
    assert second.task != first.task
    assert project.queue.ahead("ann", 60).token == second.token
    assert project.queue.at_hand("ann", 60).token == first.token
    assert project.queue.held("ann").token == first.token
    finish(project, first)
    assert project.queue.at_hand("ann", 60).token == second.token
    third = project.queue.ahead("ann", 60)
    finish(project, second)
    finish(project, third)
    assert project.queue.at_hand("ann", 60) is None
    assert (project.queue.assignments().state == "submitted").all()


def test_nobody_is_asked_about_a_pair_twice(project):  # noqa: F811
    project.pools.add_tasks(plan_of([(0, 0), (1, 1)], [(1, 1), (2, 2)], [(3, 3), (4, 4)]))
    first = project.queue.at_hand("ann", 60)
    ahead = project.queue.ahead("ann", 60)
    assert (first.task, ahead.task) == (0, 2)
    finish(project, first)
    finish(project, ahead)
    assert project.queue.at_hand("ann", 60) is None
    assert project.queue.at_hand("bob", 60).task == 1


def test_what_was_passed_over_comes_when_it_can(project):  # noqa: F811
    project.pools.add_tasks(plan_of([(0, 0), (1, 1)], [(1, 1), (2, 2)], [(3, 3), (4, 4)]))
    first = project.queue.at_hand("ann", 60)
    ahead = project.queue.ahead("ann", 60)
    project.queue.release(first.token)
    assert project.queue.at_hand("ann", 60).token == ahead.token
    finish(project, ahead)
    assert project.queue.at_hand("ann", 60).task == 1


def test_a_lost_task_is_open_again_in_another_place(project):  # noqa: F811
    project.pools.add_tasks(plain_plan(2, overlap=2))
    first = project.queue.at_hand("ann", 60, now=NOW)
    ahead = project.queue.ahead("ann", 60, now=NOW)
    # Others take what is open, then what has run out, until the first assignment is gone.
    taken = []
    while not taken or taken[-1].assignment != first.assignment:
        taken.append(project.queue.lease(f"other-{len(taken)}", 9e6, now=NOW + 1000))
    spare = next(one for one in taken if one.task == first.task and one.assignment != first.assignment)
    project.queue.release(spare.token)
    with pytest.raises(LeaseLost):
        check_own(project, "ann", first.token)
    held = project.queue.at_hand("ann", 60, now=NOW + 1001)
    seen = {held.task}
    if held.token == ahead.token:
        finish(project, held)
        seen.add(project.queue.at_hand("ann", 60, now=NOW + 1002).task)
    assert first.task in seen


def test_leases_and_pictures_serve_their_holder(project):  # noqa: F811
    project.pools.add_tasks(plain_plan(2))
    lease = project.queue.at_hand("ann", 60)
    project.queue.at_hand("bob", 60)
    item = lease.items[0]
    assert check_own(project, "ann", lease.token) == LEASED
    with pytest.raises(LeaseLost, match="another annotator"):
        check_own(project, "bob", lease.token)
    assert project.queue.pair_of("ann", item.id) == (item.image, item.caption)
    assert project.queue.pair_of("bob", item.id) is None
    assert project.queue.pair_of("ann", 10**9) is None


def test_many_windows_of_one_person(project):  # noqa: F811
    project.pools.add_tasks(plain_plan(20))
    found, barrier = [], threading.Barrier(6)

    def ask():
        barrier.wait()
        found.append((project.queue.at_hand("ann", 60).token, project.queue.ahead("ann", 60).token))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert (project.queue.assignments(now=time.time()).state == "leased").sum() == 2


def test_ahead_never_shares_a_pair_with_the_task_at_hand(tmp_path):
    """A few gold pairs are in many tasks."""
    with open_project(make_project(tmp_path / "few", task_size=3, gold=2, overlap=2, images=12)) as made:
        together = 0
        for number in range(6):
            name = f"person-{number}"
            while (now := made.queue.at_hand(name, 1800)) is not None:
                ahead = made.queue.ahead(name, 600)
                own = {(item.image, item.caption) for item in now.items}
                if ahead is not None:
                    together += 1
                    assert not own & {(item.image, item.caption) for item in ahead.items}
                for item in now.items:
                    made.answers.give(now.token, item.id, "yes")
                made.queue.submit(now.token)
            rows = [row for row in made.answers.history() if row["annotator"] == name]
            assert len({(row["image"], row["caption"]) for row in rows}) == len(rows)
        assert together > 10
        assert (made.queue.assignments().state != "leased").all()


def test_ahead_takes_nothing_from_those_who_are_slow(tmp_path):
    with open_project(make_project(tmp_path / "slow", images=20, task_size=60, gold=2, overlap=1)) as made:
        later = time.time() + 1e6
        leases = []
        while (found := made.queue.at_hand(f"slow-{len(leases)}", 60)) is not None:
            leases.append(found)
        mine = made.queue.at_hand("ann", 60, now=later)
        assert mine is not None, "what has run out may be taken when it is needed"
        assert made.queue.ahead("ann", 60, now=later) is None
