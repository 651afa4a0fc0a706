"""What measures of meaning share: a similarity φ of every image with every caption, instead of labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from karat._util import Param, whole, yes_or_no
from karat.measures.measure import Measure
from karat.measures.ranked import Ranked


def name(value: Any) -> str:
    """Return a similarity's name in lower case; for `Param.type`.

    >>> name("CIDEr")
    'cider'
    """
    if not str(value).replace("-", "").replace("_", "").isalnum():
        raise ValueError(value)
    return str(value).lower()


PHI = Param(
    "phi", name, "the similarity: cider, spice or another caption metric, or one given by name", bare=True
)
GT = Param(
    "gt",
    yes_or_no,
    "no: what the truth lists as relevant is taken out of the ranking and of the ideal before the cut",
    True,
)


class Semantic(Measure):
    """A measure that looks at the first K items through φ. The truth gives queries, folds and gallery.

    `evaluate` asks the run for its first items, looks their φ up, and hands both over: the rows of
    `Ranked` are these items, their grades φ (or, where `m` is set, 1 for the m most similar items and 0
    for others).
    """

    wants = "an item with any similarity"
    cutoff = Param("k", whole, "how many items are looked at")
    params: ClassVar[tuple[Param, ...]] = (PHI, GT)
    k: int
    phi: str
    gt: bool
    m: int | None = None
    """How many of the most similar items count as relevant; None where φ itself counts."""

    def depth(self, ranked: Ranked) -> float:
        """K places."""
        return self.k

    def unanswered(self, ranked: Ranked) -> np.ndarray:
        """Return the queries whose ranking ends before place K: any item there has some similarity."""
        return ranked.depth < np.minimum(self.k, ranked.size)


def with_ideal(ranked: Ranked, similarities: list[list[float]]) -> Ranked:
    """Return `ranked` with the ideal sums of each query's similarities, for examples and tests.

    >>> ranked = Ranked.from_places([[1, 2]], [[0.0, 0.5]], size=4)
    >>> with_ideal(ranked, [[0.0, 0.5, 2.0, 0.0]]).ideal.tolist()
    [[2.0, 2.5, 2.5, 2.5]]
    """
    best = np.cumsum(-np.sort(-np.array(similarities, dtype=np.float64), axis=1), axis=1)
    return replace(ranked, ideal=best, total=(best[:, -1] > 0).astype(np.float64))
