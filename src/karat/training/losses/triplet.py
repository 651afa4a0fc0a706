"""The triplet loss with one margin for all pairs."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from karat._util import check_choice
from karat.training.fused_hinges import fused_hinges
from karat.training.loss import PairBatch, PairLoss, check_reduction, hinges, register_loss
from karat.training.negatives import nearest

NEGATIVES = ("hardest", "sum")


@register_loss
class TripletLoss(PairLoss):
    """The triplet loss of both directions with a fixed margin α (Semantic margin eq. 6).

    Parameters
    ----------
    alpha
        The margin.
    negatives
        "hardest": the nearest negative of the batch for each image and each caption, as VSE++ does; "sum":
        all negatives of the batch.
    reduction
        "sum" over the pairs of the batch, or "mean".
    normalise, gather
        See `PairLoss`.

    Examples
    --------
    >>> import torch
    >>> features = torch.eye(2)
    >>> TripletLoss()(features, features).item(), round(TripletLoss()(features, features.flip(0)).item(), 4)
    (0.0, 4.8)
    """

    name = "triplet"
    formula = "Σ max(α + ψ(i, c⁻) − ψ(i, c), 0) + max(α + ψ(i⁻, c) − ψ(i, c), 0)"
    source = "Faghri et al. 2018, VSE++; Semantic margin eq. 6"
    parts = ("triplet_loss",)

    def __init__(
        self, alpha: float = 0.2, negatives: str = "hardest", *, reduction: str = "sum", **options: Any
    ) -> None:
        super().__init__(**options)
        self.alpha = float(alpha)
        self.negatives = check_choice(negatives, NEGATIVES, "negatives")
        self.reduction = check_reduction(reduction)

    def extra_repr(self) -> str:
        """Return the settings, which `print` shows."""
        return f"alpha={self.alpha}, negatives={self.negatives!r}, reduction={self.reduction!r}"

    def terms(self, batch: PairBatch) -> Tensor:
        """Return the one term."""
        total = self._hardest(batch) if self.negatives == "hardest" else self._all(batch)
        return total / len(batch.similarity) if self.reduction == "mean" else total

    def _hardest(self, batch: PairBatch) -> Tensor:
        total = fused_hinges(batch, self.alpha)
        if total is not None:
            return total
        return hinges(batch, nearest(batch.similarity.detach(), batch.same)[None], self.alpha)

    def _all(self, batch: PairBatch) -> Tensor:
        violation, positive = batch.similarity + self.alpha, batch.similarity.diagonal()
        both = (violation - positive[:, None]).clamp(min=0) + (violation - positive).clamp(min=0)
        return both.masked_fill(batch.same, 0).sum()[None]
