"""A truth: judgments, the queries they cover in each direction, and the folds they are read in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from karat._util import Layout, Part, fragment, plural
from karat.benchmarks.judgments import Judgments, Share
from karat.benchmarks.pool_design import KINDS as DESIGN_KINDS
from karat.benchmarks.sides import Direction, asks_first, in_order, query_side, same_side
from karat.errors import InputError

COUNTS = {"queries": "number", "positives": "relevant", "negatives": "judged not"}
"""What `Truth.counts` returns, with the heads of its columns."""
MOST_SOURCES = 10
"""How many sources of ratings a notebook names."""


@dataclass(frozen=True)
class Fold:
    """A part of the benchmark that is scored by itself: its queries rank its own items only."""

    name: str
    images: np.ndarray
    captions: np.ndarray

    def queries(self, direction: Direction) -> np.ndarray:
        """The indices of the queries."""
        return in_order(direction, self.images, self.captions)[0]

    def items(self, direction: Direction) -> np.ndarray:
        """The indices of the ranked items."""
        return in_order(direction, self.images, self.captions)[1]


class Rule(Protocol):
    """An implicit truth: too many positives to list, so it is queried about single pairs.

    Plausible Match at ζ = 2 has 13 million positives in COCO's test split, all of which follow
    from 5,000 class vectors.
    """

    def relevant(self, direction: Direction, queries: np.ndarray, items: np.ndarray) -> np.ndarray:
        """Return whether each pair (queries[i], items[i]) is relevant; a rule knows no grades."""
        ...

    def positives(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return how many items are relevant to each of `queries`."""
        ...


def nothing() -> np.ndarray:
    """Return a column that is not filled in yet."""
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class JudgedItems:
    """Judged items of some queries, compressed by query: query q has rows ptr[q] to ptr[q + 1].

    This is the one record on the way from labels to scores. A truth says which items are judged and in which
    gallery they are ranked (`Truth.judged_by_fold`), a run adds where it ranks them (`karat.runs.Run.place`),
    and the tie policy turns the counts into `karat.measures.Ranked`, which measures see.

    Parameters
    ----------
    direction, queries
        The direction, and the indices of its queries.
    ptr, item, grade
        Their judged items; `grade` may have leading axes (posterior draws of the grades), 0 is not relevant.
        In the record of a whole pool (`Truth.pool`) NaN is pooled and not judged.
    gallery, size
        The items that are ranked, sorted, None for all; and per query how many these are.
    outside
        Per row, whether the item is not in the gallery, so that it can never be retrieved.
    complete
        Whether items without a row are judged not relevant, instead of unjudged.
    top
        The rating of which grades are shares; 1 where ratings do not become grades in this way.
    above, tied, earlier
        Per row, filled in by a run: how many items score strictly higher (−1: no known place),
        how many others score the same, and how many of these come earlier in the run's order of ties:
        that of the benchmark, of a ranked list, or of trec_eval.
    depth
        Per query, filled in by a run: how many places of the ranking are known.
    total
        Per query, how many items are relevant, where the rows do not list all.
    ideal
        Where grades are similarities: per query, the highest possible sum of the first 1, 2, … items.
    stratum, inclusion
        Of a pool, per row where the truth says so: the stratum that the item was sampled from, or the
        probability with which it was chosen for judging.
    """

    direction: Direction
    queries: np.ndarray
    ptr: np.ndarray
    item: np.ndarray
    grade: np.ndarray
    gallery: np.ndarray | None = None
    size: np.ndarray = field(default_factory=nothing)
    outside: np.ndarray = field(default_factory=nothing)
    complete: bool = False
    top: float = 1.0
    above: np.ndarray = field(default_factory=nothing)
    tied: np.ndarray = field(default_factory=nothing)
    earlier: np.ndarray = field(default_factory=nothing)
    depth: np.ndarray = field(default_factory=nothing)
    total: np.ndarray | None = None
    ideal: np.ndarray | None = None
    stratum: np.ndarray | None = None
    inclusion: np.ndarray | None = None

    @cached_property
    def number(self) -> np.ndarray:
        """Per row, the number of its query: 0 for the first of `queries`."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.ptr))

    @property
    def query_of_row(self) -> np.ndarray:
        """Per row, the index of its query."""
        return self.queries[self.number]

    @property
    def sampled(self) -> dict[str, np.ndarray]:
        """The columns on how a pool was sampled: `stratum`, `inclusion` or none."""
        columns = {name: getattr(self, name) for name in DESIGN_KINDS}
        return {name: column for name, column in columns.items() if column is not None}

    @property
    def nothing_unjudged(self) -> bool:
        """Whether every pair is judged: by a rule, or by a truth that is complete."""
        return self.complete or self.total is not None


@dataclass(frozen=True, eq=False)
class Truth:
    """What is known to be relevant, for which queries, read in which folds.

    Parameters
    ----------
    name
        Its name: "coco-5k", "eccv".
    judgments
        The table, or None for an implicit truth.
    queries
        Per direction, the indices of the queries that the truth covers: for these, what
        the truth does not list was at least searched for. Others are not scored.
    folds
        Parts that are scored apart and averaged; empty for the whole gallery.
    rule
        What answers for an implicit truth.
    about
        A line on what it is, with its paper.
    complete
        Whether everything is judged: a pair that is not listed is judged not relevant. A rule always
        judges every pair; a table does so only where the whole truth is known.
    machine
        Whether a machine made it, from captions for example, and its pairs were not judged. Its name must
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
        if self.complete and self.n_pooled:
            raise InputError(
                f"truth {self.name!r} is complete, with {plural(self.n_pooled, 'pair')} not judged",
                fix="leave out `pooled` or `complete`: in a complete truth every pair is judged",
            )
        # Many tables show nothing of a truth but its name.
        if self.machine and not self.name.startswith("machine"):
            raise InputError(
                f"a machine made the truth {self.name!r}, and its name does not say so",
                fix=f"call it machine({self.name})",
            )

    def __repr__(self) -> str:
        sides = " and ".join(f"{len(asked):,} {query_side(way).many}" for way, asked in self.queries.items())
        known = "a rule" if self.judgments is None else repr(self.judgments)
        return f"Truth({self.name!r}: {sides} as queries; {known})"

    def _repr_html_(self) -> str:
        """Return it for notebooks: what it covers, and how it is to be read."""
        return fragment(describe(self), self.notes)

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions that it has queries of, the one in which the first side asks before the other."""
        covered = [direction for direction, asked in self.queries.items() if len(asked)]
        return tuple(sorted(covered, key=asks_first, reverse=True))

    @property
    def implicit(self) -> bool:
        """Whether the truth is a rule instead of a table."""
        return self.rule is not None

    @cached_property
    def has_negatives(self) -> bool:
        """Whether anything is judged not relevant, as opposed to unjudged."""
        if self.judgments is None or self.complete:
            return True
        return bool((self.judgments.pairs().grade == 0).any())

    @property
    def top(self) -> float:
        """The rating of which grades are shares, as 3 in qrels from 0 to 3; 1 where they are none."""
        mappings = [] if self.judgments is None else [source.mapping for source in self.judgments.sources]
        tops = {mapping.top if isinstance(mapping, Share) else 1.0 for mapping in mappings}
        return float(tops.pop()) if len(tops) == 1 else 1.0

    @property
    def n_pooled(self) -> int:
        """How many pairs were pooled and not judged; they are unjudged."""
        return 0 if self.judgments is None else len(self.judgments.pooled[0])

    @property
    def notes(self) -> list[str]:
        """How many pairs were pooled and not judged, where there are some."""
        pooled = f"{plural(self.n_pooled, 'pair')} pooled and not judged, read as unjudged"
        return [pooled] if self.n_pooled else []

    @property
    def has_probabilities(self) -> bool:
        """Whether labels have the probability that they are right, so that others can be drawn."""
        return self.judgments is not None and self.judgments.has_probabilities

    def _asked(self, direction: Direction) -> np.ndarray:
        """Return the indices of the covered queries; none of a direction that is not covered."""
        return np.asarray(self.queries.get(direction, np.empty(0)), dtype=np.int64)

    def pooled(self, direction: Direction) -> tuple[np.ndarray, np.ndarray]:
        """Return query and item of each pair that was pooled and not judged, for every covered query."""
        if self.judgments is None:
            return nothing(), nothing()
        query, item, _ = directed(direction, *(column.astype(np.int64) for column in self.judgments.pooled))
        _, rows = compress(self._asked(direction), query, item)
        return query[rows], item[rows]

    def counts(self, direction: Direction) -> dict[str, int]:
        """Return how many queries a direction has, and how many relevant and other judged pairs."""
        queries = self._asked(direction)
        if self.rule is not None:
            relevant, negatives = int(self.rule.positives(direction, queries).sum()), 0
        else:
            grade = self.judged(direction).grade
            relevant, negatives = int((grade > 0).sum()), int((grade == 0).sum())
        return {"queries": len(queries), "positives": relevant, "negatives": negatives}

    def judged(self, direction: Direction) -> JudgedItems:
        """Return the judged items (relevant and not) of every covered query."""
        if self.judgments is None:
            raise InputError(f"truth {self.name!r} is a rule, which lists no pairs")
        if direction not in self._rows:
            pairs = self.judgments.pairs()
            query, item, row = directed(direction, pairs.image, pairs.caption)
            queries = self._asked(direction)
            ptr, rows = compress(queries, query, item)
            item, grade = item[rows].astype(np.int64), pairs.grade[row[rows]]
            self._rows[direction] = JudgedItems(direction, queries, ptr, item, grade, complete=self.complete)
        return self._rows[direction]

    def pool(self, direction: Direction) -> JudgedItems:
        """Return the whole pool of every covered query: judged items, and those not judged with grade NaN.

        With how they were sampled, where the judgments say so for the queries of this direction.

        >>> from karat.benchmarks.judgments import Provenance
        >>> own = Judgments([0, 0], [0, 3], rating=[1, 0], sources=[Provenance("people")], pooled=([0], [2]))
        >>> rows = Truth("own", own, {"i2t": np.arange(1)}).pool("i2t")
        >>> rows.item.tolist(), rows.grade.tolist()
        ([0, 2, 3], [1.0, nan, 0.0])
        """
        rows = self.judged(direction)
        pooled_query, pooled_item = self.pooled(direction)
        query, item = np.r_[rows.query_of_row, pooled_query], np.r_[rows.item, pooled_item]
        ptr, order = compress(rows.queries, query, item)
        grade = np.r_[rows.grade, np.full(len(pooled_query), np.nan)]
        sampled = {}
        design = None if self.judgments is None else self.judgments.design
        if design is not None and design.direction == direction:
            sampled[design.by] = design.lookup(*in_order(direction, query, item))[order]
        return replace(rows, ptr=ptr, item=item[order], grade=grade[order], **sampled)

    def judged_by_fold(self, direction: Direction, everything: int, pool: bool = False) -> list[JudgedItems]:
        """Return the judged items of each fold with the gallery that they are ranked in.

        One record for the whole gallery of `everything` items where there are no folds. A fold has its own
        queries and items: items of other folds are left out, items outside every gallery stay among the
        positives. A rule has queries without rows. With `pool`, the whole pool instead of its judged items.
        """
        if self.implicit:
            asked = self._asked(direction)
            rows = JudgedItems(direction, asked, np.zeros(len(asked) + 1, np.int64), nothing(), np.zeros(0))
        else:
            rows = self.pool(direction) if pool else self.judged(direction)
        folds: Sequence[Fold | None] = self.folds or [None]
        return [self._in_fold(fold, everything, rows) for fold in folds]

    def _in_fold(self, fold: Fold | None, everything: int, rows: JudgedItems) -> JudgedItems:
        gallery = None
        if fold is not None:
            gallery = np.sort(fold.items(rows.direction))
            inside = np.isin(rows.queries, fold.queries(rows.direction))
            among = np.zeros(max(everything, int(rows.item.max(initial=-1)) + 1), bool)
            among[gallery], among[everything:] = True, True
            keep = inside[rows.number] & among[rows.item]
            lengths = np.bincount(rows.number[keep], minlength=len(rows.queries))[inside]
            rows = replace(
                rows,
                queries=rows.queries[inside],
                ptr=np.r_[0, np.cumsum(lengths)],
                item=rows.item[keep],
                grade=rows.grade[keep],
                **{name: column[keep] for name, column in rows.sampled.items()},
            )
        size = np.full(len(rows.queries), everything if gallery is None else len(gallery))
        if same_side(rows.direction):
            # Each query leaves itself out.
            size -= np.isin(rows.queries, np.arange(everything) if gallery is None else gallery)
        return replace(
            rows,
            gallery=gallery,
            size=size,
            outside=rows.item >= everything,
            complete=self.complete,
            top=self.top,
        )


def describe(truth: Truth) -> list[Part]:
    """Return what a truth covers in a table, and how it is to be read in sentences."""
    everything = truth.implicit or truth.complete
    rows = []
    for way in truth.queries:
        cells = [f"{count:,}" for count in truth.counts(way).values()]
        rows.append([query_side(way).many, *cells[:-1], "all others" if everything else cells[-1]])
    sentences = [
        *(["It is a rule, which judges every pair."] if truth.implicit else []),
        *(["A machine made it; its pairs were not judged."] if truth.machine else []),
        *([f"Scored in {len(truth.folds)} folds, each with its own gallery."] if truth.folds else []),
    ]
    if truth.judgments is not None:
        sources = [f"{source.name} ({source.scale})" for source in truth.judgments.sources]
        rest = [f"{len(sources) - MOST_SOURCES:,} others"] if len(sources) > MOST_SOURCES else []
        pairs = plural(len(truth.judgments.pairs()), "pair")
        raters = ", ".join([*sources[:MOST_SOURCES], *rest])
        sentences.append(f"{plural(len(truth.judgments), 'rating')} of {pairs} by {raters}.")
    about = f"truth {truth.name}: {truth.about}" if truth.about else f"truth {truth.name}"
    return [about, Layout(["queries", *COUNTS.values()], rows), "\n".join(sentences)]


def directed(
    direction: Direction, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs as query and item, and the number of the pair that each row came from.

    Where a collection is searched with its own items, each of a pair asks for the other, and none for itself.

    >>> [column.tolist() for column in directed("i2i", np.array([0, 2]), np.array([1, 2]))]
    [[0, 1], [1, 0], [0, 0]]
    """
    row = np.arange(len(first))
    if not same_side(direction):
        return *in_order(direction, first, second), row
    row = row[first != second]
    first, second = first[row], second[row]
    return np.r_[first, second], np.r_[second, first], np.r_[row, row]


def compress(asked: np.ndarray, query: np.ndarray, item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the rows of each query in `asked` begin, and these rows, sorted by query, then item."""
    most = max([int(query.max(initial=-1)), int(asked.max(initial=-1))]) + 1
    place = np.full(most, -1)
    place[asked] = np.arange(len(asked))
    at = place[query]
    rows = np.flatnonzero(at >= 0)
    # One key instead of two: most rows are sorted already, and then this takes no time.
    rows = rows[np.argsort(at[rows] * (int(item.max(initial=0)) + 1) + item[rows], kind="stable")]
    ptr = np.zeros(len(asked) + 1, np.int64)
    np.cumsum(np.bincount(at[rows], minlength=len(asked)), out=ptr[1:])
    return ptr, rows
