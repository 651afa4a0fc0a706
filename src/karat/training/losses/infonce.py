"""InfoNCE, with one positive or several."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from karat.errors import InputError
from karat.training.loss import PairBatch, PairLoss, check_positive, register_loss
from karat.training.margins import Margins


@register_loss
class InfoNCE(PairLoss):
    """The mean of both directions' cross-entropy of a pair against its batch, as CLIP has it.

    Captions of the same image leave the denominator where `images` are given.

    Parameters
    ----------
    temperature
        Divides the cosine where no `logit_scale` is given.
    learn
        Whether the temperature is a parameter, which starts there: give ``loss.parameters()`` to the
        optimiser too.
    normalise, gather
        See `PairLoss`.

    Examples
    --------
    >>> features = torch.eye(2)
    >>> round(InfoNCE(temperature=1.0)(features, features).item(), 4)  # log(1 + 1/e)
    0.3133
    """

    name = "infonce"
    formula = "−½ mean(log softmax_c(ψ(i, c) / T) + log softmax_i(ψ(i, c) / T))"
    source = "van den Oord et al. 2018; Radford et al. 2021, CLIP"

    def __init__(self, temperature: float = 0.07, *, learn: bool = False, **options: Any) -> None:
        super().__init__(**options)
        scale = torch.tensor(-math.log(check_positive(temperature, "temperature")))
        self.log_scale = nn.Parameter(scale, requires_grad=learn)

    def extra_repr(self) -> str:
        """Return the settings, which `print` shows."""
        temperature = math.exp(-self.log_scale.item())
        return f"temperature={temperature:.4g}, learn={self.log_scale.requires_grad}"

    def logits(self, batch: PairBatch) -> Tensor:
        """Return the similarities times the scale, plus the bias."""
        scale = self.log_scale.exp() if batch.logit_scale is None else batch.logit_scale
        logits = batch.similarity * scale
        return logits if batch.logit_bias is None else logits + batch.logit_bias

    def terms(self, batch: PairBatch) -> Tensor:
        """Return the one term."""
        logits = self.logits(batch)
        target = torch.arange(len(logits), device=logits.device)
        if batch.images is not None:
            others = batch.same & (target[:, None] != target)
            logits = logits.masked_fill(others, -torch.inf)
        both = functional.cross_entropy(logits, target) + functional.cross_entropy(logits.T, target)
        return both[None] / 2


@register_loss
class MultiInfoNCE(InfoNCE):
    """InfoNCE with several positives: each direction's mean over positives of their cross-entropy.

    Positives are captions and images of the same image, and, with a threshold, pairs whose φ reaches it. All
    of them stay in the denominator (Khosla et al. 2020, the sum outside the logarithm).

    Parameters
    ----------
    margins
        φ of the training images and captions; needed for a threshold alone.
    threshold
        Pairs with φ(G_i, c) of at least this are positives too; by default none are.
    temperature, learn
        See `InfoNCE`.
    normalise, gather
        See `PairLoss`.

    Examples
    --------
    >>> features, images = torch.eye(2), torch.tensor([7, 7])
    >>> round(MultiInfoNCE(temperature=1.0)(features, features, images=images).item(), 4)
    0.8133
    """

    name = "infonce-multi"
    formula = "−½ mean of the sum over both directions of (1/|P|) Σ_P log softmax(ψ / T)"
    source = "Khosla et al. 2020, eq. 2"

    def __init__(
        self,
        margins: Margins | None = None,
        threshold: float | None = None,
        temperature: float = 0.07,
        *,
        learn: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(temperature, learn=learn, **options)
        if threshold is not None and margins is None:
            raise InputError(f"threshold is {threshold} without margins", fix="give margins too")
        self.margins, self.threshold = margins, threshold

    def extra_repr(self) -> str:
        """Return the settings, which `print` shows."""
        return f"threshold={self.threshold}, {super().extra_repr()}"

    def terms(self, batch: PairBatch) -> Tensor:
        """Return the one term."""
        logits, positive = self.logits(batch), batch.same
        if self.threshold is not None and self.margins is not None:
            fit, _ = self.margins.batch(*batch.numbers(self.name))
            positive = positive | (fit >= self.threshold)
        share = positive.to(logits.dtype)
        rows, columns = (
            (functional.log_softmax(logits, axis) * share).sum(axis).div(share.sum(axis)).mean()
            for axis in (1, 0)
        )
        return -(rows + columns)[None] / 2
