"""Measures of choices against their papers' definitions, written out, and chance against all orders."""

from itertools import permutations

import numpy as np
import pytest

from karat.measures import ChoiceScores, parse_measure, share_of_orders


def made(shape, correct=None, seed=0, known=None, **more):
    scores = np.random.default_rng(seed).normal(size=shape)
    correct = np.eye(*shape[1:], dtype=bool) if correct is None else np.array(correct, bool)
    correct = np.broadcast_to(correct, shape)
    known = np.ones(shape, bool) if known is None else known
    return ChoiceScores(scores, correct, known, **more)


def test_winoground_as_its_paper_defines_it():
    choices = made((200, 2, 2))
    # c0_i0 is the score of caption 0 with image 0.
    c0_i0, c1_i0, c0_i1, c1_i1 = choices.scores.reshape(200, 4).T
    text = (c0_i0 > c1_i0) & (c1_i1 > c0_i1)
    image = (c0_i0 > c0_i1) & (c1_i1 > c1_i0)
    for name, expected in (("Text", text), ("Image", image), ("Group", text & image)):
        np.testing.assert_array_equal(parse_measure(name).values(choices), expected)
        assert 0.1 < expected.mean() < 0.35


@pytest.mark.parametrize(("name", "chance"), [("Text", 1 / 4), ("Image", 1 / 4), ("Group", 1 / 6)])
def test_published_chance_levels_of_winoground(name, chance):
    np.testing.assert_allclose(parse_measure(name).chance(made((3, 2, 2))), chance)


@pytest.mark.parametrize("name", ["Text", "Image", "Group"])
@pytest.mark.parametrize(
    "correct",
    [[[1, 0]], [[1, 1, 0]], [[1, 0, 0, 0, 0]], [[1, 0], [0, 1]], [[1, 0, 0], [0, 1, 0]],
     [[1, 1, 0], [0, 0, 1]], [[1, 0], [1, 0]]],
)  # fmt: skip
def test_chance_is_the_share_of_all_orders(name, correct):
    shape = np.array(correct).shape
    orders = np.array(list(permutations(range(np.prod(shape))))).reshape(-1, *shape).astype(float)
    choices = ChoiceScores(orders, np.broadcast_to(np.array(correct, bool), orders.shape), orders >= 0)
    measure = parse_measure(name)
    values = measure.values(choices)
    np.testing.assert_allclose(measure.chance(choices)[0], values.mean())
    # Where every image has the same captions, no caption can prefer one.
    assert np.isnan(values).all() == (name != "Text" and len({*map(tuple, correct)}) == 1)


def test_chance_of_a_table_of_three_by_three_and_of_large_ones():
    grid = made((1, 3, 3))
    # Counted once over all orders of nine scores, written out.
    assert parse_measure("Group").chance(grid)[0] == pytest.approx(6048 / 362_880)
    assert parse_measure("Text").chance(made((1, 7, 7)))[0] == pytest.approx(7.0**-7)
    assert np.isnan(parse_measure("Group").chance(made((1, 7, 7)))[0])
    assert share_of_orders((((0, 0), (0, 1)), ((1, 0), (1, 1)))) == 0.25


def test_sugarcrepe_plus_plus_as_its_code_defines_it():
    vectors = np.random.default_rng(3).normal(size=(300, 3, 5))
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    similar = np.einsum("ncd,nkd->nck", vectors, vectors)
    choices = made((300, 1, 3), [[1, 1, 0]], captions=similar)
    p1, p2, negative = choices.scores[:, 0].T
    np.testing.assert_array_equal(parse_measure("ITT").values(choices), (p1 > negative) & (p2 > negative))
    p1_p2, p1_n, p2_n = similar[:, 0, 1], similar[:, 0, 2], similar[:, 1, 2]
    np.testing.assert_array_equal(parse_measure("TOT").values(choices), (p1_p2 > p1_n) & (p1_p2 > p2_n))
    for name in ("ITT", "TOT"):
        np.testing.assert_allclose(parse_measure(name).chance(choices), 1 / 3)


def test_ties():
    scores = np.array([[[1.0, 1.0], [0.0, 1.0]], [[1.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [2.0, 1.0]]])
    correct = np.broadcast_to(np.eye(2, dtype=bool), scores.shape)
    text = parse_measure("Text")
    for ties, expected in (
        ("pessimistic", [0, 0, 0]),
        ("optimistic", [1, 1, 0]),
        ("expected", [0.5, 0.25, 0]),
    ):
        choices = ChoiceScores(scores, correct, correct | True, ties=ties)
        assert text.values(choices).tolist() == expected
        assert text.tied(choices) == 2


def test_examples_of_different_sizes():
    known = np.ones((2, 1, 3), bool)
    known[1, 0, 2] = False
    choices = made((2, 1, 3), [[1, 0, 0]], known=known)
    choices.scores[1, 0] = 0.5, 0.1, 9.0
    text = parse_measure("Text")
    assert text.values(choices)[1] == 1
    np.testing.assert_allclose(text.chance(choices), [1 / 3, 1 / 2])


def test_valse_as_its_code_defines_it():
    choices = made((100, 1, 2), [[1, 0]])
    caption, foil = choices.scores[:, 0].T
    p_c, p_f = caption > 0.5, foil <= 0.5
    np.testing.assert_array_equal(parse_measure("p_c").values(choices), p_c)
    np.testing.assert_array_equal(parse_measure("p_f").values(choices), p_f)
    np.testing.assert_allclose(parse_measure("acc").values(choices), (p_c * 1.0 + p_f) / 2)
    assert parse_measure("acc(t=0)").values(choices).mean() == ((caption > 0).mean() + (foil <= 0).mean()) / 2
    np.testing.assert_array_equal(parse_measure("acc_r").values(choices), caption > foil)
    assert np.isnan(parse_measure("p_c").chance(choices)).all()


def test_the_area_and_its_spread():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(5)
    scores = np.round(rng.normal(size=(80, 1, 2)) + np.array([0.7, 0]), 1)
    correct = np.broadcast_to([[[True, False]]], scores.shape)
    values = parse_measure("AUROC").values(ChoiceScores(scores, correct, correct | True))
    assert values.mean() == pytest.approx(roc_auc_score(correct.ravel(), scores.ravel()))
    # Against the area over resampled examples, computed anew each time.
    draws = rng.integers(80, size=(400, 80))
    areas = [roc_auc_score(correct[d].ravel(), scores[d].ravel()) for d in draws]
    assert values.std(ddof=1) / np.sqrt(80) == pytest.approx(np.std(areas), rel=0.1)
