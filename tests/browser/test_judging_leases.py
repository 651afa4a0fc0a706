"""A lease that ran out while somebody worked: it is told plainly, work goes on, and nothing counts twice."""

import time

import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")
pytest.importorskip("selenium", reason="needs selenium: pip install 'karat[test]'")

from browser.judging import Person, make_project, world_folder  # noqa: F401
from karat.judging import load_form
from web.serving import start


@pytest.fixture
def serve(tmp_path, world_folder):  # noqa: F811
    """Return a function that starts a server of a few tasks."""
    started = []

    def begin(form="expert", **sizes):
        place = make_project(tmp_path / "project.db", world_folder, load_form(form), **sizes)
        started.append(start(place))
        return started[-1]

    yield begin
    for one in started:
        one.stop()


def take_all(project, slot):
    """Let others take what is open, and then what has run out, until they have a slot; return all leases."""
    later, taken = time.time() + 4000, []
    while not taken or taken[-1].slot != slot:
        taken.append(project.queue.lease(f"other-{len(taken)}", seconds=9e6, now=later))
    return taken


def others(browser):
    """What the console says beside refusals: of late answers, and of pictures of a lost task."""
    said = browser.complaints()
    return [one for one in said if "409 (Conflict)" not in one and "404 (Not Found)" not in one]


def test_a_lost_lease_is_told_and_a_fresh_one_comes(browser, serve):
    server = serve(tasks=4, overlap=1)
    somebody = Person(browser, server).enter()
    somebody.press("4", "3")
    somebody.saved()
    slot = somebody.rows()[0]["slot"]
    taken = take_all(server.project, slot)
    server.project.queue.release(taken[0].token)
    somebody.press("2")
    somebody.wait_text("#banner-text", "no longer yours")
    assert "3 answers given in it do not count" in somebody.text("#banner-text")
    browser.wait("return document.getElementById('bar').value === 0")
    assert somebody.answers() == []
    somebody.press("1", "2")
    somebody.saved()
    assert [code for code, _ in somebody.answers()] == ["1", "2"]
    assert {row["slot"] for row in somebody.rows()} == {slot, taken[0].slot}
    # It stays until it was read, also after a reload.
    somebody.open()
    assert "3 answers" in somebody.text("#banner-text")
    browser.run("document.getElementById('banner-close').click()")
    somebody.open()
    assert browser.run("return document.getElementById('banner').hidden")
    somebody.nothing_doubled()
    assert others(browser) == []


def test_answers_are_carried_over_into_the_same_task(browser, serve):
    server = serve(tasks=1, overlap=2)
    somebody = Person(browser, server).enter()
    somebody.press("4", "3")
    somebody.saved()
    slot = somebody.rows()[0]["slot"]
    taken = take_all(server.project, slot)
    server.project.queue.release(taken[0].token)
    somebody.press("2")
    somebody.wait_text("#banner-text", "3 answers could be carried over")
    somebody.press("1", "1", "1")
    browser.wait("return document.querySelector('[data-idle=done]') !== null")
    somebody.leave(1)
    assert [code for code, _ in somebody.answers()] == list("432111")
    assert others(browser) == []


def test_a_lease_that_nobody_wanted_goes_on(browser, serve):
    server = serve(tasks=2, overlap=1)
    somebody = Person(browser, server).enter()
    somebody.press("4")
    somebody.saved()
    with server.project.database.write() as connection:
        connection.exec_driver_sql("UPDATE slot SET expires = 5.0 WHERE state = 1")
    somebody.press("3")
    somebody.saved()
    somebody.open()
    assert somebody.text("#place") == "3 of 6"
    assert [code for code, _ in somebody.answers()] == ["4", "3"]


def test_handing_back(browser, serve):
    server = serve(tasks=3, overlap=1)
    somebody = Person(browser, server).enter()
    somebody.press("4")
    somebody.saved()
    somebody.press("h")
    browser.run("document.getElementById('give-back').click()")
    browser.run("document.querySelector('#give-back-dialog [value=yes]').click()")
    browser.wait("return document.getElementById('bar').value === 0")
    assert somebody.answers() == []
    somebody.press("3")
    somebody.saved()
    assert [code for code, _ in somebody.answers()] == ["3"]


def test_the_end_of_all_tasks(browser, serve):
    server = serve(tasks=1, overlap=1, pages=3)
    somebody = Person(browser, server).enter()
    somebody.press("4", "3", "2")
    browser.wait("return document.querySelector('[data-idle=done]') !== null")
    # Not handed in yet: the last answer can be taken back from here too.
    somebody.press("u")
    assert somebody.text("#place") == "3 of 3"
    somebody.press("1")
    browser.wait("return document.querySelector('[data-idle=done]') !== null")
    somebody.leave(1)
    assert [code for code, _ in somebody.answers()] == list("431")
    assert browser.complaints() == []
    # Who comes back has nothing to do, and nothing is sent again.
    somebody.open()
    somebody.wait_text(".idle h2", "That was all")
    somebody.saved()
    somebody.nothing_doubled()
