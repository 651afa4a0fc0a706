"""Parts of the dashboard without a server: counting, the pace, the shelf."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")

from karat.errors import InputError
from karat.forms import Choice, Form
from karat.store import create_project, snapshot
from karat.web.dashboard import computation
from karat.web.dashboard.computation import Closing, ComputationProgress, Follower
from karat.web.dashboard.jobs import Shelf
from karat.web.dashboard.live import live_numbers, pace
from karat.web.dashboard.tally import Tally
from tests.store.postgres import REASON, new_database, programs, server
from tests.store.small import finish, plain_plan, plan_of

from made import make_benchmark

FORM = Form("fit", "Fit", "Does it fit?", (Choice("yes", "Yes", "1", 1, 1), Choice("no", "No", "2", 0, 0)))


@pytest.fixture(params=["sqlite", "postgresql"])
def project(request, tmp_path):
    if request.param == "sqlite":
        with create_project(tmp_path / "project.db", make_benchmark(), FORM, source="made") as made:
            yield made
        return
    if programs() is None:
        pytest.skip(REASON)
    with server() as address:
        where = new_database(address, "tally")
        with create_project(where, make_benchmark(), FORM, source="made") as made:
            yield made


def test_counting_follows_whatever_happens(project):
    """Random annotators lease, answer, undo, return, submit and decide; the store's table says the same."""
    rng = np.random.default_rng(5)
    tally, held, now = Tally(project), {}, time.time()
    project.pools.add_tasks(plain_plan(3, overlap=2))
    for step in range(240):
        who = f"person {rng.integers(4)}"
        held[who] = held.get(who) or project.queue.lease(who)
        lease = held[who]
        action = rng.choice(["answer", "answer", "undo", "release", "submit", "decide"])
        if action == "decide":
            project.reviews.adjudicate("boss", 0, int(rng.integers(3)), [None, "yes", "no"][rng.integers(3)])
        elif lease is not None and action in ("answer", "undo"):
            item = lease.items[rng.integers(len(lease.items))].id
            if action == "answer":
                project.answers.give(lease.token, item, "yes", seconds=2.0)
            else:
                project.answers.withdraw(lease.token, item)
        elif lease is not None:
            try:
                (project.queue.release if action == "release" else project.queue.submit)(lease.token)
            except InputError:
                continue
            held[who] = None
        if step == 120:
            project.pools.add_tasks(plain_plan(4, size=3, overlap=2))
        if step % 6 == 0:
            tally.update()
            check(project, live_numbers(tally, now))
    assert not tally.update() or not tally.update()


def check(project, live):
    """Compare with what the store says by itself."""
    table = project.answers.read()
    assert live["answers"]["given"] + live["answers"]["elsewhere"] == len(table)
    counts = np.bincount(table.annotator, minlength=len(table.annotators))
    told = {one["annotator"]: one["answers"] for one in live["annotators"]}
    assert {name: told.get(name, 0) for name in table.annotators} == dict(
        zip(table.annotators, counts.tolist())
    )
    asked = table.where(table.assignment >= 0)
    assert live["pairs"]["begun"] == len(np.unique(asked.image * 1000 + asked.caption))
    assignments = project.queue.assignments()
    assert live["assignments"] == {
        state: int((assignments.state == state).sum()) for state in live["assignments"]
    }


def test_only_what_changed_is_read(project, monkeypatch):
    """An answer in a project of many reads its block of assignments and its own row, nothing else."""
    project.pools.add_tasks(plain_plan(700, size=2, overlap=3))
    tally, read = Tally(project), []
    tally.update()
    assert len(tally.task) == 2100 > 2 * snapshot.BLOCK
    columns = snapshot.read_columns

    def counted(*arguments):
        found = columns(*arguments)
        read.append(len(found[0]))
        return found

    monkeypatch.setattr(snapshot, "read_columns", counted)
    lease = project.queue.lease("ann")
    project.answers.give(lease.token, lease.items[0].id, "yes")
    assert tally.update()
    # PostgreSQL reads the last rows again; there are none but the new one.
    assert read == [snapshot.BLOCK, 1, 0]
    check(project, live_numbers(tally, time.time()))
    assert not tally.update()


def test_answers_come_in_pages_and_are_told(project, monkeypatch):
    monkeypatch.setattr(snapshot, "PAGE", 3)
    project.pools.add_tasks(plain_plan(6, size=2, overlap=1))
    do_all(project, "ann", "bob")
    tally, progress, seen = Tally(project), ComputationProgress(lambda: False, lambda: None), []
    monkeypatch.setattr(progress, "show", lambda stages: seen.extend(one.done for one in stages[1:]))
    progress.every = 0.0
    with progress.going():
        tally.update()
    assert len(set(seen)) >= 4  # twelve answers
    check(project, live_numbers(tally, time.time()))


def test_an_interrupted_count_begins_anew(project, monkeypatch):
    project.pools.add_tasks(plain_plan(4, size=2, overlap=1))
    do_all(project, "ann")
    tally, put = Tally(project), Tally.put
    monkeypatch.setattr(snapshot, "PAGE", 3)

    def broken(self, rows):
        put(self, rows)
        raise Closing

    monkeypatch.setattr(Tally, "put", broken)
    with pytest.raises(Closing):
        tally.update()
    monkeypatch.undo()
    assert tally.update()
    check(project, live_numbers(tally, time.time()))


def test_an_older_copy_is_counted_anew(tmp_path):
    with create_project(tmp_path / "project.db", make_benchmark(), FORM, source="made") as made:
        made.pools.add_tasks(plain_plan(4, size=2, overlap=1))
        do_all(made, "ann")
        tally = Tally(made)
        tally.update()
        with made.database.write() as connection:
            connection.exec_driver_sql("DROP TRIGGER IF EXISTS answer_no_delete")
            for (name,) in connection.exec_driver_sql(
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'answer'"
            ).all():
                connection.exec_driver_sql(f'DROP TRIGGER "{name}"')
            connection.exec_driver_sql("DELETE FROM answer WHERE id > 4")
        assert tally.update()
        check(made, live_numbers(tally, time.time()))


def test_long_work_is_repeated_seldom():
    """A tenth of the time, a third on request; what was asked for meanwhile is not forgotten."""
    clock = SimpleNamespace(now=1000.0)
    progress = ComputationProgress(lambda: False, lambda: None)

    def work():
        clock.now += 30

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(computation.time, "monotonic", lambda: clock.now)
        follower = Follower(work, progress)
        follower.run("one")
        assert not follower.is_due("two", clock.now + 299)
        assert follower.is_due("two", clock.now + 301)
        assert not follower.is_due("one", clock.now + 301)
        follower.ask()
        assert [follower.is_due("one", clock.now + seconds) for seconds in (59, 61)] == [False, True]
        follower.work = lambda: (work(), follower.ask())
        follower.run("one")
        assert [follower.is_due("one", clock.now + seconds) for seconds in (59, 61)] == [False, True]
        assert progress.patience(0.1) == 0


def test_a_pace_in_bursts_is_less_certain():
    now = 1e6
    steady = now - np.linspace(1, 3599, 120)
    bursts = now - np.repeat([100.0, 2000.0], 60)
    width = [pace(times, 100, now)[0] for times in (steady, bursts)]
    assert width[0]["rate"] == pytest.approx(width[1]["rate"], rel=0.6)
    assert width[1]["high"] / width[1]["low"] > 1.5 * width[0]["high"] / width[0]["low"]
    for one in width:
        assert now < one["soonest"] < one["latest"]


def test_what_is_published_stays_on_the_owners_shelf(tmp_path):
    shelf = Shelf(tmp_path)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "karat-judging.json").write_text("{}")
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "one")
    assert shelf.names() == ["one"]
    assert shelf.find("one") == tmp_path / "one"
    assert [shelf.find(name) for name in ("other", "link", "..", "../one", "")] == [None] * 5
    shelf.close()
    assert (tmp_path / "one").is_dir()
    with pytest.raises(InputError, match="does not exist"):
        Shelf(tmp_path / "missing")
    passing = Shelf()
    assert passing.folder.is_dir()
    passing.close()
    assert not passing.folder.exists()


def do_all(project, *names):
    """Let annotators take and finish whatever they can get, in turn."""
    going = list(names)
    while going:
        lease = project.queue.lease(going[0])
        if lease is None:
            going.pop(0)
            continue
        finish(project, lease)
        going.append(going.pop(0))


def stuck_now(project, now=None):
    tally = Tally(project)
    tally.update()
    return live_numbers(tally, time.time() if now is None else now)["stuck"]


def test_the_dashboard_says_when_nobody_left_can_go_on(project):
    """Tasks 0 and 1 share a pair, and each needs two annotators: three annotators are one too few."""
    pairs = [(0, 0), (0, 1)], [(0, 1), (0, 2)], [(5, 5), (5, 6)]
    project.pools.add_tasks(plan_of(*pairs, overlap=2))
    assert stuck_now(project) is None  # nobody has begun
    lease = project.queue.lease("ann")
    assert stuck_now(project) is None
    finish(project, lease)
    do_all(project, "ann", "bob", "cleo")
    assert project.queue.counts()["open"] == 1
    assert stuck_now(project) == {"open": 1, "invite": 1}
    assert not project.queue.can_continue(["ann", "bob", "cleo"])
    assert project.queue.can_continue(["ann", "dan"])
    # An account that has not begun yet can go on; a disabled one cannot.
    dan = project.accounts.users.add("dan", "judge", None)
    assert stuck_now(project) is None
    project.accounts.users.set_active(dan.id, False)
    assert stuck_now(project) == {"open": 1, "invite": 1}
    # An owner counts only after having answered.
    project.accounts.users.add("eve", "owner", None)
    assert stuck_now(project) == {"open": 1, "invite": 1}
    do_all(project, "dan")
    assert project.queue.counts()["open"] == 0
    assert stuck_now(project) is None


def test_as_many_as_the_open_tasks_need_are_invited(project):
    """One annotator has done everything once; three linked tasks need two more annotators each."""
    pairs = [(0, 0), (0, 1)], [(0, 1), (0, 2)], [(0, 2), (0, 0)], [(7, 7)]
    project.pools.add_tasks(plan_of(*pairs, overlap=2))
    do_all(project, "ann")
    assert project.queue.counts()["submitted"] == 2  # one of the three, and the last
    assert stuck_now(project) == {"open": 6, "invite": 5}
    # A lease that has expired is open to others, not to its holder.
    project.queue.lease("bob", seconds=10, now=1000.0)
    assert project.queue.can_continue(["bob"], now=1005.0)
    assert stuck_now(project, now=1005.0) is None
    do_all(project, *(f"person {number}" for number in range(5)))
    assert project.queue.counts()["open"] == 0


def test_no_annotator_is_overlooked(project):
    """Whether the queue has something for anyone, against asking it for each annotator."""
    rng = np.random.default_rng(3)
    for round_ in range(12):
        first = 3 * round_
        pairs = [[(first + int(image), 0) for image in rng.permutation(3)[:2]] for _ in range(3)]
        project.pools.add_tasks(plan_of(*pairs, overlap=int(rng.integers(1, 4))))
        names = [f"person {number}" for number in range(int(rng.integers(1, 4)))]
        for _ in range(int(rng.integers(2, 9))):
            who = names[rng.integers(len(names))]
            lease = project.queue.lease(who)
            if lease is not None:
                (finish if rng.random() < 0.8 else give_back)(project, lease)
        can = project.queue.can_continue(names)
        leases = [project.queue.lease(name) for name in names]
        assert can == any(lease is not None for lease in leases)
        for lease in leases:
            if lease is not None:
                project.queue.release(lease.token)


def give_back(project, lease):
    """Answer one item, then return the assignment."""
    project.answers.give(lease.token, lease.items[0].id, "yes")
    project.queue.release(lease.token)
