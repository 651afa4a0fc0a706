"""Pages of estimates and of simulated vetting in a browser: complete, quiet and accessible."""

import pytest

from browser.test_report_page import axe_source, look
from reports.test_estimate_page import estimate, estimate_file, simulation, simulation_file  # noqa: F401


@pytest.mark.parametrize(("which", "width", "dark"), [("simulation", 1280, False), ("estimate", 390, True)])
def test_pages_are_complete_quiet_and_accessible(browser, request, pictures, which, width, dark):
    look(browser, request.getfixturevalue(f"{which}_file"), width, dark, pictures, which)
    # Every choice draws, hostile names and missing values included.
    browser.run(
        "for (const list of document.querySelectorAll('.choosers select')) for (const option of list.options)"
        " { list.value = option.value; list.dispatchEvent(new Event('change')); }"
    )
    browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
    browser.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe_source()})
    found = browser.driver.execute_async_script(
        "const done = arguments[0]; axe.run(document).then((found) => done(found.violations))"
    )
    serious = [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []
    assert browser.run("return window.broken") is None
    assert browser.complaints() == []


def test_strips_show_pictures_of_one_run_at_a_time(browser, estimate_file):  # noqa: F811
    browser.open(estimate_file)
    shown = "return [...document.querySelectorAll('.strips')].filter((s) => !s.hidden).length"
    assert browser.run(shown) == 1
    pictures = browser.run(
        "return [...document.querySelectorAll('.strips:not([hidden]) img')]"
        ".map((i) => [i.src.slice(0, 15), i.alt])"
    )
    assert pictures
    # One file holds no picture, and is linked where it lies.
    assert all(source.startswith(("data:image/webp", "file:")) and alt for source, alt in pictures)
