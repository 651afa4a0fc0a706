"""One side of KCCA decomposed once and fitted many times."""

import numpy as np
import pytest

from karat.baselines import IncompleteCholesky, KCCAPath
from karat.errors import InputError


@pytest.fixture
def sides(rng):
    shared = rng.normal(size=(40, 3))
    return [shared @ rng.normal(size=(3, 6)) + 0.3 * rng.normal(size=(40, 6)) for _ in range(2)]


@pytest.mark.parametrize("which", [(True, False), (False, True), (True, True)])
def test_a_decomposed_side_gives_what_its_kernel_gives(sides, which):
    kernels = [x @ x.T for x in sides]
    path = KCCAPath((0.1, 1.0))
    given = [path.decompose(one) if early else one for one, early in zip(kernels, which)]
    wanted, found = KCCAPath((0.1, 1.0)).fit(*kernels), path.fit(*given)
    for (_, _, a), (_, _, b) in zip(wanted.scores(*kernels, [1, 3]), found.scores(*kernels, [1, 3])):
        np.testing.assert_allclose(a, b, atol=1e-10)
    np.testing.assert_allclose(
        found.model(0.1, 2).similarity(*kernels), wanted.model(0.1, 2).similarity(*kernels), atol=1e-10
    )


def test_sides_may_have_other_ranks(sides):
    kernels = [x @ x.T for x in sides]
    path = KCCAPath((0.5,)).fit(kernels[0], KCCAPath(rank=2).decompose(kernels[1]))
    assert len(path.solutions_[0.5].correlations) == 2
    assert len(path.images_.variance) == 6


def test_the_other_side_takes_its_precision(sides):
    kernels = [x @ x.T for x in sides]
    single = KCCAPath().decompose(kernels[0].astype(np.float32))
    path = KCCAPath((0.5,)).fit(single, kernels[1])
    assert path.solutions_[0.5].captions.dtype == np.float32


def test_one_side_may_be_a_kernel_and_the_other_features(sides):
    kernels = [x @ x.T for x in sides]
    low = IncompleteCholesky(rank=6).fit(lambda pivots: kernels[1][:, pivots], np.diag(kernels[1]))
    mixed = KCCAPath((0.5,)).fit(kernels[0], KCCAPath(inputs="features").decompose(low.features_))
    ((_, _, found),) = mixed.scores(kernels[0], low.features_, [3])
    ((_, _, wanted),) = KCCAPath((0.5,)).fit(*kernels).scores(*kernels, [3])
    np.testing.assert_allclose(found, wanted, atol=1e-8)


def test_sides_of_other_lengths_are_refused(sides):
    kernels = [x @ x.T for x in sides]
    with pytest.raises(InputError, match="40 images are paired with 39 captions"):
        KCCAPath().fit(KCCAPath().decompose(kernels[0]), kernels[1][:39, :39])


def test_what_cannot_be_decomposed_is_refused():
    with pytest.raises(InputError, match="one side: does not distinguish any two"):
        KCCAPath().decompose(np.ones((3, 3)))
    with pytest.raises(InputError, match="rank is 0"):
        KCCAPath(rank=0).decompose(np.eye(3))
