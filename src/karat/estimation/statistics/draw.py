"""Draws: what was drawn at once, and with which probability; the one record from a design to an interval.

Labels that were chosen greedily say nothing about the others. Labels that were drawn do, whatever the model
that chose the probabilities is worth: a label that had the chance π stands for 1/π units. A design returns a
`Draw` of candidates. A project keeps it as pairs of a benchmark, and numbers it as candidates again when
answers have come. For an estimate its candidates become units, pairs or whole queries, and `answered` fills
in what of it has values, and what it speaks about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from karat.errors import InputError
from karat.stats import FEWEST

UNITS = ("pair", "query")
"""What a design draws as a whole."""
NOWHERE, IN_OTHER_TASKS, IN_OWN_TASKS = -1, 0, 1
"""Where the label of something that was drawn is asked for."""
COLUMNS = ("probability", "stratum", "query", "asked", "rate")
"""What a draw knows of each of its rows; one number stands for all."""


@dataclass(frozen=True, eq=False)
class Draw:
    """What a design has drawn at once.

    Parameters
    ----------
    rows
        The numbers of what was drawn: of candidates, or of units.
    probability
        Of each of them, the probability with which this draw had to hold it: its inclusion probability,
        given what had been drawn before. One number stands for all.
    stratum
        The part of the frame in which it was drawn with a fixed number of others; −1, as everywhere by
        default, where there are no parts.
    query
        The number of the query that was drawn as a whole with all its rows; −1, as everywhere by default,
        where rows are drawn one by one.
    design
        The name of the design.
    asked
        Where its label is asked for: IN_OWN_TASKS, as everywhere by default, IN_OTHER_TASKS, or NOWHERE, if
        it was known without a task, as that of gold. Those of one kind are answered in random order, one kind
        maybe before the other.
    covers
        Of all candidates, or units, which the draw says something about: those that it could draw, or that
        were known before. All by default; not those that joined later.
    open
        Which it could draw. This and what follows is filled in by `answered`.
    pending
        Further ones that it drew, whose values are not known.
    rate
        Per row, the share of those like it that have a value; it is part of `probability`.

    Examples
    --------
    >>> Draw(np.array([4, 7]), np.array([0.1, 0.2]))
    Draw(2 pairs by uniform)
    """

    rows: np.ndarray
    probability: np.ndarray
    stratum: np.ndarray = -1  # type: ignore[assignment]
    query: np.ndarray = -1  # type: ignore[assignment]
    design: str = "uniform"
    asked: np.ndarray = IN_OWN_TASKS  # type: ignore[assignment]
    covers: np.ndarray = None  # type: ignore[assignment]
    open: np.ndarray = None  # type: ignore[assignment]
    pending: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    rate: np.ndarray = 1.0  # type: ignore[assignment]

    def __post_init__(self) -> None:
        for name in COLUMNS:
            column = np.asarray(getattr(self, name))
            object.__setattr__(self, name, column if column.ndim else np.full(len(self.rows), column))
        if {len(getattr(self, name)) for name in COLUMNS} != {len(self.rows)}:
            raise InputError("the columns of a draw differ in length", fix="give one entry per drawn row")
        if not ((self.probability > 0) & (self.probability <= 1)).all():
            raise InputError(
                "an inclusion probability is not above 0 and at most 1",
                fix="give the probability with which each pair was drawn",
            )

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Draw({len(self):,} pairs by {self.design})"

    @property
    def unit(self) -> str:
        """What was drawn as a whole: "pair" or "query"."""
        return UNITS[int(len(self) > 0 and (self.query >= 0).all())]

    def take(self, rows: np.ndarray) -> Draw:
        """Return some of its rows, by their positions or a mask."""
        columns = {name: getattr(self, name)[rows] for name in COLUMNS}
        return replace(self, rows=self.rows[rows], **columns)

    def renumbered(self, number: np.ndarray, size: int) -> Draw:
        """Return it with new numbers below `size`: number[row] in the place of each row.

        Rows that get −1 are left out. Rows that get the same number become one: the pairs of a query, for
        example. What covers only some of them does not cover it.

        >>> draw = Draw(np.array([0, 2, 3]), 0.5, query=np.array([0, 1, 1]))
        >>> draw.renumbered(np.array([0, 0, 1, 1]), 2).rows.tolist()
        [0, 1]
        """
        kept = np.flatnonzero(number[self.rows] >= 0)
        rows, first, member = np.unique(number[self.rows[kept]], return_index=True, return_inverse=True)
        asked = np.full(len(rows), NOWHERE)
        np.maximum.at(asked, member, self.asked[kept])
        covers = None
        if self.covers is not None:
            covers = np.ones(size, bool)
            covers[number[~self.covers & (number >= 0)]] = False
        return replace(self.take(kept[first]), rows=rows, asked=asked, covers=covers)


def known_from(size: int, rows: np.ndarray, since: np.ndarray, draws: Sequence[Draw]) -> np.ndarray:
    """Return per candidate the number of the first draw before which its label was known.

    Parameters
    ----------
    size
        How many candidates there are.
    rows, since
        Those with a label, and of those that were not drawn the number of the first draw before which it was
        known; 0: before all.
    draws
        In order. What has no label gets the number of draws + 1.

    Examples
    --------
    >>> draws = [Draw(np.array([2]), 0.5), Draw(np.array([0]), 0.5)]
    >>> known_from(4, np.array([1, 2]), np.zeros(2, int), draws).tolist()
    [3, 0, 1, 3]
    """
    drawn = np.full(size, -1)
    for number, draw in enumerate(draws):
        if (drawn[draw.rows] >= 0).any():
            raise InputError("a pair was drawn by two batches", fix="draw from what is not drawn yet")
        drawn[draw.rows] = number
    first = np.full(size, len(draws) + 1)
    first[rows] = np.where(drawn[rows] >= 0, drawn[rows] + 1, since)
    return first


def answered(draws: Sequence[Draw], known: np.ndarray, whole: bool = False) -> dict[int, Draw]:
    """Return of each draw what has values, with what it covers, could draw and left open; by its number.

    Parameters
    ----------
    draws
        Of units, in order.
    known
        Per unit, the number of the first draw before which its value was known (`known_from`).
    whole
        Units are whole queries: draws of single pairs say nothing about them.

    Returns
    -------
    dict
        Without draws of which too little is answered: nothing stands for the rest of these, which no later
        draw can speak about either.

    Examples
    --------
    >>> draw, known = Draw(np.arange(12), 0.1), np.r_[np.ones(6, int), np.full(8, 2)]
    >>> half = answered([draw], known)[0]
    >>> half.rows.tolist(), float(half.probability[0]), half.pending.tolist()
    ([0, 1, 2, 3, 4, 5], 0.05, [6, 7, 8, 9, 10, 11])
    """
    told = {}
    pending, lost = np.zeros((2, len(known)), bool)
    for number, draw in enumerate(draws):
        if whole and draw.unit == "pair":
            continue
        if draw.covers is not None:
            # What it does not cover any more as a whole stands for itself.
            draw = draw.take(draw.covers[draw.rows])
        covers = ~lost if draw.covers is None else draw.covers & ~lost
        can_be_drawn = covers & ~pending & (known > number)
        together = draw.rows if draw.unit == "pair" else draw.query
        names, member = np.unique(together, return_inverse=True)
        unanswered = known[draw.rows] > len(draws)
        lacking = np.zeros(len(names), bool)
        np.logical_or.at(lacking, member, unanswered)
        asked = np.full(len(names), NOWHERE)
        np.maximum.at(asked, member, draw.asked)
        rate = response_rates(asked, lacking)[member]
        keep = ~lacking[member]
        if not keep.any() or not rate.all():
            lost[draw.rows[unanswered]] = True
            continue
        left = draw.rows[~keep]
        pending[left] = True
        part = replace(draw.take(keep), covers=covers, open=can_be_drawn, pending=left, rate=rate[keep])
        told[number] = replace(
            part,
            probability=part.probability * part.rate,
            stratum=part.stratum if (rate == 1).all() else np.zeros(len(part), np.int64),
        )
    return told


def response_rates(asked: np.ndarray, lacking: np.ndarray) -> np.ndarray:
    """Return per drawn unit the share of those asked about likewise that are answered; 0 if too few are.

    Those whose labels were known without a question are answered for certain. Pairs that earlier tasks ask
    about may all be answered when half of the batch's own tasks are, so each kind has its own share. Where
    earlier tasks have too few answers to stand for the rest of them, the batch's own stand for these as well.

    Parameters
    ----------
    asked
        Per unit, where its label is asked for, as in `Draw`.
    lacking
        Per unit, whether an answer is missing.

    Examples
    --------
    >>> asked = np.repeat([NOWHERE, IN_OTHER_TASKS, IN_OWN_TASKS], [1, 5, 10])
    >>> response_rates(asked, np.arange(16) >= 11)[[0, 1, 15]].tolist()
    [1.0, 1.0, 0.5]
    """
    rate = np.ones(len(asked))
    kinds = [asked == kind for kind in (IN_OTHER_TASKS, IN_OWN_TASKS)]
    few = [lacking[kind].any() and (~lacking[kind]).sum() < FEWEST for kind in kinds]
    if few == [True, False] and kinds[1].any():
        kinds, few = [kinds[0] | kinds[1]], [False]
    for kind, too_few in zip(kinds, few, strict=True):
        rate[kind] = 0.0 if too_few else (~lacking[kind]).sum() / max(kind.sum(), 1)
    return rate


def inclusion_probabilities(size: np.ndarray, n: int) -> np.ndarray:
    """Return probabilities proportional to `size` that add up to `n`, none above 1.

    >>> inclusion_probabilities(np.array([1.0, 1.0, 2.0, 8.0]), 2).tolist()
    [0.25, 0.25, 0.5, 1.0]
    """
    n = min(n, len(size))
    out = np.ones(len(size))
    rest = np.arange(len(size))
    while n < len(size):
        out[rest] = size[rest] * ((n - (len(size) - len(rest))) / size[rest].sum())
        above = out[rest] >= 1
        if not above.any():
            break
        out[rest[above]] = 1.0
        rest = rest[~above]
    return out


def drawn_in_strata(stratum: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return which units are drawn: of each stratum a simple random sample of the given size.

    >>> drawn_in_strata(np.array([0, 0, 1, 1, 1]), np.array([1, 3]), np.random.default_rng(0)).tolist()
    [1, 3, 2, 4]
    """
    size = np.bincount(stratum)
    order = np.lexsort((rng.random(len(stratum)), stratum))
    within = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    return order[within < number[stratum[order]]]


def systematic(probability: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw by the given probabilities; the number drawn is their sum, which is whole.

    Randomised systematic sampling (Hartley and Rao 1962): the units are put in random order on a line, each
    as long as its probability, and every unit that a point hits is drawn; points lie 1 apart.

    >>> systematic(np.array([0.5, 0.5, 1.0]), np.random.default_rng(0)).tolist()
    [1, 2]
    """
    order = rng.permutation(len(probability))
    end = np.cumsum(probability[order])
    # The sum is whole but for rounding.
    end *= round(end[-1]) / end[-1] if len(end) else 1.0
    hits = np.floor(end + rng.random())
    return np.sort(order[np.diff(hits, prepend=0.0) > 0])
