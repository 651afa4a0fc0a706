"""Random numbers from the raw stream: fair, exact, and the same for ever."""

import numpy as np
import pytest

from karat.errors import KaratError
from karat.world.draws import Draws


def test_integers_are_fair():
    found = np.bincount(Draws(1).integers(60_000, 6), minlength=6)
    assert abs(found - 10_000).max() < 4 * np.sqrt(10_000 * 5 / 6)
    each = Draws(2).integers(1000, np.arange(1, 1001))
    assert (each < np.arange(1, 1001)).all()
    assert (each >= 0).all()


def test_weights_and_chances():
    found = np.bincount(Draws(3).weighted(50_000, [1, 0, 3]), minlength=3) / 50_000
    assert found == pytest.approx([0.25, 0, 0.75], abs=0.01)
    assert Draws(4).chances(50_000, 30).mean() == pytest.approx(0.3, abs=0.01)


def test_uniforms_and_orders():
    some = Draws(5).uniforms(50_000)
    assert 0 <= some.min() < some.max() < 1
    assert (some * 2.0**53 % 1 == 0).all()
    orders = Draws(6).orders(5000, 9)
    np.testing.assert_array_equal(np.sort(orders, axis=1), np.tile(np.arange(9), (5000, 1)))
    assert np.bincount(orders[:, 0]) / 5000 == pytest.approx(np.full(9, 1 / 9), abs=0.02)


def test_noise_is_exact_and_symmetric():
    noise = Draws(7).noise(200_000)
    assert noise.dtype == np.float32
    assert np.abs(noise).max() < 3
    assert (noise.astype(np.float64) * 2.0**21 % 1 == 0).all()
    assert noise.mean() == pytest.approx(0, abs=0.01)
    assert noise.var() == pytest.approx(1, abs=0.02)
    assert len(np.unique(noise)) > 190_000


def test_purposes_are_independent_streams():
    a, b = (Draws(8, purpose).noise(20_000) for purpose in (1, 2))
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.03


def test_the_raw_stream_is_what_it_always_was():
    """PCG64 and SeedSequence are stable by numpy's promise; this is the witness."""
    assert Draws(0).raw(2).tolist() == RAW


RAW = [11749869230777074271, 4976686463289251617]


@pytest.mark.parametrize("seed", [-1, 1.5, "7", None, True])
def test_a_wrong_seed_is_a_sentence(seed):
    with pytest.raises(KaratError, match="give a whole number of 0 or more"):
        Draws(seed)
