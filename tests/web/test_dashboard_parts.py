"""Parts of the dashboard without a server: counting, the pace, the shelf."""

import time

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")

from karat.errors import InputError
from karat.judging.forms import Choice, Form
from karat.judging.store import create_project
from karat.web.dashboard.jobs import Shelf
from karat.web.dashboard.live import live_numbers, pace
from karat.web.dashboard.tally import Tally
from tests.judging.postgres import REASON, new_database, programs, server
from tests.judging.store.small import plain_plan

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
