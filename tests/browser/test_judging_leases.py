"""A lease that expires during work: the page says so, work continues, and nothing counts twice."""

import time

import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")
pytest.importorskip("selenium", reason="needs selenium: pip install 'karat[test]'")

from selenium.webdriver.common.keys import Keys

from browser.annotators import Annotator, make_project, world_folder  # noqa: F401
from karat.forms import load_form
from web.servers import start


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


def take_all(project, assignment):
    """Let others take open and then expired assignments, until they have this one; return all leases."""
    later, taken = time.time() + 4000, []
    while not taken or taken[-1].assignment != assignment:
        taken.append(project.queue.lease(f"other-{len(taken)}", seconds=9e6, now=later))
    return taken


def others(browser):
    """What the console says beside refusals: of late answers, and of pictures of a lost task."""
    said = browser.complaints()
    return [one for one in said if "409 (Conflict)" not in one and "404 (Not Found)" not in one]


def test_a_lost_lease_is_told_and_a_fresh_one_comes(browser, serve):
    server = serve(tasks=4, overlap=1)
    annotator = Annotator(browser, server).enter()
    annotator.press("4", "3")
    annotator.saved()
    assignment = annotator.rows()[0]["assignment"]
    taken = take_all(server.project, assignment)
    server.project.queue.release(taken[0].token)
    annotator.press("2")
    annotator.wait_text("#banner-text", "no longer have")
    assert "3 of your answers in it do not count" in annotator.text("#banner-text")
    browser.wait("return document.getElementById('bar').value === 0")
    assert annotator.answers() == []
    annotator.press("1", "2")
    annotator.saved()
    assert [code for code, _ in annotator.answers()] == ["1", "2"]
    assert {row["assignment"] for row in annotator.rows()} == {assignment, taken[0].assignment}
    # It stays until it was read, also after a reload.
    annotator.open()
    assert "3 of your answers" in annotator.text("#banner-text")
    browser.run("document.getElementById('banner-close').click()")
    annotator.open()
    assert browser.run("return document.getElementById('banner').hidden")
    annotator.nothing_doubled()
    assert others(browser) == []


def test_answers_are_carried_over_into_the_same_task(browser, serve):
    server = serve(tasks=1, overlap=2)
    annotator = Annotator(browser, server).enter()
    annotator.press("4", "3")
    annotator.saved()
    assignment = annotator.rows()[0]["assignment"]
    taken = take_all(server.project, assignment)
    server.project.queue.release(taken[0].token)
    annotator.press("2")
    annotator.wait_text("#banner-text", "3 answers could be carried over")
    annotator.press("1", "1", "1")
    browser.wait("return document.querySelector('[data-idle=done]') !== null")
    annotator.leave(1)
    assert [code for code, _ in annotator.answers()] == list("432111")
    assert others(browser) == []


def test_a_lease_that_nobody_wanted_goes_on(browser, serve):
    server = serve(tasks=2, overlap=1)
    annotator = Annotator(browser, server).enter()
    annotator.press("4")
    annotator.saved()
    with server.project.database.write() as connection:
        connection.exec_driver_sql("UPDATE assignment SET expires = 5.0 WHERE state = 1")
    annotator.press("3")
    annotator.saved()
    annotator.open()
    assert annotator.text("#place") == "3 of 6"
    assert [code for code, _ in annotator.answers()] == ["4", "3"]


def test_handing_back(browser, serve):
    server = serve(tasks=3, overlap=1)
    annotator = Annotator(browser, server).enter()
    annotator.press("4")
    annotator.saved()
    annotator.press("h")
    ask_to_return(browser)
    browser.run("document.querySelector('#return-dialog [value=yes]').click()")
    browser.wait("return document.getElementById('bar').value === 0")
    assert annotator.answers() == []
    annotator.press("3")
    annotator.saved()
    assert [code for code, _ in annotator.answers()] == ["3"]
    # Escape keeps the task, also after an earlier one was returned.
    ask_to_return(browser)
    annotator.press(Keys.ESCAPE)
    browser.wait("return !document.getElementById('return-dialog').open")
    annotator.press("2")
    annotator.saved()
    assert [code for code, _ in annotator.answers()] == ["3", "2"]


def ask_to_return(browser):
    browser.run("document.getElementById('return-task').click()")
    browser.wait("return document.getElementById('return-dialog').open")


def test_the_end_of_all_tasks(browser, serve):
    server = serve(tasks=1, overlap=1, pages=3)
    annotator = Annotator(browser, server).enter()
    annotator.press("4", "3", "2")
    browser.wait("return document.querySelector('[data-idle=done]') !== null")
    # Not submitted yet: the last answer can be undone from here too.
    annotator.press("u")
    assert annotator.text("#place") == "3 of 3"
    annotator.press("1")
    browser.wait("return document.querySelector('[data-idle=done]') !== null")
    annotator.leave(1)
    assert [code for code, _ in annotator.answers()] == list("431")
    assert browser.complaints() == []
    # Who comes back has nothing to do, and nothing is sent again.
    annotator.open()
    annotator.wait_text(".idle h2", "All done")
    annotator.saved()
    annotator.nothing_doubled()
