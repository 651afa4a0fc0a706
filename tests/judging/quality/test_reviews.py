"""Assignments to review: the order, the printed table and the saved list."""

import pytest

from karat.errors import InputError
from karat.judging.quality.gold import check_gold
from karat.judging.quality.reviews import review_list
from tests.judging.quality.samples import CHECKED, FOUR, NO, YES, submitted


def test_what_to_review(tmp_path):
    gold = check_gold(CHECKED, FOUR)
    found = review_list(CHECKED, FOUR, gold, {11: ("approve", "me", "", 0.0)})
    assert found.assignment.tolist() == [12]
    assert [row["wrong"] for row in found.rows()] == [False, True, False]
    assert found.lay_out().rows == [["12", "w1", "1 of 2", "1/1: no, partially", "1 no"]]
    worst = submitted([(5, 0, 0, 0, 1, YES), (5, 0, 1, 0, 1, NO), (6, 1, 0, 0, 1, YES), (6, 1, 1, 0, 4, NO)])
    assert review_list(worst, FOUR, check_gold(worst, FOUR)).assignment.tolist() == [6, 5]
    both = review_list(CHECKED, FOUR, gold)
    assert [row[0] for row in both.lay_out().rows] == ["11", "12"]
    assert both.records()[0] == {
        "slot": 11, "worker": "w1", "items": 2, "right": 1,
        "wrong": [{"image": 0, "caption": 0, "known": "yes", "answer": "no"}],
    }  # fmt: skip
    both.save(tmp_path / "review.csv")
    lines = (tmp_path / "review.csv").read_text().splitlines()
    assert lines[0] == "slot,worker,image,caption,text,known,answer,wrong"
    assert lines[1] == "11,w1,0,0,,yes,no,True"
    assert len(lines) == 7
    with pytest.raises(InputError, match="extension"):
        both.save(tmp_path / "review.xlsx")
