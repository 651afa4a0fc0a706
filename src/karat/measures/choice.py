"""Measures of choices: one value per example from its small table of scores, and what chance gives.

Most are lists of comparisons: an example counts where each named score is strictly higher than another, so
that a tie is not a win, unless another tie policy is chosen. Chance is the share of orders of the scores, all
equally likely, in which every comparison is won; it is counted exactly.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb, factorial
from typing import ClassVar

import numpy as np

from karat.measures.aggregates import MEAN, Aggregate
from karat.measures.measure import Combined, Measure, Named, register

MOST_CELLS = 16
"""Of scores that depend on each other; beyond, orders are too many to count."""
CellPair = tuple[tuple[int, int], tuple[int, int]]
"""A cell that must score higher, and the one that it is compared with."""


@dataclass(frozen=True, eq=False)
class ChoiceScores:
    """What a run gives for some examples.

    Parameters
    ----------
    scores
        Of images with captions, [N, I, C]; ignored where `known` is false.
    correct, known
        Which cells belong together, and which there are, [N, I, C].
    captions
        Similarities of captions with captions, [N, C, C]; None where the run does not give them.
    ties
        Equal scores: "pessimistic", not a win; "optimistic", a win; or "expected", decided by chance.
    """

    scores: np.ndarray
    correct: np.ndarray
    known: np.ndarray
    captions: np.ndarray | None = None
    ties: str = "pessimistic"

    def take(self, members: np.ndarray) -> ChoiceScores:
        """Return some of the examples."""
        return ChoiceScores(
            self.scores[members],
            self.correct[members],
            self.known[members],
            None if self.captions is None else self.captions[members],
            self.ties,
        )

    @cached_property
    def patterns(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The distinct forms of examples: which cells are correct, which are known, and the examples."""
        flat = np.concatenate([self.correct, self.known], axis=1).reshape(len(self.correct), -1)
        _, first, which = np.unique(flat, axis=0, return_index=True, return_inverse=True)
        which = which.reshape(-1)
        return [
            (self.correct[at], self.known[at], np.flatnonzero(which == number))
            for number, at in enumerate(first.tolist())
        ]


class ChoiceMeasure(Named):
    """Turns the table of an example into one value."""

    direction: ClassVar[str] = "i2t"
    aggregate: ClassVar[Aggregate] = MEAN
    of_captions: ClassVar[bool] = False
    """Whether it looks at similarities of captions with captions."""
    of_texts: ClassVar[bool] = False
    """Whether scores of captions alone, which ignore the image, have a value."""

    @abstractmethod
    def values(self, choices: ChoiceScores) -> np.ndarray:
        """Return one value per example; NaN where it has nothing to decide."""

    @abstractmethod
    def chance(self, choices: ChoiceScores) -> np.ndarray:
        """Return per example what random scores give; NaN where that is not defined."""


class Compared(ChoiceMeasure):
    """Whether every comparison of an example is won."""

    @abstractmethod
    def comparisons(self, correct: np.ndarray, known: np.ndarray) -> Iterator[CellPair]:
        """Yield the comparisons of an example's table, [I, C]."""

    def values(self, choices: ChoiceScores) -> np.ndarray:
        """Return 1 where every comparison is won, 0 where one is lost; equal scores by `choices.ties`."""
        values = np.full(len(choices.correct), np.nan)
        for pairs, members, difference in self.differences(choices):
            won = (difference > 0).all(axis=1)
            unlost = (difference >= 0).all(axis=1)
            values[members] = unlost if choices.ties == "optimistic" else won
            for row in np.flatnonzero(unlost & ~won) if choices.ties == "expected" else ():
                tied = tuple(pairs[k] for k in np.flatnonzero(difference[row] == 0))
                values[members[row]] = share_of_orders(tied)
        return values

    def tied(self, choices: ChoiceScores) -> int:
        """Return how many examples would count but for equal scores."""
        return sum(
            int(((difference >= 0).all(axis=1) & (difference == 0).any(axis=1)).sum())
            for _, _, difference in self.differences(choices)
        )

    def differences(self, choices: ChoiceScores) -> Iterator[tuple[list[CellPair], np.ndarray, np.ndarray]]:
        """Yield the comparisons of each form of examples, the examples, and by how much each is won."""
        table = choices.captions if self.of_captions else choices.scores
        assert table is not None
        for correct, known, members in choices.patterns:
            if pairs := list(self.comparisons(correct, known)):
                first, second = (tuple(np.array([pair[k] for pair in pairs]).T) for k in range(2))
                own = table[members]
                yield pairs, members, own[:, *first] - own[:, *second]

    def chance(self, choices: ChoiceScores) -> np.ndarray:
        """Return the share of orders of the scores in which every comparison is won."""
        values = np.full(len(choices.correct), np.nan)
        for correct, known, members in choices.patterns:
            if pairs := tuple(self.comparisons(correct, known)):
                values[members] = share_of_orders(pairs)
        return values


def in_rows(correct: np.ndarray, known: np.ndarray) -> Iterator[CellPair]:
    """Yield, for each row, its correct cells against the others."""
    for row in range(len(correct)):
        for own in np.flatnonzero(correct[row]).tolist():
            for other in np.flatnonzero(known[row] & ~correct[row]).tolist():
                yield (row, own), (row, other)


@register
class TextScore(Compared):
    """Text score: for every image of the example, its captions score higher than the others.

    Of one image and two captions it is the accuracy of SugarCrepe and VALSE's pairwise accuracy; with two
    captions that fit it is ITT of SugarCrepe++.

    >>> two = np.array([[[0.9, 0.3], [0.2, 0.6]], [[0.9, 0.3], [0.7, 0.6]]])
    >>> own = np.tile(np.eye(2, dtype=bool), (2, 1, 1))
    >>> TextScore().values(ChoiceScores(two, own, own | True)).tolist()
    [1.0, 0.0]
    """

    name = "Text"
    aliases = ("text-score", "ITT", "acc_r")
    of_texts = True
    formula = "1 if s(i, c) > s(i, c′) for every image i, caption c that fits it and c′ that does not, else 0"
    source = "Thrush et al. 2022, equation 1; Parcalabescu et al. 2022; Dumpala et al. 2024 (ITT)"
    plain = "every image prefers its own caption"

    def comparisons(self, correct: np.ndarray, known: np.ndarray) -> Iterator[CellPair]:
        """Yield the comparisons inside each row."""
        return in_rows(correct, known)


@register
class ImageScore(Compared):
    """Image score: for every caption of the example, its image scores higher than the other."""

    name = "Image"
    aliases = ("image-score",)
    direction = "t2i"
    formula = "1 if s(i, c) > s(i′, c) for every caption c, image i that it fits and i′ that it does not"
    source = "Thrush et al. 2022, equation 2; Ray et al. 2023"
    plain = "every caption prefers its own image"

    def comparisons(self, correct: np.ndarray, known: np.ndarray) -> Iterator[CellPair]:
        """Yield the comparisons inside each column."""
        for (column, row), (_, other) in in_rows(correct.T, known.T):
            yield (row, column), (other, column)


@register
class GroupScore(Compared):
    """Group score: both the text and the image score count."""

    name = "Group"
    aliases = ("group-score",)
    direction = "both"
    formula = "Text · Image"
    source = "Thrush et al. 2022, equation 3"
    plain = "every image prefers its own caption, and every caption its own image"

    def comparisons(self, correct: np.ndarray, known: np.ndarray) -> Iterator[CellPair]:
        """Yield those of both scores; none where one of them has nothing to decide."""
        both = [list(part().comparisons(correct, known)) for part in (TextScore, ImageScore)]
        yield from (pair for part in both for pair in part if all(both))


@register
class TextOnlyTask(Compared):
    """Text-only task: captions that fit are more similar to each other than to one that does not.

    It looks at no image, and needs embeddings of the captions.
    """

    name = "TOT"
    direction = "t2t"
    of_captions = True
    formula = (
        "1 if s(c, c₂) > s(c, c′) and s(c, c₂) > s(c₂, c′) for captions c, c₂ that fit and c′ that does not"
    )
    source = "Dumpala et al. 2024"
    plain = "captions of the same meaning are closer to each other than to one of another meaning"

    def comparisons(self, correct: np.ndarray, known: np.ndarray) -> Iterator[CellPair]:
        """Yield the comparisons of similarities of captions with captions."""
        fits = np.flatnonzero(correct.any(axis=0)).tolist()
        others = np.flatnonzero(known.any(axis=0) & ~correct.any(axis=0)).tolist()
        for k, first in enumerate(fits):
            for second in fits[k + 1 :]:
                for other in others:
                    yield (first, second), (first, other)
                    yield (first, second), (second, other)


@register
class Macro(Combined):
    """Mean over groups, such as relations, of the text score."""

    name = "Macro"
    aliases = ("macro-accuracy",)
    direction = "i2t"
    linear = True
    formula = "(1/K) Σ_k Text of the examples of group k"
    source = "Yuksekgonul et al. 2023"
    plain = "the share of right choices, each group counting the same"

    def measures(self) -> Sequence[Measure]:
        """Return nothing: the groups are those of the benchmark."""
        return []

    def combine(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """Return the mean."""
        return np.mean(np.stack(columns), axis=0)


@lru_cache(maxsize=1024)
def share_of_orders(comparisons: tuple[CellPair, ...]) -> float:
    """Return the share of orders of the cells in which each comparison is won; NaN for too many cells.

    Cells that no comparison connects are independent. Connected ones are counted from the worst to the best:
    a set of cells can end with any one that no other of the set must beat.

    >>> share_of_orders((((0, 0), (0, 1)),))
    0.5
    >>> grid = list(GroupScore().comparisons(np.eye(2, dtype=bool), np.ones((2, 2), bool)))
    >>> round(share_of_orders(tuple(grid)), 4)
    0.1667
    """
    share = 1.0
    for part in connected(comparisons):
        better, worse = ({pair[k] for pair in part} for k in range(2))
        if len(part) == len(better) * len(worse):
            share /= comb(len(better) + len(worse), len(better))
            continue
        cells = sorted(better | worse)
        if len(cells) > MOST_CELLS:
            return float("nan")
        number = {cell: k for k, cell in enumerate(cells)}
        above = [0] * len(cells)
        for first, second in part:
            above[number[second]] |= 1 << number[first]
        orders = [1] + [0] * ((1 << len(cells)) - 1)
        for chosen in range(1, len(orders)):
            orders[chosen] = sum(
                orders[chosen ^ (1 << k)]
                for k in range(len(cells))
                if chosen >> k & 1 and not above[k] & chosen
            )
        share *= orders[-1] / factorial(len(cells))
    return share


def connected(comparisons: Sequence[CellPair]) -> list[set[CellPair]]:
    """Return the comparisons in sets that have no cell in common."""
    parts: list[set[CellPair]] = []
    for pair in comparisons:
        touching = [part for part in parts if any(set(pair) & set(other) for other in part)]
        parts = [part for part in parts if part not in touching]
        parts.append(set().union({pair}, *touching))
    return parts
