"""Ranks from embeddings are those of exact products, whatever multiplies them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.measures import TIE_POLICIES
from karat.runs import EmbeddingRun, PassOptions, pairs_to_place

from worlds import build

MEASURES = ("R@1", "P@2", "AP", "MRR", "nDCG", "MedR")


def counts(run, direction, n_queries, n_items, **options):
    query, item = np.indices((n_queries, n_items)).reshape(2, -1)
    places = run.scan([pairs_to_place(direction, query, item)], **options).placed[0]
    return places.above.reshape(n_queries, n_items), places.tied.reshape(n_queries, n_items)


def brute(exact):
    above = (exact[:, None, :] > exact[:, :, None]).sum(axis=2)
    tied = (exact[:, None, :] == exact[:, :, None]).sum(axis=2) - 1
    return above, tied


def near_tied_tables(seed: int, n: int = 40, m: int = 90, d: int = 33):
    """Vectors that differ in their last bits or not at all: single precision gets their order wrong."""
    rng = np.random.default_rng(seed)
    images = rng.standard_normal((n, d)).astype(np.float32)
    captions = np.repeat(rng.standard_normal((m // 3, d)), 3, axis=0).astype(np.float32)
    captions[1::3] = np.nextafter(captions[1::3], np.float32(9))
    return images, captions


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), block=st.sampled_from([1, 3, 16, None]), threads=st.integers(1, 3))
def test_counts_are_exact_among_near_ties(seed: int, block: int | None, threads: int):
    images, captions = near_tied_tables(seed)
    run = EmbeddingRun(images, captions)
    options = PassOptions(tile=None if block is None else (block, 2 * block + 1))
    # Integers hold these products without rounding.
    scale = 2.0**40
    whole = [
        [[int(x * scale) for x in row] for row in table.astype(np.float64)] for table in (images, captions)
    ]
    exact = np.array([[sum(a * b for a, b in zip(x, y)) for y in whole[1]] for x in whole[0]], dtype=object)
    rounded = np.unique(exact, return_inverse=True)[1].reshape(exact.shape)
    for direction, table in (("i2t", rounded), ("t2i", rounded.T)):
        above, tied = counts(run, direction, *table.shape, threads=threads, options=options)
        expected_above, expected_tied = brute(table)
        # The score is the product in double precision: equal values of it may differ further down.
        assert (np.abs(above - expected_above) <= tied).all()
        assert (tied >= expected_tied).all()
        assert (tied - expected_tied).mean() < 0.05
    plain = (images @ captions.T).astype(np.float64)
    assert (brute(plain)[0] != brute(rounded)[0]).any(), "single precision alone should get some wrong"


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.int32])
def test_types_and_extremes(dtype, rng):
    images = (10 * rng.standard_normal((7, 12))).astype(dtype)
    captions = (10 * rng.standard_normal((11, 12))).astype(dtype)
    captions[4] = captions[7]
    captions[5] = 0
    run = EmbeddingRun(images, captions)
    # Sums of few products of short numbers are exact in long double.
    exact = images.astype(np.longdouble) @ captions.astype(np.longdouble).T
    for direction, table in (("i2t", exact), ("t2i", exact.T)):
        for ours, theirs in zip(counts(run, direction, *table.shape), brute(table.astype(np.float64))):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
@pytest.mark.parametrize("scale", [1e-170, 1e-30, 1e-18, 1e18, 1e30, 2.9e37, 1e160])
def test_very_long_and_very_short_vectors(scale, similarity, rng):
    images = rng.standard_normal((5, 8)).astype(np.float32)
    captions = rng.standard_normal((9, 8)).astype(np.float32)
    plain = counts(EmbeddingRun(images, captions, similarity=similarity), "i2t", 5, 9)
    single = 1e-38 < scale < 1e38
    for side in (0, 1):
        tables = [images.astype(np.float64), captions.astype(np.float64)]
        tables[side] = (tables[side] * scale).astype(np.float32 if single else np.float64)
        scaled = counts(EmbeddingRun(*tables, similarity=similarity), "i2t", 5, 9)
        np.testing.assert_array_equal(plain, scaled)


def test_a_collapsed_model_is_ranked_exactly(rng):
    images = (1 + 1e-6 * rng.standard_normal((20, 64))).astype(np.float32)
    captions = (1 + 1e-6 * rng.standard_normal((50, 64))).astype(np.float32)
    run = EmbeddingRun(images, captions)
    assert run.too_close()
    exact = images.astype(np.longdouble) @ captions.astype(np.longdouble).T
    above, tied = counts(run, "i2t", 20, 50)
    expected, _ = brute(exact)
    assert (np.abs(above - expected) <= tied).all()


def test_folds_and_permuted_ids(rng):
    grades = [[1.0 if c // 2 == i else None for c in range(12)] for i in range(6)]
    images, captions = rng.standard_normal((6, 5)), rng.standard_normal((12, 5))
    captions[3] = captions[8]
    small = build(grades, 12, images @ captions.T, halves=True)
    plain = karat.evaluate(karat.load_run(images, captions), small.benchmark, MEASURES)
    rows, columns = rng.permutation(6), rng.permutation(12)
    ids = {"images": small.benchmark.images[rows], "captions": small.benchmark.captions[columns]}
    moved = karat.evaluate(
        karat.load_run(images[rows], captions[columns], ids=ids), small.benchmark, MEASURES
    )
    matrix = karat.evaluate(karat.load_run(small.scores), small.benchmark, MEASURES)
    assert [c.value for c in plain] == [c.value for c in moved]
    for a, b in zip(plain, matrix):
        if "AP" not in str(a.measure):
            assert a.value == pytest.approx(b.value)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_ties_equal_those_of_the_score_table(seed: int):
    rng = np.random.default_rng(seed)
    images, captions = rng.integers(-1, 2, (6, 2)), rng.integers(-1, 2, (8, 2))
    grades = [[rng.choice([None, 0.0, 1.0]) for _ in range(8)] for _ in range(6)]
    small = build(grades, 8, (images @ captions.T).astype(np.float32), halves=True)
    rows, columns = rng.permutation(6), rng.permutation(8)
    ids = {"images": small.benchmark.images[rows], "captions": small.benchmark.captions[columns]}
    for policy in TIE_POLICIES:
        matrix, plain, moved = (
            karat.evaluate(run, small.benchmark, MEASURES, ties=policy)
            for run in (
                karat.load_run(small.scores),
                karat.load_run(images, captions),
                karat.load_run(images[rows], captions[columns], ids=ids),
            )
        )
        for a, b, c in zip(matrix, plain, moved):
            assert a.value == b.value == c.value


def test_cosine_scales_vectors(rng):
    images, captions = rng.standard_normal((4, 6)), rng.standard_normal((9, 6))
    longer = captions * rng.uniform(1, 50, (9, 1))
    ranks = [counts(EmbeddingRun(images, c, similarity="cosine"), "i2t", 4, 9)[0] for c in (captions, longer)]
    np.testing.assert_array_equal(*ranks)
    dot = counts(EmbeddingRun(images, longer), "i2t", 4, 9)[0]
    assert (dot != ranks[0]).any()
    with pytest.raises(karat.KaratError, match="similarity is 'euclid'"):
        EmbeddingRun(images, captions, similarity="euclid")


def test_mistakes_are_sentences(rng):
    table = rng.standard_normal((4, 6))
    with pytest.raises(karat.KaratError, match=r"have 6 dimensions, caption embeddings 5"):
        EmbeddingRun(table, rng.standard_normal((4, 5)))
    table[2, 3] = np.nan
    with pytest.raises(karat.KaratError, match=r"caption embeddings.*row 2, column 3 is nan"):
        EmbeddingRun(rng.standard_normal((4, 6)), table)
