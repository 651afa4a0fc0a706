"""Benchmarks and truths: what is refused."""

import numpy as np
import pytest

from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
from karat.errors import InputError, KaratError

ORIGINAL = Provenance("original")


def test_an_empty_truth_or_benchmark_is_refused():
    own = Judgments([0], [0], sources=[ORIGINAL])
    with pytest.raises(InputError, match="covers no query"):
        Truth("own", own, {"i2t": np.zeros(0, int)})
    with pytest.raises(InputError, match="either judgments or a rule"):
        Truth("own", None, {"i2t": np.arange(1)})
    with pytest.raises(InputError, match="has no truth"):
        Benchmark("b", Ids([1]), Ids([1]), {})


def test_unknown_truth():
    own = Judgments([0], [0], sources=[ORIGINAL])
    bench = Benchmark("b", Ids([1]), Ids([1]), {"own": Truth("own", own, {"i2t": np.arange(1)})})
    with pytest.raises(KaratError, match="b has no truth 'onw'; did you mean own"):
        bench.truth("onw")
    assert bench.clusters("t2i", np.array([0])).tolist() == [-1]
