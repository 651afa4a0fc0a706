"""Triton kernels of `karat.training.fused_hinges`; Triton comes with PyTorch's builds for CUDA."""

import triton
import triton.language as tl

NEAREST, FURTHEST = tl.constexpr(0), tl.constexpr(1)


@triton.jit
def violations(
    similarity, images, captions, seed, table, out, cells, size, stride, alpha, per_phi, cap, weight,
    has_images: tl.constexpr, has_alpha: tl.constexpr, has_table: tl.constexpr, choice: tl.constexpr,
    by_reference: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Write, for pair p, both directions' violations of each term, and their cells of ψ (−1: none).

    Row t of `out` and `cells` is a term; the first `size` columns are images with a negative caption, the
    others captions with a negative image.
    """
    p = tl.program_id(0)
    other = tl.arange(0, block)
    inside = other < size
    if has_images:
        own = tl.load(images + p)
        negative = inside & (tl.load(images + other, mask=inside, other=-1) != own)
    else:
        own = p.to(tl.int64)
        negative = inside & (other != p)
    row = tl.load(similarity + p * size + other, mask=inside, other=0.0)
    column = tl.load(similarity + other * size + p, mask=inside, other=0.0)
    positive = tl.load(similarity + p * size + p)
    some = tl.max(negative.to(tl.int32), axis=0) > 0
    term = 0
    if has_alpha:
        high_row = tl.where(negative, row, float("-inf"))
        high_column = tl.where(negative, column, float("-inf"))
        m = tl.argmax(high_row, axis=0)
        left = tl.argmax(high_column, axis=0)
        first = tl.where(some, tl.max(high_row, axis=0) - positive + alpha, 0.0)
        second = tl.where(some, tl.max(high_column, axis=0) - positive + alpha, 0.0)
        tl.store(out + p, tl.maximum(first, 0.0))
        tl.store(out + size + p, tl.maximum(second, 0.0))
        tl.store(cells + p, tl.where(first > 0, m, -1))
        tl.store(cells + size + p, tl.where(second > 0, left, -1))
        term = 2 * size
    if has_table:
        if choice == NEAREST:
            order_row, order_column = row, column
        elif choice == FURTHEST:
            order_row, order_column = -row, -column
        else:
            drawn = tl.load(seed)
            at = (p * block + other).to(tl.int32)
            order_row = tl.rand(drawn, at)
            order_column = tl.rand(drawn, at + size * block)
        m = tl.argmax(tl.where(negative, order_row, float("-inf")), axis=0)
        left = tl.argmax(tl.where(negative, order_column, float("-inf")), axis=0)
        caption = tl.load(captions + p)
        fit = tl.load(table + own * stride + caption).to(tl.float32)
        worse = tl.load(table + own * stride + tl.load(captions + m)).to(tl.float32)
        if by_reference:
            worst = tl.load(table + tl.load(images + left) * stride + caption).to(tl.float32)
        else:
            worst = tl.load(table + own * stride + tl.load(captions + left)).to(tl.float32)
        first = tl.load(similarity + p * size + m) - positive + tl.minimum((fit - worse) * per_phi, cap)
        second = tl.load(similarity + left * size + p) - positive + tl.minimum((fit - worst) * per_phi, cap)
        first = tl.where(some, first, 0.0)
        second = tl.where(some, second, 0.0)
        tl.store(out + term + p, weight * tl.maximum(first, 0.0))
        tl.store(out + term + size + p, weight * tl.maximum(second, 0.0))
        tl.store(cells + term + p, tl.where(first > 0, m, -1))
        tl.store(cells + term + size + p, tl.where(second > 0, left, -1))


@triton.jit
def gradients(cells, gradient, out, size, weight, terms: tl.constexpr):
    """Add, for pair p, the gradient of its violations to that of ψ; `weight` is the last term's."""
    p = tl.program_id(0)
    lost = 0.0
    for term in tl.static_range(terms):
        each = tl.load(gradient + term)
        if term == terms - 1:
            each *= weight
        m = tl.load(cells + term * 2 * size + p)
        left = tl.load(cells + term * 2 * size + size + p)
        tl.atomic_add(out + p * size + m, each, mask=m >= 0)
        tl.atomic_add(out + left * size + p, each, mask=left >= 0)
        lost += tl.where(m >= 0, each, 0.0) + tl.where(left >= 0, each, 0.0)
    tl.atomic_add(out + p * size + p, -lost)
