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


def test_file_names_are_other_names_of_ids():
    files = ["val2014/COCO_val2014_000000000030.jpg", "val2014/COCO_val2014_000000000010.jpg"]
    ids = Ids([30, 10], kind="image", files=files)
    for names in (
        ["COCO_val2014_000000000010.jpg", "COCO_val2014_000000000030.jpg"],
        ["COCO_val2014_000000000010", "COCO_val2014_000000000030"],
        ["000000000010.jpg", "000000000030.jpg"],
        ["elsewhere/10.jpg", "30.png"],
        ["10", 30],
    ):
        assert ids.index(names).tolist() == [1, 0]
    with pytest.raises(
        InputError, match=r"id 11.jpg is not in the benchmark; the first ids are 30, 10, and the"
    ):
        ids.index(["11.jpg"])


def test_names_that_could_be_ids_of_others_are_not_read_as_files():
    ids = Ids([0, 1, 2], kind="image", files=["2.jpg", "0.jpg", "7.jpg"])
    assert ids.find(["2.jpg", "0.jpg", "7.jpg"]).tolist() == [0, 1, 2]
    assert ids.find(["2", "0", "7"]).tolist() == [2, 0, -1]
    twice = Ids([5, 6], kind="image", files=["a/1.jpg", "b/1.jpg"])
    assert twice.find(["1.jpg", "1", 5]).tolist() == [-1, -1, 0]
