"""The pass over the products of two tables on a GPU: counts and first items of both directions, exact.

A product of half-precision numbers is exact in single precision, so only its sum is rounded. The error of
that sum is bounded (`Halves`), and every comparison that lies within the bound is made again in double
precision, in the order of the CPU; so no count and no list depends on rounding. docs/scale-gpu.md proves it.

`karat.runs.fused_tiles` looks at the scores; here is what is looked at, and what is made of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import torch

from karat.errors import InputError, KaratError
from karat.runs.fused_tiles import CandidateLists, Halves, ScoreMarks, TorchTiles, TritonTiles, exact_products

SAMPLE = 16384
"""Items of the sample that tells how high the first k score."""
STRIP = 1 << 17
"""Columns that are looked at between two looks at the lists."""
LEAST = 1 << 12
"""Vectors of a table that is not divided further for want of memory."""
SPARE = 6
"""Items beyond the k-th whose exact scores are computed too."""
CHECKED = 4
"""Queries of each side that are answered again from the exact scores of all items, to be sure."""
Span = tuple[int, int]
NOTHING = math.inf
"""The score of a judged item that a query does not have."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What one direction asks.

    Parameters
    ----------
    scores, places
        Exact scores of judged items, and their places among equals; judged items by queries. `NOTHING` where
        a query has fewer.
    order
        For each item, its place among equals.
    k
        How many first items of each query; 0 for none.
    """

    scores: torch.Tensor
    places: torch.Tensor
    order: torch.Tensor
    k: int

    def take(self, queries: torch.Tensor | slice) -> Asked:
        """Return what some of the queries ask."""
        return Asked(self.scores[:, queries], self.places[:, queries], self.order, self.k)

    def among(self, items: slice) -> Asked:
        """Return what is asked about some of the items."""
        return Asked(self.scores, self.places, self.order[items], self.k)


@dataclass(eq=False)
class TableAnswers:
    """What one direction gets: counts as `Asked.scores`; the first items, queries by k, with exact scores."""

    above: torch.Tensor
    tied: torch.Tensor
    earlier: torch.Tensor
    item: torch.Tensor
    score: torch.Tensor

    def take(self, queries: torch.Tensor) -> TableAnswers:
        """Return the answers to some queries, or all in another order."""
        above, tied, earlier = (part[:, queries] for part in (self.above, self.tied, self.earlier))
        return TableAnswers(above, tied, earlier, self.item[queries], self.score[queries])

    def put(self, queries: torch.Tensor, others: TableAnswers) -> None:
        """Replace the answers to some queries."""
        for name in ("above", "tied", "earlier"):
            getattr(self, name)[:, queries] = getattr(others, name)
        self.item[queries], self.score[queries] = others.item, others.score

    @property
    def counts(self) -> torch.Tensor:
        """All counts in one."""
        return torch.stack([self.above, self.tied, self.earlier])

    def followed_by(self, others: TableAnswers) -> TableAnswers:
        """Return these and the answers to further queries."""
        above, tied, earlier = torch.cat([self.counts, others.counts], 2)
        item, score = torch.cat([self.item, others.item]), torch.cat([self.score, others.score])
        return TableAnswers(above, tied, earlier, item, score)

    def merged(self, others: TableAnswers, first: int, asked: Asked) -> TableAnswers:
        """Return the answers of the same queries about these items and others, numbered from `first` on."""
        above, tied, earlier = self.counts + others.counts
        item = torch.cat([self.item, others.item + first], 1)
        score = torch.cat([self.score, others.score], 1)
        # By their places, then by falling scores, which leaves equals as they are.
        turn = asked.order[item].argsort(1)
        score, falling = score.gather(1, turn).sort(dim=1, descending=True, stable=True)
        item = item.gather(1, turn.gather(1, falling))
        return TableAnswers(above, tied, earlier, item[:, : asked.k], score[:, : asked.k])


def sample_place(k: int, size: int, items: int) -> int:
    """Return the place in a sample whose score at least k of all items reach, nearly always.

    >>> sample_place(50, 16384, 1_000_000), sample_place(50, 1000, 1000)
    (5, 50)
    """
    share = k * size / items
    return k if size == items else min(size, math.ceil(share + 3 * math.sqrt(share) + 1))


def scan_tables(
    left: torch.Tensor,
    right: torch.Tensor,
    rows: Asked,
    columns: Asked,
    *,
    depth: int = 1,
    engine: type[TorchTiles] | None = None,
    watch: Callable[[str], object] | None = None,
) -> tuple[TableAnswers, TableAnswers]:
    """Return counts and first items of rows and of columns, from one pass over the products of two tables.

    Parameters
    ----------
    left, right
        A row per vector, of one width, on one device; bfloat16, float16 or float32.
    rows, columns
        What the rows ask about the columns, and the other way round.
    depth
        How many times more candidates than usual are collected, for queries that had too few.
    engine
        What looks at the scores; by default the kernels where they fit the device.
    watch
        Called with the name of each step that is done, for measurements.
    """
    done = watch or (lambda _: None)
    asked, sizes = (rows, columns), (len(left), len(right))
    halves = Halves.of(left, right)
    error = halves.error
    # A little less than 1 / error, because places are themselves rounded.
    inv = 0.99 / error
    kind = engine or (TritonTiles if TritonTiles.fits(halves.left) else TorchTiles)
    tiles = kind(halves.left, halves.right, inv)
    done("set-up")
    found = [levels_of(tiles, side, asked[side].k, depth, error) for side in (0, 1)]
    # A query whose judged items are sure to be listed needs no counting: its list tells. It comes last.
    easy = [ask.scores.amin(0) >= level.double() + 2 * error for ask, (level, _) in zip(asked, found)]
    turns = [torch.argsort(known.int(), stable=True) for known in easy]
    hard = [int((~known).sum()) for known in easy]
    done("levels")
    tiles = kind(halves.left[turns[0]], halves.right[turns[1]], inv)
    turned = [ask.take(turn) for ask, turn in zip(asked, turns)]
    marks = [ScoreMarks.of(ask.scores, inv) for ask in turned]
    lists = [CandidateLists.empty(level[turn], room) for (level, room), turn in zip(found, turns)]
    done("order")
    sides = [
        ExactSide(turned[side], (left, right) if side == 0 else (right, left), turns[side], turns[1 - side])
        for side in (0, 1)
    ]
    for row, column, light in rectangles(sizes, hard):
        pairs = tiles.scan(slice(*row), slice(*column), marks[0], marks[1], lists[0], lists[1], light)
        for side, compared in enumerate(sides):
            own = pairs[(pairs[:, 2] < len(rows.scores)) == (side == 0)]
            query, item, number = (own if side == 0 else own[:, [1, 0, 2]]).unbind(1)
            # Queries that have lists are compared there.
            kept = query < hard[side]
            compared.add(query[kept], item[kept], number[kept] - side * len(rows.scores))
    done("scan")
    answers = []
    for side, compared in enumerate(sides):
        compared.above += marks[side].count
        compared.add_listed(tiles, marks[side], lists[side], hard[side])
        done("counts")
        item, score, again = compared.first_items(lists[side], error, depth)
        done("first items")
        answer = TableAnswers(compared.above, compared.tied, compared.earlier, item, score)
        answers.append((answer.take(torch.argsort(turns[side])), turns[side][again]))
    del tiles, lists, marks
    for side, (answer, queries) in enumerate(answers):
        room = room_for(min(asked[side].k, sizes[1 - side]), sizes[1 - side], 8 * depth)[1]
        for some in queries.split(max(1, (1 << 28) // room)) if len(queries) else ():
            answer.put(some, ask_again(left, right, side, asked[side].take(some), some, depth, engine))
    done("again")
    if depth == 1:
        for side, (compared, (answer, _)) in enumerate(zip(sides, answers)):
            compared.check(asked[side], answer)
        done("check")
    return answers[0][0], answers[1][0]


def scan_in_parts(
    left: torch.Tensor, right: torch.Tensor, rows: Asked, columns: Asked
) -> tuple[TableAnswers, TableAnswers]:
    """Return what `scan_tables` does, from halves of the tables where the device has too little memory."""
    tables, asked = (left, right), (rows, columns)
    if needed_bytes(tables, asked) < free_bytes(left.device):
        # A guess: lists of scores that are close to judged items may become longer.
        with suppress(torch.OutOfMemoryError):
            return scan_tables(left, right, rows, columns)
    side = int(len(right) > len(left))
    size = len(tables[side])
    if size <= LEAST:
        raise too_little_memory()
    if left.is_cuda:
        torch.cuda.empty_cache()
    parts = []
    for span in (slice(0, size // 2), slice(size // 2, size)):
        some, other = asked[side].take(span), asked[1 - side].among(span)
        cut = tables[side][span]
        parts.append(
            scan_in_parts(cut, right, some, other) if side == 0 else scan_in_parts(left, cut, other, some)
        )
    first, second = parts
    joined = [first[side].followed_by(second[side])]
    joined.insert(1 - side, first[1 - side].merged(second[1 - side], size // 2, asked[1 - side]))
    return joined[0], joined[1]


def too_little_memory() -> InputError:
    """Return the error for a GPU that does not hold even a small part of a tile."""
    return InputError("the memory of the GPU is not enough for a tile", fix="choose --device cpu")


def needed_bytes(tables: Sequence[torch.Tensor], asked: Sequence[Asked]) -> int:
    """Return about how much memory `scan_tables` takes for copies of vectors, candidates and first items."""
    total = 1 << 28
    for table, other, ask in zip(tables, tables[::-1], asked):
        k = min(ask.k, len(other))
        vectors = 2 * (2 if table.element_size() == 2 else 6) * table.shape[1]
        total += len(table) * (vectors + 8 * room_for(k, len(other), 1)[1] + 72 * (k + SPARE))
    return total


def free_bytes(device: torch.device) -> float:
    """Return how much memory of a device can be used."""
    if device.type != "cuda":
        return math.inf
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return torch.cuda.mem_get_info(device)[0] + unused


def levels_of(tiles: TorchTiles, side: int, k: int, depth: int, error: float) -> tuple[torch.Tensor, int]:
    """Return the score that makes an item a candidate of each query, and the room for candidates.

    The level comes from a sample of the items, so that nearly always a few times k reach it; whether k do is
    checked at the end.
    """
    sides = (tiles.left, tiles.right)
    queries, items = len(sides[side]), len(sides[1 - side])
    device = tiles.left.device
    place, room = room_for(min(k, items), items, depth)
    size = min(items, SAMPLE)
    if not place or room == items:
        # Nothing is a candidate, or everything.
        return torch.full((queries,), -math.inf if place else math.inf, device=device), room
    # The same sample for the same table, whatever else was drawn.
    sample = torch.randperm(items, generator=torch.Generator().manual_seed(0))[:size].to(device)
    return tiles.levels(side == 0, sample, place) - 3 * error, room


def room_for(k: int, items: int, depth: int) -> tuple[int, int]:
    """Return the place in the sample whose score makes an item a candidate, and the room for candidates.

    >>> room_for(50, 1_000_000, 1), room_for(50, 1_000_000, 1000), room_for(0, 1_000_000, 1)
    ((5, 1024), (5000, 1000000), (0, 1))
    """
    if not k:
        return 0, 1
    size = min(items, SAMPLE)
    place = min(size, depth * sample_place(k, size, items))
    room = 1 << math.ceil(math.log2(2.5 * place * items / size + 64))
    return place, min(room, items)


def rectangles(sizes: tuple[int, int], hard: list[int]) -> Iterator[tuple[Span, Span, bool]]:
    """Yield the parts of a table whose first rows and columns are counted for: rows, columns, whether not.

    >>> list(rectangles((4, 5), [1, 2]))
    [((0, 4), (0, 2), False), ((0, 1), (2, 5), False), ((1, 4), (2, 5), True)]
    """
    for first, last, middle in ((0, hard[1], sizes[0]), (hard[1], sizes[1], hard[0])):
        for begin in range(first, last, STRIP):
            columns = begin, min(begin + STRIP, last)
            if middle > 0:
                yield (0, middle), columns, False
            if middle < sizes[0]:
                yield (middle, sizes[0]), columns, True


class ExactSide:
    """The queries of one side with what they are compared with, exactly.

    Parameters
    ----------
    asked
        What the queries ask, in the order in which tiles had them.
    tables
        The table of the queries and that of the items, as they were given.
    queries, items
        The rows of these tables, in the order in which tiles had them.
    """

    def __init__(
        self,
        asked: Asked,
        tables: tuple[torch.Tensor, torch.Tensor],
        queries: torch.Tensor,
        items: torch.Tensor,
    ) -> None:
        self.asked, self.tables, self.queries, self.items = asked, tables, queries, items
        self.above, self.tied, self.earlier = (torch.zeros_like(asked.places) for _ in range(3))

    def exact(self, query: torch.Tensor, item: torch.Tensor) -> torch.Tensor:
        """Return exact products, by numbers that tiles gave."""
        return exact_products(*self.tables, self.queries[query.long()], self.items[item.long()])

    def add(self, query: torch.Tensor, item: torch.Tensor, layer: torch.Tensor) -> None:
        """Add pairs to the counts by their exact scores: query, item, and which judged item is compared."""
        for some in torch.arange(len(query), device=query.device).split(1 << 27):
            self._add(query[some].long(), item[some], layer[some].long())

    def _add(self, query: torch.Tensor, item: torch.Tensor, layer: torch.Tensor) -> None:
        exact, own = self.exact(query, item), self.asked.scores[layer, query]
        equal, order = exact == own, self.asked.order
        earlier = order[self.items[item.long()]] < self.asked.places[layer, query]
        place = layer * self.above.shape[1] + query
        for count, flags in ((self.above, exact > own), (self.tied, equal), (self.earlier, equal & earlier)):
            count.view(-1).index_add_(0, place, flags.long())

    def add_listed(self, tiles: TorchTiles, marks: ScoreMarks, lists: CandidateLists, hard: int) -> None:
        """Count for the queries from `hard` on, whose lists hold all that is above their judged items."""
        size = self.above.shape[1]
        for layer in range(len(self.above) if hard < size else 0):
            above, near = tiles.listed(lists.view(hard, size), marks.centre[layer, hard:])
            self.above[layer, hard:] = above.long()
            self.add(near[:, 0] + hard, near[:, 1], torch.full_like(near[:, 0], layer))

    def first_items(
        self, lists: CandidateLists, error: float, depth: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the first k items and their exact scores, and the queries whose lists do not tell.

        An item that is not listed scores below the level, give or take the error. So the first k are known
        where k listed items are above the level by twice the error; and among those listed, an item that is
        below the k-th by more than twice the error does not belong to them.
        """
        k = min(self.asked.k, len(self.items))
        over = lists.count > lists.room
        if not k:
            empty = torch.empty(len(lists.count), 0, dtype=torch.int64, device=over.device)
            return empty, empty.double(), torch.nonzero(over)[:, 0]
        wide = min(k + SPARE * depth, lists.room)
        rounded, place = lists.score.topk(wide, 1)
        kth = rounded[:, k - 1]
        again = over | (lists.count < k) | (kth < lists.level + 2 * error)
        if wide < lists.room:
            again |= rounded[:, -1] >= kth - 2 * error
        missing = torch.isinf(rounded)
        item = lists.item.gather(1, place).masked_fill(missing, 0)
        query = torch.arange(len(item), device=item.device).repeat_interleave(wide)
        exact = self.exact(query, item.flatten()).view_as(rounded)
        off = float((exact - rounded).abs().masked_fill(missing, 0).max())
        if off > error:
            raise KaratError(f"a product is off by {off:.3g}, more than its bound {error:.3g}; report this")
        exact, turn = exact.masked_fill(missing, -math.inf).sort(dim=1, descending=True)
        item = self.items[item.gather(1, turn).long()]
        tied = torch.nonzero((exact[:, 1:] == exact[:, :-1]).any(1))[:, 0]
        if len(tied):
            by_order = self.asked.order[item[tied]].argsort(1)
            score, which = exact[tied].gather(1, by_order).sort(dim=1, descending=True, stable=True)
            exact[tied], item[tied] = score, item[tied].gather(1, by_order).gather(1, which)
        return item[:, :k], exact[:, :k], torch.nonzero(again)[:, 0]

    def check(self, asked: Asked, answer: TableAnswers) -> None:
        """Raise where an answer to one of a few queries is not that of the exact scores of all items."""
        places = torch.linspace(0, len(self.queries) - 1, min(CHECKED, len(self.queries)))
        queries, items = self.queries[places.long().to(self.queries.device)], len(self.items)
        every = torch.arange(items, device=queries.device)
        pairs = queries.repeat_interleave(items), every.repeat(len(queries))
        exact = exact_products(*self.tables, *pairs).view(len(queries), items)
        own, found = asked.scores[:, queries], answer.take(queries)
        for query, (scores, judged, above, tied) in enumerate(
            zip(exact, own.unbind(1), found.above.unbind(1), found.tied.unbind(1))
        ):
            counts = [[int((scores > one).sum()), int((scores == one).sum())] for one in judged]
            first = scores.topk(found.score.shape[1]).values
            if counts != torch.stack([above, tied], 1).tolist() or not torch.equal(first, found.score[query]):
                raise KaratError(
                    f"the ranks of query {int(queries[query])} are not those of its exact scores; "
                    "report this with the versions of PyTorch and Triton"
                )


def ask_again(
    left: torch.Tensor,
    right: torch.Tensor,
    side: int,
    asked: Asked,
    queries: torch.Tensor,
    depth: int,
    engine: type[TorchTiles] | None,
) -> TableAnswers:
    """Return the answers to some queries of one side, from more candidates."""
    tables = [left, right]
    tables[side] = tables[side][queries]
    items = len(tables[1 - side])
    nothing = torch.full((1, items), NOTHING, dtype=torch.float64, device=left.device)
    other = Asked(nothing, torch.zeros_like(nothing, dtype=torch.int64), torch.zeros_like(queries), 0)
    both = (asked, other) if side == 0 else (other, asked)
    return scan_tables(tables[0], tables[1], *both, depth=8 * depth, engine=engine)[side]
