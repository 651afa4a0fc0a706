"""Simulated annotators answer as their confusion matrices say."""

import numpy as np
import pytest

from karat.errors import KaratError
from karat.world import ANSWERS, Annotator, adversarial, ask, average, careful, lazy, make_world
from karat.world.annotators import right_answers

EVERYONE = [careful(), average(), lazy(), lazy("yes-sayer", looks=0.2, habit="yes"), adversarial()]


@pytest.fixture(scope="module")
def world():
    return make_world(images=200, captions=2, seed=9)


@pytest.fixture(scope="module")
def answers(world):
    image, caption = np.divmod(np.arange(200 * 400), 400)
    return ask(world, image, caption, EVERYONE, seed=4)


@pytest.mark.parametrize("number", range(len(EVERYONE)), ids=[one.name for one in EVERYONE])
def test_confusion_is_as_stated(number, world, answers):
    mine = answers.annotator == number
    right = right_answers(world.pair_shares(answers.image[mine], answers.caption[mine]))
    assert set(right) == {1, 2, 3, 4}
    for row, expected in enumerate(EVERYONE[number].confusion, 1):
        given = answers.rating[mine][right == row]
        found = np.bincount(given - 1, minlength=4) / len(given)
        error = np.sqrt(expected * (1 - expected) / len(given))
        assert (np.abs(found - expected) <= 4 * error + 1e-12).all(), (row, found, expected)


def test_right_answers_follow_the_exact_truth(world):
    share = world.shares()
    right = right_answers(share)
    np.testing.assert_array_equal(right == 4, world.relevance())
    np.testing.assert_array_equal(right == 1, share == 0)
    np.testing.assert_array_equal(right >= 3, share >= 0.5)
    assert ANSWERS[3] == "yes"


def test_who_else_is_asked_changes_nothing(world):
    image, caption = np.arange(50), np.arange(50)
    alone = ask(world, image, caption, [average("ann")], seed=1)
    more = ask(world, image, caption, [average("ann"), lazy("bob")], seed=1)
    np.testing.assert_array_equal(alone.rating, more.rating[:50])
    other = ask(world, image, caption, [average("ann")], seed=2)
    assert (alone.rating != other.rating).any()
    assert len(more) == 100


def test_answers_as_judgments(world):
    pairs = np.arange(100)
    answers = ask(world, world.caption_image[pairs], pairs, [careful("ann"), adversarial("eve")])
    table = answers.judgments()
    assert [source.name for source in table.sources] == ["ann", "eve"]
    assert len(table) == 200
    assert table.grade[table.source == 0].mean() > 0.9
    assert table.grade[table.source == 1].mean() < 0.1
    assert table.sources[0].scale == "1 no, 2 mostly no, 3 partially yes, 4 yes"


def test_no_pairs_no_answers(world):
    answers = ask(world, [], [], [careful(), lazy()])
    assert len(answers) == len(answers.image) == len(answers.caption) == 0
    assert answers.annotators == ("careful", "lazy")
    assert len(ask(world, [0], [1], [])) == 0


@pytest.mark.parametrize(
    ("habit", "answer"),
    [("Yes", "yes"), ("NO", "no"), ("Partially Yes", "partially yes"), ("partially-yes", "partially yes"),
     ("mostly no", "mostly no"), ("mostly_no", "mostly no")],
)  # fmt: skip
def test_habits_in_any_spelling(habit, answer):
    blind = lazy(looks=0, habit=habit).confusion
    np.testing.assert_array_equal(blind, np.tile(np.array(ANSWERS) == answer, (4, 1)))


def test_the_four_sorts():
    for one in EVERYONE:
        np.testing.assert_allclose(one.confusion.sum(axis=1), 1)
    assert np.diag(careful().confusion).min() > np.diag(average().confusion).max()
    np.testing.assert_array_equal(adversarial().confusion, careful().confusion[:, ::-1])
    np.testing.assert_allclose(lazy(looks=0).confusion, 0.25)
    with pytest.raises(ValueError, match="read-only"):
        careful().confusion[0, 0] = 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Annotator("x", np.eye(3)), "is not four rows of shares"),
        (lambda: Annotator("x", np.ones((4, 4))), "each row sums to 1"),
        (lambda: lazy(looks=1.5), "looks is 1.5"),
        (lambda: lazy(habit="perhaps"), "choose one of no, mostly no"),
        (lambda: ask(make_world(2, 1), [0], [0], [average(), average()]), "the same name"),
        (lambda: ask(make_world(2, 1), [0], [0, 1], [careful()]), "1 image and 2 captions are not pairs"),
        (
            lambda: ask(make_world(2, 1), [-1], [0], [careful()]),
            "there is no image -1; they are numbered 0 to 1",
        ),
        (lambda: ask(make_world(2, 1), [0.5], [0], [careful()]), "give a list of whole numbers"),
    ],
)
def test_wrong_annotators_are_a_sentence(call, message):
    with pytest.raises(KaratError, match=message):
        call()
