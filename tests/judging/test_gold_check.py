"""Known pairs: verdicts, the control rule, which answers count, Wilson's interval, table B.1."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.judging.checking.accepting import accepted_answers, control_for
from karat.judging.checking.gold_check import check_gold
from karat.judging.checking.hand_ins import hand_ins
from karat.judging.checking.review_list import review_list
from karat.judging.checking.wilson import wilson
from tests.judging.asked import FOUR, GRID, table

NO, YES, ASKED = 0, 1, -1


def handed_in(rows):
    """A table from rows of (slot, worker, image, caption, rating, gold)."""
    return table([(image, caption, who, said, gold, slot) for slot, who, image, caption, said, gold in rows])


SAID = handed_in([
    (10, 0, 0, 0, 4, YES), (10, 0, 1, 0, 2, NO), (10, 0, 2, 0, 3, ASKED),
    (11, 1, 0, 0, 1, YES), (11, 1, 1, 0, 1, NO), (11, 1, 2, 0, 1, ASKED),
    (12, 1, 0, 1, 3, YES), (12, 1, 1, 1, 3, NO), (12, 1, 2, 1, 1, ASKED),
    (13, 2, 5, 5, 4, ASKED),
])  # fmt: skip


# Slot, image, caption, rating, gold.
CELL = (*(st.integers(*ends) for ends in ((0, 4), (0, 3), (0, 2), (1, 2))), st.sampled_from([NO, YES, ASKED]))


def test_hand_ins_and_people():
    found = check_gold(SAID, FOUR)
    assert dict(zip(found.slot, found.verdict)) == {
        10: "approve",
        11: "review",
        12: "review",
        13: "unchecked",
    }
    assert found.slot_worker.tolist() == [0, 1, 1, 2]
    assert found.items.tolist() == [2, 4, 0]
    assert found.right.tolist() == [2, 2, 0]
    assert found.excluded.tolist() == [False, True, False]
    assert np.isnan(found.share[2])
    # "Partially" is right where yes is known, "mostly no" where no is.
    assert SAID.rating[found.wrong].tolist() == [1, 3]
    assert check_gold(SAID, FOUR, wrong=1).verdict.tolist() == ["approve"] * 3 + ["unchecked"]


def test_the_rule_is_below_not_at():
    seven_of_ten = handed_in([(0, 0, k, 0, 4 if k < 7 else 1, YES) for k in range(10)])
    assert check_gold(seven_of_ten, FOUR).excluded.tolist() == [False]
    assert check_gold(seven_of_ten, FOUR, control=0.71).excluded.tolist() == [True]
    # One of one wrong is 0%, and says next to nothing.
    one = handed_in([(0, 0, 0, 0, 1, YES)])
    assert check_gold(one, FOUR).excluded.tolist() == [True]
    assert check_gold(one, FOUR, surely=True).excluded.tolist() == [False]
    with pytest.raises(InputError, match="control is 7"):
        check_gold(one, FOUR, control=7)


def test_a_control_item_of_a_grid_is_the_image_with_its_captions():
    """Hodosh: ten captions of a control image, judged right as a whole."""
    rows = [(0, 0, 3, c, 2 if c < 2 else 1, YES if c < 2 else NO) for c in range(10)]
    rows += [(1, 0, 4, c, 2 if c < 4 else 1, YES if c < 2 else NO) for c in range(10)]
    rows += [(1, 0, 9, c, 1, ASKED) for c in range(10)]
    found = check_gold(handed_in(rows), GRID)
    assert found.items.tolist() == [2]
    assert found.right.tolist() == [1]
    assert found.verdict.tolist() == ["approve", "review"]
    assert len(found.wrong) == 2
    assert check_gold(handed_in(rows), GRID, captions_wrong=1).right.tolist() == [1]
    assert check_gold(handed_in(rows), GRID, captions_wrong=2).right.tolist() == [2]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(*CELL), min_size=1, max_size=30), st.booleans())
def test_counting_by_hand(cells, grid):
    # Slot k is worker k % 3's.
    rows = list(
        {(slot, slot % 3, image, caption): (said, gold) for slot, image, caption, said, gold in cells}.items()
    )
    rows = [(*key, *value) for key, value in rows]
    found = check_gold(handed_in(rows), GRID if grid else FOUR.__class__("yn", "", "", GRID.answers))
    items = {}
    for slot, who, image, caption, said, gold in rows:
        if gold != ASKED:
            key = (slot, who, image) if grid else (slot, who, image, caption)
            items.setdefault(key, []).append((said == 2) == (gold == YES))
    for slot, verdict in zip(found.slot.tolist(), found.verdict.tolist()):
        own = [all(right) for key, right in items.items() if key[0] == slot]
        assert verdict == ("unchecked" if not own else "approve" if all(own) else "review")
    for who in range(len(found.items)):
        own = [all(right) for key, right in items.items() if key[1] == who]
        assert (found.items[who], found.right[who]) == (len(own), sum(own))


def test_which_answers_count():
    kept = accepted_answers(SAID, FOUR)
    assert (len(kept.answers), kept.excluded) == (4, 6)
    assert kept.notes == ("6 answers of people who fail the control rule are left out",)
    assert kept.kept.tolist() == [True] * 3 + [False] * 6 + [True]
    # Without the hand-in that was rejected, half of the control items are left, and right.
    reviews = {12: ("reject", "me", "", 0.0), 10: ("approve", "me", "", 0.0)}
    kept = accepted_answers(SAID, FOUR, reviews=reviews, control=0.5)
    assert (len(kept.answers), kept.rejected, kept.excluded) == (7, 3, 0)
    kept = accepted_answers(SAID, FOUR, reviews=reviews, approved_only=True)
    assert (len(kept.answers), kept.unapproved) == (3, 4)
    slots = SimpleNamespace(slot=np.array([10, 11, 12, 13]), state=np.array(["submitted"] * 3 + ["leased"]))
    kept = accepted_answers(SAID, FOUR, slots=slots, control=None)
    assert (len(kept.answers), kept.unfinished) == (9, 1)
    assert (control_for("mean"), control_for("ds")) == (0.7, None)


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.sampled_from([0.8, 0.95]))
def test_wilson_inverts_the_test(right, more, level):
    """At its ends, the observed share lies exactly z standard errors away."""
    from scipy.stats import norm

    total = right + more
    low, high = (float(end) for end in wilson(np.array(right), np.array(total), level))
    assert 0 <= low <= high <= 1
    if total:
        assert low - 1e-12 <= right / total <= high + 1e-12
        for end in {low, high} - {0.0, 1.0}:
            z = abs(right / total - end) / np.sqrt(end * (1 - end) / total)
            assert np.isclose(z, norm.ppf((1 + level) / 2))


def test_bins_of_hand_ins():
    rows, slot = [], 0
    for who, (count, good) in enumerate([(1, 1), (1, 0), (5, 4), (6, 6), (26, 13)]):
        for k in range(count):
            rows.append((slot, who, 0, slot, 4 if k < good else 1, YES))
            slot += 1
    found = hand_ins(check_gold(handed_in(rows), FOUR))
    assert found.bins == ("1", "2–5", "6–10", "11–15", "16–25", "26 and more", "all")
    assert found.workers.tolist() == [2, 1, 1, 0, 0, 1, 5]
    assert found.submitted.tolist() == [2, 5, 6, 0, 0, 26, 39]
    assert found.approved.tolist() == [1, 4, 6, 0, 0, 13, 24]
    assert found.records()[3]["ratio"] is None
    # A review outweighs the known pairs, either way.
    reviews = {0: ("reject", "me", "", 0.0), 1: ("approve", "me", "", 0.0)}
    found = hand_ins(check_gold(handed_in(rows), FOUR), reviews)
    assert (found.approved[0], found.reviewed) == (1, 2)
    found = hand_ins(check_gold(handed_in(rows), FOUR), {1: ("approve", "me", "", 0.0)})
    assert found.approved[0] == 2


def test_what_to_look_at(tmp_path):
    gold = check_gold(SAID, FOUR)
    found = review_list(SAID, FOUR, gold, {11: ("approve", "me", "", 0.0)})
    assert found.slot.tolist() == [12]
    assert [row["wrong"] for row in found.rows()] == [False, True, False]
    assert found.lay_out().rows == [["12", "w1", "1 of 2", "1/1: no, partially", "1 no"]]
    worst = handed_in([(5, 0, 0, 0, 1, YES), (5, 0, 1, 0, 1, NO), (6, 1, 0, 0, 1, YES), (6, 1, 1, 0, 4, NO)])
    assert review_list(worst, FOUR, check_gold(worst, FOUR)).slot.tolist() == [6, 5]
    both = review_list(SAID, FOUR, gold)
    assert [row[0] for row in both.lay_out().rows] == ["11", "12"]
    assert both.records()[0] == {
        "slot": 11, "worker": "w1", "items": 2, "right": 1,
        "wrong": [{"image": 0, "caption": 0, "known": "yes", "answer": "no"}],
    }  # fmt: skip
    both.save(tmp_path / "look.csv")
    lines = (tmp_path / "look.csv").read_text().splitlines()
    assert lines[0] == "slot,worker,image,caption,text,known,answer,wrong"
    assert lines[1] == "11,w1,0,0,,yes,no,True"
    assert len(lines) == 7
    with pytest.raises(InputError, match="extension"):
        both.save(tmp_path / "look.xlsx")
