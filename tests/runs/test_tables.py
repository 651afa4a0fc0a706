"""Score tables: the first k, counts of single pairs, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.runs import EmbeddingRun, MatrixRun, Question, RankingsRun


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
        answer = MatrixRun(scores).place([Question(direction, query, item, gallery)])[0]
        for j, (q, i) in enumerate(zip(query, item)):
            assert answer.above[j] == (table[q, gallery] > table[q, i]).sum()
            assert answer.tied[j] == (table[q, gallery] == table[q, i]).sum() - 1
            assert answer.earlier[j] == (table[q, gallery[gallery < i]] == table[q, i]).sum()


def test_wrong_questions(rng):
    scores = rng.random((3, 4))
    with pytest.raises(karat.KaratError, match="the first 0 items were asked for"):
        MatrixRun(scores).top("i2t", 0)
    with pytest.raises(karat.KaratError, match="-1 threads were asked for"):
        MatrixRun(scores).place([], threads=-1)
    scores[1, 2] = np.nan
    for table in (scores, np.asfortranarray(scores)):
        run = MatrixRun(table, name="mine")
        for call in (
            lambda run=run: run.top("t2i", 1),
            lambda run=run: run.top("i2t", 1),
            lambda run=run: run.place([Question("i2t", np.zeros(1, int), np.zeros(1, int))]),
        ):
            with pytest.raises(karat.KaratError, match="mine: row 1, column 2 is nan"):
                call()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_must_be_finite(coco, bad):
    scores = np.zeros((5000, 25000), np.float32)
    scores[4321, 20_001] = bad
    with pytest.raises(karat.KaratError, match=rf"row 4321, column 20001 is {bad}"):
        karat.evaluate(karat.load_run(scores, name="mine"), coco, ["R@1"], truths="eccv")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros(3), "1 dimension "),
        (np.zeros((2, 0)), "is empty"),
        (np.array([["a"]]), "not numbers"),
        (np.zeros((25000, 5000), np.float32), "transposed: pass --transpose"),
        (np.zeros((5, 7), np.float32), "has 5 by 7 scores, but coco has 5,000 images by 25,000 captions"),
    ],
)
def test_wrong_tables(coco, table, message):
    with pytest.raises(karat.KaratError, match=message):
        karat.evaluate(table, coco)


def test_wrong_lists(coco):
    image, caption = int(coco.images[0]), int(coco.captions[0])
    for lists, message in (
        ({}, "holds no ranking"),
        ({"i2t": {}}, "holds no ranking"),
        ({"i2t": {12345678: [caption]}}, "image id 12345678 is not in the benchmark"),
        ({"i2t": {image: [caption, 1]}}, "caption id 1 is not in the benchmark"),
        ({"i2t": {image: [caption, caption]}}, "more than once"),
        ({"i2t": {image: "text"}}, "has no list of ids"),
        ({"i2t": {image: 7}}, "has no list of ids"),
        ({"i2t": {image: [[caption]]}}, "ids are not a plain list"),
        ({"x2y": {}}, "has the key 'x2y', which is no direction"),
    ):
        with pytest.raises(karat.KaratError, match=message):
            karat.load_run(lists, benchmark=coco)


def test_lists_without_a_direction_are_recognised(coco):
    image, caption = int(coco.images[0]), int(coco.captions[0])
    assert karat.load_run({str(image): [caption]}, coco).directions == ("i2t",)
    assert karat.load_run({caption: [image]}, coco).directions == ("t2i",)


def test_listed_ids_outside_the_gallery_do_not_count(coco):
    image = int(coco.images[0])
    listed = [int(coco.captions.extra[0]), *coco.captions.gallery[:3].tolist()]
    run = RankingsRun({"i2t": {image: listed}}).align(coco)
    assert run.top("i2t", 3, queries=np.array([0])).item.tolist() == [0, 1, 2]
    answer = run.place([Question("i2t", np.zeros(1, int), np.array([2]))])[0]
    assert (answer.above.tolist(), int(answer.depth[0])) == ([2], 3)


def test_heads_of_lists(coco):
    image = int(coco.images[2])
    captions = coco.captions.gallery[[5, 3, 9]].tolist()
    run = RankingsRun({"i2t": {image: captions}}).align(coco)
    assert run.top("i2t", 2, queries=np.array([2])).item.tolist() == [5, 3]
    assert run.top("i2t", 2, queries=np.array([2]), gallery=np.array([3, 9])).item.tolist() == [3, 9]
    assert run.top("i2t", 2, queries=np.array([0])).item.tolist() == []
