"""The page of a HIT in a browser, filled with a row of the batch as Amazon does it."""

import csv
import re

import pytest

from judging.exchange.projects import make_project
from karat.judging.exchange import export_tasks
from karat.judging.exchange.mturk_format import CROWD


@pytest.fixture(scope="module")
def hits(tmp_path_factory):
    """A page for each HIT."""
    folder = tmp_path_factory.mktemp("hits")
    with make_project(folder) as project:
        batch, layout = export_tasks(project, folder / "batch.csv", "mturk").files
    text = layout.read_text(encoding="utf-8").replace(f'<script src="{CROWD}"></script>', "")
    paths = []
    with batch.open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream)):
            paths.append(folder / f"{number}.html")
            filled = re.sub(r"\$\{(\w+)\}", lambda found, row=row: row[found[1]], text)
            paths[-1].write_text(f'<!doctype html><meta charset="utf-8">{filled}', encoding="utf-8")
    return paths


def show(browser, path):
    browser.driver.get("about:blank")
    browser.driver.get(path.resolve().as_uri())


def click(browser, name, value):
    browser.run(
        "document.querySelector(`input[name='${arguments[0]}'][value='${arguments[1]}']`).click()",
        name,
        value,
    )


def hidden(browser, name):
    script = "return document.querySelector(`[name='${arguments[0]}']`).closest('fieldset').hidden"
    return browser.run(script, name)


def value(browser, name):
    return browser.run("return document.querySelector(`[name='${arguments[0]}']`).value", name)


def test_captions_are_shown_and_nothing_else(browser, hits):
    show(browser, hits[0])
    shown = browser.run("return [...document.querySelectorAll('blockquote')].map((one) => one.textContent)")
    assert shown == [
        "שלום עולם caption 5",
        'say "hi" caption 2',
        "＝wide caption 9",
        "<b>&amp;</b> ${x} {{y}} caption 6",
    ]
    show(browser, hits[2])
    assert browser.run("return document.querySelectorAll('[data-pair]').length") == 2, "empty places are gone"


def test_follow_ups_come_and_go(browser, hits):
    show(browser, hits[0])
    assert hidden(browser, "details_wrong_1")
    click(browser, "answer_1", "no")
    assert not hidden(browser, "details_wrong_1")
    assert hidden(browser, "details_which_1")
    assert hidden(browser, "details_wrong_2")
    click(browser, "details_wrong_1", "other")
    assert not hidden(browser, "details_which_1")
    click(browser, "details_which_1", "b")
    click(browser, "answer_1", "yes")
    assert hidden(browser, "details_which_1")
    checked = browser.run("return document.querySelectorAll('input[name^=details]:checked').length")
    assert checked == 0, "what is no longer asked is no longer answered"


def test_answers_are_timed(browser, hits):
    show(browser, hits[0])
    assert value(browser, "at_2") == ""
    click(browser, "answer_2", "half")
    assert float(value(browser, "at_2")) > 1.7e9
    assert 0 <= float(value(browser, "seconds_2")) < 600
    assert value(browser, "at_1") == ""
