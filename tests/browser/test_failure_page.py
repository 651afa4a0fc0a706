"""The failure browser: complete, quiet, accessible, and used by keys."""

from dataclasses import replace

import pytest

import karat
from browser.test_report_page import axe_source, look
from karat.world import make_world, simulate
from reports.hostile import IMAGE_TAG
from reports.test_failure_page import hostile_failures, hostile_file  # noqa: F401
from reports.test_sides import IMAGES_TAGS

WHERE = "return document.querySelector('.pager .where').textContent"
ROWS = "return document.querySelectorAll('.failure-row').length"


def press(browser, key: str, on: str = "body") -> str:
    browser.run(
        "document.querySelector(arguments[1]).dispatchEvent("
        "new KeyboardEvent('keydown', { key: arguments[0], bubbles: true, cancelable: true }))",
        key,
        on,
    )
    return browser.run(WHERE)


def choose(browser, label: str, text: str) -> None:
    browser.run(
        "const field = [...document.querySelectorAll('.field')]"
        ".find((f) => f.querySelector('label').textContent === arguments[0]);"
        "const list = field.querySelector('select');"
        "list.value = [...list.options].find((o) => o.textContent === arguments[1]).value;"
        "list.dispatchEvent(new Event('change'))",
        label,
        text,
    )


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_every_failure_is_quiet_and_accessible(browser, hostile_file, pictures, width, dark):  # noqa: F811
    look(browser, hostile_file, width, dark, pictures, "failures")
    browser.run("document.getElementById('failure-browser').scrollIntoView()")
    total = int(browser.run(WHERE).split()[-1])
    for at in range(2, total + 1):
        assert press(browser, "j") == f"{at} of {total}"
    assert browser.run("return document.querySelectorAll('.failure img').length") <= 2
    assert browser.run("return window.broken") is None
    browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
    browser.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe_source()})
    found = browser.driver.execute_async_script(
        "const done = arguments[0]; axe.run(document).then((found) => done(found.violations))"
    )
    assert [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found
        if one["impact"] in ("serious", "critical")
    ] == []
    assert browser.complaints() == []


def test_keys_filters_and_links(browser, hostile_failures, hostile_file):  # noqa: F811
    browser.open(hostile_file)
    browser.run("document.getElementById('failure-browser').scrollIntoView()")
    [column] = [
        one for one in hostile_failures.columns
        if (one.failures.direction, one.failures.run) == ("t2i", "plain")
    ]  # fmt: skip
    choose(browser, "System, labels and direction", "plain, <b>own</b>, text → image")
    total = len(column.failures)
    browser.wait(f"{WHERE} === '1 of {total}'")
    assert press(browser, "ArrowRight") == f"2 of {total}"
    assert press(browser, "k") == f"1 of {total}"
    assert press(browser, "End") == f"{total} of {total}"
    assert press(browser, "Home") == f"1 of {total}"
    # Letters that are typed into the search do not turn pages.
    assert press(browser, "j", "#failure-words") == f"1 of {total}"
    assert press(browser, "ArrowDown", ".failure-list") == f"2 of {total}"
    choose(browser, "Fault", "successful alternative")
    assert browser.run(WHERE).endswith(f"of {column.faults.alternative.sum()}")
    choose(browser, "Fault", "no mark: the model's")
    assert browser.run(WHERE).endswith(f"of {(~column.faults.alternative).sum()}")
    choose(browser, "Fault", "any")
    choose(browser, "Slice", IMAGE_TAG)
    inside = hostile_failures.slices["t2i"][IMAGE_TAG][column.failures.query]
    assert browser.run(WHERE).endswith(f"of {inside.sum()}")
    choose(browser, "Slice", "all")
    choose(browser, "Sort by", "Concept agreement")
    choose(browser, "Order", "highest first")
    first = browser.run("return document.querySelector('.metrics .chosen').textContent")
    best = column.metrics["all"].agreement.max()
    assert first == f"{100 * best:.1f}".removesuffix(".0") + "%"
    choose(browser, "Only where", "Concept agreement (%)")
    browser.run(
        "const one = document.querySelectorAll('.narrow')[0]; one.value = '100';"
        "one.dispatchEvent(new Event('input'))"
    )
    browser.wait(f"{WHERE}.endsWith('of {(column.metrics['all'].agreement == 1).sum()}')")
    address = browser.run("return document.querySelector('.permalink').hash")
    shown = browser.run("return document.querySelector('.asked-for').textContent")
    browser.driver.get("about:blank")
    browser.driver.get(hostile_file.resolve().as_uri() + address)
    browser.wait("return document.documentElement.dataset.ready === 'yes'")
    assert browser.run("return document.querySelector('.asked-for').textContent") == shown
    assert browser.run(ROWS) < 40
    assert browser.complaints() == []


def test_tags_are_called_tags(browser, tmp_path):
    world = make_world(20, captions=2, seed=2)
    bench = replace(world.benchmark(), sides=IMAGES_TAGS)
    karat.explain(simulate(world, 1), bench).save(tmp_path / "failures.html")
    browser.open(tmp_path / "failures.html")
    assert browser.run("return document.querySelector('.failure h3').textContent") == "Tag"
    assert browser.run("return document.querySelector('.side details summary').textContent") == "Its 2 tags"
    other = browser.run("return document.querySelector('#failure-browser select').options[1].textContent")
    choose(browser, "System, labels and direction", other)
    assert browser.run("return document.querySelector('.failure h3').textContent") == "Image"
