"""Draws: the pairs that a sampling design chose for judging, each with its inclusion probability.

An interval that holds needs the probability with which each pair could come into the sample. So every draw is
kept with it, and none is ever changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat._util import plural
from karat.benchmarks import letters_of
from karat.errors import InputError
from karat.forms.pairs import key_of
from karat.forms.pool import DRAWN, Pool
from karat.forms.texts import check_text

NONE = -1
"""The stratum or query of a pair that has none; also NOT_GOLD."""


@dataclass(frozen=True, eq=False)
class DrawBatch:
    """Pairs that were drawn at once by one design, in the order in which they are asked about.

    Of a batch that is not finished, the first pairs are answered and the last are not. A design that wants
    the answered part to be a smaller sample of the same kind must therefore put its pairs in random order.

    Parameters
    ----------
    design
        The sampling design with its parameters, as printed: "proportional(floor=0.1)".
    measure, direction
        What is estimated: the measure, as printed, and a direction such as "t2i".
    runs
        The names of the runs whose scores are estimated.
    seed
        Of the draw.
    frame
        How many pairs could be drawn.
    image, caption
        The pairs, as indices into the benchmark; each can be drawn once.
    probability
        The probability with which each pair came into this batch, in (0, 1].
    stratum
        A number of each pair's stratum; −1: none, as everywhere if it is empty.
    query
        The query with which each pair was drawn, for designs that draw whole queries; likewise.
    settings
        Further facts about the draw that json can represent.
    gold
        What is known about each pair without asking: NOT_GOLD, GOLD_NO or GOLD_YES. The project fills it in
        when the batch is added.
    at
        When it was added, in seconds since 1970; the current time by default.
    number
        The batch's number in the project; None before it is added.

    Examples
    --------
    >>> DrawBatch("uniform", "P@10", "t2i", ("a",), 0, 200, [3, 5], [2, 2], [0.01, 0.01])
    DrawBatch(2 of 200 pairs by uniform for P@10 t2i)
    """

    design: str
    measure: str
    direction: str
    runs: tuple[str, ...]
    seed: int
    frame: int
    image: np.ndarray
    caption: np.ndarray
    probability: np.ndarray
    stratum: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    query: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    settings: Mapping[str, Any] = field(default_factory=dict)
    gold: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    at: float | None = None
    number: int | None = None

    def __post_init__(self) -> None:
        count = len(self.image)
        for name in ("image", "caption", "probability", "stratum", "query", "gold"):
            column = np.asarray(getattr(self, name), np.float64 if name == "probability" else np.int64)
            if not len(column) and name in ("stratum", "query", "gold"):
                column = np.full(count, NONE)
            if len(column) != count:
                raise InputError(
                    f"the batch has {plural(count, 'pair')}, but {len(column):,} values of {name}",
                    fix="give one value per pair",
                )
            object.__setattr__(self, name, column)
        object.__setattr__(self, "runs", tuple(self.runs))
        letters_of(check_text(self.direction, "the direction"))
        if not count:
            raise InputError("the batch has no pairs", fix="draw at least one")
        if self.frame < count:
            raise InputError(
                f"the frame has {plural(self.frame, 'pair')}, but {count:,} were drawn",
                fix="give the number of pairs that could be drawn",
            )
        wrong = np.flatnonzero(~((self.probability > 0) & (self.probability <= 1)))
        if len(wrong):
            raise InputError(
                f"pair {wrong[0]} of the batch has probability {self.probability[wrong[0]]:g}",
                fix="give inclusion probabilities above 0, and at most 1",
            )
        if len(again := repeated(self.keys)):
            raise InputError(
                f"pair {again[0]} of the batch was drawn before in the same batch",
                fix="draw without replacement",
            )

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        return (
            f"DrawBatch({len(self):,} of {plural(self.frame, 'pair')} by {self.design} "
            f"for {self.measure} {self.direction})"
        )

    @property
    def keys(self) -> np.ndarray:
        """The pairs' keys, in the order of the batch (`karat.forms.key_of`)."""
        return key_of(self.image, self.caption)

    def pool(self) -> Pool:
        """Return the pairs as a pool without places, to be added to that of a project."""
        order = np.argsort(self.keys)
        none = np.zeros(0, np.int64)
        return Pool(
            self.image[order], self.caption[order], np.full(len(self), DRAWN, np.int8), (), none, none, none,
            none, np.zeros(0),
        )  # fmt: skip


def repeated(keys: np.ndarray) -> np.ndarray:
    """Return the places of keys that occurred before, in order.

    >>> repeated(np.array([7, 5, 7, 5, 5])).tolist()
    [2, 3, 4]
    """
    later = np.ones(len(keys), bool)
    later[np.unique(keys, return_index=True)[1]] = False
    return np.flatnonzero(later)
