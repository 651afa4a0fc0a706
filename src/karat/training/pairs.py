"""Images and captions as tensors: what is trained on, and what dev scores are measured on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from karat._util import not_finite
from karat.errors import InputError


@dataclass(frozen=True, eq=False)
class PairData:
    """Images, captions, and which image each caption was written for.

    Parameters
    ----------
    features
        Per image, features [N, width] or pixels [N, 3, height, width].
    tokens
        Per caption, the numbers of its words, int64 [C, length].
    owner
        Per caption, the number of its image, int64 [C].

    Examples
    --------
    >>> data = PairData.of(np.ones((2, 3)), np.array([[2, 0], [3, 0], [2, 3]]), [0, 0, 1])
    >>> data.n_images, data.n_captions
    (2, 3)
    """

    features: Tensor
    tokens: Tensor
    owner: Tensor

    @classmethod
    def of(cls, features: Any, tokens: Any, owner: Any, where: str | Path | None = None) -> PairData:
        """Return arrays as pairs, checked; `where` names the file of the features in messages."""
        features, tokens = torch.as_tensor(features), torch.as_tensor(tokens).long()
        owner = torch.as_tensor(np.asarray(owner)).long()
        check_features(tuple(features.shape), where)
        if features.dtype != torch.uint8:
            features = features.float()
            bad = ~torch.isfinite(features.flatten(1))
            if bad.any():
                row, column = map(int, bad.nonzero()[0])
                raise not_finite(where or "features", row, column, float(features.flatten(1)[row, column]))
        if tokens.ndim != 2 or len(tokens) != len(owner):
            raise InputError(
                f"{len(owner):,} captions have words of the shape {tuple(tokens.shape)}",
                fix="give a row of numbers per caption",
            )
        if not len(owner) or not 0 <= owner.min() <= owner.max() < len(features):
            raise InputError(
                f"features have {len(features):,} rows, but captions belong to "
                f"{int(owner.max()) + 1 if len(owner) else 0:,} images",
                where=where,
                fix="give one row per image, in the order of the benchmark",
            )
        return cls(features, tokens, owner)

    @property
    def n_images(self) -> int:
        """How many images there are."""
        return len(self.features)

    @property
    def n_captions(self) -> int:
        """How many captions there are."""
        return len(self.owner)

    def to(self, device: torch.device | str) -> PairData:
        """Return the pairs on a device."""
        return PairData(self.features.to(device), self.tokens.to(device), self.owner.to(device))


def check_features(shape: tuple[int, ...], where: str | Path | None = None) -> None:
    """Raise unless features have the shape of rows of numbers, or of pixels."""
    if len(shape) not in (2, 4) or (len(shape) == 4 and shape[1] != 3):
        raise InputError(
            f"features have the shape {shape}",
            where=where,
            fix="give [images, numbers], or pixels [images, 3, height, width]",
        )
