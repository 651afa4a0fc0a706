"""The semantic adaptive margin: a triplet loss whose margin is how much worse the negative fits."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from karat._util import check_choice
from karat.errors import InputError
from karat.training.fused_hinges import fused_hinges
from karat.training.loss import PairBatch, PairLoss, check_positive, check_reduction, hinges, register_loss
from karat.training.margins import Margins
from karat.training.negatives import SAMPLERS, nearest

IMAGE_MARGINS = ("caption", "reference")


@register_loss
class SemanticAdaptiveMargin(PairLoss):
    """The triplet loss with adaptive margins (Semantic margin eq. 7), added to that of eq. 6.

    For the pair p, a negative caption m and a negative image l, with φ a caption metric and G_p the reference
    captions of image p, α_i2t = min((φ(G_p, c_p) − φ(G_p, c_m)) / τ, cap) and α_t2i =
    min((φ(G_p, c_p) − φ(G_p, c_l)) / τ, cap), where c_l is the batch's caption of image l. The loss is L_T
    (eq. 6, nearest negatives, α = `alpha`) + `weight` · L_SAM. Margins below zero are kept: a negative that
    fits better than the positive need not be separated from it.

    Parameters
    ----------
    margins
        φ of the training images and captions.
    tau
        τ: the higher, the smaller the margins. It belongs to the scale of `margins`, and to `own="in"`: for
        margins with `own="out"` it is divided by `margins.tau_divisor`, so that mean margins stay comparable.
    sampling
        The negatives of L_SAM: "nearest", "furthest" or "random". The paper calls the furthest *soft*
        (tables 4 and 5); in its authors' public code, `soft` takes nearly the nearest.
    keep_triplet
        Whether L_T is part of the loss.
    weight
        λ of L_SAM.
    alpha
        The fixed margin of L_T.
    image_margin
        Where the margin of a negative image comes from: "caption": φ(G_p, c_l); "reference": φ(G_l, c_p).
    cap
        The highest margin.
    generator
        Draws negatives at random; on the device of the features. By default PyTorch's own.
    reduction
        "sum" over the pairs of the batch, or "mean".
    normalise, gather
        See `PairLoss`.

    Examples
    --------
    >>> margins = Margins(torch.tensor([[5.0, 1.0], [0.0, 4.0]]))
    >>> loss = SemanticAdaptiveMargin(margins, tau=5, sampling="furthest", keep_triplet=False, weight=1)
    >>> features, numbers = torch.tensor([[1.0, 0.0], [0.6, 0.8]]), torch.arange(2)
    >>> round(loss(features, features, images=numbers, captions=numbers).item(), 4)
    1.6
    >>> print(loss)
    SemanticAdaptiveMargin(
      tau=5.0, sampling=furthest (paper: soft negative, SN; authors' code: close to 'hard'),
      keep_triplet=False, weight=1.0, alpha=0.2, image_margin='caption', cap=1.0, reduction='sum'
      (margins): Margins(2 images x 2 captions, table, own='in', scale=10.0, float32)
    )
    """

    name = "sam"
    aliases = ("semantic-adaptive-margin",)
    formula = "L_T + λ · Σ max(α_i2t + ψ(i, c⁻) − ψ(i, c), 0) + max(α_t2i + ψ(i⁻, c) − ψ(i, c), 0)"
    source = "Semantic margin eq. 7"
    needs_margins = True
    weights: Tensor

    def __init__(
        self,
        margins: Margins,
        tau: float = 5.0,
        sampling: str = "nearest",
        keep_triplet: bool = True,
        weight: float = 5.0,
        alpha: float = 0.2,
        *,
        image_margin: str = "caption",
        cap: float = 1.0,
        generator: torch.Generator | None = None,
        reduction: str = "sum",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if not isinstance(margins, Margins):
            raise InputError(
                f"margins is a {type(margins).__name__}",
                fix="give Margins.from_captions(…) or Margins(table)",
            )
        self.margins = margins
        self.tau, self.sampler = check_positive(tau, "tau"), SAMPLERS[sampling]
        self.keep_triplet, self.weight, self.alpha = bool(keep_triplet), float(weight), float(alpha)
        self.image_margin = check_choice(image_margin, IMAGE_MARGINS, "image_margin")
        self.cap, self.generator, self.reduction = float(cap), generator, check_reduction(reduction)
        self.parts = ("triplet_loss", "sam_loss") if keep_triplet else ("sam_loss",)
        weights = torch.tensor([1.0, self.weight] if keep_triplet else [self.weight])
        self.register_buffer("weights", weights, persistent=False)

    def extra_repr(self) -> str:
        """Return the settings, with both labels of the sampler, which `print` shows."""
        divisor = self.margins.tau_divisor
        out = "" if divisor == 1 else f" / {divisor} = {self.tau / divisor:.3g} for own='out'"
        return (
            f"tau={self.tau}{out}, sampling={self.sampler},\n"
            f"keep_triplet={self.keep_triplet}, weight={self.weight}, alpha={self.alpha}, "
            f"image_margin={self.image_margin!r}, cap={self.cap}, reduction={self.reduction!r}"
        )

    def terms(self, batch: PairBatch) -> Tensor:
        """Return λ · L_SAM, after L_T where that is kept."""
        batch.numbers(self.name)
        terms = None
        if self.margins.table is not None:
            terms = fused_hinges(
                batch, self.alpha if self.keep_triplet else None, self.margins.table, self.sampler.name,
                self.margins.tau_divisor / self.tau, self.cap, self.weight, self.image_margin == "reference",
                self.generator,
            )  # fmt: skip
        if terms is None:
            terms = self._hinges(batch) * self.weights
        return terms / len(batch.similarity) if self.reduction == "mean" else terms

    def _hinges(self, batch: PairBatch) -> Tensor:
        """Return the sums of both losses' hinges in plain PyTorch."""
        similarity = batch.similarity.detach()
        sampled = self.sampler.choose(similarity, batch.same, self.generator)
        margin, negatives = self._margin(batch, sampled)[None], sampled[None]
        if self.keep_triplet:
            hardest = sampled if self.sampler.choose is nearest else nearest(similarity, batch.same)
            negatives = torch.stack((hardest, sampled))
            margin = torch.cat((torch.full_like(margin, self.alpha), margin))
        return hinges(batch, negatives, margin)

    def _margin(self, batch: PairBatch, negatives: Tensor) -> Tensor:
        """Return α_i2t and α_t2i, [2, B]."""
        images, captions = batch.numbers(self.name)
        if self.image_margin == "caption":
            candidates = torch.cat((captions[None], captions[negatives]))
            fit = self.margins.at(images, candidates)
        else:
            references = torch.stack((images, images, images[negatives[1]]))
            candidates = torch.stack((captions, captions[negatives[0]], captions))
            fit = self.margins.at(references, candidates)
        return (fit[0] - fit[1:]).mul_(self.margins.tau_divisor / self.tau).clamp_(max=self.cap)
