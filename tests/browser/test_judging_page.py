"""The judging page in a browser, by keyboard alone; what counts is what the store holds in the end."""

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")
pytest.importorskip("selenium", reason="needs selenium: pip install 'karat[test]'")

from browser.annotators import ENTER, Annotator, annotators, servers, world_folder  # noqa: F401
from karat.forms import FORMS, load_form

ANSWERS = 10
"""Of each form; in a grid, three images."""


def pair_like(annotator, form, rng, number):
    """Answer pairs at random, follow-up questions too; return what was meant."""
    meant = []
    for _ in range(number):
        answer = form.answers[rng.integers(len(form.answers))]
        details, taken = {}, set()
        asked = [q for q in form.follow_ups if not q.when or answer.code in q.when]
        annotator.press(answer.key)
        for question in asked:
            if question.kind == "text" or (question.after and question.after not in taken):
                continue
            chosen = [one for one in question.choices if rng.random() < 0.4] or [question.choices[0]]
            chosen = chosen[:1] if question.kind == "one" else chosen
            annotator.press(*(one.key for one in chosen))
            codes = [one.code for one in chosen]
            taken |= {f"{question.code}.{code}" for code in codes}
            details[question.code] = codes[0] if question.kind == "one" else codes
        if asked:
            annotator.press(ENTER)
        meant.append((answer.code, details))
    return meant


def grid(annotator, form, rng, number):
    """Check sentences at random; what is not checked is answered by going on."""
    meant = []
    for _ in range(number // 3):
        # Between two tasks there is none for a moment.
        annotator.browser.wait("return document.querySelectorAll('.rows > li').length > 0")
        columns = int(annotator.browser.run("return document.querySelectorAll('.rows > li').length"))
        checked = rng.random(columns) < 0.3
        annotator.press(*("1234567890"[at] for at in np.flatnonzero(checked)))
        annotator.press(ENTER)
        no, yes = sorted(form.answers, key=lambda answer: answer.rating)
        meant += [(yes.code if one else no.code, {}) for one in checked]
    return meant


@pytest.mark.parametrize("name", FORMS)
def test_answers_by_keyboard(annotators, browser, name):  # noqa: F811
    annotator = annotators(name)
    form, rng = load_form(name), np.random.default_rng(3)
    answer = grid if form.layout == "grid" else pair_like
    meant = answer(annotator, form, rng, ANSWERS)
    annotator.saved()
    assert annotator.answers() == meant
    annotator.nothing_doubled()
    assert annotator.handed_in() == 1
    assert all(row["seconds"] is not None for row in annotator.rows())
    assert browser.complaints() == []


def test_undo_and_redo_go_across_items(annotators):  # noqa: F811
    annotator = annotators("expert")
    annotator.press("4", "3", "2", "u", "u")
    assert annotator.text("#place") == "2 of 6"
    annotator.saved()
    assert [code for code, _ in annotator.answers()] == ["4"]
    annotator.press("U", "1")
    annotator.saved()
    assert [code for code, _ in annotator.answers()] == ["4", "3", "1"]
    annotator.press("U")
    assert "nothing to redo" in annotator.text("#note")
    # All that was said about a pair is one step, and comes back whole.
    annotator.nothing_doubled()


def test_undo_of_follow_ups(annotators):  # noqa: F811
    annotator = annotators("pair")
    annotator.press("2", "d", "q", "u")
    annotator.saved()
    assert annotator.answers() == [("partially", {"shortcomings": ["wrong_way"]})]
    annotator.press("U", ENTER, "1", "u", "u")
    annotator.saved()
    assert annotator.answers() == []
    assert annotator.text("#place") == "1 of 6"
    annotator.press("U")
    annotator.saved()
    assert annotator.answers() == [("partially", {"shortcomings": ["wrong_way"], "errors": ["quantity"]})]
    assert annotator.text("#place") == "2 of 6"


def test_the_last_answer_of_a_task_can_be_undone_for_a_moment(annotators):  # noqa: F811
    annotator = annotators("expert")
    annotator.press(*"444444")
    assert annotator.text("#place") == "1 of 6", "the next task is there at once"
    assert annotator.text("#mine") == "You: 0 tasks submitted"
    # With the first answer to the next task it is submitted.
    annotator.press("u", "1", "2")
    annotator.saved()
    assert [code for code, _ in annotator.answers()] == list("4444412")
    assert annotator.handed_in() == 1
    annotator.press("u", "u")
    assert "was submitted" in annotator.text("#note")
    assert annotator.text("#mine") == "You: 1 task submitted"


def test_required_questions_hold_one_back(annotators):  # noqa: F811
    annotator = annotators("pair")
    annotator.press("2", ENTER)
    assert "Please answer" in annotator.text("#note")
    assert annotator.text("#place") == "1 of 6"
    annotator.press("a", ENTER)
    assert annotator.text("#place") == "2 of 6"
    # Skipped and come back to.
    annotator.press("n", "1", "1", "1", "1")
    assert annotator.text("#place") == "2 of 6"
    annotator.press("p")
    assert annotator.text(".answer[aria-pressed=true] span") == "Partially yes, but …"


def click(annotator, selector):
    """Click with the mouse, which gives a button the focus."""
    annotator.browser.driver.find_element("css selector", selector).click()


def test_enter_continues_after_a_click(annotators):  # noqa: F811
    annotator = annotators("pair")
    click(annotator, ".answer:nth-of-type(2)")
    annotator.press(ENTER)
    assert "Please answer" in annotator.text("#note"), "Enter continues, as far as the form lets it"
    click(annotator, ".question:not([hidden]) .choice")
    click(annotator, ".answer:nth-of-type(3)")
    annotator.press(ENTER)
    assert annotator.text("#place") == "2 of 6"
    # So it does after the image was enlarged with the mouse.
    annotator.browser.wait("return document.querySelector('.frame').dataset.state === 'ready'")
    click(annotator, ".frame")
    annotator.press("z", "3", "a", ENTER)
    assert annotator.text("#place") == "3 of 6"
    # A button that was reached by keyboard is pressed.
    annotator.browser.run("document.querySelector('.answer').focus()")
    annotator.press(ENTER)
    assert annotator.text("#place") == "4 of 6"
    annotator.saved()
    shortcomings = {"shortcomings": ["not_in_image"]}
    assert annotator.answers() == [("mostly_no", shortcomings)] * 2 + [("yes", {})]


START = "return document.querySelector('#card .idle')?.dataset.idle === 'start'"


def test_an_owner_gets_a_task_only_on_request(browser, servers):  # noqa: F811
    server = servers("expert")
    owner = Annotator(browser, server, "owner", "owner").enter()
    browser.wait(START)
    # Whatever else makes the page request tasks must not lease one.
    browser.run("window.dispatchEvent(new Event('online'))")
    owner.open()
    browser.wait(START)
    assert server.project.queue.held("owner") is None
    click(owner, ".idle button")
    owner.wait_text("#place", "1 of 6")
    assert server.project.queue.held("owner") is not None
    owner.open()
    owner.wait_text("#place", "1 of 6")
    browser.run("document.getElementById('return-task').click()")
    click(owner, "#return-dialog button[value=yes]")
    browser.wait(START)
    assert server.project.queue.held("owner") is None, "an owner who returns a task is asked again"
    assert browser.complaints() == []


def test_an_annotator_gets_a_task_at_once(annotators, servers):  # noqa: F811
    annotator = annotators("expert")
    assert annotator.text("#place") == "1 of 6"
    assert servers("expert").project.queue.held(annotator.name) is not None
