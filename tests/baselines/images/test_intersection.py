"""Image kernels against the equations written out, and their promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.baselines.images import histogram_kernel, intersection_kernel, pyramid_kernel
from karat.baselines.images.pyramid import cells, level_weights, pyramid_counts
from karat.errors import InputError

SIZES = (5, 7, 6)


def pyramids(seed: int, rows: int, points: int = 8, levels: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Words at points, uneven so that rows differ, and their pyramids."""
    rng = np.random.default_rng(seed)
    words = np.stack(
        [[np.minimum(rng.geometric(0.4, (points, points)), k) - 1 for k in SIZES] for _ in range(rows)]
    )
    return words, np.stack([pyramid_counts(w, SIZES, levels) for w in words])


def literal_pyramid(one: np.ndarray, other: np.ndarray, levels: int, power: float) -> float:
    """Eq. 6 to 8 from the words, without any array trick: the first line of eq. 8."""
    points, last = one.shape[1], levels - 1
    means = []
    for kind, size in enumerate(SIZES):
        similar = []
        for level in range(levels):
            step = points // 2**level
            total = 0.0
            for top in range(0, points, step):
                for left in range(0, points, step):
                    a = list(one[kind, top : top + step, left : left + step].ravel())
                    b = list(other[kind, top : top + step, left : left + step].ravel())
                    total += sum(min(a.count(v), b.count(v)) / points**2 for v in range(size))
            similar.append(total)
        new = sum((similar[k] - similar[k + 1]) / 2 ** (last - k) for k in range(last))
        means.append(similar[last] + new)
    return (sum(means) / len(means)) ** power


@pytest.mark.parametrize(("levels", "power"), [(3, 1), (3, 3), (2, 0.5), (1, 2)])
def test_the_pyramid_kernel_equals_its_equations(levels: int, power: float):
    words, counts = pyramids(1, 6, levels=levels)
    found = pyramid_kernel(counts, levels=levels, power=power)
    wanted = [[literal_pyramid(a, b, levels, power) for b in words] for a in words]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)
    assert np.ptp(found) > 0.05
    np.testing.assert_array_equal(pyramid_kernel(counts[:2], counts, levels=levels, power=power), found[:2])


def test_the_histogram_kernel_is_the_pyramid_of_one_level():
    words, counts = pyramids(2, 5)
    found = histogram_kernel(counts, power=2)
    wanted = [[literal_pyramid(a, b, 1, 2) for b in words] for a in words]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)
    assert np.all(pyramid_kernel(counts) <= histogram_kernel(counts))


def test_weights_sum_to_one_and_both_lines_of_eq_8_agree():
    for levels in range(1, 6):
        weights, last = level_weights(levels), levels - 1
        assert weights.sum() == 1
        for level in range(levels):
            wanted = 1 / 2**last if level == 0 else 1 / 2 ** (last - level + 1)
            assert weights[level] == wanted


def test_a_kind_is_a_range_of_columns():
    words, counts = pyramids(3, 4)
    texture = counts.reshape(4, 21, -1)[:, :, SIZES[0] : SIZES[0] + SIZES[1]].reshape(4, -1)
    alone = np.stack([pyramid_counts(w[1:2], SIZES[1:2], 3) for w in words])
    np.testing.assert_array_equal(texture, alone)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 140),
    others=st.integers(1, 140),
    columns=st.integers(1, 70),
    kind=st.sampled_from([np.uint8, np.uint16, np.int64, np.float32, np.float64]),
    threads=st.integers(1, 3),
    seed=st.integers(0, 1000),
)
def test_intersections_equal_numpy(rows, others, columns, kind, threads, seed):
    rng = np.random.default_rng(seed)
    x, y = (rng.gamma(0.3, 40, (n, columns)).clip(0, 255).astype(kind) for n in (rows, others))
    wanted = np.minimum(x[:, None].astype(float), y).sum(axis=2)
    np.testing.assert_allclose(intersection_kernel(x, y, threads=threads), wanted, rtol=1e-12, atol=1e-10)
    own = intersection_kernel(x, threads=threads)
    assert np.array_equal(own, own.T)
    np.testing.assert_allclose(
        own, np.minimum(x[:, None].astype(float), x).sum(axis=2), rtol=1e-12, atol=1e-10
    )


def test_wide_tables_are_cut_into_pieces(rng):
    x = rng.integers(0, 5, (70, 5000)).astype(np.uint16)
    wanted = np.stack([np.minimum(row, x).sum(axis=1) for row in x])
    np.testing.assert_array_equal(intersection_kernel(x), wanted)


def test_sums_beyond_sixteen_bits_do_not_wrap():
    x = np.full((3, 40), 60_000, np.uint16)
    assert (intersection_kernel(x) == 2_400_000).all()
    assert (intersection_kernel(x.astype(np.int64) * 10**6) == 2.4e12).all()
    at_the_border = np.array([[65_535, 0], [32_768, 32_767]], np.uint16)
    assert intersection_kernel(at_the_border).tolist() == [[65_535, 32_768], [32_768, 65_535]]


@pytest.mark.parametrize("kernel", [histogram_kernel, pyramid_kernel])
@pytest.mark.parametrize("power", [1, 2, 5])
def test_kernels_are_semidefinite_with_a_diagonal_of_ones(kernel, power: int):
    _, counts = pyramids(4, 60)
    found = kernel(counts, power=power)
    assert np.array_equal(found, found.T)
    assert (np.diag(found) == 1).all()
    assert np.linalg.eigvalsh(found).min() > -1e-10
    assert found.min() >= 0
    assert found.max() == 1


def test_fractions_give_the_same_as_counts():
    _, counts = pyramids(5, 9)
    for kind, tolerance in ((np.float64, 1e-12), (np.float32, 1e-6)):
        fractions = (counts / counts[0, : sum(SIZES)].sum()).astype(kind)
        np.testing.assert_allclose(pyramid_kernel(fractions), pyramid_kernel(counts), atol=tolerance)


def test_a_picture_without_words_is_like_none():
    _, counts = pyramids(6, 3)
    counts[1] = 0
    found = pyramid_kernel(counts, power=3)
    assert (found[1] == 0).all()
    assert (found[:, 1] == 0).all()
    assert found[0, 0] == 1
    assert (pyramid_kernel(counts[1:2]) == 0).all()


@pytest.mark.parametrize("bad", [-1, np.nan, np.inf])
def test_numbers_that_are_no_counts(bad: float):
    with pytest.raises(InputError, match="negative, infinite or missing"):
        intersection_kernel(np.array([[1.0, bad]]))


def test_what_is_no_pyramid():
    _, counts = pyramids(7, 3)
    with pytest.raises(InputError, match="multiple of 5"):
        pyramid_kernel(counts[:, :-1], levels=2)
    with pytest.raises(InputError, match="counts"):
        pyramid_kernel(np.roll(counts, 1, axis=1))
    with pytest.raises(InputError, match="counts"):
        pyramid_kernel(counts, 2 * counts)
    with pytest.raises(InputError, match="columns"):
        pyramid_kernel(counts, counts[:, :-21])
    with pytest.raises(InputError, match="power"):
        pyramid_kernel(counts, power=0)
    with pytest.raises(InputError, match="levels"):
        pyramid_kernel(counts, levels=0)
    with pytest.raises(InputError, match="threads"):
        pyramid_kernel(counts, threads=0)


def test_levels_hold_the_same_counts():
    _, counts = pyramids(8, 4, points=16, levels=4)
    parts = counts.reshape(4, cells(4), -1)
    for level in range(4):
        np.testing.assert_array_equal(parts[:, cells(level) : cells(level + 1)].sum(axis=1), parts[:, 0])
    # A quarter is the sum of its four sixteenths: the upper right one here.
    below = parts[:, cells(2) :][:, : 4**2].reshape(4, 4, 4, -1)
    np.testing.assert_array_equal(below[:, :2, 2:].sum(axis=(1, 2)), parts[:, 2])


def test_cells_go_row_by_row():
    words = np.zeros((1, 8, 8), int)
    words[0, 1, 6] = 1
    counts = pyramid_counts(words, [2], 3).reshape(21, 2)
    # The upper right quarter; of the sixteenths, the last one in the first row.
    assert np.flatnonzero(counts[:, 1]).tolist() == [0, 2, 5 + 3]
