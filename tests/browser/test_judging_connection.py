"""Reloads, networks that go away, and two tabs: nothing is lost and nothing counts twice."""

import os
import time

import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")
pytest.importorskip("selenium", reason="needs selenium: pip install 'karat[test]'")

from browser.annotators import ENTER, annotators, servers, world_folder  # noqa: F401
from karat.store import StoreError


def test_reload_in_the_middle(annotators):  # noqa: F811
    annotator = annotators("pair")
    annotator.press("1", "4", "3", "d", "c")
    annotator.open()
    assert annotator.text("#place") == "3 of 6"
    assert annotator.text(".answer[aria-pressed=true] span") == "Mostly no, because …"
    annotator.press(ENTER, "1")
    annotator.press("u", "u")
    assert annotator.text("#place") == "3 of 6"
    annotator.saved()
    assert [code for code, _ in annotator.answers()] == ["yes", "no"]
    annotator.press("U", "U")
    annotator.saved()
    wrong = {"shortcomings": ["wrong_way"], "errors": ["color"]}
    assert annotator.answers() == [("yes", {}), ("no", {}), ("mostly_no", wrong), ("yes", {})]
    annotator.nothing_doubled()


def test_the_network_goes_away_and_comes_back(annotators):  # noqa: F811
    annotator = annotators("expert")
    annotator.press("4")
    annotator.saved()
    annotator.connect(False)
    annotator.press("3", "2", "u", "1")
    annotator.wait_text("#saved", "Offline: 2 unsent answers")
    time.sleep(1.5)
    assert [code for code, _ in annotator.answers()] == ["4"]
    annotator.connect(True)
    annotator.press("2")
    annotator.saved()
    assert annotator.text("#saved") == "Saved"
    assert [code for code, _ in annotator.answers()] == ["4", "3", "1", "2"]
    annotator.nothing_doubled()


def test_answers_wait_in_the_browser_while_the_page_is_closed(annotators, browser):  # noqa: F811
    annotator = annotators("expert")
    annotator.connect(False)
    annotator.press("4", "3")
    assert annotator.answers() == []
    kept = "return Object.keys(localStorage).filter((name) => name.includes(':op:')).length"
    assert browser.run(kept) == 2
    browser.driver.get("about:blank")
    annotator.connect(True)
    annotator.open()
    assert annotator.text("#place") == "3 of 6"
    annotator.saved()
    assert [code for code, _ in annotator.answers()] == ["4", "3"]
    annotator.nothing_doubled()


def test_two_tabs_of_one_person(annotators, browser):  # noqa: F811
    annotator = annotators("expert")
    driver = browser.driver
    first = driver.current_window_handle
    annotator.press("4", "3")
    driver.switch_to.new_window("tab")
    second = driver.current_window_handle
    try:
        annotator.open()
        assert annotator.text("#place") == "3 of 6", "the same task"
        annotator.press("2")
        driver.switch_to.window(first)
        annotator.wait_text("#place", "of 6")
        browser.wait("return document.getElementById('bar').value === 3")
        annotator.press("n") if annotator.text("#place") == "3 of 6" else None
        annotator.press("1")
        driver.switch_to.window(second)
        browser.wait("return document.getElementById('bar').value === 4")
        annotator.press("n") if annotator.text("#place") == "4 of 6" else None
        annotator.press("1", "2", "4")
        annotator.saved()
        driver.switch_to.window(first)
        browser.wait("return document.getElementById('bar').value === 1")
    finally:
        driver.switch_to.window(second)
        driver.close()
        driver.switch_to.window(first)
    assert [code for code, _ in annotator.answers()] == list("4321124")
    annotator.nothing_doubled()
    assert annotator.handed_in() == 1


def test_a_store_that_fails_for_a_while_is_waited_for(annotators, browser, monkeypatch):  # noqa: F811
    """Answers, the submission, the page and its first task: all of them are asked for again."""
    annotator = annotators("expert")
    place, queue = annotator.server.project.path, annotator.server.project.queue
    away = place.with_name("away.db")
    annotator.press(*"43214")
    annotator.saved()
    os.rename(place, away)
    try:
        annotator.press("3")
        annotator.wait_text("#saved", "The server cannot save at the moment: 1 unsent answer")
        # The answer in the next task sends the submission at once.
        annotator.press("2")
        annotator.wait_text("#saved", "2 unsent answers")
        browser.driver.get(f"{annotator.server.address}/judge")
        browser.wait("return document.querySelector('#card .idle[data-idle=busy]') !== null")
    finally:
        os.rename(away, place)
    real, refused = queue.at_hand, []

    def fail_twice(*arguments):
        if len(refused) < 2:
            refused.append(1)
            raise StoreError("locked", "is locked")
        return real(*arguments)

    monkeypatch.setattr(queue, "at_hand", fail_twice)
    browser.wait("return document.documentElement.dataset.ready === 'yes'")
    annotator.saved()
    browser.wait("return document.querySelector('#card .idle') === null")
    assert refused == [1, 1]
    assert browser.run("return document.querySelector('#banner').hidden")
    assert annotator.handed_in() == 1
    assert [code for code, _ in annotator.answers()] == list("4321432")
    annotator.nothing_doubled()
