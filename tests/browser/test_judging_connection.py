"""Reloads, networks that go away, and two tabs: nothing is lost and nothing counts twice."""

import time

import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")
pytest.importorskip("selenium", reason="needs selenium: pip install 'karat[test]'")

from browser.judging import ENTER, person, servers, world_folder  # noqa: F401


def test_reload_in_the_middle(person):  # noqa: F811
    somebody = person("pair")
    somebody.press("1", "4", "3", "d", "c")
    somebody.open()
    assert somebody.text("#place") == "3 of 6"
    assert somebody.text(".answer[aria-pressed=true] span") == "Mostly no, because …"
    somebody.press(ENTER, "1")
    somebody.press("u", "u")
    assert somebody.text("#place") == "3 of 6"
    somebody.saved()
    assert [code for code, _ in somebody.answers()] == ["yes", "no"]
    somebody.press("U", "U")
    somebody.saved()
    wrong = {"shortcomings": ["wrong_way"], "errors": ["color"]}
    assert somebody.answers() == [("yes", {}), ("no", {}), ("mostly_no", wrong), ("yes", {})]
    somebody.nothing_doubled()


def test_the_network_goes_away_and_comes_back(person):  # noqa: F811
    somebody = person("expert")
    somebody.press("4")
    somebody.saved()
    somebody.connect(False)
    somebody.press("3", "2", "u", "1")
    somebody.wait_text("#saved", "Offline: 2 answers kept")
    time.sleep(1.5)
    assert [code for code, _ in somebody.answers()] == ["4"]
    somebody.connect(True)
    somebody.press("2")
    somebody.saved()
    assert somebody.text("#saved") == "Saved"
    assert [code for code, _ in somebody.answers()] == ["4", "3", "1", "2"]
    somebody.nothing_doubled()


def test_answers_wait_in_the_browser_while_the_page_is_closed(person, browser):  # noqa: F811
    somebody = person("expert")
    somebody.connect(False)
    somebody.press("4", "3")
    assert somebody.answers() == []
    kept = "return Object.keys(localStorage).filter((name) => name.includes(':op:')).length"
    assert browser.run(kept) == 2
    browser.driver.get("about:blank")
    somebody.connect(True)
    somebody.open()
    assert somebody.text("#place") == "3 of 6"
    somebody.saved()
    assert [code for code, _ in somebody.answers()] == ["4", "3"]
    somebody.nothing_doubled()


def test_two_tabs_of_one_person(person, browser):  # noqa: F811
    somebody = person("expert")
    driver = browser.driver
    first = driver.current_window_handle
    somebody.press("4", "3")
    driver.switch_to.new_window("tab")
    second = driver.current_window_handle
    try:
        somebody.open()
        assert somebody.text("#place") == "3 of 6", "the same task"
        somebody.press("2")
        driver.switch_to.window(first)
        somebody.wait_text("#place", "of 6")
        browser.wait("return document.getElementById('bar').value === 3")
        somebody.press("n") if somebody.text("#place") == "3 of 6" else None
        somebody.press("1")
        driver.switch_to.window(second)
        browser.wait("return document.getElementById('bar').value === 4")
        somebody.press("n") if somebody.text("#place") == "4 of 6" else None
        somebody.press("1", "2", "4")
        somebody.saved()
        driver.switch_to.window(first)
        browser.wait("return document.getElementById('bar').value === 1")
    finally:
        driver.switch_to.window(second)
        driver.close()
        driver.switch_to.window(first)
    assert [code for code, _ in somebody.answers()] == list("4321124")
    somebody.nothing_doubled()
    assert somebody.handed_in() == 1
