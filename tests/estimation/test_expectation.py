"""Expected values equal the sum over all assignments of labels; with certain labels, the measure itself."""

from dataclasses import replace

import numpy as np
import pytest

from estimation.enumeration import (
    DEFINITIONS,
    average_precision,
    expectation,
    random_lists,
    ranked_of,
)
from karat.errors import InputError
from karat.estimation import expected_values, value_draws
from karat.estimation.expectation import FORMS, ClosedForm, form_of, gauss_legendre, register_form
from karat.measures import MEASURES, Measure, Ranked, parse_measure


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("seed", range(4))
def test_closed_forms_equal_enumeration(name, seed):
    places, p = random_lists(seed)
    ranked, measure = ranked_of(places, p), parse_measure(name)
    assert isinstance(form_of(ranked, measure), ClosedForm)
    by_hand = [expectation(DEFINITIONS[name], *query) for query in zip(places, p)]
    np.testing.assert_allclose(expected_values(ranked, measure), by_hand, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_ap_with_a_known_number_of_relevant_items(seed):
    places, p = random_lists(seed)
    number = np.arange(len(p))
    by_hand = [
        expectation(average_precision(number=n), *query) for n, query in zip(number.tolist(), zip(places, p))
    ]
    ranked = replace(ranked_of(places, p), total=number.astype(float))
    np.testing.assert_allclose(expected_values(ranked, parse_measure("AP")), by_hand, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_certain_labels_give_the_measure(name):
    rng = np.random.default_rng(5)
    places = [np.sort(rng.choice(300, 40, replace=False) + 1.0).tolist() for _ in range(30)]
    labels = [(rng.random(40) < rng.random()).astype(float).tolist() for _ in range(29)] + [[0.0] * 40]
    ranked, measure = ranked_of(places, labels), parse_measure(name)
    np.testing.assert_allclose(
        expected_values(ranked, measure, draws=1), np.nan_to_num(measure(ranked)), rtol=0, atol=1e-15
    )


def long_list(n: int, kind: str) -> Ranked:
    rng = np.random.default_rng(n)
    p = {"few": rng.beta(0.05, 1, n), "half": np.full(n, 0.5), "many": 1 - rng.beta(0.05, 1, n)}[kind]
    if kind == "few":
        p[::7] = 1.0
    return Ranked.from_places([(np.arange(n) * 2 + 1.0).tolist()], [p.tolist()], size=2 * n)


@pytest.mark.parametrize("kind", ["few", "half", "many"])
@pytest.mark.parametrize("n", [30, 200, 900])
def test_long_lists_need_few_nodes(n, kind):
    """Against recursion over the number of relevant items, which needs no integral."""
    ranked = long_list(n, kind)
    p, place = ranked.grade, ranked.start + 1
    # By number of relevant items so far: their probability, the expected sum of precisions.
    chance, total = np.zeros(n + 1), np.zeros(n + 1)
    chance[0] = 1.0
    for k in range(n):
        hits = np.arange(n + 1)
        gained = total + chance * (hits + 1) / place[k]
        chance = (1 - p[k]) * chance + p[k] * np.r_[0.0, chance[:-1]]
        total = (1 - p[k]) * total + p[k] * np.r_[0.0, gained[:-1]]
    exact = np.sum(total[1:] / np.arange(1, n + 1))
    assert expected_values(ranked, parse_measure("AP"))[0] == pytest.approx(exact, rel=0, abs=2e-13)


@pytest.mark.parametrize("number", [4, 100, 700])
def test_nodes_integrate_powers(number):
    t, w = gauss_legendre(number)
    powers = np.arange(0, 2 * number, max(1, number // 7))
    integrals = (w * t ** powers[:, None]).sum(axis=1)
    np.testing.assert_allclose(integrals * (powers + 1), 1, rtol=0, atol=2 * number * np.finfo(float).eps)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_draws_agree_with_enumeration(name):
    definition = DEFINITIONS[name]
    places, p = random_lists(1)
    drawn = value_draws(ranked_of(places, p), parse_measure(name), 20_000, 3)
    by_hand = np.array([expectation(definition, *query) for query in zip(places, p)])
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    # Five standard errors, and what events rarer than one draw may add.
    assert (np.abs(drawn.mean(axis=0) - by_hand) <= 5 * error + 1e-4).all()


def test_draws_are_those_of_the_measure():
    places, p = random_lists(2)
    ranked = ranked_of(places, p)
    labels = np.random.default_rng(7).random((50, len(ranked.grade))) < ranked.grade
    for name in [*DEFINITIONS, "nDCG@5", "bpref"]:
        measure = parse_measure(name)
        values = np.nan_to_num(measure(replace(ranked, grade=labels.astype(float))))
        np.testing.assert_allclose(value_draws(ranked, measure, 50, 7), values, rtol=0, atol=1e-15)


def test_blocks_of_draws_are_one_sequence(monkeypatch):
    ranked, measure = ranked_of(*random_lists(3)), parse_measure("RP")
    whole = value_draws(ranked, measure, 20, 1)
    monkeypatch.setattr("karat.estimation.expectation.BLOCK", 3 * len(ranked.grade))
    np.testing.assert_array_equal(value_draws(ranked, measure, 20, 1), whole)


def tied_lists() -> Ranked:
    """Two queries, each with a tied group of three places that holds two rows."""
    start = np.array([0, 1, 1, 4, 0, 0, 3, np.inf])
    width = np.array([1.0, 3, 3, 1, 3, 3, 1, 1])
    p = np.array([0.3, 0.2, 0.7, 0.5, 0.1, 0.9, 1.0, 0.4])
    sizes = np.array([10, 10])
    return Ranked(np.array([0, 4, 8]), start, width, np.ones(8), p, sizes, sizes, ~np.isfinite(start))


@pytest.mark.parametrize(
    "name", ["P@2", "Recall@2", "R@1", "R@2", "R@4", "AP", "MRR", "RP", "mAP@R", "nDCG@3"]
)
def test_tied_groups_are_averaged_over_their_orders(name):
    """Each order of a group is as likely: fixed places, averaged."""
    ranked, measure = tied_lists(), parse_measure(name)
    orders = []
    for first in range(3):
        for second in set(range(3)) - {first}:
            start = ranked.start.copy()
            start[1:3], start[4:6] = [1 + first, 1 + second], [first, second]
            order = np.lexsort((start, [0] * 4 + [1] * 4))
            fixed = replace(ranked, start=start[order], width=np.ones(8), grade=ranked.grade[order])
            draws = value_draws(fixed, measure, 4_000, 11)
            orders.append(draws)
    drawn = np.concatenate(orders)
    values = expected_values(ranked, measure, draws=20_000, rng=2)
    error = drawn.std(axis=0) * np.sqrt(1 / len(drawn) + 1 / 20_000)
    assert (np.abs(values - drawn.mean(axis=0)) <= 5 * error).all()


@pytest.mark.parametrize(
    ("name", "unknown"),
    [("P@2", [False, True]), ("R@2", [False, True]), ("AP", [True, True]), ("RP", [True, True])],
)
def test_unknown_probabilities(name, unknown):
    ranked = Ranked.from_places([[1, 2, 3], [1, 2, 3]], [[0.5, 0.5, np.nan], [np.nan, 0.5, 0.5]], size=9)
    assert np.isnan(expected_values(ranked, parse_measure(name))).tolist() == unknown


def test_rel_does_not_change_labels():
    ranked = ranked_of(*random_lists(4))
    for name in ("P@3", "AP", "RP", "nDCG@5"):
        base, _, cut = name.partition("@")
        written = f"{base}(rel=2)@{cut}" if cut else f"{base}(rel=2)"
        np.testing.assert_array_equal(
            expected_values(ranked, parse_measure(written)), expected_values(ranked, parse_measure(name))
        )


def test_measures_without_expectations_say_so():
    ranked = ranked_of([[1, 2]], [[0.5, 0.5]])
    with pytest.raises(InputError, match="MedR has no expected value"):
        expected_values(ranked, parse_measure("MedR"))
    with pytest.raises(InputError, match="looks at similarities"):
        expected_values(ranked, parse_measure("NCS(cider)@10"))
    with pytest.raises(InputError, match="0 draws"):
        expected_values(ranked, parse_measure("nDCG@5"), draws=0)


def test_forms_belong_to_measures():
    assert all(issubclass(MEASURES[name], Measure) and MEASURES[name].name == name for name in FORMS)
    with pytest.raises(ValueError, match="AP has a form already"):
        register_form("AP")(FORMS["AP"])


def test_no_queries_and_no_rows():
    empty = Ranked.from_places([[]], [[]], size=5)
    for name in ("P@1", "AP", "R@1", "RP", "nDCG"):
        assert expected_values(empty, parse_measure(name)).tolist() == [0.0]
