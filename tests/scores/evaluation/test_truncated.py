"""Ranked lists: complete ones equal the scores, truncated ones never guess."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat

from reference import LOW_IS_GOOD, MEASURES, mean_range, parts, value
from worlds import Small, smalls


def as_lists(small: Small, depth: int) -> dict:
    bench = small.benchmark
    lists = {}
    for direction, table in (("i2t", small.scores), ("t2i", small.scores.T)):
        queries, items = bench.queries(direction), bench.items(direction)
        order = np.argsort(-table, axis=1, kind="stable")[:, :depth]
        lists[direction] = {queries[q].item(): items[row].tolist() for q, row in enumerate(order)}
    return lists


@settings(max_examples=50, deadline=None)
@given(small=smalls(max_images=5, max_captions=6))
def test_complete_lists_equal_scores(small: Small):
    lists = karat.evaluate(karat.load_run(as_lists(small, 99)), small.benchmark, MEASURES)
    scores = karat.evaluate(karat.load_run(small.scores), small.benchmark, MEASURES, ties="stable")
    assert [c.value for c in lists] == [c.value for c in scores]


@settings(max_examples=80, deadline=None)
@given(small=smalls(), depth=st.integers(1, 4), reading=st.sampled_from(["misses", "left_out"]))
def test_truncated_lists_do_not_guess(small: Small, depth: int, reading: str):
    """A value is given only when every completion of the ranking agrees on it."""
    card = karat.evaluate(
        karat.load_run(as_lists(small, depth)), small.benchmark, MEASURES, truth="whole", unjudged=reading
    )
    for column in card:
        if column.values is None:
            continue
        name = str(column.measure)
        possible = []
        for query, ours in zip(column.query, column.values):
            scores, grades, lost = small.case(column.direction, int(query))
            order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
            head, tail = order[:depth], order[depth:]
            found = set()
            for rest in itertools.permutations(tail):
                ranking = [grades[i] for i in (*head, *rest)]
                if reading == "left_out":
                    ranking = [g for g in ranking if g is not None]
                found.add(value(name, ranking, lost))
            found = {f for f in found if not math.isnan(f)}
            possible.append(found)
            if column.value is not None and math.isfinite(ours):
                assert [pytest.approx(f) for f in found] == [ours], (name, query)
        if column.value is None:
            assert column.note is not None
            # What looks no further than the list goes has no excuse, where anything is relevant.
            if reading == "misses" and any(possible):
                assert parts(name)[1] > depth, name
        elif name == "MedR":
            ends = [(min(f), max(f)) for f in possible if f]
            assert np.median([a for a, _ in ends]) == np.median([b for _, b in ends]) == column.value


@settings(max_examples=60, deadline=None)
@given(small=smalls(max_images=3, max_captions=3), depth=st.integers(1, 3))
def test_bounds_of_truncated_lists_hold(small: Small, depth: int):
    """Bounds enclose the value of every completion, of the ranking and of the judgments."""
    card = karat.evaluate(
        karat.load_run(as_lists(small, depth)), small.benchmark, MEASURES, truth="whole", unjudged="bounds"
    )
    for column in card:
        name = str(column.measure)
        if column.values is None or column.lower_bound is None or name == "MedR":
            continue
        known, maybe = [], []
        for query in column.query:
            scores, grades, lost = small.case(column.direction, int(query))
            order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
            found = []
            for rest in itertools.permutations(order[depth:]):
                ranking = [grades[i] for i in (*order[:depth], *rest)]
                choices = [(0.0, 1.0) if g is None else (g,) for g in ranking]
                found += [value(name, list(filled), lost) for filled in itertools.product(*choices)]
            found = sorted(end for end in found if not math.isnan(end))
            if not math.isnan(value(name, [grades[i] for i in order], lost)):
                known.append(found)
            elif found:
                # Without a known relevant item: at worst 0, or the last place.
                maybe.append(sorted([*found, len(scores) if parts(name)[0] in LOW_IS_GOOD else 0.0]))
        assert (column.lower_bound, column.upper_bound) == pytest.approx(mean_range(known, maybe)), name


def test_what_a_truncated_run_cannot_answer_is_said(coco):
    images = coco.images.gallery[:3]
    lists = {"i2t": {int(i): coco.captions.gallery[:50].tolist() for i in images}}
    card = karat.evaluate(karat.load_run(lists), coco, ["R@1", "MRR"], truth="coco-5k")
    assert [c.direction for c in card] == ["i2t", "i2t"]
    assert all(c.value is None for c in card)
    text = " ".join(card.notes)
    assert "4,997 images ends too early" in text
    assert "has no t2i rankings" in text
