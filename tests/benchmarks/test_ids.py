"""Ids: found in any type, arranged, off-gallery ones apart, and what is refused."""

import numpy as np
import pytest

from karat.benchmarks import Ids
from karat.errors import InputError


def test_ids():
    ids = Ids(["b", "a"], kind="image")
    assert ids.index(["a", "b"]).tolist() == [1, 0]
    assert Ids([5, 6]).find(["6", "x", "-1"]).tolist() == [1, -1, -1]
    assert Ids(["5", "6"]).find([6]).tolist() == [1]
    assert ids.arrangement(["a", "b"]).tolist() == [1, 0]
    with pytest.raises(InputError, match="duplicate image id a, 2 times"):
        Ids(["a", "b", "a"], kind="image")
    with pytest.raises(InputError, match="1 of the benchmark's 2 are missing, first b"):
        ids.arrangement(["a"])
    assert Ids(["cat1"], extra=["cat1000"]).values.tolist() == ["cat1", "cat1000"]
    assert Ids([1], extra=["x"]).values.tolist() == ["1", "x"]
    with pytest.raises(InputError, match="image id x is outside the gallery; leave it out"):
        Ids(["a"], extra=["x"], kind="image").arrangement(["a", "x"])
    for nested in ([[1, 2]], [None], np.zeros((2, 2), int)):
        with pytest.raises(InputError, match="plain list"):
            Ids([1, 2]).index(nested)
    assert Ids([1, 2]).find(["²", "--5", "9" * 30, 10**30]).tolist() == [-1] * 4
