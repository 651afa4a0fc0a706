"""The parts of `scripts/train_margins.py` and of its tables that can be checked without training."""

import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'karat[train]'")

from karat.training import PairData  # noqa: E402

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch):
    for folder in ("scripts", "replications"):
        monkeypatch.syspath_prepend(ROOT / folder)
    import train_margins

    yield train_margins
    for name in ("train_margins", "_margin_tables"):
        sys.modules.pop(name, None)


def phi_with_ties(images=40, per_image=2):
    """Return φ and ψ, images by captions; φ has five values, 0 among them."""
    rng = np.random.default_rng(0)
    shape = images, per_image * images
    own = np.arange(images)[:, None] == np.arange(shape[1]) // per_image
    return rng.integers(0, 5, shape) / 4, rng.normal(size=shape), own


def test_figure_3_takes_the_earlier_of_equally_similar_items(script):
    phi, psi, own = phi_with_ties()
    made = script.semantic_recall(*(torch.tensor(part) for part in (psi, phi, own)))
    shown, similar = np.where(own, -np.inf, psi).T, np.where(own, -1, phi).T
    for m, value, hit in zip(made["m"], made["SR@5"], made["hit rate"]):
        shares = []
        for scores, gains in zip(shown, similar):
            best = [k for k in np.argsort(-gains, kind="stable")[:m] if gains[k] > 0]
            shares.append(len(set(best) & set(np.argsort(-scores)[:5])) / len(best))
        assert abs(value - 100 * np.mean(shares)) < 1e-4
        assert abs(hit - 100 * np.mean(np.array(shares) > 0)) < 1e-4


def test_margins_without_meaning(script):
    phi, _, own = phi_with_ties()
    owner = torch.arange(80) // 2
    for how in ("permuted", "constant"):
        table = torch.tensor(phi)
        script.forget_meaning(table, owner, how, seed=3)
        table = table.numpy()
        if how == "permuted":
            np.testing.assert_array_equal(table[own], phi[own])
            np.testing.assert_array_equal(np.sort(table, axis=1), np.sort(phi, axis=1))
            assert (table != phi).any()
        else:
            np.testing.assert_allclose(table[own], phi[own].mean())
            np.testing.assert_allclose(table[~own], phi[~own].mean())


def test_how_much_of_the_margins_depends_on_the_negative(script):
    from _margin_tables import margin_spread

    phi, _, own = phi_with_ties()
    owner = np.arange(80) // 2
    margins = np.array([phi[image, p] - phi[image, ~own[image]] for p, image in enumerate(owner)])
    share = 100 * margins.var(axis=1).mean() / margins.var()
    made = margin_spread(phi, owner)
    assert abs(made["share of negatives"] - share) < 1e-9
    assert abs(made["other sd"] - phi[~own].std()) < 1e-9


def test_intervals_of_differences_cover(script):
    """Seeds and images both vary, and nothing differs on average."""
    from _margin_tables import paired

    rng = np.random.default_rng(1)
    covered = []
    for _ in range(400):
        table = rng.normal(size=(5, 1)) + rng.normal(size=(1, 60)) + rng.normal(size=(5, 60))
        _, low, high = paired(table, np.zeros_like(table))
        covered.append(low < 0 < high)
    assert 0.92 <= np.mean(covered) <= 0.99


def test_noise_moves_captions_to_other_images(script):
    tokens = np.stack([np.arange(500), np.arange(500)], axis=1)
    data = PairData.of(np.ones((100, 3)), tokens, np.repeat(np.arange(100), 5))
    noisy = script.shuffled(data, 0.2, seed=1)
    assert torch.equal(noisy.owner.bincount(), data.owner.bincount())
    moved = data.owner[noisy.tokens[:, 0]] != noisy.owner
    assert 0.18 < moved.double().mean() <= 0.2
