"""Hidden gold: which assignments pass, which annotators are excluded, and Wilson's interval."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.judging.quality.gold import check_gold, wilson
from tests.judging.quality.samples import ASKED, CHECKED, FOUR, GRID, NO, YES, submitted

# Assignment, image, caption, rating, gold.
CELL = (*(st.integers(*ends) for ends in ((0, 4), (0, 3), (0, 2), (1, 2))), st.sampled_from([NO, YES, ASKED]))


def test_assignments_and_annotators():
    found = check_gold(CHECKED, FOUR)
    assert dict(zip(found.assignment, found.verdict)) == {
        10: "approve",
        11: "review",
        12: "review",
        13: "unchecked",
    }
    assert found.assignment_annotator.tolist() == [0, 1, 1, 2]
    assert found.items.tolist() == [2, 4, 0]
    assert found.right.tolist() == [2, 2, 0]
    assert found.excluded.tolist() == [False, True, False]
    assert np.isnan(found.share[2])
    # "Partially" is right where the gold is yes, "mostly no" where it is no.
    assert CHECKED.rating[found.wrong].tolist() == [1, 3]
    assert check_gold(CHECKED, FOUR, wrong=1).verdict.tolist() == ["approve"] * 3 + ["unchecked"]


def test_the_rule_is_below_not_at():
    seven_of_ten = submitted([(0, 0, k, 0, 4 if k < 7 else 1, YES) for k in range(10)])
    assert check_gold(seven_of_ten, FOUR).excluded.tolist() == [False]
    assert check_gold(seven_of_ten, FOUR, gold_share=0.71).excluded.tolist() == [True]
    # One wrong item of one is 0%, and is hardly any evidence.
    one = submitted([(0, 0, 0, 0, 1, YES)])
    assert check_gold(one, FOUR).excluded.tolist() == [True]
    assert check_gold(one, FOUR, only_if_certain=True).excluded.tolist() == [False]
    with pytest.raises(InputError, match="gold_share is 7; give a share"):
        check_gold(one, FOUR, gold_share=7)


def test_a_gold_item_of_a_grid_is_the_image_with_its_captions():
    """Hodosh: ten captions of a gold image, judged right as a whole."""
    rows = [(0, 0, 3, c, 2 if c < 2 else 1, YES if c < 2 else NO) for c in range(10)]
    rows += [(1, 0, 4, c, 2 if c < 4 else 1, YES if c < 2 else NO) for c in range(10)]
    rows += [(1, 0, 9, c, 1, ASKED) for c in range(10)]
    found = check_gold(submitted(rows), GRID)
    assert found.items.tolist() == [2]
    assert found.right.tolist() == [1]
    assert found.verdict.tolist() == ["approve", "review"]
    assert len(found.wrong) == 2
    assert check_gold(submitted(rows), GRID, captions_wrong=1).right.tolist() == [1]
    assert check_gold(submitted(rows), GRID, captions_wrong=2).right.tolist() == [2]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(*CELL), min_size=1, max_size=30), st.booleans())
def test_counting_by_hand(cells, grid):
    # Assignment k is annotator k % 3's.
    rows = list(
        {
            (assignment, assignment % 3, image, caption): (said, gold)
            for assignment, image, caption, said, gold in cells
        }.items()
    )
    rows = [(*key, *value) for key, value in rows]
    found = check_gold(submitted(rows), GRID if grid else FOUR.__class__("yn", "", "", GRID.answers))
    items = {}
    for assignment, who, image, caption, said, gold in rows:
        if gold != ASKED:
            key = (assignment, who, image) if grid else (assignment, who, image, caption)
            items.setdefault(key, []).append((said == 2) == (gold == YES))
    for assignment, verdict in zip(found.assignment.tolist(), found.verdict.tolist()):
        own = [all(right) for key, right in items.items() if key[0] == assignment]
        assert verdict == ("unchecked" if not own else "approve" if all(own) else "review")
    for who in range(len(found.items)):
        own = [all(right) for key, right in items.items() if key[1] == who]
        assert (found.items[who], found.right[who]) == (len(own), sum(own))


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
