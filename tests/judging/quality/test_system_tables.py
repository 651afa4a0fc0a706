"""Answers by system and rank, and kinds of errors by system, against plain counting."""

from dataclasses import replace

import numpy as np
import pytest

from karat.forms import Choice, FollowUp
from karat.forms.answer_table import ChosenDetails, make_answers
from karat.forms.pool import Pool
from karat.judging.quality.system_tables import Shares, answers_by_rank, details_by_system
from tests.judging.quality.samples import FOUR, table


def small_pool():
    """Two systems; the pair (0, 0) is ranked by both, and by the first in both directions."""
    place = np.array([(0, 0, 0, 1), (0, 0, 1, 2), (0, 1, 0, 1), (1, 0, 0, 2), (2, 1, 1, 2)])
    pairs = np.array([0, 0, 4]), np.array([0, 3, 1])
    return Pool(*pairs, np.zeros(3, int), ("a", "b"), *place.T, np.full(5, np.nan), top=2)


def test_answers_by_rank():
    said = table(
        [
            (0, 0, 0, 4, -1),
            (0, 0, 1, 1, -1),
            (0, 3, 0, 3, -1),
            (4, 1, 0, 2, -1),
            (9, 9, 0, 4, -1),
            (0, 3, 1, 4, 1),
        ]
    )
    found = answers_by_rank(said, FOUR, small_pool())
    counts = dict(zip(found.labels, found.counts.tolist()))
    assert counts == {
        ("a", "1"): [1, 0, 0, 1], ("a", "2"): [1, 0, 1, 1], ("a", "all"): [2, 0, 1, 2],
        ("b", "1"): [1, 0, 0, 1], ("b", "2"): [0, 1, 0, 0], ("b", "all"): [1, 1, 0, 1],
    }  # fmt: skip
    assert found.lay_out().rows[1] == ["", "2", "3", "33.3%", "0.0%", "33.3%", "33.3%"]
    assert sum(one["count"] for one in found.records() if one["rank"] == "all") == 8


def test_details_by_system():
    """In the form's order; a question without an answer has no table."""
    said = make_answers(
        [0, 0, 4, 9], [0, 3, 1, 9], [0, 0, 0, 0], [3, 3, 2, 2], ("w",),
        details=ChosenDetails.of([
            (0, "shortcomings.grammar"), (0, "errors.colour"),
            *((row, "shortcomings.wrong") for row in (1, 2, 3)),
        ]),
    )  # fmt: skip
    choices = {"shortcomings": ("wrong", "absent", "grammar"), "errors": ("colour",), "mood": ("good",)}
    further = [FollowUp(code, "", choices=tuple(Choice(c, c) for c in own)) for code, own in choices.items()]
    form = replace(FOUR, follow_ups=tuple(further))
    short, errors = details_by_system(said, form, small_pool())
    assert short.answers == ("wrong", "absent", "grammar")
    counts = dict(zip(short.labels, short.counts.tolist()))
    assert counts == {("a",): [1, 0, 1], ("b",): [1, 0, 1], ("all",): [3, 0, 1]}
    assert errors.counts.tolist() == [[1], [1], [1]]
    assert [one.counts.tolist() for one in details_by_system(said, form)] == [[[3, 0, 1]], [[1]]]
    assert details_by_system(table([(0, 0, 0, 4)]), form, small_pool()) == ()


def test_cramers_v(rng):
    from scipy.stats.contingency import association

    counts = rng.integers(1, 30, (5, 5))
    labels = (("x",), ("y",), ("z",), ("v",), ("all",))
    found = Shares("", ("system",), labels, tuple("abcde"), counts)
    # The row of all is not a group.
    assert np.isclose(found.association, association(counts[:4], method="cramer"))
    assert np.isnan(Shares("", ("system",), (("x",), ("all",)), ("a", "b"), counts[:2, :2]).association)


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ([[0, 0], [0, 0], [4, 1]], "no Cramér's V: no answer is about a pair that a system suggests"),
        ([[3, 0], [2, 0], [5, 1]], "no Cramér's V: a is the only answer that was given"),
        ([[3, 1], [0, 0], [3, 1]], "no Cramér's V: only one system has answers"),
        ([[3, 0], [0, 2], [3, 2]], "Cramér's V 1.000 (0: no difference between systems)"),
    ],
)
def test_without_an_association_it_says_why(counts, sentence):
    found = Shares("", ("system",), (("x",), ("y",), ("all",)), ("a", "b"), np.array(counts))
    assert found.association_sentence().startswith(sentence)
    assert np.isnan(found.association) == sentence.startswith("no")
