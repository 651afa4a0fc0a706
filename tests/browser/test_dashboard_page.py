"""The dashboard in a browser: live, by keyboard, readable, and nothing that the policy refuses."""

import io
import time
import zipfile

import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")
pytest.importorskip("selenium", reason="needs selenium: pip install 'karat[test]'")

from axe_core_python.selenium import Axe
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from karat.judging.machine_judges.calibration import SETTING, Calibration
from karat.stats.estimate import Estimate
from web.answers import answer_one, answer_some
from web.conftest import _quick_hashes, project_template  # noqa: F401
from web.servers import PASSWORD, start

READY = "return document.documentElement.dataset.ready === 'yes'"
LOOKS = [(1280, False), (1280, True), (390, False), (390, True)]


@pytest.fixture(scope="module")
def server(project_template, tmp_path_factory):  # noqa: F811
    """A server of a project in which much has happened."""
    place = tmp_path_factory.mktemp("dashboard") / "project.db"
    place.write_bytes(project_template.read_bytes())
    answer_some(place)
    made = start(place)
    project = made.project
    for number in range(6):
        answer_one(
            project,
            f"Gil {number % 3}",
            "no" if number % 2 else "yes",
            number < 4,
            time.time() - 600 * number,
        )
    kappa = Estimate(0.61, 0.52, 0.7, 0.95, "percentile", 180, 30)
    fit = Calibration("vlm", "a-model", "v1", kappa, kappa, kappa, 0.8, 200, 180, 0.1, 0.1)
    project.journal.set(SETTING, {"v1": fit.as_data()})
    for name in ("owner", "reader"):
        made.accounts.users.add(name, name, PASSWORD)
    yield made
    made.stop()


@pytest.fixture
def page(browser, server):
    """Return a function that opens a page as a user, and waits until it is drawn."""

    def open_page(path="/dashboard", who="owner", width=1280, dark=False):
        browser.set(width, dark)
        # Not the page for signing in: it leads on by itself, in the middle of what follows.
        browser.driver.get(f"{server.address}/static/icon.svg")
        browser.driver.delete_all_cookies()
        cookies = server.app.state.cookies
        token = server.accounts.sessions.open(server.accounts.users.number_of(who))
        browser.driver.add_cookie({"name": cookies.session, "value": token, "path": cookies.path})
        browser.complaints()
        browser.driver.get(server.address + path)
        browser.wait(READY)
        return browser

    yield open_page
    browser.driver.get("about:blank")


def element(browser, css):
    return browser.driver.find_element(By.CSS_SELECTOR, css)


def text(browser, css):
    return browser.run("return document.querySelector(arguments[0]).textContent", css)


def press(browser, *keys):
    for key in keys:
        ActionChains(browser.driver, duration=0).send_keys(key).perform()


def test_an_answer_is_seen_without_a_reload(page, server):
    browser = page()
    browser.run("window.same = true")
    before = text(browser, "#tile-answers .value")
    answer_one(server.project, "Newcomer")
    browser.wait("return document.querySelector('#annotators').textContent.includes('Newcomer')", 15)
    assert text(browser, "#tile-answers .value") != before
    assert browser.run("return window.same") is True
    assert browser.complaints() == []


def test_a_name_is_text(page):
    browser = page()
    assert "<b>Cleo</b>" in text(browser, "#annotators")
    assert browser.run("return document.querySelectorAll('#annotators b').length") == 0


def test_a_reader_sees_numbers_and_no_buttons(page):
    browser = page(who="reader")
    assert "of" in text(browser, "#tile-answers .value")
    assert browser.run("return document.querySelectorAll('form, .actions, #disagree a').length") == 0
    assert browser.complaints() == []


def test_deciding_by_keyboard(page, server):
    browser = page("/adjudicate")
    at = "return document.documentElement.dataset.pair"
    first = browser.run(at)
    browser.wait("const i = document.getElementById('picture'); return i.complete && i.naturalWidth > 0")
    key = server.project.form.choice("no").key
    press(browser, key)
    browser.wait(f"{at} !== {first!r}")
    second = browser.run(at)
    press(browser, Keys.ARROW_RIGHT)
    browser.wait(f"{at} !== {second!r}")
    press(browser, Keys.ARROW_LEFT)
    browser.wait(f"{at} === {second!r}")
    image, caption = map(int, first.split("/"))
    table = server.project.answers.read()
    decided = [k for k, kind in enumerate(table.kinds) if kind == "adjudicator"]
    rows = (table.annotator == decided[0]) & (table.image == image) & (table.caption == caption)
    assert table.rating[rows].tolist() == [server.project.form.choice("no").rating]
    press(browser, Keys.BACKSPACE)
    browser.wait(f"{at} === {first!r}")
    table = server.project.answers.read()
    assert not (table.annotator == decided[0]).any()
    assert browser.complaints() == []


def test_publishing_and_downloading(page, browser, server, tmp_path):
    page()
    behaviour = {"behavior": "allow", "downloadPath": str(tmp_path), "eventsEnabled": False}
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    name = element(browser, "#publish-name")
    name.clear()
    name.send_keys("seen", Keys.ENTER)
    browser.wait("return document.querySelector('[data-job=\"1\"]')?.dataset.state === 'done'")
    # The job is the server's: it is still there on a page opened anew.
    browser.driver.refresh()
    browser.wait("return document.querySelector('[data-job=\"1\"] a') !== null")
    browser.run("document.querySelector('[data-job=\"1\"] a').click()")
    end = time.monotonic() + 60
    while not (tmp_path / "seen.zip").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(0.1)
    names = zipfile.ZipFile(io.BytesIO((tmp_path / "seen.zip").read_bytes())).namelist()
    assert {"karat-judging.json", "README.md", "answers.parquet"} <= set(names)
    element(browser, "#publish-name").clear()
    element(browser, "#publish-name").send_keys("original", Keys.ENTER)
    browser.wait("return document.querySelector('[data-job=\"2\"]')?.dataset.state === 'failed'")
    assert "already" in text(browser, "[data-job='2']")
    assert browser.complaints() == []


def test_an_assignment_is_rejected_with_a_reason(page, server):
    browser = page()
    assignment = int(text(browser, "#review tbody th"))
    # In one step: the table may be drawn anew between finding the button and clicking it.
    browser.run("document.querySelector('#review .danger').click()")
    press(browser, Keys.TAB, Keys.TAB, Keys.TAB, Keys.ENTER)
    browser.wait("return document.querySelector('#review').textContent.includes('rejected')")
    assert server.project.reviews.read()[assignment][:3] == ("reject", "owner", "wrong on gold pairs")
    assert browser.complaints() == []


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_pages_are_readable(page, pictures, width, dark):
    look = f"{width}-{'dark' if dark else 'light'}"
    for name in ("dashboard", "adjudicate"):
        browser = page(f"/{name}", width=width, dark=dark)
        if name == "adjudicate":
            browser.wait("const i = document.getElementById('picture'); return i.complete")
        browser.picture(pictures / f"{name}-{look}.png")
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), name
        assert browser.complaints() == []
        if (width > 1000) == dark:
            continue  # Both widths and both colours are checked once.
        browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
        found = Axe().run(browser.driver)["violations"]
        serious = [
            (one["id"], one["nodes"][0]["html"][:200])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == [], name


def test_the_dashboard_says_that_no_annotator_can_go_on(page):
    """The words that are shown; tests of the parts check when they are."""
    browser = page()
    assert not element(browser, "#stuck").is_displayed()
    show = "return import(arguments[0]).then((module) => { module.stuck(arguments[1]); })"
    script = browser.run("return new URL('../static/dashboard/progress.js', location.href).href")
    browser.run(show, script, {"stuck": {"open": 3, "invite": 1}})
    assert text(browser, "#stuck") == (
        "No annotator can go on: 3 assignments are open, but every annotator has already done the task or "
        "seen one of its pairs. Invite at least 1 more annotator."
    )
    assert element(browser, "#stuck").is_displayed()
    browser.run(show, script, {"stuck": None})
    assert not element(browser, "#stuck").is_displayed()
