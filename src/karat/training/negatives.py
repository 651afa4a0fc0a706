"""Samplers of negatives: which caption is an image's negative in a batch, and which image a caption's.

They are named by what they take, since the labels "soft" and "hard" of the paper's text and of its authors'
public code are opposite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from karat._util import Registry

Choose = Callable[[Tensor, Tensor, torch.Generator | None], Tensor]
"""From similarities [B, B] (images by captions) and where both are of one image to the negatives [2, B]."""


@dataclass(frozen=True)
class Sampler:
    """One way to choose a negative for every image and for every caption of a batch.

    Parameters
    ----------
    name
        What it takes.
    in_paper, in_code
        What the paper's text (Semantic margin §5.4) and its authors' public code call it.
    choose
        Returns the negatives, int64 [2, B]: the caption for each image, then the image for each caption.
    """

    name: str
    in_paper: str
    in_code: str
    choose: Choose

    def __str__(self) -> str:
        return f"{self.name} (paper: {self.in_paper}; authors' code: {self.in_code})"


SAMPLERS: Registry[Sampler] = Registry("sampler", group="karat.samplers")


def nearest(similarity: Tensor, same: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Return the most similar negatives.

    >>> nearest(torch.tensor([[0.9, 0.1, 0.2], [0.3, 0.9, 0.1], [0.5, 0.4, 0.9]]), torch.eye(3) > 0).tolist()
    [[2, 0, 0], [2, 2, 0]]
    """
    masked = similarity.masked_fill(same, -torch.inf)
    return torch.stack((masked.argmax(1), masked.argmax(0)))


def furthest(similarity: Tensor, same: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Return the least similar negatives.

    >>> furthest(torch.tensor([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.5, 0.4, 0.1]]), torch.eye(3) > 0).tolist()
    [[1, 2, 1], [1, 0, 1]]
    """
    masked = similarity.masked_fill(same, torch.inf)
    return torch.stack((masked.argmin(1), masked.argmin(0)))


def random(similarity: Tensor, same: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Return negatives that are equally likely, independently for each image and caption.

    >>> random(torch.zeros(2, 2), torch.eye(2) > 0).tolist()
    [[1, 0], [1, 0]]
    """
    noise = torch.rand((2, *similarity.shape), device=similarity.device, generator=generator)
    return noise.masked_fill_(same, -1).argmax(2)


for _sampler in (
    Sampler("nearest", "hard negative, HN", "close to 'soft'", nearest),
    Sampler("furthest", "soft negative, SN", "close to 'hard'", furthest),
    Sampler("random", "random sampling, RS", "'random'", random),
):
    SAMPLERS.add(_sampler.name, _sampler)
