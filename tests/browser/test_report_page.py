"""The report in a browser: complete, quiet, without a network, readable and usable by everyone."""

import base64
import os
from pathlib import Path

import numpy as np
import pytest

import karat
from karat.benchmarks import Benchmark, sides_of
from karat.reports import write_report
from karat.reports.section import in_order
from karat.scores import Leaderboard
from reports.hostile import IMAGE_TAG, LONG, PSEUDO_HTML, RIGHT_TO_LEFT, SCRIPT_END
from reports.test_sides import make, page_of

from made import make_benchmark, make_run

LOOKS = [(1280, False), (1280, True), (390, False), (390, True)]


@pytest.fixture(scope="module")
def board_report(tmp_path_factory):
    """25 systems of which only numbers are known."""
    rng = np.random.default_rng(5)
    strength = np.sort(rng.random(25))[::-1, None]
    values = 100 * np.clip(0.7 * strength + 0.3 * rng.random((25, 9)), 0, 1)
    metrics = tuple(f"labels {k} R@{k}" for k in range(1, 9))
    systems = tuple(f"a model with a name, number {k}" for k in range(24))
    board = Leaderboard((*systems, SCRIPT_END), (*metrics, "MedR"), values)
    return write_report(board, tmp_path_factory.mktemp("board") / "board.html")


def look(browser, path: Path, width: int, dark: bool, kept: Path, name: str) -> None:
    """Open a report, keep a picture, and check what holds for every page."""
    assert browser.open(path, width, dark) < 15
    browser.picture(kept / f"{name}-{width}-{'dark' if dark else 'light'}.png")
    assert browser.complaints() == []
    asked = browser.requests()
    assert asked[0] == path.resolve().as_uri()
    assert all(url.startswith("file:///") for url in asked), asked
    assert browser.run("return window.broken") is None
    assert browser.run("return document.documentElement.scrollWidth") <= width
    plots = browser.run(
        "return [...document.querySelectorAll('.canvas')]"
        ".map((c) => [c.querySelector('.main-svg') !== null, c.getAttribute('aria-label')])"
    )
    assert all(drawn and label for drawn, label in plots)


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_every_look_is_complete_and_quiet(browser, hostile_report, pictures, width, dark):
    look(browser, hostile_report, width, dark, pictures, "runs")
    shown = browser.run("return [...document.querySelectorAll('main > section')].map((s) => s.id)")
    assert shown == [one.name for one in in_order()]
    assert len(browser.run("return [...document.querySelectorAll('.canvas')].map((c) => 1)")) == 7


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_numbers_alone(browser, board_report, pictures, width, dark):
    look(browser, board_report, width, dark, pictures, "numbers")


def axe_source() -> str:
    """axe-core: the file that KARAT_AXE names (npm has the newest), else what a package on PyPI bundles."""
    if given := os.environ.get("KARAT_AXE"):
        return Path(given).read_text(encoding="utf-8")
    axe = pytest.importorskip("axe_core_python", reason="needs axe-core: pip install 'karat[test]'")
    return (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("which", "width", "dark"),
    [("hostile_report", 1280, False), ("hostile_report", 390, True), ("board_report", 390, False)],
)
def test_accessible(browser, request, which, width, dark):
    source = axe_source()
    browser.open(request.getfixturevalue(which), width, dark)
    browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
    # By the debugger, which the page's policy does not bind.
    browser.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": source})
    found = browser.driver.execute_async_script(
        "const done = arguments[0];"
        "axe.run(document).then((found) => done(found.violations), (error) => done(String(error)))"
    )
    assert isinstance(found, list), found
    serious = [
        (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_hostile_texts_are_shown_as_text(browser, hostile_report):
    browser.open(hostile_report)
    table = browser.run("return document.querySelector('#query-table').textContent")
    for text in (IMAGE_TAG, SCRIPT_END, RIGHT_TO_LEFT, PSEUDO_HTML):
        assert text in table
    assert LONG not in table
    browser.run("document.querySelector('#query-table button.link').click()")
    assert LONG in browser.run("return document.querySelector('#query-table').textContent")
    # Plotly's own text: the names, not what they would mean as html.
    labels = browser.run("return document.querySelector('[data-plot=forest] .canvas').textContent")
    assert "</script><script>" in labels
    assert browser.run("return document.querySelectorAll('.canvas a').length") == 0
    sides = browser.run("return document.querySelectorAll('.caption[dir=auto]').length")
    assert sides > 3
    # Opening rows and hovering must not bring anything to life either.
    browser.run("document.querySelectorAll('.unfold')[0].click()")
    browser.wait("return document.querySelectorAll('.detail').length === 1")
    assert browser.run("return window.broken") is None
    assert browser.complaints() == []


def rows(browser) -> list[list[str]]:
    return browser.run(
        "return [...document.querySelectorAll('.queries tbody tr')]"
        ".map((row) => [...row.children].map((cell) => cell.textContent))"
    )


def status(browser) -> str:
    return browser.run("return document.querySelector('.status').textContent")


def test_sort_filter_and_page_by_mouse(browser, hostile_report):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    browser.open(hostile_report)
    driver = browser.driver

    def click(selector: str, at: int = 0):
        element = driver.find_elements(By.CSS_SELECTOR, selector)[at]
        driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        element.click()

    click(".queries th button", 3)
    # Ranks: the best are the lowest, and the heading says how the numbers run.
    assert browser.run("return document.querySelectorAll('.queries th')[3].ariaSort") == "ascending"
    best = [float(row[3].replace(",", "")) for row in rows(browser)]
    assert best == sorted(best)
    assert "▲" in browser.run("return document.querySelectorAll('.queries th')[3].textContent")
    click(".queries th button", 3)
    assert browser.run("return document.querySelectorAll('.queries th')[3].ariaSort") == "descending"
    worst = [float(row[3].replace(",", "")) for row in rows(browser)]
    assert worst == sorted(worst, reverse=True)
    assert "60 queries" in status(browser)
    click(".pager button", 2)
    assert "Page 2 of 3" in browser.run("return document.querySelector('.pager').textContent")
    Select(driver.find_element(By.XPATH, "//label[text()='Show']/following-sibling::select")).select_by_value(
        "differ"
    )
    browser.wait("return document.querySelector('.status').textContent.includes(' of ')")
    for row in rows(browser):
        assert {"1"} < {value if value == "1" else "more" for value in row[2:]}
    Select(
        driver.find_element(By.XPATH, "//label[text()='Labels and direction']/following-sibling::select")
    ).select_by_index(1)
    browser.wait("return document.querySelector('.queries th').textContent.includes('Image')")


def test_sort_filter_and_page_by_keyboard(browser, hostile_report):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.open(hostile_report)
    driver = browser.driver
    words = driver.find_element(By.ID, "query-words")
    words.send_keys("onerror")
    browser.wait("return document.querySelector('.status').textContent.startsWith('1 of')")
    assert IMAGE_TAG in rows(browser)[0][0]
    words.send_keys(Keys.CONTROL + "a" + Keys.DELETE)
    browser.wait("return document.querySelector('.status').textContent === '60 queries'")
    driver.find_elements(By.CSS_SELECTOR, ".queries th button")[1].send_keys(Keys.ENTER)
    browser.wait("return document.querySelectorAll('.queries th')[1].ariaSort === 'descending'")
    # The focus stays on what was pressed.
    assert browser.run("return document.activeElement.dataset.focus") == "sort-count"
    driver.switch_to.active_element.send_keys(Keys.SPACE)
    browser.wait("return document.querySelectorAll('.queries th')[1].ariaSort === 'ascending'")
    driver.find_elements(By.CSS_SELECTOR, ".pager button")[2].send_keys(Keys.ENTER)
    assert "Page 2 of 3" in browser.run("return document.querySelector('.pager').textContent")
    driver.find_elements(By.CSS_SELECTOR, ".unfold")[1].send_keys(Keys.ENTER)
    # First results are unpacked when they are first asked for.
    browser.wait("return document.querySelector('.detail') !== null")
    assert "First result of each system" in browser.run(
        "return document.querySelector('.detail').textContent"
    )


def test_the_last_page_keeps_the_focus(browser, hostile_report):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.open(hostile_report)
    last = browser.driver.find_elements(By.CSS_SELECTOR, ".pager button")[3]
    last.send_keys(Keys.ENTER)
    browser.wait("return document.querySelector('.where').textContent === 'Page 3 of 3'")
    assert browser.run("return document.activeElement.ariaLabel") == "Last page"
    assert last.get_attribute("aria-disabled") == "true"
    last.send_keys(Keys.ENTER)
    assert browser.run("return document.querySelector('.where').textContent") == "Page 3 of 3"


def test_quick_changes_of_the_table_end_at_the_last(browser, hostile_report):
    browser.open(hostile_report)
    browser.run(
        "const s = [...document.querySelectorAll('#query-table label')]"
        ".find((label) => label.textContent === 'Labels and direction').nextSibling;"
        "for (const at of [...s.options].map((_, k) => k).concat(1)) {"
        "  s.selectedIndex = at; s.dispatchEvent(new Event('change'));"
        "  document.querySelectorAll('.unfold')[0].click();"
        "}"
    )
    browser.wait("return document.querySelector('.queries th').textContent.includes('Image')")
    assert browser.complaints() == []


def test_who_wins_is_said_in_words(browser, hostile_report):
    browser.open(hostile_report)
    said = (
        "return [...document.querySelectorAll('#matrix td')].filter((c) => c.className !== 'self')"
        ".filter((c) => c.closest('tbody')).map((c) => [c.className, c.textContent])"
    )
    written = browser.run(said)
    words = {"win": "beats: ▲ ", "loss": "is beaten by: ▼ ", "open": "not separated from: · "}
    assert written
    assert all(text.startswith(words[kind]) for kind, text in written)
    # Scripts make the same cells as the templates.
    browser.run(
        "const all = [...document.querySelectorAll('[data-choosers=matrix] select')];"
        "const s = all.at(-1); const was = s.value;"
        "for (const value of [s.options[s.options.length - 1].value, was]) {"
        "  s.value = value; s.dispatchEvent(new Event('change'));"
        "}"
    )
    assert browser.run(said) == written


def test_bounds_are_explained(browser, hostile_report):
    browser.open(hostile_report)
    plot = "document.querySelector('[data-plot=forest] .canvas')"
    browser.run(
        "const found = JSON.parse(document.getElementById('report-data').textContent).forest;"
        "const view = found.views.find((v) => v.points.some((p) => p.bounds[0] !== p.bounds[1]));"
        "for (const s of document.querySelectorAll('[data-choosers=forest] select')) {"
        "  const value = view.key.find((part) => [...s.options].some((o) => o.value === part));"
        "  s.value = value; s.dispatchEvent(new Event('change'));"
        "}"
    )
    browser.wait(f"return {plot}.querySelector('.legend') !== null")
    assert "unjudged" in browser.run(f"return {plot}.querySelector('.legend').textContent")
    assert "Wide bands" in browser.run(f"return {plot}.ariaLabel")


def test_long_names_that_differ_in_the_middle_stay_apart(browser, tmp_path):
    systems = tuple(
        f"a model of a large family, {word} size, trained on captions" for word in ("tiny", "huge")
    )
    board = Leaderboard(systems, ("R@1", "R@5"), np.array([[1.0, 2.0], [2.0, 1.0]]))
    browser.open(write_report(board, tmp_path / "board.html"))
    labels = browser.run("return document.querySelector('[data-plot=flow] .canvas').textContent")
    assert "tiny" in labels
    assert "huge" in labels


def test_long_names_keep_their_ends(browser, board_report):
    browser.open(board_report)
    labels = browser.run("return document.querySelector('[data-plot=flow] .canvas').textContent")
    assert all(f"number {k}" in labels for k in range(24))


def test_linked_pictures_are_owned_up_to(browser, hostile_report, board_report):
    for path, linked in ((hostile_report, True), (board_report, False)):
        browser.open(path)
        said = browser.run("return document.querySelector('footer').textContent")
        assert ("linked" in said) == linked
        assert ("This file contains everything" in said) != linked


def test_choices_change_plots_and_tables(browser, hostile_report):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    browser.open(hostile_report)
    driver = browser.driver
    holder = driver.find_element(By.CSS_SELECTOR, "[data-choosers=forest]")
    selects = [Select(one) for one in holder.find_elements(By.TAG_NAME, "select")]
    selects[2].select_by_visible_text("MedR")
    browser.wait("return document.querySelector('[data-plot=forest] .canvas').ariaLabel.includes('MedR')")
    assert "MedR" in browser.run("return document.querySelector('[data-table=forest] caption').textContent")
    button = driver.find_element(By.ID, "theme")
    before = browser.run("return getComputedStyle(document.body).backgroundColor")
    driver.execute_script("window.scrollTo({top: 0, behavior: 'instant'})")
    browser.wait("return window.scrollY === 0")
    button.click()
    assert browser.run("return getComputedStyle(document.body).backgroundColor") != before


def test_prints(browser, hostile_report, pictures):
    browser.open(hostile_report, dark=True)
    found = browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    data = base64.b64decode(found["data"])
    (pictures / "runs.pdf").write_bytes(data)
    assert data.startswith(b"%PDF")
    assert browser.complaints() == []


@pytest.mark.parametrize("which", ["hostile_report", "board_report"])
def test_paper_cuts_no_table(browser, request, which):
    browser.open(request.getfixturevalue(which), 660)
    cells = "return [...document.querySelectorAll('.scroll > table:not(.split) td')].length"
    before = browser.run(cells)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        browser.run("window.dispatchEvent(new Event('beforeprint'))")
        wide = browser.run(
            "return [...document.querySelectorAll('.scroll > table')]"
            ".filter((t) => t.offsetWidth > t.parentElement.clientWidth).map((t) => t.caption.textContent)"
        )
        assert wide == []
        browser.run("window.dispatchEvent(new Event('afterprint'))")
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert browser.run(cells) == before


def test_readable_without_scripts(browser, hostile_report):
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.driver.get(hostile_report.resolve().as_uri())
        from selenium.webdriver.common.by import By

        text = browser.driver.find_element(By.TAG_NAME, "main").text
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    for said in ("What was measured?", "Who beats whom", "Fisher's randomisation test", SCRIPT_END):
        assert said in text


def test_pictures_are_shown_inlined_and_linked(browser, hostile_report):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    browser.open(hostile_report)
    place = browser.driver.find_element(
        By.XPATH, "//label[text()='Labels and direction']/following-sibling::select"
    )
    Select(place).select_by_index(1)
    browser.wait("return document.querySelector('.queries th').textContent.includes('Image')")
    for start in ("data:image/webp", "file:///"):
        loaded = (
            "const all = [...document.querySelectorAll('.queries img')];"
            "const found = all.find((image) => image.src.startsWith(arguments[0]));"
            "found.scrollIntoView({behavior: 'instant'});"
            "return found.complete && found.naturalWidth > 0"
        )
        end = f"return (function () {{ {loaded} }})('{start}')"
        browser.wait(end)
    assert browser.complaints() == []


# Boxes of a plot's headings, in a frame that is turned as they are.
HEADINGS = """
const boxes = [...document.querySelectorAll(arguments[0])].map((text) => {
  const [box, place] = [text.getBBox(), text.getScreenCTM()];
  const back = new DOMMatrix().rotate(-Math.atan2(place.b, place.a) * 180 / Math.PI).multiply(place);
  const [one, other] = [new DOMPoint(box.x, box.y), new DOMPoint(box.x + box.width, box.y + box.height)]
    .map((corner) => corner.matrixTransform(back));
  return [one.x, one.y, other.x, other.y, text.textContent];
});
const near = (a, b) => a[0] < b[2] + 2 && b[0] < a[2] + 2 && a[1] < b[3] && b[1] < a[3];
const found = [];
boxes.forEach((a, k) => boxes.slice(k + 1).forEach((b) => { if (near(a, b)) found.push([a[4], b[4]]); }));
return [boxes.length, found];
"""


@pytest.fixture(scope="module")
def wide_boards(tmp_path_factory):
    """Reports of five systems under 3, 13 and 36 metrics."""
    systems = tuple(f"{letter} model with a rather long name" for letter in "abcde")
    folder = tmp_path_factory.mktemp("wide")
    rng = np.random.default_rng(7)
    measures = ("R@1", "R@5", "R@10", "MRR", "nDCG@10", "MedR", "mAP@R", "NCS(cider)@10", "P@5")
    names = [f"labels-{k} {measure}" for k in range(4) for measure in measures]
    plain = [
        *(f"R@{k}" for k in (1, 5, 10, 20, 50)),
        "MRR",
        "nDCG@10",
        "MedR",
        "MeanR",
        "P@5",
        "RP",
        "mAP@R",
        "AP",
    ]
    made = {}
    for columns, metrics in ((3, plain[:3]), (13, plain), (36, names)):
        board = Leaderboard(systems, tuple(metrics), rng.random((5, columns)).round(3))
        made[columns] = write_report(board, folder / f"{columns}.html")
    return made


@pytest.mark.parametrize(("columns", "width"), [(13, 1280), (36, 1280), (36, 390)])
def test_headings_do_not_touch(browser, wide_boards, columns, width):
    browser.open(wide_boards[columns], width)
    for name in ("flow", "correlation"):
        drawn, touching = browser.run(HEADINGS, f"[data-plot={name}] .xtick text")
        assert drawn == columns
        assert touching == []


def test_wide_tables_say_that_they_scroll(browser, wide_boards):
    browser.open(wide_boards[13], 390)
    assert browser.run("return document.documentElement.scrollWidth") <= 390
    box = "document.querySelector('[data-table=summary] .scroll')"
    browser.wait(f"return {box}.dataset.more === 'right'")
    cue = f"return {box}.previousElementSibling.textContent"
    assert browser.run(cue) == "Scroll sideways to see all 13 columns →"
    browser.run(f"{box}.scrollLeft = 100000")
    browser.wait(f"return {box}.dataset.more === 'none'")
    # So does one that is folded away, when it is opened.
    browser.run("document.querySelector('#flow details').open = true")
    browser.wait("return document.querySelector('#flow details .scroll').dataset.more === 'right'")
    # A table that fits has no cue.
    browser.open(wide_boards[3], 1280)
    browser.wait(f"return {box}.dataset.more === 'none'")
    assert browser.run("return document.querySelectorAll('.cue').length") == 0


def test_texts_of_queries_are_complete(browser, tmp_path):
    """A caption is longer than 160 letters now and then; what is longer than all of them ends with a word."""
    bench = make_benchmark(6)
    caption = "a man in a yellow raincoat " * 8
    texts = [caption, "word " * 100, *(f"caption {k}" for k in range(2, bench.captions.size))]
    made = Benchmark(
        "made", bench.images, bench.captions, bench.truths, caption_image=bench.caption_image, texts=texts
    )
    card = karat.evaluate([make_run(made, 2, k, f"run {k}") for k in range(2)], made, ["R@1"], truth="own")
    browser.open(write_report(card, tmp_path / "texts.html"), 390)
    shown = browser.run(
        "return [...document.querySelectorAll('.queries .caption')].map((c) => c.textContent)"
    )
    assert shown[0] == caption
    assert shown[1].endswith("word …")


def test_ticks_of_a_curve_do_not_touch(browser, tmp_path):
    bench = make_benchmark(150)
    card = karat.evaluate(make_run(bench, 2, 1, "run"), bench, ["R@1"], truth="own", details=True)
    browser.open(write_report(card, tmp_path / "curve.html"), 390)
    drawn, touching = browser.run(HEADINGS, "[data-plot=gallery] .xtick text")
    assert drawn > 3
    assert touching == []


def test_systems_that_share_a_place_do_not_move(browser, tmp_path):
    board = Leaderboard(("a", "b", "c"), ("x", "y"), np.ones((3, 2)))
    browser.open(write_report(board, tmp_path / "tied.html"))
    flow = "document.querySelector('[data-plot=flow] .canvas')"
    assert "No system changes its place" in browser.run(f"return {flow}.ariaLabel")
    assert "1=  " in browser.run(f"return {flow}.textContent")


TEXTS = "return [...document.querySelectorAll(arguments[0])].map((element) => element.textContent)"


@pytest.mark.parametrize(
    ("direction", "head", "query", "item"),
    [("q2d", "Query", "a", "b"), ("it2i", "Query", "a", "b"), ("t2t", "Caption", "sentence", "sentence")],
)
def test_queries_of_other_sides(browser, tmp_path, pictures, direction, head, query, item):
    """Of one collection, texts are known of queries and of answers."""
    sentences = [f"sentence {k}" for k in range(40)] if direction == "t2t" else None
    page_of(make(sides_of(direction), [direction], texts=sentences), tmp_path)
    for width in (390, 1280):
        look(browser, tmp_path / "report.html", width, False, pictures, direction)
    assert browser.run(TEXTS, ".queries th")[0].startswith(head)
    browser.run("document.querySelector('.unfold').click()")
    browser.wait("return document.querySelectorAll('.detail').length === 1")
    assert browser.run(TEXTS, ".queries th.query .row > :last-child")[0].startswith(query)
    answers = browser.run(TEXTS, ".detail ul:not(.tops) li")
    assert answers
    assert all(answer.startswith(item) for answer in answers)
    plots = " ".join(browser.run(TEXTS, ".canvas"))
    assert ("image" in plots) == (direction == "it2i")
    assert ("caption" in plots) == (direction == "t2t")
