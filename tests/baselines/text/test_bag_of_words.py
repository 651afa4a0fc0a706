"""The F1 of words against a literal version; `BagOfWords` is tested with the other kernels."""

from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.baselines import WordF1
from karat.errors import InputError

TRAIN = [
    ["a", "dog", "runs", "on", "the", "grass", "a", "dog"],
    ["a", "brown", "dog", "and", "a", "cat"],
    ["two", "men", "on", "a", "bike"],
    [],
]


def literal_f1(x: list[str], y: list[str], weight) -> float:
    cx, cy = Counter(x), Counter(y)
    shared = sum(weight(w) * min(cx[w], cy[w]) for w in cx)
    total_x, total_y = (sum(weight(w) * n for w, n in c.items()) for c in (cx, cy))
    if shared == 0:
        return 0.0
    precision, recall = shared / total_y, shared / total_x
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("weights", ["idf", "none"])
@given(st.lists(st.lists(st.sampled_from(["a", "dog", "on", "bike", "whale"]), max_size=6), max_size=5))
def test_f1_is_the_literal_one(weights, documents):
    def weight(word: str) -> float:
        if weights == "none":
            return 1.0
        held = sum(word in document for document in TRAIN)
        return max(log(len(TRAIN) / (held + 1)), 0.0)

    table = WordF1(weights).fit(TRAIN).transform(documents)
    wanted = [[literal_f1(document, train, weight) for train in TRAIN] for document in documents]
    np.testing.assert_allclose(table, np.array(wanted).reshape(len(documents), len(TRAIN)), atol=1e-12)


def test_a_document_is_like_itself():
    table = WordF1().fit(TRAIN).transform(TRAIN)
    np.testing.assert_allclose(np.diag(table)[:3], 1)
    assert table[3].max() == 0  # nothing is like an empty text


def test_mistakes_are_named():
    with pytest.raises(InputError, match="'a dog' is text"):
        WordF1().fit(["a dog"])
    with pytest.raises(InputError, match="no training document"):
        WordF1().fit([])
    with pytest.raises(InputError, match="weights is 'bm25'"):
        WordF1("bm25").fit(TRAIN)
    with pytest.raises(InputError, match="not fitted"):
        WordF1().transform(TRAIN)
