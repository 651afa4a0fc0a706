"""What KCCA is fitted to: two sides with an item per row, or one that was decomposed before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.systems.centring import as_floats
from karat.systems.kcca_views import View
from karat.validation import InputError

SIDES = ("the image side", "the caption side")


@dataclass(frozen=True, eq=False)
class Decomposed:
    """One side of the training items after its eigendecomposition; see `KCCAPath.decompose`.

    Parameters
    ----------
    view
        What turns new rows into coordinates.
    unit
        U, the eigenvectors: the training items' coordinates with columns of length 1.
    """

    view: View
    unit: np.ndarray

    def __len__(self) -> int:
        return len(self.unit)


def paired(images: Any, captions: Any) -> tuple[np.ndarray | Decomposed, np.ndarray | Decomposed]:
    """Return both sides in one precision, or raise where they do not have as many rows.

    A side that is decomposed stays as it is, and its precision is the other's.
    """
    sides = [
        side if isinstance(side, Decomposed) else as_floats(side, what)
        for side, what in zip((images, captions), SIDES)
    ]
    first, second = sides
    if len(first) != len(second):
        raise InputError(
            f"{len(first):,} images are paired with {len(second):,} captions",
            fix="give both in the order of the pairs, one row per pair",
        )
    settled = [side.unit.dtype for side in sides if isinstance(side, Decomposed)]
    dtype = np.result_type(*(settled or [side.dtype for side in sides if isinstance(side, np.ndarray)]))
    first, second = (
        side if isinstance(side, Decomposed) else side.astype(dtype, copy=False) for side in sides
    )
    return first, second
