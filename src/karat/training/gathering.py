"""The batch of all processes: features, with their gradients, and numbers of images and captions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch import distributed as dist


def world_size() -> int:
    """Return how many processes train together; 1 where `torch.distributed` is not set up."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


class _Gather(torch.autograd.Function):
    """The rows of all processes, in the order of their ranks; gradients go back to whoever gave the row."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        ctx.size = len(rows)
        parts = [torch.empty_like(rows) for _ in range(world_size())]
        dist.all_gather(parts, rows.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        # A sum over processes and a slice: gloo has no reduce_scatter.
        gradient = gradient.contiguous()
        dist.all_reduce(gradient)
        begin = dist.get_rank() * ctx.size
        return gradient[begin : begin + ctx.size]


def gather(rows: Tensor) -> Tensor:
    """Return the rows of all processes, or `rows` as they are where there is one process.

    Every process needs the same number of rows. Each computes the loss of the whole batch, and its gradient
    with respect to its own rows is the sum over processes: after the average over processes that
    `DistributedDataParallel` takes, parameters have the gradient of one process with the whole batch.

    >>> gather(torch.ones(2, 1)).tolist()
    [[1.0], [1.0]]
    """
    return rows if world_size() == 1 else _Gather.apply(rows)
