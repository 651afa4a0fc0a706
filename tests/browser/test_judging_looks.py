"""How the judging page looks: any form, every width, hostile texts, missing pictures, for everyone."""

import os
from dataclasses import replace

import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")
pytest.importorskip("selenium", reason="needs selenium: pip install 'karat[test]'")

from browser.annotators import Annotator, make_project, world_folder  # noqa: F401
from browser.test_report_page import axe_source
from karat.forms import Choice, Example, FollowUp, Form, load_form
from reports.hostile import IMAGE_TAG, PSEUDO_HTML, RIGHT_TO_LEFT, SCRIPT_END
from web.servers import start

ENTER = "\ue007"
# All of them if the pictures are wanted.
ALL = "KARAT_SCREENSHOTS" in os.environ
LOOKS = [(1280, False), (390, True)] + [(1280, True), (390, False)] * ALL
PAGES = [("pair", 1280, False), ("misread", 390, True), ("grid", 390, True)]
if ALL:
    PAGES = [(name, *look) for name in ("pair", "grid", "expert", "misread") for look in LOOKS]
TEAM = Form(
    "team", f"Ours {SCRIPT_END}", f"Does it fit? {IMAGE_TAG}",
    (Choice("fits", f"Fits {PSEUDO_HTML}", "f", 2.0, 1.0), Choice("half", "Half", "g", 1.0, 0.5),
     Choice("not", RIGHT_TO_LEFT, "", 0.0, 0.0)),
    follow_ups=(
        FollowUp("sure", "How sure are you?", ("fits",), "", "one",
                 (Choice("very", "Very", "v"), Choice("little", "A little", "l")), True),
        FollowUp("why", "Why?", ("half",), "", "text", (), True),
        FollowUp("which", f"Which? {SCRIPT_END}", ("half", "not"), "", "several",
                 (Choice("colour", "Colour", "c"), Choice("other", "Other", "o"))),
        FollowUp("else", "What else?", (), "which.other", "text"),
    ),
    guidelines=(f"Look at it. {SCRIPT_END}", IMAGE_TAG),
    examples=(Example(SCRIPT_END, IMAGE_TAG, "fits", PSEUDO_HTML),),
)  # fmt: skip


@pytest.fixture(scope="module")
def serve(tmp_path_factory, world_folder):  # noqa: F811
    """Return a function that starts a server for a form."""
    started = {}

    def begin(form):
        if form.name not in started:
            place = tmp_path_factory.mktemp("looks") / "project.db"
            started[form.name] = start(make_project(place, world_folder, form, 3, overlap=9))
        return started[form.name]

    yield begin
    for one in started.values():
        one.stop()


def serious(browser):
    """What axe finds that is serious."""
    browser.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe_source()})
    found = browser.driver.execute_async_script(
        "const done = arguments[0];"
        "axe.run(document).then((found) => done(found.violations), (error) => done(String(error)))"
    )
    assert isinstance(found, list), found
    return [
        (one["id"], [node["html"][:150] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(("name", "width", "dark"), PAGES)
def test_every_look_is_quiet_and_fits(browser, serve, pictures, name, width, dark):
    annotator = Annotator(browser, serve(load_form(name)), f"{name} {width} {dark}").enter(
        width=width, dark=dark
    )
    browser.wait("return [...document.querySelectorAll('.frame')].every((f) => f.dataset.state === 'ready')")
    annotator.press(*{"pair": "2d", "misread": "6", "grid": "12x", "expert": ""}[name])
    annotator.saved()
    browser.picture(pictures / f"judge-{name}-{width}-{'dark' if dark else 'light'}.png")
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []
    assert serious(browser) == []
    if width == 390:
        small = browser.run(
            "return [...document.querySelectorAll('#judge button, #judge label')]"
            ".filter((one) => one.offsetHeight && (one.offsetHeight < 44 || one.offsetWidth < 44))"
            ".map((one) => one.textContent)"
        )
        assert small == [], "too small for fingers"


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_guidelines(browser, serve, pictures, width, dark):
    server = serve(load_form("pair"))
    annotator = Annotator(browser, server, f"reader {width} {dark}").enter(guide=True, width=width, dark=dark)
    browser.picture(pictures / f"judge-guidelines-{width}-{'dark' if dark else 'light'}.png")
    assert "Read the description first" in annotator.text("#guide-text")
    assert "Sailing boats near a lighthouse." in annotator.text(".examples")
    assert serious(browser) == []
    if width == 390:
        annotator.press("1")
        assert annotator.rows() == [], "nothing is answered behind the guidelines"
    annotator.press("h")
    assert browser.run("return document.getElementById('guide').hidden")
    annotator.press("?")
    assert browser.run("return document.activeElement.id") == ("guide-title" if width == 390 else "keys")


def test_a_form_of_the_team(browser, serve):
    annotator = Annotator(browser, serve(TEAM)).enter(guide=True)
    shown = browser.run("return document.body.textContent")
    for text in (SCRIPT_END, IMAGE_TAG, PSEUDO_HTML, RIGHT_TO_LEFT):
        assert text in shown
    browser.run("document.getElementById('guide-close').click()")
    # One choice of each question ends the pair; text is written where the cursor already is.
    annotator.press("f", "v")
    assert annotator.text("#place") == "2 of 3"
    annotator.press("g", *"fits? no", ENTER)
    assert annotator.text("#place") == "3 of 3"
    browser.run("document.querySelectorAll('.answer')[2].click()")
    annotator.press("o", "\ue004", "\ue004")
    browser.run("[...document.querySelectorAll('textarea')].find((one) => one.offsetHeight).focus()")
    annotator.press(*"<b>", ENTER, "f")
    annotator.saved()
    assert annotator.answers() == [
        ("fits", {"sure": "very"}), ("half", {"why": "fits? no"}),
        ("not", {"which": ["other"], "else": "<b>"}), ("fits", {}),
    ]  # fmt: skip
    assert browser.run("return window.broken") is None
    assert browser.complaints() == []


def test_grids_have_follow_up_questions_too(browser, serve):
    why = FollowUp(
        "how",
        "How well?",
        ("yes",),
        "",
        "one",
        (Choice("well", "Well", "w"), Choice("so", "So so", "s")),
        True,
    )
    annotator = Annotator(
        browser, serve(replace(load_form("grid"), name="asking", follow_ups=(why,)))
    ).enter()
    annotator.press("y", ENTER)
    assert "How well?" in annotator.text("#note")
    annotator.press("w", ENTER)
    annotator.saved()
    assert annotator.answers() == [("yes", {"how": "well"})] + [("no", {})] * 9


def test_missing_pictures_are_told(browser, serve, world_folder):  # noqa: F811
    server = serve(replace(load_form("expert"), name="blind"))
    images = server.project.benchmark().image_paths
    server.project.benchmark().image_paths[:] = [f"{path}.gone" for path in images]
    try:
        annotator = Annotator(browser, server).enter()
        browser.wait("return document.querySelector('.frame').dataset.state === 'missing'")
        assert "cannot be shown" in annotator.text(".frame")
        annotator.press("1")
        annotator.saved()
        assert [code for code, _ in annotator.answers()] == ["1"]
    finally:
        images[:] = [path.removesuffix(".gone") for path in images]


def test_zoom_opens_and_closes_by_keyboard(browser, serve):
    annotator = Annotator(browser, serve(load_form("expert")), "zoomer").enter()
    browser.wait("return document.querySelector('.frame').dataset.state === 'ready'")
    annotator.press("z")
    wide = "return document.querySelector('dialog.zoom img').getBoundingClientRect().width"
    before = browser.run(wide)
    annotator.press("+", "1")
    assert browser.run(wide) > before
    annotator.press("z")
    assert browser.run("return document.querySelector('dialog[open]')") is None
    annotator.saved()
    assert annotator.rows() == [], "keys within do not answer"
    assert annotator.text("#place") == "1 of 3"
