"""Retrieval scores on the device of the vectors, with torch alone; `karat.evaluate` gives the same values."""

from __future__ import annotations

import torch
from torch import Tensor

from karat.benchmarks import DIRECTIONS

DEPTHS = (1, 5, 10)
RECALLS = tuple(f"{direction} R@{depth}" for direction in DIRECTIONS for depth in DEPTHS)


def places(similarity: Tensor, owner: Tensor) -> tuple[Tensor, Tensor]:
    """Return the place of the first own caption of every image, and of every caption's image, from 0.

    Items that score the same as the right one come before it, so that equal vectors gain nothing.

    Parameters
    ----------
    similarity
        Images by captions.
    owner
        The image of every caption.

    Examples
    --------
    >>> by_image, by_caption = places(torch.tensor([[0.9, 0.1], [0.5, 0.3]]), torch.tensor([0, 1]))
    >>> by_image.tolist(), by_caption.tolist()
    ([0, 1], [0, 0])
    """
    images = torch.arange(len(similarity), device=similarity.device)
    own = owner == images[:, None]
    best = similarity.masked_fill(~own, -torch.inf).amax(1)
    by_image = ((similarity >= best[:, None]) & ~own).sum(1)
    right = similarity.gather(0, owner[None])[0]
    by_caption = ((similarity >= right) & ~own).sum(0)
    return by_image, by_caption


def recalls(similarity: Tensor, owner: Tensor) -> dict[str, float]:
    """Return R@1, R@5 and R@10 of both directions and their sum RSUM, in percent.

    >>> recalls(torch.eye(2), torch.tensor([0, 1]))["RSUM"]
    600.0
    """
    hits = torch.stack([
        (place < depth).double().mean() for place in places(similarity, owner) for depth in DEPTHS
    ]).mul(100)  # fmt: skip
    values = hits.tolist()
    return {**dict(zip(RECALLS, values)), "RSUM": sum(values)}
