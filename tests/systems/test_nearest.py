"""Nearest neighbours and the F1 of words, against literal versions."""

from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.systems import NearestNeighbour, WordF1
from karat.systems.nearest_run import DirectedRun
from karat.validation import InputError

from made import make_benchmark

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


def test_scores_are_those_of_the_nearest_pair(rng):
    images, captions = rng.random((5, 9)), rng.random((7, 9))
    tables = NearestNeighbour().scores(images, captions)
    for i in range(5):
        for s in range(7):
            assert tables["i2t"][i, s] == captions[s, images[i].argmax()]
            assert tables["t2i"][s, i] == images[i, captions[s].argmax()]


def test_several_neighbours_are_averaged(rng):
    images, captions = rng.random((5, 9)), rng.random((7, 9))
    tables = NearestNeighbour(3).scores(images, captions)
    for i in range(5):
        near = sorted(range(9), key=lambda t: -images[i, t])[:3]
        np.testing.assert_allclose(tables["i2t"][i], captions[:, near].mean(axis=1))
    everything = NearestNeighbour(99).scores(images, captions)["i2t"]
    np.testing.assert_allclose(everything, np.tile(captions.mean(axis=1), (5, 1)))


@pytest.mark.parametrize("neighbours", [1, 2])
def test_of_equally_near_pairs_the_earlier_counts(neighbours):
    images, captions = np.array([[0.5, 0.5, 0.5]]), np.array([[0.1, 0.2, 0.9]])
    score = NearestNeighbour(neighbours).scores(images, captions)["i2t"][0, 0]
    assert score == pytest.approx(captions[0, :neighbours].mean())


def test_a_run_answers_each_direction_by_its_own_table(rng):
    bench = make_benchmark(6, 2)
    train = np.arange(6)
    images = (train[:, None] == train) + 0.1 * rng.random((6, 6))
    captions = (bench.caption_image[:, None] == train) + 0.1 * rng.random((12, 6))
    run = NearestNeighbour().run(images, captions, name="nn")
    card = karat.evaluate(run, bench, ["R@1", "MedR"], truths="own")
    assert card.value("R@1", direction="t2i") == 1
    tables = NearestNeighbour().scores(images, captions)
    top = run.align(bench).top("i2t", 1)
    assert top.item.tolist() == tables["i2t"].argmax(axis=1).tolist()
    assert run.align(bench).top("t2i", 1).item.tolist() == tables["t2i"].argmax(axis=1).tolist()


def test_a_run_is_aligned_by_its_ids(rng):
    bench = make_benchmark(4, 1)
    first, second = rng.random((4, 4)), rng.random((4, 4))
    plain = DirectedRun(first, second).align(bench)
    order = [2, 0, 3, 1]
    ids = {"images": bench.images.values[order].tolist()}
    moved = DirectedRun(first[order], second[:, order], ids=ids).align(bench)
    assert moved.align(bench) is moved
    for direction in ("i2t", "t2i"):
        np.testing.assert_array_equal(moved.top(direction, 4).item, plain.top(direction, 4).item)


def test_mistakes_are_named():
    with pytest.raises(InputError, match="3 training pairs, captions with 4"):
        NearestNeighbour().scores(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(InputError, match="0 neighbours"):
        NearestNeighbour(0).scores(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(InputError, match="'a dog' is text"):
        WordF1().fit(["a dog"])
    with pytest.raises(InputError, match="no training document"):
        WordF1().fit([])
    with pytest.raises(InputError, match="weights is 'bm25'"):
        WordF1("bm25").fit(TRAIN)
    with pytest.raises(InputError, match="not fitted"):
        WordF1().transform(TRAIN)
    with pytest.raises(InputError, match="score every image with every caption"):
        DirectedRun(np.ones((2, 3)), np.ones((2, 3)))
