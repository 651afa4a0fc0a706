"""Submitted assignments: table B.1, and which answers count."""

from types import SimpleNamespace

import numpy as np

from karat.judging.quality.assignments import accepted_answers, count_assignments, required_gold_share
from karat.judging.quality.gold import check_gold
from tests.judging.quality.samples import CHECKED, FOUR, YES, submitted


def test_which_answers_count():
    kept = accepted_answers(CHECKED, FOUR)
    assert (len(kept.answers), kept.excluded) == (4, 6)
    assert kept.notes == ("6 answers of annotators who fail the gold check are left out",)
    assert kept.kept.tolist() == [True] * 3 + [False] * 6 + [True]
    # Without the rejected assignment, half of the gold items are left, and right.
    reviews = {12: ("reject", "me", "", 0.0), 10: ("approve", "me", "", 0.0)}
    kept = accepted_answers(CHECKED, FOUR, reviews=reviews, gold_share=0.5)
    assert (len(kept.answers), kept.rejected, kept.excluded) == (7, 3, 0)
    kept = accepted_answers(CHECKED, FOUR, reviews=reviews, approved_only=True)
    assert (len(kept.answers), kept.unapproved) == (3, 4)
    assignments = SimpleNamespace(
        assignment=np.array([10, 11, 12, 13]), state=np.array(["submitted"] * 3 + ["leased"])
    )
    kept = accepted_answers(CHECKED, FOUR, assignments=assignments, gold_share=None)
    assert (len(kept.answers), kept.unfinished) == (9, 1)
    assert (required_gold_share("mean"), required_gold_share("ds")) == (0.7, None)
    assert (required_gold_share("ds", exclude=True), required_gold_share("mean", 0.9)) == (0.7, 0.9)
    assert required_gold_share("mean", exclude=False) is None


def test_bins_of_assignments():
    rows, assignment = [], 0
    for who, (count, good) in enumerate([(1, 1), (1, 0), (5, 4), (6, 6), (26, 13)]):
        for k in range(count):
            rows.append((assignment, who, 0, assignment, 4 if k < good else 1, YES))
            assignment += 1
    found = count_assignments(check_gold(submitted(rows), FOUR))
    assert found.bins == ("1", "2–5", "6–10", "11–15", "16–25", "26 and more", "all")
    assert found.annotators.tolist() == [2, 1, 1, 0, 0, 1, 5]
    assert found.submitted.tolist() == [2, 5, 6, 0, 0, 26, 39]
    assert found.approved.tolist() == [1, 4, 6, 0, 0, 13, 24]
    assert found.records()[3]["ratio"] is None
    # A review outweighs the gold pairs, either way.
    reviews = {0: ("reject", "me", "", 0.0), 1: ("approve", "me", "", 0.0)}
    found = count_assignments(check_gold(submitted(rows), FOUR), reviews)
    assert (found.approved[0], found.reviewed) == (1, 2)
    found = count_assignments(check_gold(submitted(rows), FOUR), {1: ("approve", "me", "", 0.0)})
    assert found.approved[0] == 2
    head, first = found.lay_out().head, found.lay_out().rows[0]
    assert (head[0], first) == ("assignments per annotator", ["1", "2", "2", "2", "100.0%"])
