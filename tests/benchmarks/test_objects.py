"""Objects in images: every object has all its attributes."""

import numpy as np
import pytest

import karat
from karat.benchmarks import (
    Objects,
)


def test_attributes_must_fit_their_objects():
    with pytest.raises(karat.KaratError, match="attribute 'colour' has 1 values for 2 objects"):
        Objects(("dog",), [0, 0], [0, 0], np.zeros((2, 4)), attributes={"colour": ["red"]})
    with pytest.raises(karat.KaratError, match="2 synsets for 1 categories"):
        Objects(("dog",), [0], [0], np.zeros((1, 4)), synsets=("dog.n.01", "cat.n.01"))
