"""The ladder loss: an order of several levels of fit in place of positives and negatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from karat.errors import InputError
from karat.training.loss import PairBatch, PairLoss, check_reduction, hinges, register_loss
from karat.training.margins import Margins
from karat.training.negatives import nearest


@register_loss
class LadderLoss(PairLoss):
    """The ladder loss with hard contrastive sampling (Zhou et al. 2020), relevance by φ.

    Thresholds θ_1 > θ_2 > … on φ divide the negatives of a query into levels. The first rung is the triplet
    loss with the nearest negative. Rung l + 1 asks that every item with φ ≥ θ_l, the positive included, is
    more similar than every item below θ_l, by a margin: max(α_{l+1} − min ψ(above) + max ψ(below), 0), times
    β_{l+1}. A query with nothing below θ_l adds nothing to that rung. Relevance is φ(G_i, c) in both
    directions; captions and images of the query's own image are left out, but for the positive.

    Parameters
    ----------
    margins
        φ of the training images and captions.
    thresholds
        θ, falling; on the scale of `margins`.
    alphas, weights
        The margins α and weights β of the rungs, one more of each than thresholds.
    reduction
        "sum" over the pairs of the batch, or "mean".
    normalise, gather
        See `PairLoss`.

    Examples
    --------
    >>> margins = Margins(torch.tensor([[5.0, 2.0, 0.0], [2.0, 5.0, 0.0], [0.0, 0.0, 5.0]]))
    >>> features, numbers = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.8, 0.6]]), torch.arange(3)
    >>> round(LadderLoss(margins)(features, features, images=numbers, captions=numbers).item(), 4)
    0.93
    """

    name = "ladder"
    formula = "Σ_l β_l Σ max(α_l − min ψ(φ ≥ θ) + max ψ(φ < θ), 0)"
    source = "Zhou et al. 2020"
    needs_margins = True
    parts = ("triplet_loss", "ladder_loss")

    def __init__(
        self,
        margins: Margins,
        thresholds: Sequence[float] = (1.0,),
        alphas: Sequence[float] = (0.2, 0.01),
        weights: Sequence[float] = (1.0, 0.25),
        *,
        reduction: str = "sum",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if not len(thresholds) + 1 == len(alphas) == len(weights):
            counts = f"{len(thresholds)} thresholds, {len(alphas)} alphas and {len(weights)} weights"
            raise InputError(counts, fix="give one more of alphas and of weights than of thresholds")
        if list(thresholds) != sorted(set(thresholds), reverse=True):
            raise InputError(f"thresholds are {tuple(thresholds)}", fix="give them falling, each once")
        self.margins, self.reduction = margins, check_reduction(reduction)
        self.thresholds, self.alphas, self.weights = tuple(thresholds), tuple(alphas), tuple(weights)

    def extra_repr(self) -> str:
        """Return the settings, which `print` shows."""
        return f"thresholds={self.thresholds}, alphas={self.alphas}, weights={self.weights}"

    def terms(self, batch: PairBatch) -> Tensor:
        """Return the triplet's term and the sum of the other rungs."""
        chosen = nearest(batch.similarity.detach(), batch.same)[None]
        first = hinges(batch, chosen, self.alphas[0]) * self.weights[0]
        fit, _ = self.margins.batch(*batch.numbers(self.name))
        positive = torch.eye(len(fit), dtype=torch.bool, device=fit.device)
        rungs = torch.zeros_like(first)
        for threshold, alpha, weight in zip(self.thresholds, self.alphas[1:], self.weights[1:]):
            above = ((fit >= threshold) & ~batch.same) | positive
            below = (fit < threshold) & ~batch.same
            for axis in (1, 0):
                lowest = batch.similarity.masked_fill(~above, torch.inf).amin(axis)
                highest = batch.similarity.masked_fill(~below, -torch.inf).amax(axis)
                rungs = rungs + weight * (alpha - lowest + highest).clamp(min=0).sum()
        terms = torch.cat((first, rungs))
        return terms / len(fit) if self.reduction == "mean" else terms
