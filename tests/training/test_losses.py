"""The losses against literal double loops, finite differences and cases computed by hand."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'karat[train]'")

from karat.errors import InputError  # noqa: E402
from karat.training import (  # noqa: E402
    LOSSES,
    SAMPLERS,
    InfoNCE,
    LadderLoss,
    Margins,
    MultiInfoNCE,
    SemanticAdaptiveMargin,
    TripletLoss,
)

N_IMAGES, N_CAPTIONS = 9, 27


def example(seed: int = 0, size: int = 8):
    """Return features, numbers of images (some twice) and captions, and φ, in double precision."""
    rng = np.random.default_rng(seed)
    images, text = torch.from_numpy(rng.normal(size=(2, size, 5)))
    number = torch.from_numpy(rng.integers(0, N_IMAGES, size))
    caption = 3 * number + torch.from_numpy(rng.integers(0, 3, size))
    # Some negatives fit better than the positive, some margins exceed the cap.
    table = torch.from_numpy(rng.gamma(1.0, 3.0, size=(N_IMAGES, N_CAPTIONS)))
    return images, text, number, caption, Margins(table)


def cosines(images, text) -> list[list[float]]:
    return [
        [float(a @ b) / math.sqrt(float(a @ a) * float(b @ b)) for b in text.numpy()] for a in images.numpy()
    ]


def hinge_sum(psi, chosen, margin) -> float:
    """Return the sum over pairs of both directions' hinge, with chosen negatives (caption m, image l)."""
    total = 0.0
    for p, (m, negative) in enumerate(chosen):
        if m is not None:
            total += max(margin(p, m, "i2t") + psi[p][m] - psi[p][p], 0)
        if negative is not None:
            total += max(margin(p, negative, "t2i") + psi[negative][p] - psi[p][p], 0)
    return total


def choose(psi, numbers, best):
    """Return per pair the caption and the image that `best` (max or min) takes among the negatives."""
    chosen = []
    for p in range(len(psi)):
        others = [k for k in range(len(psi)) if numbers[k] != numbers[p]]
        chosen.append(
            (
                best(others, key=lambda k: psi[p][k], default=None),
                best(others, key=lambda k: psi[k][p], default=None),
            )
        )
    return chosen


def adaptive(phi, images, captions, tau, form="caption"):
    """Return the margin of eq. 7 as the text says it."""

    def margin(p, other, direction):
        if direction == "t2i" and form == "reference":
            negative = phi[images[other]][captions[p]]
        else:
            negative = phi[images[p]][captions[other]]
        return min((phi[images[p]][captions[p]] - negative) / tau, 1.0)

    return margin


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", ["caption", "reference"])
@pytest.mark.parametrize(("sampling", "best"), [("nearest", max), ("furthest", min)])
def test_the_adaptive_margin_equals_a_literal_loop(seed, form, sampling, best):
    a, b, i, c, margins = example(seed)
    psi, phi = cosines(a, b), margins.table.tolist()
    images, captions = i.tolist(), c.tolist()
    triplet = hinge_sum(psi, choose(psi, images, max), lambda *_: 0.3)
    sam = hinge_sum(psi, choose(psi, images, best), adaptive(phi, images, captions, 2.0, form))
    loss = SemanticAdaptiveMargin(margins, 2.0, sampling, weight=3.0, alpha=0.3, image_margin=form)
    assert loss(a, b, images=i, captions=c).item() == pytest.approx(triplet + 3 * sam, rel=1e-9)
    terms = loss(a, b, output_dict=True, images=i, captions=c)
    assert {name: value.item() for name, value in terms.items()} == pytest.approx(
        {"triplet_loss": triplet, "sam_loss": 3 * sam}, rel=1e-9
    )
    alone = SemanticAdaptiveMargin(margins, 2.0, sampling, False, 3.0, image_margin=form, reduction="mean")
    assert alone(a, b, images=i, captions=c).item() == pytest.approx(3 * sam / 8, rel=1e-9)
    single = loss(a.float(), b.float(), images=i, captions=c).item()
    assert single == pytest.approx(triplet + 3 * sam, rel=1e-6)


def test_a_case_computed_by_hand_in_both_directions():
    # ψ: row = image, column = caption; features are unit vectors, so that ψ is what is written here.
    images = torch.eye(3, dtype=torch.float64)
    psi = torch.tensor([[0.6, 0.8, 0.0], [0.0, 0.6, 0.8], [0.8, 0.0, 0.6]], dtype=torch.float64)
    text = psi.T
    # φ: image 0 has caption 0 with 5; caption 1 fits it with 3, caption 2 with 6: better than its own.
    phi = torch.tensor([[5.0, 3.0, 6.0], [0.0, 4.0, 1.0], [2.0, 9.0, 8.0]], dtype=torch.float64)
    number = torch.arange(3)

    def value(**options):
        loss = SemanticAdaptiveMargin(Margins(phi), 4.0, keep_triplet=False, weight=1.0, **options)
        return loss(images, text, images=number, captions=number).item()

    # Nearest. i2t: image 0, caption 1: α = (5 − 3) / 4 = 0.5, ψ = 0.8 − 0.6: 0.7; image 1, caption 2:
    # (4 − 1) / 4 + 0.2 = 0.95; image 2, caption 0: (8 − 2) / 4 = 1.5, capped: 1 + 0.2 = 1.2. t2i: caption 0,
    # image 2: (φ(G_0, c_0) − φ(G_0, c_2)) / 4 = −0.25, + 0.2: 0; caption 1, image 0: (4 − 0) / 4 = 1, + 0.2;
    # caption 2, image 1: (8 − 9) / 4 = −0.25, + 0.2: 0.
    assert value(sampling="nearest") == pytest.approx(0.7 + 0.95 + 1.2 + 0 + 1.2 + 0)
    # By references, t2i: φ(G_2, c_0) = 2: 0.75 + 0.2; φ(G_0, c_1) = 3: 0.25 + 0.2; φ(G_1, c_2) = 1: 1 + 0.2.
    expected = 0.7 + 0.95 + 1.2 + 0.95 + 0.45 + 1.2
    assert value(sampling="nearest", image_margin="reference") == pytest.approx(expected)
    # Furthest: ψ = 0 − 0.6. i2t: image 0, caption 2: −0.25 − 0.6: 0; image 1, caption 0: 1 − 0.6; image 2,
    # caption 1: −0.25 − 0.6: 0. t2i: caption 0, image 1, c_1: 0.5 − 0.6: 0; caption 1, image 2, c_2:
    # 0.75 − 0.6; caption 2, image 0, c_0: 1.5, capped: 1 − 0.6.
    assert value(sampling="furthest") == pytest.approx(0.4 + 0.15 + 0.4)


def test_a_constant_margin_gives_the_triplet_loss():
    a, b, *_ = example(1)
    number = torch.arange(8)
    constant = Margins(3.0 * torch.eye(8, dtype=torch.float64))
    sam = SemanticAdaptiveMargin(constant, tau=10.0, keep_triplet=False, weight=1.0)
    assert sam(a, b, images=number, captions=number).item() == pytest.approx(TripletLoss(0.3)(a, b).item())


@pytest.mark.parametrize("seed", range(3))
def test_the_triplet_loss_equals_a_literal_loop(seed):
    a, b, i, _, _ = example(seed)
    psi, images = cosines(a, b), i.tolist()
    hardest = hinge_sum(psi, choose(psi, images, max), lambda *_: 0.2)
    assert TripletLoss()(a, b, images=i).item() == pytest.approx(hardest, rel=1e-9)
    every = sum(
        max(0.2 + psi[p][k] - psi[p][p], 0) + max(0.2 + psi[k][p] - psi[p][p], 0)
        for p in range(8)
        for k in range(8)
        if images[k] != images[p]
    )
    assert TripletLoss(negatives="sum")(a, b, images=i).item() == pytest.approx(every, rel=1e-9)
    mean = TripletLoss(negatives="sum", reduction="mean")(a, b, images=i).item()
    assert mean == pytest.approx(every / 8, rel=1e-9)


def test_infonce_is_the_cross_entropy_of_both_directions():
    a, b, *_ = example(2)
    a, b = torch.nn.functional.normalize(a), torch.nn.functional.normalize(b)
    logits, target = 12.5 * a @ b.T, torch.arange(8)
    entropy = torch.nn.functional.cross_entropy
    expected = (entropy(logits, target) + entropy(logits.T, target)).item() / 2
    assert InfoNCE(1 / 12.5)(a, b).item() == pytest.approx(expected)
    scaled = InfoNCE()(3 * a, b, torch.tensor(12.5), 7.0, output_dict=True)
    assert scaled["contrastive_loss"].item() == pytest.approx(expected)
    # One positive for each image: all losses of the family are the same.
    assert MultiInfoNCE(temperature=0.08)(a, b, images=target).item() == pytest.approx(expected)


def test_captions_of_one_image_leave_the_denominator_of_infonce():
    a, b, *_ = example(3, size=3)
    psi = cosines(a, b)
    rows = [math.exp(psi[0][0]), math.exp(psi[0][2])], [math.exp(psi[1][1]), math.exp(psi[1][2])]
    columns = [math.exp(psi[0][0]), math.exp(psi[2][0])], [math.exp(psi[1][1]), math.exp(psi[2][1])]
    all_three = [math.exp(psi[2][2]), math.exp(psi[2][0]), math.exp(psi[2][1])]
    lower = [math.exp(psi[2][2]), math.exp(psi[0][2]), math.exp(psi[1][2])]
    expected = -sum(math.log(group[0] / sum(group)) for group in (*rows, *columns, all_three, lower)) / 6
    loss = InfoNCE(1.0)(a, b, images=torch.tensor([4, 4, 5]))
    assert loss.item() == pytest.approx(expected)


@pytest.mark.parametrize("threshold", [None, 4.0])
def test_infonce_with_several_positives_equals_a_literal_loop(threshold):
    a, b, i, c, margins = example(4)
    psi, phi, images, captions = cosines(a, b), margins.table.tolist(), i.tolist(), c.tolist()

    def positive(p, k):
        return images[p] == images[k] or (threshold is not None and phi[images[p]][captions[k]] >= threshold)

    total = 0.0
    for p in range(8):
        row = math.log(sum(math.exp(2 * psi[p][k]) for k in range(8)))
        column = math.log(sum(math.exp(2 * psi[k][p]) for k in range(8)))
        captions_of = [2 * psi[p][k] - row for k in range(8) if positive(p, k)]
        images_of = [2 * psi[k][p] - column for k in range(8) if positive(k, p)]
        total -= (sum(captions_of) / len(captions_of) + sum(images_of) / len(images_of)) / 2
    loss = MultiInfoNCE(margins, threshold, temperature=0.5)
    assert loss(a, b, images=i, captions=c).item() == pytest.approx(total / 8, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_ladder_loss_equals_a_literal_loop(seed):
    a, b, i, c, margins = example(seed)
    psi, phi, images, captions = cosines(a, b), margins.table.tolist(), i.tolist(), c.tolist()
    total = hinge_sum(psi, choose(psi, images, max), lambda *_: 0.2)
    for theta, alpha, beta in ((5.0, 0.1, 0.5), (2.0, 0.05, 0.25)):
        for p in range(8):
            others = [k for k in range(8) if images[k] != images[p]]
            for fit, score in (
                (lambda k, p=p: phi[images[p]][captions[k]], lambda k, p=p: psi[p][k]),
                (lambda k, p=p: phi[images[k]][captions[p]], lambda k, p=p: psi[k][p]),
            ):
                above = [score(k) for k in others if fit(k) >= theta] + [score(p)]
                below = [score(k) for k in others if fit(k) < theta]
                if below:
                    total += beta * max(alpha - min(above) + max(below), 0)
    loss = LadderLoss(margins, (5.0, 2.0), (0.2, 0.1, 0.05), (1.0, 0.5, 0.25))
    assert loss(a, b, images=i, captions=c).item() == pytest.approx(total, rel=1e-9)
    mean = LadderLoss(margins, (5.0, 2.0), (0.2, 0.1, 0.05), (1.0, 0.5, 0.25), reduction="mean")
    assert mean(a, b, images=i, captions=c).item() == pytest.approx(total / 8, rel=1e-9)


def made(name: str, margins, **options):
    """Return a loss by its name, with margins where it needs them."""
    kind = LOSSES[name]
    return kind(margins, **options) if kind.needs_margins else kind(**options)


SETTINGS = [
    ("triplet", {}), ("triplet", {"negatives": "sum"}), ("infonce", {}), ("infonce-multi", {}),
    ("ladder", {}), ("sam", {}), ("sam", {"sampling": "furthest", "tau": 2.0}),
    ("sam", {"sampling": "nearest", "image_margin": "reference", "keep_triplet": False}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), SETTINGS)
def test_gradients_equal_finite_differences(name, options):
    a, b, i, c, margins = example(5, size=6)
    loss = made(name, margins, **options)
    a.requires_grad_()
    b.requires_grad_()
    assert torch.autograd.gradcheck(lambda x, y: loss(x, y, images=i, captions=c), (a, b), eps=1e-7)


@pytest.mark.parametrize(("name", "options"), SETTINGS)
def test_the_order_of_the_batch_does_not_matter(name, options):
    a, b, i, c, margins = example(6)
    loss, order = (
        made(name, margins, **options),
        torch.randperm(8, generator=torch.Generator().manual_seed(0)),
    )
    moved = loss(a[order], b[order], images=i[order], captions=c[order]).item()
    assert moved == pytest.approx(loss(a, b, images=i, captions=c).item(), rel=1e-12)


@pytest.mark.parametrize(("name", "options"), [*SETTINGS, ("sam", {"sampling": "random"})])
def test_a_batch_of_one_image_has_no_negatives(name, options):
    a, b, _, c, margins = example(7, size=4)
    a.requires_grad_()
    loss = made(name, margins, **options)(a, b, images=torch.zeros(4, dtype=torch.long), captions=c)
    loss.backward()
    assert torch.isfinite(a.grad).all()
    if name != "infonce-multi":
        assert loss.item() == 0


def test_random_negatives_come_from_the_generator():
    a, b, i, c, margins = example(8)

    def values(seed):
        generator = torch.Generator().manual_seed(seed)
        loss = SemanticAdaptiveMargin(margins, sampling="random", generator=generator)
        return [loss(a, b, images=i, captions=c).item() for _ in range(4)]

    assert values(1) == values(1)
    assert len(set(values(1))) > 1
    assert values(1) != values(2)


def test_random_negatives_are_equally_likely_and_never_of_the_same_image():
    numbers = torch.tensor([0, 0, 1, 2])
    same = numbers[:, None] == numbers
    generator = torch.Generator().manual_seed(3)
    drawn = torch.stack([SAMPLERS["random"].choose(torch.zeros(4, 4), same, generator) for _ in range(3000)])
    counts = torch.nn.functional.one_hot(drawn, 4).sum(0)
    expected = torch.tensor([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]) / 1.0
    expected = 3000 * expected / expected.sum(1, keepdim=True)
    assert (counts[:, same] == 0).all()
    # Five standard deviations of a binomial count.
    assert (counts - expected).abs().max() < 5 * math.sqrt(3000 / 4)


def test_tau_is_divided_for_margins_without_the_own_caption():
    a, b, i, c, margins = example(9)
    out = Margins(margins.table, own="out")
    left = SemanticAdaptiveMargin(out, tau=3.4 * 2)(a, b, images=i, captions=c)
    assert left.item() == pytest.approx(
        SemanticAdaptiveMargin(margins, tau=2)(a, b, images=i, captions=c).item()
    )
    assert "tau=5.0 / 3.4 = 1.47 for own='out'" in str(SemanticAdaptiveMargin(out))


def test_both_labels_of_a_sampler_are_printed():
    *_, margins = example()
    assert "nearest (paper: hard negative, HN; authors' code: close to 'soft')" in str(
        SemanticAdaptiveMargin(margins)
    )
    furthest = str(SemanticAdaptiveMargin(margins, sampling="furthest"))
    assert "furthest (paper: soft negative, SN; authors' code: close to 'hard')" in furthest


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_features_in_half_precision_are_compared_in_single(dtype):
    a, b, i, c, margins = example(10)
    a, b = a.to(dtype), b.to(dtype)
    half = SemanticAdaptiveMargin(margins)(a, b, images=i, captions=c)
    single = SemanticAdaptiveMargin(margins)(a.float(), b.float(), images=i, captions=c).item()
    assert half.item() == single
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert SemanticAdaptiveMargin(margins)(a, b, images=i, captions=c).item() == single


def test_features_may_be_left_as_they_are():
    a, b, *_ = example(11)
    raw = TripletLoss(normalise=False, negatives="sum")(a, b).item()
    psi = (a @ b.T).tolist()
    expected = sum(
        max(0.2 + psi[p][k] - psi[p][p], 0) + max(0.2 + psi[k][p] - psi[p][p], 0)
        for p in range(8)
        for k in range(8)
        if k != p
    )
    assert raw == pytest.approx(expected)


def test_a_temperature_can_be_learned():
    a, b, *_ = example(12)
    loss = InfoNCE(0.5, learn=True)
    loss(a, b).backward()
    assert loss.log_scale.grad is not None
    assert not InfoNCE().log_scale.requires_grad


def test_what_is_wrong_is_said():
    a, b, i, c, margins = example()
    loss = SemanticAdaptiveMargin(margins)
    with pytest.raises(InputError, match="needs the numbers of the batch's images and captions"):
        loss(a, b)
    with pytest.raises(InputError, match=r"shapes \(8, 5\) and \(7, 5\)"):
        loss(a, b[1:], images=i, captions=c)
    with pytest.raises(InputError, match=r"captions has the shape \(7,\)"):
        loss(a, b, images=i, captions=c[1:])
    with pytest.raises(InputError, match="unknown sampler 'soft'"):
        SemanticAdaptiveMargin(margins, sampling="soft")
    with pytest.raises(InputError, match=r"tau is 0"):
        SemanticAdaptiveMargin(margins, tau=0)
    with pytest.raises(InputError, match="margins is a Tensor"):
        SemanticAdaptiveMargin(margins.table)
    with pytest.raises(InputError, match="negatives is 'soft'"):
        TripletLoss(negatives="soft")
    with pytest.raises(InputError, match="one more of alphas"):
        LadderLoss(margins, thresholds=(2.0, 1.0))
    with pytest.raises(InputError, match="give them falling"):
        LadderLoss(margins, (1.0, 2.0), (0.2, 0.1, 0.1), (1.0, 0.5, 0.5))
    with pytest.raises(InputError, match="without margins"):
        MultiInfoNCE(threshold=1.0)
    with pytest.raises(InputError, match="unknown loss 'tripled'"):
        LOSSES["tripled"]


def test_losses_are_registered():
    assert set(LOSSES) == {"triplet", "infonce", "infonce-multi", "ladder", "sam"}
    for kind in LOSSES.values():
        assert kind.formula
        assert kind.source
