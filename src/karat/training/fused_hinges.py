"""The hinges of a batch on a GPU in one kernel, and their gradient in another.

A step of a small network spends its time on starting kernels, not in them. In PyTorch's own operations the
hinges of eq. 6 and 7 and their gradient start some fifty; here they start a handful.
`karat.training.loss.hinges` is the same in plain PyTorch, for every other device.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor

from karat.training.loss import PairBatch

LARGEST_BATCH = 4096
"""A program holds a row and a column of the similarities at once."""
CHOICES = {"nearest": 0, "furthest": 1, "random": 2}
_broken: list[str] = []
"""Why the kernels do not work on this machine, once that is known."""


def fused_hinges(
    batch: PairBatch,
    alpha: float | None,
    table: Tensor | None = None,
    sampling: str = "nearest",
    per_phi: float = 1.0,
    cap: float = 1.0,
    weight: float = 1.0,
    by_reference: bool = False,
    generator: torch.Generator | None = None,
) -> Tensor | None:
    """Return the sum of the hinges with the nearest negatives and α, then λ times that with margins by φ.

    Parameters
    ----------
    batch
        ψ, and the numbers of images and captions.
    alpha
        α of the first sum; None leaves it out.
    table
        φ, images by captions; None leaves the second sum out.
    sampling
        The negatives of the second sum: a name of `CHOICES`.
    per_phi, cap
        A margin is min(per_phi · (φ⁺ − φ⁻), cap).
    weight
        λ.
    by_reference
        Whether the margin of a negative image l comes from φ(G_l, c_p) rather than from φ(G_p, c_l).
    generator
        Draws negatives at random.

    Returns
    -------
    Tensor or None
        One or two sums; None where the kernels do not take this batch: without CUDA and Triton, in another
        precision, or where the machine cannot compile them, which is said once.
    """
    similarity = batch.similarity
    if not (similarity.is_cuda and similarity.dtype == torch.float32 and len(similarity) <= LARGEST_BATCH):
        return None
    if _broken or (table is not None and not (table.is_cuda and table.stride(1) == 1)):
        return None
    # Any tensor serves as the seed of what is not drawn.
    seed: Tensor = similarity
    if table is not None and sampling == "random":
        seed = torch.empty((), dtype=torch.int64, device=similarity.device).random_(generator=generator)
    try:
        return _Hinges.apply(
            similarity.contiguous(), batch.images, batch.captions, seed, table, alpha, CHOICES[sampling],
            per_phi, cap, weight, by_reference,
        )  # fmt: skip
    except torch.OutOfMemoryError:
        raise
    except (ImportError, OSError, RuntimeError) as error:  # Without Triton, or without a C compiler.
        _broken.append(str(error))
        warnings.warn(f"losses run without their own GPU kernels, more slowly: {error}", stacklevel=2)
        return None


class _Hinges(torch.autograd.Function):
    """The sums; kept for the gradient is which cells of ψ they contain."""

    @staticmethod
    def forward(
        ctx: Any,
        similarity: Tensor,
        images: Tensor | None,
        captions: Tensor | None,
        seed: Tensor,
        table: Tensor | None,
        alpha: float | None,
        choice: int,
        per_phi: float,
        cap: float,
        weight: float,
        by_reference: bool,
    ) -> Tensor:
        from karat.training.hinge_kernels import violations

        size, terms = len(similarity), (alpha is not None) + (table is not None)
        values = similarity.new_empty((terms, 2 * size))
        cells = similarity.new_empty((terms, 2 * size), dtype=torch.int32)
        with torch.cuda.device(similarity.device):
            violations[(size,)](
                similarity, images, captions, seed, table, values, cells, size,
                0 if table is None else table.stride(0), alpha or 0.0, per_phi, cap, weight,
                has_images=images is not None, has_alpha=alpha is not None, has_table=table is not None,
                choice=choice, by_reference=by_reference, block=1 << (size - 1).bit_length(),
            )  # fmt: skip
        ctx.save_for_backward(cells)
        ctx.weight = weight if table is not None else 1.0
        return values.sum(1)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        from karat.training.hinge_kernels import gradients

        (cells,) = ctx.saved_tensors
        terms, size = len(cells), cells.shape[1] // 2
        out = gradient.new_zeros((size, size))
        with torch.cuda.device(out.device):
            gradients[(size,)](cells, gradient.contiguous(), out, size, ctx.weight, terms=terms)
        return (out, *[None] * 10)
