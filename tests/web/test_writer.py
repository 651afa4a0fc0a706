"""The writer: many answers in one transaction, each told its own outcome, and only when it is on the disk."""

import asyncio
import threading
from concurrent.futures import CancelledError, wait
from unittest.mock import Mock

import pytest

from karat.errors import InputError
from karat.store import Answer, open_project
from karat.web.writer import Busy, Writer, acknowledged


class Paper:
    """A store on paper, which can be held up; codes say what happens to an answer."""

    def __init__(self) -> None:
        self.open, self.asked = threading.Event(), threading.Event()
        self.open.set()
        self.batches, self.stored = [], []
        self.gone = False

    def store(self, given):
        self.batches.append([one.item for one in given])
        self.asked.set()
        assert self.open.wait(30)
        if self.gone:
            raise InputError("the disk is full")
        if any(one.code == "poison" for one in given):
            raise ZeroDivisionError
        return [self.keep(one) for one in given]

    def keep(self, one):
        if one.code == "refuse":
            return InputError("no such answer")
        self.stored.append((one.item, one.code))
        return len(self.stored)

    def hold(self) -> None:
        self.open.clear()
        self.asked.clear()


@pytest.fixture
def paper():
    return Paper()


@pytest.fixture
def writer(paper):
    made = Writer(paper, most=4, room=6)
    yield made
    paper.open.set()
    made.close()


def batches(writer):
    """How many transactions the writer has counted."""
    (metric,) = writer.figures.size.collect()
    return next(one.value for one in metric.samples if one.name == "karat_batch_answers_count")


def held(paper, writer):
    """Hand one answer over and wait until the store is busy with it."""
    paper.hold()
    first = writer.add(Answer("token", 0, "yes"))
    assert paper.asked.wait(30)
    return first


def test_what_gathers_meanwhile_goes_in_together_and_in_order(paper, writer):
    first = held(paper, writer)
    rest = [writer.add(Answer("token", item, "yes")) for item in range(1, 7)]
    assert writer.depth == 6
    # Nobody is told anything before the store has it.
    assert not any(one.done() for one in (first, *rest))
    paper.open.set()
    assert [one.result(30) for one in (first, *rest)] == list(range(1, 8))
    assert paper.batches == [[0], [1, 2, 3, 4], [5, 6]]
    assert (writer.figures.saved, batches(writer), writer.depth) == (7, 3, 0)


def test_a_refused_answer_is_refused_alone(paper, writer):
    first = held(paper, writer)
    good, bad, undo = (
        writer.add(Answer("t", 1, "yes")),
        writer.add(Answer("t", 2, "refuse")),
        writer.add(Answer("t", 1, None)),
    )
    paper.open.set()
    with pytest.raises(InputError, match="no such answer"):
        bad.result(30)
    assert [one.result(30) for one in (first, good, undo)] == [1, 2, 3]
    assert paper.stored == [(0, "yes"), (1, "yes"), (1, None)]
    assert (writer.figures.saved, writer.figures.refused, writer.figures.failed) == (3, 1, 0)


def test_a_store_that_fails_saves_nothing_and_says_so(paper, writer):
    paper.gone = True
    for _ in range(2):
        with pytest.raises(Busy):
            writer.add(Answer("t", 1, "yes")).result(30)
    assert writer.figures.broken
    paper.gone = False
    assert writer.add(Answer("t", 1, "yes")).result(30) == 1
    assert not writer.figures.broken
    assert (writer.figures.saved, writer.figures.failed) == (1, 2)


def test_an_answer_that_breaks_the_batch_fails_alone(paper, writer):
    first = held(paper, writer)
    good, poison, also = (
        writer.add(Answer("t", n, code)) for n, code in enumerate(("yes", "poison", "no"), 1)
    )
    paper.open.set()
    with pytest.raises(Busy):
        poison.result(30)
    assert [one.result(30) for one in (first, good, also)] == [1, 2, 3]
    assert paper.batches == [[0], [1, 2, 3], [1], [2], [3]]


def test_a_mistake_does_not_end_the_writer(paper, writer, monkeypatch):
    monkeypatch.setattr(paper, "store", lambda given: [])
    with pytest.raises(Busy):
        writer.add(Answer("t", 1, "yes")).result(30)
    monkeypatch.undo()
    assert writer.add(Answer("t", 1, "yes")).result(30) == 1


def test_a_full_queue_turns_answers_away(paper, writer):
    first = held(paper, writer)
    kept = [writer.add(Answer("t", item, "yes")) for item in range(6)]
    with pytest.raises(Busy) as error:
        writer.add(Answer("t", 9, "yes"))
    assert error.value.wait >= 1
    for one in (first, kept[0]):
        with pytest.raises(Busy):
            asyncio.run(acknowledged(one, 0.01))
    paper.open.set()
    assert wait([first, *kept], 30).not_done == set()
    # Of those whose senders lost patience, the one that the store had begun with is stored.
    assert paper.stored == [(0, "yes"), *((item, "yes") for item in range(1, 6))]


def test_closing_stores_what_waits_and_takes_nothing_more(paper):
    writer = Writer(paper, most=2)
    first = held(paper, writer)
    rest = [writer.add(Answer("t", item, "yes")) for item in range(5)]
    closing = threading.Thread(target=writer.close)
    closing.start()
    while not writer._closed:
        pass
    with pytest.raises(Busy):
        writer.add(Answer("t", 9, "yes"))
    paper.open.set()
    closing.join(30)
    assert not writer.alive
    assert all(one.done() for one in (first, *rest))
    assert len(paper.stored) == 6
    writer.close()


def test_who_gave_up_in_the_queue_is_left_out(paper, writer):
    first = held(paper, writer)
    gone, kept = writer.add(Answer("t", 1, "yes")), writer.add(Answer("t", 2, "yes"))
    assert gone.cancel()
    paper.open.set()
    assert kept.result(30) == 2
    with pytest.raises(CancelledError):
        gone.result(30)
    assert first.done()
    assert paper.stored == [(0, "yes"), (2, "yes")]


def test_many_threads_and_a_real_store(made_project):
    place = made_project()
    with open_project(place) as project:
        writer = Writer(project.answers)
        leases = [project.queue.lease(f"person {number}") for number in range(6)]
        told = {}

        def work(lease):
            for number, item in enumerate(lease.items):
                key = f"{lease.annotator} {number}"
                told[key] = writer.add(Answer(lease.token, item.id, "yes", None, 1.5, key)).result(30)
                assert writer.add(Answer(lease.token, item.id, "yes", None, 1.5, key)).result(30) == told[key]

        threads = [threading.Thread(target=work, args=(lease,)) for lease in leases]
        for one in threads:
            one.start()
        for one in threads:
            one.join(120)
        writer.close()
    with open_project(place) as project:
        rows = {row["key"]: row["id"] for row in project.answers.history()}
        assert len(list(project.answers.history())) == len(rows)
    assert rows == told
    assert len(told) == sum(len(lease.items) for lease in leases)


def test_a_busy_writer_is_503_and_the_page_may_come_back(server, client):
    judge = client("judge")
    lease = judge.post("/api/judge/lease", json={}).json()["lease"]
    given = {"token": lease["token"], "item": lease["items"][0]["id"], "code": "yes", "key": "abcdefgh"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server.app.state.writer, "add", Mock(side_effect=Busy(3)))
        refused = judge.post("/api/judge/answer", json=given)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "3")
        assert "not saved yet" in refused.json()["error"]
    assert judge.post("/api/judge/answer", json=given).status_code == 200
    assert len(list(server.project.answers.history())) == 1
