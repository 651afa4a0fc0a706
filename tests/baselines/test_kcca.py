"""KCCA: a dense generalised eigen-solver agrees, settings are nested, odd kernels have decided outcomes."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.preprocessing import KernelCenterer
from sklearn.utils.validation import check_is_fitted

from karat.baselines import KCCA, KCCAPath, KernelCentrer
from karat.errors import InputError, MissingDataError
from karat.models.cosine import cosines


def paired_features(seed: int = 0, items: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(items, 3))
    return tuple(
        np.c_[shared + 0.5 * rng.normal(size=(items, 3)), rng.normal(size=(items, extra))] for extra in (3, 2)
    )


def linear(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x @ y.T


def gaussian(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.exp(-((x[:, None] - y) ** 2).sum(axis=-1) / 10)


def centred(kernel: np.ndarray) -> np.ndarray:
    h = np.eye(len(kernel)) - 1 / len(kernel)
    return h @ kernel @ h


def dense_correlations(kx: np.ndarray, ky: np.ndarray, kappa: float, most: int) -> np.ndarray:
    """Equation 3 as one generalised eigenproblem of twice the size."""
    kx, ky = centred(kx), centred(ky)
    zero = np.zeros_like(kx)
    left = np.block([[zero, kx @ ky], [ky @ kx, zero]])
    right = np.block([[kx @ kx + kappa * kx, zero], [zero, ky @ ky + kappa * ky]])
    # The centred kernels are singular: a little on the diagonal makes the problem definite.
    return eigh(left, right + 1e-10 * np.eye(len(right)), eigvals_only=True)[::-1][:most]


@pytest.mark.parametrize("kernel", [linear, gaussian])
@pytest.mark.parametrize("kappa", [0.05, 1.0, 7.0])
def test_correlations_are_those_of_a_dense_generalised_eigen_solver(kernel, kappa):
    x, y = paired_features()
    kx, ky = kernel(x, x), kernel(y, y)
    model = KCCA(kappa, normalise=False).fit(kx, ky)
    wanted = dense_correlations(kx, ky, kappa, 5)
    np.testing.assert_allclose(model.correlations_[:5], wanted, atol=1e-6, rtol=0)


@pytest.mark.parametrize("kernel", [linear, gaussian])
def test_directions_are_normalised_orthogonal_and_correlated_as_stated(kernel):
    x, y = paired_features(1)
    kx, ky = centred(kernel(x, x)), centred(kernel(y, y))
    kappa = 0.3
    model = KCCA(kappa, normalise=False).fit(kx, ky)
    alpha, beta = model.image_weights_, model.caption_weights_
    identity = np.eye(model.n_)
    np.testing.assert_allclose(alpha.T @ (kx @ kx + kappa * kx) @ alpha, identity, atol=1e-8)
    np.testing.assert_allclose(beta.T @ (ky @ ky + kappa * ky) @ beta, identity, atol=1e-6)
    np.testing.assert_allclose(alpha.T @ kx @ ky @ beta, np.diag(model.correlations_), atol=1e-8)
    assert (np.diff(model.correlations_) <= 0).all()
    assert model.correlations_[0] < 1


def test_the_stationarity_condition_of_the_paper_holds():
    x, y = paired_features(2)
    kx, ky = centred(gaussian(x, x)), centred(gaussian(y, y))
    kappa, identity = 0.5, np.eye(len(x))
    model = KCCA(kappa, n=4, normalise=False).fit(kx, ky)
    alpha = model.image_weights_
    inverse_x, inverse_y = (np.linalg.inv(k + kappa * identity) for k in (kx, ky))
    np.testing.assert_allclose(
        inverse_x @ ky @ inverse_y @ kx @ alpha, alpha * model.correlations_**2, atol=1e-9
    )


def test_a_path_equals_single_fits_and_dimensions_are_nested():
    x, y = paired_features(3, items=30)
    new_x, new_y = paired_features(4, items=7)
    kx, ky = gaussian(x, x), gaussian(y, y)
    rows = gaussian(new_x, x), gaussian(new_y, y)
    path = KCCAPath(kappas=(0.1, 2.0)).fit(kx, ky)
    tables = {(kappa, n): table for kappa, n, table in path.scores(*rows, ns=(9, 1, 4), power=1.0)}
    assert set(tables) == {(kappa, n) for kappa in (0.1, 2.0) for n in (1, 4, 9)}
    for (kappa, n), table in tables.items():
        single = KCCA(kappa, n, power=1.0).fit(kx, ky)
        np.testing.assert_allclose(table, single.similarity(*rows), atol=1e-10)
        chosen = path.model(kappa, n, power=1.0)
        for side in ("images", "captions"):
            given_rows = {side: rows[side == "captions"]}
            np.testing.assert_allclose(
                chosen.transform(**given_rows), single.transform(**given_rows), atol=1e-9
            )
    widest = path.model(0.1, 9).transform(images=rows[0])
    np.testing.assert_allclose(path.model(0.1, 4).transform(images=rows[0]), widest[:, :4], atol=1e-12)


def test_new_rows_are_centred_as_in_kernel_pca():
    x, y = paired_features(5)
    new = paired_features(6, items=5)[0] + 3
    kernel, rows = gaussian(x, x), gaussian(new, x)
    ours, theirs = KernelCentrer().fit(kernel), KernelCenterer().fit(kernel)
    np.testing.assert_allclose(ours.transform(rows), theirs.transform(rows), atol=1e-14)
    np.testing.assert_allclose(ours.transform(kernel), centred(kernel), atol=1e-14)
    model = KCCA(0.2).fit(kernel, gaussian(y, y))
    explicit = ours.transform(rows) @ model.image_weights_
    np.testing.assert_allclose(model.transform(images=rows), explicit, atol=1e-10)


def test_features_are_kernels_of_inner_products():
    x, y = paired_features(7)
    new_x, new_y = paired_features(8, items=6)
    kernels = KCCA(0.4, 3).fit(x @ x.T, y @ y.T)
    features = KCCA(0.4, 3, inputs="features").fit(x, y)
    np.testing.assert_allclose(features.correlations_, kernels.correlations_, atol=1e-12)
    np.testing.assert_allclose(
        features.similarity(new_x, new_y), kernels.similarity(new_x @ x.T, new_y @ y.T), atol=1e-10
    )


@given(st.permutations(range(12)), st.floats(0.01, 10), st.floats(1e-3, 1e3))
@settings(deadline=None, max_examples=20)
def test_neither_the_order_of_the_pairs_nor_the_scale_of_a_kernel_matters(order, kappa, scale):
    x, y = paired_features(9, items=12)
    kx, ky = gaussian(x, x), gaussian(y, y)
    plain = KCCA(kappa).fit(kx, ky).correlations_
    moved = KCCA(kappa).fit(scale * kx[np.ix_(order, order)], ky[np.ix_(order, order)]).correlations_
    # The last correlations may drop below rounding in one of the two.
    common = min(len(plain), len(moved))
    assert common >= 10
    np.testing.assert_allclose(moved[:common], plain[:common], atol=1e-7)


def test_the_power_weights_dimensions_by_their_correlations():
    x, y = paired_features(10)
    plain, weighted = (KCCA(0.1, 3, power=power).fit(x @ x.T, y @ y.T) for power in (0.0, 2.0))
    tables = plain.transform(x @ x.T, y @ y.T)
    wanted = cosines(*(table * plain.correlations_**2 for table in tables))
    np.testing.assert_allclose(weighted.similarity(x @ x.T, y @ y.T), wanted, atol=1e-12)


def test_the_matching_caption_comes_first():
    x, y = paired_features(11, items=60)
    model = KCCA(0.1, 3, inputs="features").fit(x[:40], y[:40])
    scores = model.similarity(x[40:], y[40:])
    rank = (scores > np.diag(scores)[:, None]).sum(axis=1)
    assert np.median(rank) <= 2  # chance: 9.5
    run = model.run(x[40:], y[40:], name="mine")
    assert run.name == "mine"
    assert run.top("i2t", 1).item.tolist() == scores.argmax(axis=1).tolist()


def test_fewer_items_than_dimensions_gives_what_there_is():
    x, y = paired_features(12, items=5)
    model = KCCA(0.1, 50).fit(gaussian(x, x), gaussian(y, y))
    assert model.n_ == 4  # centring takes one
    path = KCCAPath((0.1,)).fit(gaussian(x, x), gaussian(y, y))
    tables = {n: table for _, n, table in path.scores(gaussian(x, x), gaussian(y, y), ns=(4, 50))}
    np.testing.assert_array_equal(tables[50], tables[4])


def test_two_items_have_one_dimension():
    model = KCCA(0.1).fit(np.eye(2), np.diag([1.0, 3.0]))
    assert model.n_ == 1
    np.testing.assert_allclose(np.sign(model.similarity(np.eye(2), np.diag([1.0, 3.0]))), [[1, -1], [-1, 1]])


def test_a_singular_kernel_has_as_many_dimensions_as_rank():
    x, y = paired_features(13)
    twice = np.r_[x, x], np.r_[y, y]
    model = KCCA(0.1).fit(linear(twice[0], twice[0]), gaussian(twice[1], twice[1]))
    assert model.n_ == x.shape[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [np.full((9, 9), 0.1), np.full((9, 9), 1e6 / 3), np.zeros((9, 9))])
def test_a_constant_kernel_is_refused(kernel, dtype):
    with pytest.raises(InputError, match="caption side: does not distinguish any two training items"):
        KCCA().fit(np.eye(9, dtype=dtype), kernel.astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_kernel_that_is_constant_but_for_rounding_is_refused(rng, dtype):
    third = dtype(1) / dtype(3)
    kernel = np.where(rng.random((9, 9)) < 0.5, third, np.nextafter(third, dtype(1)))
    kernel = np.triu(kernel) + np.triu(kernel, 1).T
    assert len(np.unique(kernel)) == 2
    with pytest.raises(InputError, match="does not distinguish any two training items"):
        KCCA().fit(kernel, np.eye(9, dtype=dtype))


@pytest.mark.parametrize("inputs", ["kernels", "features"])
def test_a_single_item_is_refused(inputs):
    with pytest.raises(InputError, match="image side: does not distinguish any two training items"):
        KCCA(inputs=inputs).fit(np.ones((1, 1)), np.ones((1, 1)))


def test_a_fit_that_fails_leaves_nothing_half_learned():
    x, y = paired_features(20)
    path = KCCAPath((0.1,))
    with pytest.raises(InputError):
        path.fit(x @ x.T, np.ones((40, 40)))
    with pytest.raises(InputError, match="is not fitted"):
        path.model(0.1)
    before = path.fit(x @ x.T, y @ y.T).solutions_
    with pytest.raises(InputError):
        path.fit(x @ x.T, np.ones((40, 40)))
    assert path.solutions_ is before


def test_sides_without_anything_in_common_are_refused():
    x = np.array([1.0, -1, 0, 0])
    y = np.array([0.0, 0, 1, -1])
    with pytest.raises(InputError, match="no direction in common"):
        KCCA().fit(np.outer(x, x), np.outer(y, y))


@pytest.mark.parametrize("normalise", [True, False])
def test_negative_eigenvalues_are_dropped(normalise):
    x, y = paired_features(14)
    kx = linear(x, x)
    # A direction orthogonal to the data and to the mean, with a negative eigenvalue.
    away = np.linalg.svd(np.c_[x, np.ones(len(x))])[0][:, -1]
    # So large that the trace is negative: it must not set the scale.
    model = KCCA(0.1, normalise=normalise).fit(kx - 1e3 * np.outer(away, away), linear(y, y))
    same = KCCA(0.1, normalise=normalise).fit(kx, linear(y, y))
    np.testing.assert_allclose(model.correlations_, same.correlations_, atol=1e-10)


def test_single_precision_stays_single_and_agrees():
    x, y = paired_features(15)
    kx, ky = gaussian(x, x), gaussian(y, y)
    double = KCCA(0.5, 5).fit(kx, ky)
    single = KCCA(0.5, 5).fit(kx.astype(np.float32), ky.astype(np.float32))
    assert single.transform(images=kx.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.correlations_, double.correlations_, atol=1e-5)
    np.testing.assert_allclose(single.similarity(kx, ky), double.similarity(kx, ky), atol=1e-3)
    mixed = KCCA(0.5, 5).fit(kx.astype(np.float32), ky)
    assert mixed.image_weights_.dtype == np.float64
    whole = KCCA(0.5).fit((kx * 100).round().astype(int), ky)
    assert whole.image_weights_.dtype == np.float64


def test_the_rank_keeps_leading_directions():
    x, y = paired_features(16)
    kx, ky = gaussian(x, x), gaussian(y, y)
    values, vectors = np.linalg.eigh(centred(kx))
    cut = (vectors[:, -6:] * values[-6:]) @ vectors[:, -6:].T
    wanted = KCCA(0.2, normalise=False).fit(cut, ky).correlations_
    model = KCCA(0.2, normalise=False, rank=6).fit(kx, ky)
    assert model.n_ == 6
    # The caption side is cut too, so correlations cannot be higher.
    assert (model.correlations_ <= wanted + 1e-12).all()


def test_a_vector_of_zeros_has_cosine_zero():
    table = cosines(np.zeros((1, 2)), np.ones((3, 2)))
    np.testing.assert_array_equal(table, np.zeros((1, 3)))


def test_scikit_learn_knows_it():
    model = KCCA(0.7, n=3, power=1.0)
    assert model.get_params()["kappa"] == 0.7
    copy = clone(model)
    assert repr(copy) == "KCCA(kappa=0.7, n=3, power=1.0)"
    assert copy.set_params(kappa=2).kappa == 2
    x, y = paired_features(17)
    check_is_fitted(copy.fit(x @ x.T, y @ y.T))
    with pytest.raises(InputError, match="has no parameter 'gamma'"):
        copy.set_params(gamma=1)


def test_it_is_saved_as_plain_arrays(tmp_path):
    x, y = paired_features(18)
    model = KCCA(0.1, 3, power=1.0).fit(x @ x.T, y @ y.T)
    np.savez(tmp_path / "model.npz", **model.to_arrays())
    with np.load(tmp_path / "model.npz", allow_pickle=False) as arrays:
        again = KCCA.from_arrays(model.get_params(), arrays)
    np.testing.assert_array_equal(again.similarity(x @ x.T, y @ y.T), model.similarity(x @ x.T, y @ y.T))
    with pytest.raises(InputError, match="has no correlations_"):
        KCCA.from_arrays({}, {})


SYMMETRIC = np.diag([1.0, 2, 3])


@pytest.mark.parametrize(
    ("model", "images", "captions", "message"),
    [
        (KCCA(0), SYMMETRIC, SYMMETRIC, "kappa is 0"),
        (KCCA(float("nan")), SYMMETRIC, SYMMETRIC, "kappa is nan"),
        (KCCA(n=0), SYMMETRIC, SYMMETRIC, "n is 0"),
        (KCCA(rank=0), SYMMETRIC, SYMMETRIC, "rank is 0"),
        (KCCA(inputs="pixels"), SYMMETRIC, SYMMETRIC, "inputs is 'pixels'"),
        (KCCA(device="tpu"), SYMMETRIC, SYMMETRIC, "device is 'tpu'"),
        (KCCAPath(()), SYMMETRIC, SYMMETRIC, "no kappa"),
        (KCCA(), SYMMETRIC, np.eye(4), "3 images are paired with 4 captions"),
        (KCCA(), SYMMETRIC[:, :2], SYMMETRIC, "image side: has 3 rows and 2 columns"),
        (KCCA(), SYMMETRIC, np.triu(np.ones((3, 3))), "caption side: is not symmetric: row 0, column 1"),
        (KCCA(), np.full((3, 3), np.nan), SYMMETRIC, "row 0, column 0 is nan"),
        (KCCA(), [["a"]], SYMMETRIC, "not numbers"),
    ],
)
def test_mistakes_are_named(model, images, captions, message):
    with pytest.raises(InputError, match=message):
        model.fit(images, captions)


def test_mistakes_in_new_rows_are_named():
    x, y = paired_features(19)
    with pytest.raises(InputError, match="is not fitted"):
        KCCA().transform(images=x)
    model = KCCA(0.1).fit(x @ x.T, y @ y.T)
    with pytest.raises(InputError, match="has 6 columns, but was trained with 40"):
        model.transform(images=x)
    with pytest.raises(InputError, match="nothing to transform"):
        model.transform()
    path = KCCAPath((0.1, 1)).fit(x @ x.T, y @ y.T)
    with pytest.raises(InputError, match=r"kappa 3 was not fitted; choose one of 0\.1, 1"):
        path.model(3)
    with pytest.raises(InputError, match="numbers of dimensions"):
        list(path.scores(x @ x.T, y @ y.T, ns=(0, 5)))


def test_a_gpu_is_asked_for_in_vain():
    try:
        import torch

        if torch.cuda.is_available():
            pytest.skip("there is a GPU here")
    except ImportError:
        pass
    with pytest.raises(MissingDataError, match="device='cpu'"):
        KCCA(device="cuda").fit(SYMMETRIC, SYMMETRIC)


def test_importing_the_package_is_light():
    code = "import sys, karat.models; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "scipy", "sklearn", "numba", "torch", "polars", "cv2"} & set(loaded.split())
