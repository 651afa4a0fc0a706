"""Every measure × tie policy × reading equals a literal computation over all orders and completions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings

import karat
from karat.measures import READINGS, TIE_POLICIES

from reference import BOUNDED, LOW_IS_GOOD, MEASURES, mean_range, parts, read, resolved
from worlds import Small, smalls


def same(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def columns(small: Small, **options):
    return karat.evaluate(karat.load_run(small.scores), small.benchmark, MEASURES, **options)


@pytest.mark.parametrize("policy", TIE_POLICIES)
@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=60, deadline=None)
@given(small=smalls())
def test_values_per_query(small: Small, policy: str, reading: str):
    for column in columns(small, ties=policy, unjudged=reading):
        if column.values is None:
            continue
        name = str(column.measure)
        assert len(column.values) == len(column.query)
        for query, fold, ours in zip(column.query, column.fold, column.values):
            scores, grades, lost = small.case(
                column.direction, int(query), int(fold) if column.truth == "folds" else None
            )
            expected = read(name, policy, reading, scores, grades, lost)[0]
            assert same(ours, expected), (name, column.truth, column.direction, query, ours, expected)


@pytest.mark.parametrize("policy", TIE_POLICIES)
@settings(max_examples=60, deadline=None)
@given(small=smalls(max_images=3))
def test_bounds(small: Small, policy: str):
    for column in columns(small, ties=policy, unjudged="bounds"):
        name = str(column.measure)
        if column.values is None or column.truth != "whole" or parts(name)[0] == "MedR":
            continue
        cases = [small.case(column.direction, int(q)) for q in column.query]
        ranges = [possible(name, policy, *case) for case in cases]
        known = [sorted(values) for values, has_value in ranges if has_value]
        if not known or parts(name)[0] not in BOUNDED:
            assert column.lower_bound is None
            continue
        maybe = [sorted(values) for values, has_value in ranges if not has_value and values]
        low, high = mean_range(known, maybe)
        assert column.lower_bound <= low + 1e-12, name
        assert column.upper_bound >= high - 1e-12, name
        # At worst a query without a value gets 0, or the last place.
        last = float(len(cases[0][0]))
        stated = [
            [min(*v, last), max(*v, last)] if parts(name)[0] in LOW_IS_GOOD else [0.0, *v] for v in maybe
        ]
        assert (column.lower_bound, column.upper_bound) == pytest.approx(mean_range(known, stated)), name


def possible(name: str, policy: str, scores, grades, lost) -> tuple[list[float], bool]:
    """Every value of a query over what its unjudged items could be, and whether it has one as it is."""
    open_items = [i for i, grade in enumerate(grades) if grade is None]
    values = []
    for filled in itertools.product((0.0, 1.0), repeat=len(open_items)):
        complete = list(grades)
        for i, grade in zip(open_items, filled):
            complete[i] = grade
        values.append(resolved(name, policy, scores, complete, lost))
    has_value = not math.isnan(resolved(name, policy, scores, grades, lost))
    return [value for value in values if not math.isnan(value)], has_value


@settings(max_examples=60, deadline=None)
@given(small=smalls(levels=6))
def test_bounds_enclose_and_policies_are_ordered(small: Small):
    cards = {policy: columns(small, ties=policy, unjudged="bounds") for policy in TIE_POLICIES}
    for column in cards["expected"]:
        if column.value is None:
            continue
        where = {"truth": column.truth, "direction": column.direction}
        name = str(column.measure)
        worst, best = (cards[p].value(name, **where) for p in ("pessimistic", "optimistic"))
        if parts(name)[0] in LOW_IS_GOOD:
            worst, best = best, worst
        for card in (cards["expected"], cards["stable"]):
            assert worst - 1e-12 <= card.value(name, **where) <= best + 1e-12
        for card in cards.values():
            shown = card.column(name, **where)
            if shown.lower_bound is not None:
                assert shown.lower_bound - 1e-12 <= shown.value <= shown.upper_bound + 1e-12


@settings(max_examples=60, deadline=None)
@given(small=smalls())
def test_the_ideal_ranking_reaches_the_attainable_maximum(small: Small):
    # Scores that follow the grades give, for each query by itself, the best of all orders.
    n_captions = small.scores.shape[1]
    ideal = np.array([[grade or 0.0 for grade in row[:n_captions]] for row in small.grades], dtype=np.float32)
    card = karat.evaluate(karat.load_run(ideal), small.benchmark, MEASURES, truth="whole")
    for column in card:
        if column.values is None or str(column.measure).startswith("Judged"):
            continue
        for query, ours in zip(column.query, column.values):
            _, grades, lost = small.case(column.direction, int(query))
            best = resolved(str(column.measure), "optimistic", [0.0] * len(grades), grades, lost)
            assert same(ours, best), (str(column.measure), query)
