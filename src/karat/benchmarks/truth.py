"""A truth: judgments, the queries they cover in each direction, and the folds they are read in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from karat.benchmarks.judgments import Judgments
from karat.errors import InputError

Direction = Literal["i2t", "t2i"]
DIRECTIONS: tuple[Direction, Direction] = ("i2t", "t2i")


@dataclass(frozen=True)
class Fold:
    """A part of the benchmark that is scored by itself: its queries rank its own items only."""

    name: str
    images: np.ndarray
    captions: np.ndarray

    def queries(self, direction: Direction) -> np.ndarray:
        """The indices of the side that asks."""
        return self.images if direction == "i2t" else self.captions

    def items(self, direction: Direction) -> np.ndarray:
        """The indices of the side that is ranked."""
        return self.captions if direction == "i2t" else self.images


class Rule(Protocol):
    """An implicit truth: too many positives to list, so it is asked about single pairs.

    Plausible Match at ζ = 2 has 13 million positives in COCO's test split, all of which follow
    from 5,000 class vectors.
    """

    def relevant(self, direction: Direction, queries: np.ndarray, items: np.ndarray) -> np.ndarray:
        """Return whether each pair (queries[i], items[i]) is relevant; a rule knows no grades."""
        ...

    def positives(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return how many items are relevant to each of `queries`."""
        ...


@dataclass(frozen=True)
class JudgedItems:
    """The judged items of some queries, compressed by query: query q has rows ptr[q] to ptr[q + 1]."""

    queries: np.ndarray
    ptr: np.ndarray
    item: np.ndarray
    grade: np.ndarray

    @property
    def query_of_row(self) -> np.ndarray:
        """The query of each row."""
        return np.repeat(self.queries, np.diff(self.ptr))


@dataclass(frozen=True, eq=False)
class Truth:
    """What is known to be relevant, for which queries, read in which folds.

    Parameters
    ----------
    name
        As it is asked for: "coco-5k", "eccv".
    judgments
        The table, or None for an implicit truth.
    queries
        Per direction, the indices of the queries that the truth covers: for these, what the
        truth does not list was at least looked for. Others are not scored.
    folds
        Parts that are scored apart and averaged; empty for the whole gallery.
    rule
        What answers for an implicit truth.
    about
        A line on what it is, with its paper.
    complete
        Whether everything is judged: a pair that is not listed is judged not relevant. A rule always
        judges every pair; a table does so only where somebody knows the whole truth.
    machine
        Whether a machine made it, from captions for example, and nobody judged its pairs. Its name must
        then begin with "machine".

    Examples
    --------
    >>> from karat.benchmarks.judgments import Provenance
    >>> own = Judgments([0, 0, 1], [0, 1, 2], sources=[Provenance("original")])
    >>> truth = Truth("own", own, {"i2t": np.arange(2), "t2i": np.arange(3)})
    >>> rows = truth.judged("i2t")
    >>> rows.ptr.tolist(), rows.item.tolist()
    ([0, 2, 3], [0, 1, 2])
    """

    name: str
    judgments: Judgments | None
    queries: Mapping[Direction, np.ndarray]
    folds: Sequence[Fold] = ()
    rule: Rule | None = None
    about: str = ""
    complete: bool = False
    machine: bool = False
    _rows: dict[Direction, JudgedItems] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if (self.judgments is None) == (self.rule is None):
            raise InputError(f"truth {self.name!r} needs either judgments or a rule")
        if not any(len(rows) for rows in self.queries.values()):
            raise InputError(f"truth {self.name!r} covers no query", fix="give it at least one")
        # Many tables show nothing of a truth but its name.
        if self.machine and not self.name.startswith("machine"):
            raise InputError(
                f"a machine made the truth {self.name!r}, and its name does not say so",
                fix=f"call it machine({self.name})",
            )

    @property
    def implicit(self) -> bool:
        """Whether the truth is a rule instead of a table."""
        return self.rule is not None

    @cached_property
    def has_negatives(self) -> bool:
        """Whether anything is judged not relevant, as opposed to unjudged."""
        if self.implicit or self.complete:
            return True
        return self.judgments is not None and bool((self.judgments.pairs().grade == 0).any())

    def judged(self, direction: Direction) -> JudgedItems:
        """Return the judged items (relevant and not) of every covered query."""
        if self.judgments is None:
            raise InputError(f"truth {self.name!r} is a rule, which lists no pairs")
        if direction not in self._rows:
            pairs = self.judgments.pairs()
            query, item = (pairs.image, pairs.caption) if direction == "i2t" else (pairs.caption, pairs.image)
            queries = np.asarray(self.queries.get(direction, np.empty(0)), dtype=np.int64)
            self._rows[direction] = compress(queries, query, item, pairs.grade)
        return self._rows[direction]


def compress(asked: np.ndarray, query: np.ndarray, item: np.ndarray, grade: np.ndarray) -> JudgedItems:
    """Return the rows whose query is in `asked`, grouped by query in the order of `asked`."""
    most = max([int(query.max(initial=-1)), int(asked.max(initial=-1))]) + 1
    place = np.full(most, -1)
    place[asked] = np.arange(len(asked))
    at = place[query]
    rows = np.flatnonzero(at >= 0)
    rows = rows[np.lexsort((item[rows], at[rows]))]
    ptr = np.zeros(len(asked) + 1, np.int64)
    np.cumsum(np.bincount(at[rows], minlength=len(asked)), out=ptr[1:])
    return JudgedItems(asked, ptr, item[rows].astype(np.int64), grade[rows])
