"""The GPU kernels of the hinges against plain PyTorch; on a machine with CUDA."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'karat[train]'")
if not torch.cuda.is_available():
    pytest.skip("the kernels need a GPU", allow_module_level=True)

from karat.training import Margins, SemanticAdaptiveMargin, TripletLoss  # noqa: E402
from karat.training.losses import sam, triplet  # noqa: E402


def example(size, images=40, seed=0):
    rng = np.random.default_rng(seed)
    sides = torch.from_numpy(rng.normal(size=(2, size, 16))).float().cuda()
    number = torch.from_numpy(rng.integers(0, images, size)).cuda()
    caption = 5 * number + torch.from_numpy(rng.integers(0, 5, size)).cuda()
    table = torch.from_numpy(rng.gamma(1.0, 3.0, size=(images, 5 * images))).half().cuda()
    return sides, number, caption, Margins(table).cuda()


def both_ways(loss, sides, monkeypatch, **numbers):
    """Return terms and gradients with the kernels and without them."""
    made = []
    for fused in (True, False):
        if not fused:
            monkeypatch.setattr(sam, "fused_hinges", lambda *_, **__: None)
            monkeypatch.setattr(triplet, "fused_hinges", lambda *_, **__: None)
        features = [side.clone().requires_grad_() for side in sides]
        terms = loss(*features, output_dict=True, **numbers)
        # Weights that differ show whether each term has its own gradient.
        sum(term * (1 + k) for k, term in enumerate(terms.values())).backward()
        made.append(([term.detach() for term in terms.values()], [side.grad for side in features]))
    return made


@pytest.mark.parametrize("size", [2, 7, 128, 1000])
@pytest.mark.parametrize("sampling", ["nearest", "furthest"])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("image_margin", ["caption", "reference"])
def test_the_same_as_plain_pytorch(size, sampling, keep, image_margin, monkeypatch):
    sides, images, captions, margins = example(size)
    loss = SemanticAdaptiveMargin(
        margins, tau=3, sampling=sampling, keep_triplet=keep, image_margin=image_margin
    ).cuda()
    (terms, gradients), (plain, expected) = both_ways(
        loss, sides, monkeypatch, images=images, captions=captions
    )
    torch.testing.assert_close(terms, plain, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(gradients, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_the_triplet(named, reduction, monkeypatch):
    sides, images, _, _ = example(200)
    numbers = {"images": images} if named else {}
    made = both_ways(TripletLoss(reduction=reduction), sides, monkeypatch, **numbers)
    torch.testing.assert_close(made[0], made[1], rtol=1e-5, atol=1e-5)


def test_a_batch_of_one_image_adds_nothing():
    sides, _, captions, margins = example(6)
    images = torch.zeros(6, dtype=torch.int64, device="cuda")
    features = [side.requires_grad_() for side in sides.unbind()]
    value = SemanticAdaptiveMargin(margins).cuda()(*features, images=images, captions=captions % 5)
    value.backward()
    assert value == 0


def test_random_negatives_are_seeded_and_equally_likely():
    size, times = 6, 3000
    similarity = torch.eye(size, device="cuda").requires_grad_()
    table = torch.zeros(size, size, device="cuda")
    numbers = torch.arange(size, device="cuda")
    from karat.training.fused_hinges import fused_hinges
    from karat.training.loss import PairBatch

    def counts(seed):
        generator = torch.Generator("cuda").manual_seed(seed)
        total = torch.zeros(size, size, device="cuda")
        for _ in range(times):
            batch = PairBatch(similarity + 0.0, numbers, numbers, None, None)
            # Every violation is 0 − 1 + 2.
            value = fused_hinges(batch, None, table + 2 * torch.eye(size, device="cuda"), "random", cap=2.0,
                                 generator=generator)  # fmt: skip
            total += torch.autograd.grad(value.sum(), similarity)[0]
        return total

    first = counts(1)
    assert torch.equal(first, counts(1))
    assert not torch.equal(first, counts(2))
    off = first[~torch.eye(size, dtype=torch.bool, device="cuda")]
    expected = 2 * times / (size - 1)
    assert (off - expected).abs().max() < 5 * expected**0.5
    assert torch.allclose(first.diagonal(), torch.tensor(-2.0 * times, device="cuda"))


def test_other_precisions_and_large_batches_use_plain_pytorch():
    sides, images, captions, margins = example(64)
    loss = SemanticAdaptiveMargin(margins, sampling="furthest").cuda()
    single = loss(*sides, images=images, captions=captions)
    double = loss(*sides.double(), images=images, captions=captions)
    assert double.dtype == torch.float64
    assert single.item() == pytest.approx(double.item(), rel=1e-5)
