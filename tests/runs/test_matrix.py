"""Score tables: finite numbers, images by captions."""

import numpy as np
import pytest

import karat


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_must_be_finite(coco, bad, rng):
    # Not all equal: a pass over nothing but ties takes seven times as long.
    scores = np.add.outer(*(rng.random(size, dtype=np.float32) for size in (5000, 25000)))
    scores[4321, 20_001] = bad
    with pytest.raises(karat.KaratError, match=rf"row 4321, column 20001 is {bad}"):
        karat.evaluate(karat.load_run(scores, name="mine"), coco, ["R@1"], truth="eccv")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros(3), "1 dimension "),
        (np.zeros((2, 0)), "is empty"),
        (np.array([["a"]]), "not numbers"),
        (np.zeros((25000, 5000), np.float32), "transposed: karat convert --transpose turns it"),
        (np.zeros((5, 7), np.float32), "has 5 by 7 scores, but coco has 5,000 images by 25,000 captions"),
    ],
)
def test_wrong_tables(coco, table, message):
    with pytest.raises(karat.KaratError, match=message):
        karat.evaluate(table, coco)
