"""Tables of scores: the first k, counts of single pairs, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.runs import EmbeddingRun, MatrixRun, pairs_to_place


def plain_top(table, k, whole_ties):
    ptr, items = [0], []
    for row in table:
        order = np.argsort(-row, kind="stable")
        last = row[order[min(k, len(row)) - 1]]
        keep = order[: (row >= last).sum()] if whole_ties else order[:k]
        items += keep.tolist()
        ptr.append(len(items))
    return ptr, items


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 12), whole_ties=st.booleans())
def test_top_equals_a_stable_sort(seed: int, k: int, whole_ties: bool):
    rng = np.random.default_rng(seed)
    images, captions = rng.integers(-1, 2, (6, 3)), rng.integers(-1, 2, (9, 3))
    scores = (images @ captions.T).astype(np.float32)
    gallery = np.sort(rng.permutation(9)[:7])
    for run in (MatrixRun(scores), MatrixRun(np.asfortranarray(scores)), EmbeddingRun(images, captions)):
        for direction, table in (("i2t", scores), ("t2i", scores.T)):
            top = run.top(direction, k, whole_ties=whole_ties)
            assert (top.ptr.tolist(), top.item.tolist()) == plain_top(table, k, whole_ties)
        some = run.top("i2t", k, queries=np.array([4, 1]), gallery=gallery, whole_ties=whole_ties)
        ptr, items = plain_top(scores[[4, 1]][:, gallery], k, whole_ties)
        assert (some.ptr.tolist(), some.item.tolist()) == (ptr, gallery[items].tolist())
    assert MatrixRun(scores).top("i2t", 2, queries=np.zeros(0, int)).ptr.tolist() == [0]


def test_rows_of_a_gallery_count_alone(rng):
    scores = rng.integers(0, 4, (8, 15)).astype(np.float32)
    for direction, table in (("i2t", scores), ("t2i", scores.T)):
        gallery = np.flatnonzero(rng.random(table.shape[1]) < 0.6)
        query, item = np.repeat(np.arange(len(table)), len(gallery)), np.tile(gallery, len(table))
        places = MatrixRun(scores).place([pairs_to_place(direction, query, item, gallery)])[0]
        for j, (q, i) in enumerate(zip(query, item)):
            assert places.above[j] == (table[q, gallery] > table[q, i]).sum()
            assert places.tied[j] == (table[q, gallery] == table[q, i]).sum() - 1
            assert places.earlier[j] == (table[q, gallery[gallery < i]] == table[q, i]).sum()


def test_wrong_requests(rng):
    scores = rng.random((3, 4))
    with pytest.raises(karat.KaratError, match="the first 0 items were requested"):
        MatrixRun(scores).top("i2t", 0)
    with pytest.raises(karat.KaratError, match="-1 threads were requested"):
        MatrixRun(scores).place([], threads=-1)
    scores[1, 2] = np.nan
    for table in (scores, np.asfortranarray(scores)):
        run = MatrixRun(table, name="mine")
        for call in (
            lambda run=run: run.top("t2i", 1),
            lambda run=run: run.top("i2t", 1),
            lambda run=run: run.place([pairs_to_place("i2t", np.zeros(1, int), np.zeros(1, int))]),
        ):
            with pytest.raises(karat.KaratError, match="mine: row 1, column 2 is nan"):
                call()
