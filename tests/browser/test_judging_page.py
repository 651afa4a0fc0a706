"""The judging page in a browser, by keyboard alone; what counts is what the store holds in the end."""

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")
pytest.importorskip("selenium", reason="needs selenium: pip install 'karat[test]'")

from browser.judging import ENTER, person, servers, world_folder  # noqa: F401
from karat.judging import load_form

ANSWERS = 10
"""Of each form; in a grid, three images."""


def pair_like(somebody, form, rng, number):
    """Answer pairs at random, follow-up questions too; return what was meant."""
    meant = []
    for _ in range(number):
        answer = form.answers[rng.integers(len(form.answers))]
        details, asked = {}, [q for q in form.follow_ups if not q.when or answer.code in q.when]
        somebody.press(answer.key)
        for question in asked:
            before, _, choice = question.after.partition(".")
            if question.after and choice not in details.get(before, ()):
                continue
            chosen = [one for one in question.choices if rng.random() < 0.4] or [question.choices[0]]
            somebody.press(*(one.key for one in chosen))
            details[question.code] = [one.code for one in chosen]
        if asked:
            somebody.press(ENTER)
        meant.append((answer.code, details))
    return meant


def grid(somebody, form, rng, number):
    """Check sentences at random; what is not checked is answered by going on."""
    meant = []
    for _ in range(number // 3):
        columns = int(somebody.browser.run("return document.querySelectorAll('.rows > li').length"))
        checked = rng.random(columns) < 0.3
        somebody.press(*("1234567890"[at] for at in np.flatnonzero(checked)))
        somebody.press(ENTER)
        meant += [("yes" if one else "no", {}) for one in checked]
    return meant


@pytest.mark.parametrize("name", ["pair", "grid", "expert", "misread"])
def test_answers_by_keyboard(person, browser, name):  # noqa: F811
    somebody = person(name)
    form, rng = load_form(name), np.random.default_rng(3)
    answer = grid if form.layout == "grid" else pair_like
    meant = answer(somebody, form, rng, ANSWERS)
    somebody.saved()
    assert somebody.answers() == meant
    somebody.nothing_doubled()
    assert somebody.handed_in() == 1
    assert all(row["seconds"] is not None for row in somebody.rows())
    assert browser.complaints() == []


def test_undo_and_redo_go_across_items(person):  # noqa: F811
    somebody = person("expert")
    somebody.press("4", "3", "2", "u", "u")
    assert somebody.text("#place") == "2 of 6"
    somebody.saved()
    assert [code for code, _ in somebody.answers()] == ["4"]
    somebody.press("U", "1")
    somebody.saved()
    assert [code for code, _ in somebody.answers()] == ["4", "3", "1"]
    somebody.press("U")
    assert "nothing to give again" in somebody.text("#note")
    # All that was said about a pair is one step, and comes back whole.
    somebody.nothing_doubled()


def test_undo_of_follow_ups(person):  # noqa: F811
    somebody = person("pair")
    somebody.press("2", "d", "q", "u")
    somebody.saved()
    assert somebody.answers() == [("partially", {"shortcomings": ["wrong_way"]})]
    somebody.press("U", ENTER, "1", "u", "u")
    somebody.saved()
    assert somebody.answers() == []
    assert somebody.text("#place") == "1 of 6"
    somebody.press("U")
    somebody.saved()
    assert somebody.answers() == [("partially", {"shortcomings": ["wrong_way"], "errors": ["quantity"]})]
    assert somebody.text("#place") == "2 of 6"


def test_the_last_answer_of_a_task_can_be_undone_for_a_moment(person):  # noqa: F811
    somebody = person("expert")
    somebody.press(*"444444")
    assert somebody.text("#place") == "1 of 6", "the next task is there at once"
    assert somebody.text("#mine") == "You: 0 tasks"
    # With the first answer to the next task it is handed in.
    somebody.press("u", "1", "2")
    somebody.saved()
    assert [code for code, _ in somebody.answers()] == list("4444412")
    assert somebody.handed_in() == 1
    somebody.press("u", "u")
    assert "handed in" in somebody.text("#note")
    assert somebody.text("#mine") == "You: 1 task"


def test_required_questions_hold_one_back(person):  # noqa: F811
    somebody = person("pair")
    somebody.press("2", ENTER)
    assert "Still to be answered" in somebody.text("#note")
    assert somebody.text("#place") == "1 of 6"
    somebody.press("a", ENTER)
    assert somebody.text("#place") == "2 of 6"
    # Skipped and come back to.
    somebody.press("n", "1", "1", "1", "1")
    assert somebody.text("#place") == "2 of 6"
    somebody.press("p")
    assert somebody.text(".answer[aria-pressed=true] span") == "Partially yes, but …"
