"""What a loss over a batch of image–caption pairs is, and the hinge that several of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.nn import functional

from karat._util import Registry, check_choice, import_all
from karat.errors import InputError

REDUCTIONS = ("sum", "mean")


@dataclass(frozen=True)
class PairBatch:
    """A batch as losses see it: row p is the pair of image p and caption p.

    Parameters
    ----------
    similarity
        ψ of every image with every caption, [B, B].
    images, captions
        Their numbers in the training set, [B] each, or None.
    logit_scale, logit_bias
        What multiplies ψ, and what is added to the product, for losses that are made from logits.
    """

    similarity: Tensor
    images: Tensor | None
    captions: Tensor | None
    logit_scale: Tensor | float | None
    logit_bias: Tensor | float | None

    @cached_property
    def same(self) -> Tensor:
        """Where an image and a caption belong to the same image, the diagonal included: never negatives."""
        if self.images is None:
            return torch.eye(len(self.similarity), dtype=torch.bool, device=self.similarity.device)
        return self.images[:, None] == self.images

    def numbers(self, loss: str) -> tuple[Tensor, Tensor]:
        """Return the numbers of images and captions, or raise where they were not given."""
        if self.images is None or self.captions is None:
            raise InputError(
                f"the loss {loss} needs the numbers of the batch's images and captions",
                fix="call loss(…, images=…, captions=…) with their rows and columns of the margins",
            )
        return self.images, self.captions


class PairLoss(nn.Module, ABC):
    """A loss over a batch of B image–caption pairs, called like `open_clip.ClipLoss`.

    A subclass declares its name and what it returns, implements `terms`, and is registered by
    `register_loss`.

    Parameters
    ----------
    normalise
        Whether features are scaled to length 1, so that ψ is the cosine.
    gather
        Whether features of all processes form one batch where `torch.distributed` is set up.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""
    """The paper, with its equation."""
    needs_margins: ClassVar[bool] = False
    """Whether the first argument is `Margins`."""
    parts: tuple[str, ...] = ("contrastive_loss",)
    """What `terms` returns, in order."""

    def __init__(self, *, normalise: bool = True, gather: bool = True) -> None:
        super().__init__()
        self.normalise, self.gather = normalise, gather

    @abstractmethod
    def terms(self, batch: PairBatch) -> Tensor:
        """Return the weighted terms of the loss, one for each of `parts`; the loss is their sum."""

    def forward(
        self,
        image_features: Tensor,
        text_features: Tensor,
        logit_scale: Tensor | float | None = None,
        logit_bias: Tensor | float | None = None,
        output_dict: bool = False,
        *,
        images: Tensor | None = None,
        captions: Tensor | None = None,
    ) -> Tensor | dict[str, Tensor]:
        """Return the loss.

        Parameters
        ----------
        image_features, text_features
            [B, D] each; row p of both is a pair.
        logit_scale, logit_bias
            Used by the InfoNCE losses alone.
        output_dict
            Whether to return the terms by name, whose sum is the loss, as open_clip's training loop expects.
        images, captions
            The numbers of the pairs' images and captions in the training set, int64 [B] on the features'
            device: captions of the same image are not negatives of each other. Losses with margins need both.
        """
        check_batch(image_features, text_features, images, captions)
        # Mixed precision would round similarities to steps of up to 0.004.
        with torch.autocast(image_features.device.type, enabled=False):
            batch = self._batch(image_features, text_features, images, captions, logit_scale, logit_bias)
            terms = self.terms(batch)
        return dict(zip(self.parts, terms)) if output_dict else terms.sum()

    def _batch(
        self,
        image_features: Tensor,
        text_features: Tensor,
        images: Tensor | None,
        captions: Tensor | None,
        logit_scale: Tensor | float | None,
        logit_bias: Tensor | float | None,
    ) -> PairBatch:
        sides = []
        for side in (image_features, text_features):
            side = side.float() if side.dtype.itemsize < 4 else side
            sides.append(functional.normalize(side, dim=1) if self.normalise else side)
        if self.gather:
            sides = [gather(side) for side in sides]
            images = None if images is None else gather(images)
            captions = None if captions is None else gather(captions)
        return PairBatch(sides[0] @ sides[1].T, images, captions, logit_scale, logit_bias)


LOSSES: Registry[type[PairLoss]] = Registry(
    "loss", fill=lambda: import_all("karat.training.losses"), group="karat.losses"
)

register_loss = LOSSES.register


def hinges(batch: PairBatch, negatives: Tensor, margin: Tensor | float) -> Tensor:
    """Return Σ_p max(α + ψ(i_p, c_m) − ψ(i_p, c_p), 0) + max(α + ψ(i_l, c_p) − ψ(i_p, c_p), 0), [K].

    Parameters
    ----------
    batch
        Its similarities ψ; images and captions without any negative add nothing.
    negatives
        K choices of the captions m and the images l, int64 [K, 2, B].
    margin
        α, one for all or [K, 2, B].
    """
    similarity = batch.similarity
    captions = similarity.gather(1, negatives[:, 0].T).T
    images = similarity.gather(0, negatives[:, 1])
    violation = torch.stack((captions, images), 1) - similarity.diagonal() + margin
    return violation.clamp(min=0).masked_fill(batch.same.all(1), 0).sum((1, 2))


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


def check_reduction(reduction: str) -> str:
    """Return a reduction, or raise where it is unknown."""
    return check_choice(reduction, REDUCTIONS, "reduction")


def check_positive(value: float, what: str) -> float:
    """Return a number above 0, or raise."""
    if not 0 < value < float("inf"):
        raise InputError(f"{what} is {value}", fix="give a number above 0")
    return float(value)


def check_batch(
    image_features: Tensor, text_features: Tensor, images: Tensor | None, captions: Tensor | None
) -> None:
    """Raise where the parts of a batch do not belong together; values are not read, which would wait."""
    shapes = tuple(image_features.shape), tuple(text_features.shape)
    if len(shapes[0]) != 2 or shapes[0] != shapes[1]:
        raise InputError(
            f"image and text features have the shapes {shapes[0]} and {shapes[1]}",
            fix="give two tables of the same size, a row per pair",
        )
    for what, numbers in (("images", images), ("captions", captions)):
        if numbers is not None and tuple(numbers.shape) != shapes[0][:1]:
            raise InputError(
                f"{what} has the shape {tuple(numbers.shape)}",
                fix=f"give one number for each of {shapes[0][0]} pairs",
            )
