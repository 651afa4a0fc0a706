"""A table of slices: boolean columns over queries, each set of queries once, and what joins two of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from karat._util import plural, track
from karat.benchmarks import Benchmark, Direction, Truth, turned
from karat.errors import InputError, unknown_name
from karat.explanations.max_t import compressed
from karat.explanations.query_words import concepts_of, read_mentions
from karat.explanations.slice_kinds import SLICE_KINDS, SlicedQueries, as_column
from karat.lexicon import ATTRIBUTE_KINDS

FEWEST = 10
"""A slice has at least so many queries inside and outside, or one in a thousand, whichever is more."""
MOST_JOINED = 4000
"""How many conjunctions are kept, those with the most queries."""
OWN = "own"
"""The kind of slices that the caller gives."""


@dataclass(frozen=True, eq=False)
class SliceTable:
    """Slices of queries.

    Parameters
    ----------
    names, kinds
        Per slice, "colour: red" and "colours".
    columns
        Which queries each slice holds, booleans [slices, queries].
    same
        Further names of a slice: of slices that hold the same queries.
    parts
        Per slice, the two slices that it joins, as places in the table; (−1, −1) for others.
    queries
        The index of each query in its benchmark.
    direction
        Of the queries.
    notes
        What was left out.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    columns: np.ndarray
    same: Mapping[str, tuple[str, ...]]
    parts: np.ndarray
    queries: np.ndarray
    direction: Direction
    notes: tuple[str, ...] = ()
    _place: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self._place.update({name: place for place, name in enumerate(self.names)})
        for name, others in self.same.items():
            self._place.update(dict.fromkeys(others, self._place[name]))

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Any],
        direction: Direction = "t2i",
        min_support: int | None = None,
        joined: bool = False,
    ) -> SliceTable:
        """Return a table of slices that are given as booleans per query, by name.

        Parameters
        ----------
        columns
            Booleans by name.
        direction
            Of the queries.
        min_support
            As `slice_table` takes it: smaller slices are left out.
        joined
            Whether slices are joined, two at a time.
        """
        size = max((len(np.atleast_1d(column)) for column in columns.values()), default=0)
        builder = SliceBuilder(size, check_support(min_support, size))
        for name, column in columns.items():
            builder.add(OWN, str(name), check_column(name, column, size))
        if joined:
            builder.join([])
        return builder.table(np.arange(size), direction)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"SliceTable({plural(len(self), 'slice')} of {len(self.queries):,} queries)"

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the queries of a slice as booleans."""
        return self.columns[self.place(name)]

    def place(self, name: str) -> int:
        """Return the place of a slice in the table, by any of its names."""
        if name not in self._place:
            raise InputError(f"there is no slice {name!r}", fix="see `names`; small slices are left out")
        return self._place[name]

    @cached_property
    def rows(self) -> Any:
        """The columns as scipy's compressed rows: most of them hold few queries."""
        return compressed(self.columns)

    def restricted(self, rows: np.ndarray) -> SliceTable:
        """Return the slices of some of the queries, in this order."""
        return SliceTable(
            self.names, self.kinds, self.columns[:, rows], self.same, self.parts, self.queries[rows],
            self.direction, self.notes,
        )  # fmt: skip


def slice_table(
    benchmark: Benchmark,
    direction: Direction | None = None,
    *,
    truth: str | None = None,
    kinds: Iterable[str] | str | None = None,
    own: Mapping[str, Any] | None = None,
    min_support: int | None = None,
    embeddings: np.ndarray | None = None,
    joined: bool = True,
    seed: int = 0,
    read: SlicedQueries | None = None,
) -> SliceTable:
    """Return the slices of a benchmark's queries, read from their text.

    A caption query is its text; an image query is the texts of all its captions.

    Parameters
    ----------
    benchmark, direction
        Whose queries, as "t2i" for captions and "i2t" for images; by default the last one that the truth has.
    truth
        Which truth says how many positives a query has, and which queries there are; the first by default.
    kinds
        One or several of `SLICE_KINDS`; by default all, and without captions those that need no words.
    own
        Further slices: booleans per query of the benchmark, by name.
    min_support
        The fewest queries inside and outside of a slice; by default 10, or one in a thousand.
    embeddings
        Per query of the benchmark, for clusters.
    joined
        Whether slices of two kinds are joined.
    seed
        Of the clusters.
    read
        What `read_queries` returned, where tables of several runs are made of the same queries.

    Examples
    --------
    >>> from karat.world import make_world
    >>> world = make_world(images=100, captions=5, seed=1)
    >>> table = slice_table(world.benchmark(), kinds=["colours", "sizes"])
    >>> int(table["colour: any"].sum()), int(table["colour: any & size: small"].sum())
    (216, 18)
    """
    labels = benchmark.truth(truth or next(iter(benchmark.truths)))
    direction = labels.directions[-1] if direction is None else benchmark.direction(direction)
    words = has_words(benchmark)
    possible = [name for name in SLICE_KINDS if words or not SLICE_KINDS[name].of_words]
    chosen = [kinds] if isinstance(kinds, str) else list(kinds or possible)
    words = words or any(SLICE_KINDS[name].of_words for name in chosen)
    queries = queries_of(labels, direction)
    fewest = check_support(min_support, len(queries))
    rows = None if embeddings is None else check_embeddings(embeddings, benchmark, direction)[queries]
    sliced = replace(read or read_queries(benchmark, labels, direction, words), embeddings=rows, seed=seed)
    builder = SliceBuilder(len(queries), fewest)
    for name, column in (own or {}).items():
        column = check_column(name, column, benchmark.queries(direction).size, f" of {benchmark.name}")
        builder.add(OWN, str(name), column[queries])
    builder.add_kinds(chosen, sliced)
    if joined:
        builder.join_attributes(sliced.mentions)
        builder.join([kind for kind in SLICE_KINDS if SLICE_KINDS[kind].joins])
    return builder.table(queries, direction)


def queries_of(truth: Truth, direction: Direction) -> np.ndarray:
    """Return the queries that a truth has in a direction, or raise where it has none."""
    queries = np.asarray(truth.queries.get(direction, np.empty(0)), np.int64)
    if not len(queries):
        raise InputError(
            f"truth {truth.name!r} has no queries in direction {direction}", fix="choose another"
        )
    return queries


def read_queries(
    benchmark: Benchmark, truth: Truth, direction: Direction, words: bool = True
) -> SlicedQueries:
    """Return what the queries of a truth mention, if their words count, and how many items are relevant."""
    queries = queries_of(truth, direction)
    captions = captions_of(benchmark, direction, queries) if words else [[] for _ in queries]
    found = iter(read_mentions([text for own_texts in captions for text in own_texts]))
    mentions = [[next(found) for _ in own_texts] for own_texts in captions]
    number = positives_of(truth, direction, queries)
    return SlicedQueries(mentions, benchmark.clusters(direction, queries), number)


def slice_texts(
    texts: Sequence[str], kinds: Iterable[str] | str | None = None, *, min_support: int = FEWEST
) -> dict[str, np.ndarray]:
    """Return slices of texts, without conjunctions: booleans per text, by name.

    Parameters
    ----------
    texts
        English captions, in any order and number.
    kinds
        Some of the `SLICE_KINDS` that need nothing but the texts (`from_text`); all of those by default.
    min_support
        The fewest texts inside and outside of a slice.

    Examples
    --------
    >>> texts = ["a red dog", "a red car", "two dogs", "a tree"]
    >>> {name: column.tolist() for name, column in slice_texts(texts, "colours", min_support=2).items()}
    {'colour: any': [True, True, False, False]}
    """
    possible = [name for name in SLICE_KINDS if SLICE_KINDS[name].from_text]
    chosen = [kinds] if isinstance(kinds, str) else possible if kinds is None else list(kinds)
    for name in chosen:
        if name not in possible:
            raise unknown_name("kind of slice of texts", name, possible)
    fewest = check_support(min_support, len(texts))
    nothing = np.zeros(len(texts), np.int64)
    sliced = SlicedQueries([[mentions] for mentions in read_mentions(texts)], np.arange(len(texts)), nothing)
    builder = SliceBuilder(len(texts), fewest)
    builder.add_kinds(chosen, sliced)
    if not builder.names:
        raise InputError(
            f"no slice has {fewest} captions inside and outside",
            fix="give more captions, or a smaller min_support",
        )
    return dict(zip(builder.names, builder.columns))


class SliceBuilder:
    """Collects slices: leaves out small ones, and keeps each set of queries once."""

    def __init__(self, size: int, fewest: int) -> None:
        self.size, self.fewest = size, fewest
        self.names: list[str] = []
        self.kinds: list[str] = []
        self.columns: list[np.ndarray] = []
        self.parts: list[tuple[int, int]] = []
        self.same: dict[str, tuple[str, ...]] = {}
        self.place: dict[str, int] = {}
        self.notes: list[str] = []
        self._seen: dict[bytes, int] = {}

    def add(self, kind: str, name: str, column: np.ndarray, parts: tuple[int, int] = (-1, -1)) -> None:
        """Add a slice, unless it is too small; one with the same queries gets a further name."""
        if not self.fewest <= column.sum() <= self.size - self.fewest:
            return
        key = np.packbits(column).tobytes()
        if key in self._seen:
            first = self._seen[key]
            self.place[name] = first
            if parts == (-1, -1):
                self.same[self.names[first]] = (*self.same.get(self.names[first], ()), name)
            return
        self._seen[key] = self.place[name] = len(self.names)
        self.names.append(name)
        self.kinds.append(kind)
        self.columns.append(column)
        self.parts.append(parts)

    def add_kinds(self, names: Iterable[str], queries: SlicedQueries) -> None:
        """Add the slices of some kinds."""
        kinds = [SLICE_KINDS[name] for name in names]
        for kind in track(kinds, lambda kind: f"slices by {kind.label}"):
            for label, column in queries.columns(kind).items():
                self.add(kind.name, f"{kind.label}: {label}", column)

    def join_attributes(self, mentions: Sequence[Sequence[Any]]) -> None:
        """Add what a thing is said to be: "red dog" is not "red" and "dog" of different things."""
        rows: dict[tuple[str, str], dict[int, None]] = {}
        for query, captions in enumerate(mentions):
            for caption in captions:
                for thing, attribute in caption.attributes:
                    for concept in concepts_of(thing):
                        rows.setdefault((attribute, concept), {})[query] = None
        for (attribute, concept), inside in rows.items():
            names = f"{ATTRIBUTE_KINDS[attribute]}: {attribute}", f"concept: {concept}"
            if len(inside) >= self.fewest and all(name in self.place for name in names):
                parts = self.place[names[0]], self.place[names[1]]
                self.add("thing", f"thing: {attribute} {concept}", as_column([*inside], self.size), parts)

    def join(self, kinds: Sequence[str]) -> None:
        """Add what joins slices of two kinds, those with the most queries."""
        single = [place for place, kind in enumerate(self.kinds) if kind in (*kinds, OWN)]
        if len(single) < 2:
            return
        columns = np.stack([self.columns[place] for place in single]).astype(np.float32)
        both = columns @ columns.T
        support = both.diagonal()
        different = np.array([self.kinds[place] for place in single])
        # Two colours are rarely said of one thing; what the caller gave may go together.
        may_join = (different[:, None] != different) | (different == OWN)
        first, second = np.nonzero(np.triu(may_join, 1))
        number = both[first, second]
        # A part that lies inside the other says the same as the conjunction.
        adds = (number >= self.fewest) & (number < np.minimum(support[first], support[second]))
        first, second, number = first[adds], second[adds], number[adds]
        order = np.argsort(-number, kind="stable")
        if len(order) > MOST_JOINED:
            self.notes.append(
                f"of {len(order):,} conjunctions, the {MOST_JOINED:,} with the most queries were searched"
            )
        for k in order[:MOST_JOINED].tolist():
            a, b = single[first[k]], single[second[k]]
            name = f"{self.names[a]} & {self.names[b]}"
            self.add("conjunction", name, self.columns[a] & self.columns[b], (a, b))

    def table(self, queries: np.ndarray, direction: Direction) -> SliceTable:
        """Return the table."""
        if not self.names:
            raise InputError(
                f"no slice has {self.fewest} queries inside and outside",
                fix="give more queries, or a smaller min_support",
            )
        return SliceTable(
            tuple(self.names), tuple(self.kinds), np.stack(self.columns), self.same, np.array(self.parts),
            queries, direction, tuple(self.notes),
        )  # fmt: skip


def has_words(benchmark: Benchmark) -> bool:
    """Return whether a benchmark has captions, so that its queries have words."""
    known = benchmark.texts is not None or benchmark.find_texts is not None
    return known and benchmark.sides[1].kind == "text"


def captions_of(benchmark: Benchmark, direction: Direction, queries: np.ndarray) -> list[list[str]]:
    """Return the texts of each query: its own, or those of the image."""
    if benchmark.sides[1].kind != "text":
        benchmark.check_image_text()
    texts = benchmark.needed_texts
    if benchmark.query_side(direction).kind == "text":
        return [[texts[query]] for query in queries.tolist()]
    if benchmark.caption_image is None:
        raise InputError(
            f"{benchmark.name} does not say which image its captions belong to",
            fix=f'choose direction="{turned(direction)}", whose queries are captions',
        )
    own: list[list[str]] = [[] for _ in range(benchmark.images.size)]
    for caption, image in enumerate(benchmark.caption_image.tolist()):
        if image >= 0:
            own[image].append(texts[caption])
    return [own[query] for query in queries.tolist()]


def positives_of(truth: Truth, direction: Direction, queries: np.ndarray) -> np.ndarray:
    """Return how many items are relevant to each query."""
    if truth.rule is not None:
        return np.asarray(truth.rule.positives(direction, queries), np.int64)
    rows = truth.judged(direction)
    return np.bincount(rows.number[rows.grade > 0], minlength=len(queries)).astype(np.int64)


def check_support(min_support: int | None, queries: int) -> int:
    """Return the fewest queries of a slice, or raise."""
    if min_support is None:
        return max(FEWEST, queries // 1000)
    if isinstance(min_support, bool) or not isinstance(min_support, int | np.integer) or min_support < 2:
        raise InputError(f"min_support is {min_support!r}", fix="give a whole number from 2 on")
    return int(min_support)


def check_column(name: object, column: Any, size: int, owner: str = "") -> np.ndarray:
    """Return a slice of the caller as booleans, or raise."""
    array = np.asarray(column)
    if array.shape != (size,) or array.dtype != bool:
        raise InputError(
            f"slice {str(name)!r} has shape {array.shape} and type {array.dtype}",
            fix=f"give {size:,} booleans, one per query{owner}",
        )
    return array


def check_embeddings(embeddings: np.ndarray, benchmark: Benchmark, direction: Direction) -> np.ndarray:
    """Return the embeddings of queries, or raise."""
    array, size = np.asarray(embeddings), benchmark.queries(direction).size
    if array.ndim != 2 or len(array) != size or not np.isfinite(array).all():
        raise InputError(
            f"the embeddings have shape {array.shape}" if array.ndim != 2 or len(array) != size
            else "the embeddings have values that are not finite",
            fix=f"give a table with a row for each of the {size:,} queries",
        )  # fmt: skip
    return array
