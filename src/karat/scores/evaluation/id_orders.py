"""Orders that the rows and columns of a table may be in, tried on a run at chance level to explain it.

Of some queries the first result is looked up once. An order only says which image and which caption a row
and a column are, so that every pair of orders is then scored without reading the run again.

Choosing an order by its score diagnoses a wrong one and does no more: with enough orders one of them makes a
random run look better. So the number of hits must be beyond what chance explains for all orders together,
and nothing is ever applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import exp
from typing import NamedTuple

import numpy as np

from karat.benchmarks import Benchmark, Direction, Ids, Side, in_order
from karat.runs import EmbeddingRun, TableRun

SAMPLE = 400
"""Queries of each direction that are looked at."""
MOST_CELLS = 200_000_000
"""Scores that are looked at, at most: fewer queries where the gallery is very large."""
LEAST = 50
"""But at least so many queries."""
BLOCK_CELLS = 8_000_000
ALPHA = 1e-6
"""How likely a random run may get any suggestion."""


class IdOrder(NamedTuple):
    """An order of images or captions: in words, and which gallery index each row or column is."""

    words: str
    row: np.ndarray


@dataclass(frozen=True)
class Suggestion:
    """A reading of a run by which R@1 is far better.

    Parameters
    ----------
    images, captions
        The orders in words; empty where they are as given.
    negated
        Whether the signs of the scores are changed.
    recalls, before
        R@1 by direction, so and as given, over the queries that were looked at.
    queries
        How many these are, by direction.
    sides
        The words for what is ordered.
    """

    images: str
    captions: str
    negated: bool
    recalls: dict[Direction, float]
    before: dict[Direction, float]
    queries: dict[Direction, int]
    sides: tuple[Side, Side]

    @property
    def reordered(self) -> bool:
        """Whether the order of ids is another than the given one."""
        return bool(self.images or self.captions)

    def __str__(self) -> str:
        by_side = zip(self.sides, (self.images, self.captions))
        orders = [f"the {side.many} {words}" for side, words in by_side if words]
        readings = [*orders, *(["the sign of the scores changed"] if self.negated else [])]
        now, then = (
            " and ".join(f"{100 * value:.1f}% ({d})" for d, value in values.items())
            for values in (self.recalls, self.before)
        )
        counts = " and ".join(f"{count:,} ({d})" for d, count in self.queries.items())
        would = f"R@1 would be {now} instead of {then}, measured on {counts} queries"
        return f"with {' and '.join(readings)} {would}"


@dataclass
class FirstHits:
    """The first results of some queries of one direction, in the table's own rows and columns.

    `ties` says how many items share the first place: one of them is it with the chance of one in so many.
    """

    query: np.ndarray
    item: np.ndarray
    ties: np.ndarray


@dataclass
class Trial:
    """How often the first results of a run are relevant, for any order of its rows and columns.

    Parameters
    ----------
    run
        An aligned table.
    truth
        The name of a truth that lists its pairs.
    """

    run: TableRun
    benchmark: Benchmark
    truth: str
    pairs: dict[Direction, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        truth = self.benchmark.truth(self.truth)
        self.directions = tuple(d for d in truth.directions if (truth.judged(d).grade > 0).any())
        self.relevant: dict[Direction, np.ndarray] = {}
        self.is_query: dict[Direction, np.ndarray] = {}
        for direction in self.directions:
            rows = truth.judged(direction)
            items = self.benchmark.items(direction)
            good = (rows.grade > 0) & (rows.item < items.size)
            query, item = rows.query_of_row[good], rows.item[good]
            self.pairs[direction] = np.sort(query * items.size + item)
            # How many queries each item is relevant to.
            self.relevant[direction] = np.bincount(item, minlength=items.size)
            self.is_query[direction] = np.isin(
                np.arange(self.benchmark.queries(direction).size), truth.queries[direction]
            )

    def first_hits(self, direction: Direction, negated: bool) -> FirstHits:
        """Look up the first results of some queries."""
        size, items = (self.benchmark.queries(direction).size, self.benchmark.items(direction).size)
        count = min(size, max(LEAST, min(SAMPLE, MOST_CELLS // items)))
        query = np.sort(np.random.default_rng(0).choice(size, count, replace=False))
        item, ties = np.empty(count, np.int64), np.empty(count, np.int64)
        step = max(1, BLOCK_CELLS // items)
        for begin in range(0, count, step):
            scores = self.run.query_scores(direction, query[begin : begin + step])
            scores = -scores if negated else scores
            best = scores.argmax(axis=1)
            item[begin : begin + step] = best
            ties[begin : begin + step] = (scores == scores[np.arange(len(best)), best, None]).sum(axis=1)
        return FirstHits(query, item, ties)

    def hits(
        self, direction: Direction, first: FirstHits, images: np.ndarray, captions: np.ndarray
    ) -> tuple[float, float, int]:
        """Return how many first results are relevant, how many would be by chance, and how many there are."""
        query_of, item_of = in_order(direction, images, captions)
        query, item = query_of[first.query], item_of[first.item]
        asks = self.is_query[direction][query]
        key = query * self.benchmark.items(direction).size + item
        pairs = self.pairs[direction]
        at = np.minimum(np.searchsorted(pairs, key), len(pairs) - 1)
        hit = asks * (pairs[at] == key) / first.ties
        # As many as if the queries were shuffled: items that are often first and often relevant count.
        chance = (asks * self.relevant[direction][item] / first.ties).sum() / self.is_query[direction].sum()
        return float(hit.sum()), float(chance), int(asks.sum())


def suggest_order(run: TableRun, benchmark: Benchmark, truth: str) -> Suggestion | None:
    """Return the likely order of ids, or the sign, by which a run at chance level is far better.

    Parameters
    ----------
    run
        A run that is aligned with the benchmark.
    benchmark, truth
        What it is scored on; a truth that lists its pairs.

    Examples
    --------
    >>> import karat
    >>> from karat.benchmarks import build
    >>> names = [str(k) for k in range(60, 120)]
    >>> bench = build("made", names, names, names, names, where="", about="")
    >>> order = np.argsort(names)
    >>> scores = np.eye(60)[order]
    >>> print(suggest_order(karat.load_run(scores, benchmark=bench), bench, "original"))
    with the images sorted by id as text R@1 would be 100.0% (i2t) and 100.0% (t2i) instead of 0.0% (i2t) and
    0.0% (t2i), measured on 60 (i2t) and 60 (t2i) queries
    """
    trial = Trial(run, benchmark, truth)
    images, captions = likely_orders(benchmark, *map(np.argsort, run.maps(benchmark.directions[0])))
    # Embeddings are never distances.
    signs = (False,) if isinstance(run, EmbeddingRun) else (False, True)
    tried: list[tuple[float, bool, IdOrder, IdOrder, dict[Direction, float], dict[Direction, int]]] = []
    number = len(images) * len(captions) * len(signs)
    before: dict[Direction, float] = {}
    hits_before = 0.0
    for negated in signs:
        first = {direction: trial.first_hits(direction, negated) for direction in trial.directions}
        for image_order in images:
            for caption_order in captions:
                parts = {
                    d: trial.hits(d, first[d], image_order.row, caption_order.row) for d in trial.directions
                }
                hits, chance = (sum(part[k] for part in parts.values()) for k in (0, 1))
                recalls = {d: part[0] / max(1, part[2]) for d, part in parts.items()}
                counts = {d: part[2] for d, part in parts.items()}
                if not before:
                    before, hits_before = recalls, hits
                elif hits > 2 * hits_before and poisson_tail(hits, chance) < ALPHA / number:
                    tried.append((hits, negated, image_order, caption_order, recalls, counts))
    if not tried:
        return None
    # Of equal ones the first, which has the fewest changes.
    _, negated, image_order, caption_order, recalls, counts = max(tried, key=lambda trial: trial[0])
    words = image_order.words, caption_order.words
    return Suggestion(*words, negated, recalls, before, counts, benchmark.sides)


def likely_orders(
    benchmark: Benchmark, given_images: np.ndarray, given_captions: np.ndarray
) -> tuple[list[IdOrder], list[IdOrder]]:
    """Return the orders of images and of captions that are tried, the given ones first, each once."""
    images = [IdOrder("", given_images), *side_orders(benchmark.images, benchmark.image_paths)]
    captions = [IdOrder("", given_captions), *side_orders(benchmark.captions)]
    captions += [IdOrder(words, np.asarray(index)) for words, index in benchmark.caption_orders.items()]
    owner = benchmark.caption_image
    if owner is None or (owner < 0).any():
        return distinct(images), distinct(captions)
    for words, index in captions[1:]:
        seen, at = np.unique(owner[index], return_index=True)
        first = seen[np.argsort(at)]
        if len(first) == benchmark.images.size:
            images.append(IdOrder(f"in the order of their first captions, these {words}", first))
    for words, index in distinct(images):
        place = np.empty(len(index), np.int64)
        place[index] = np.arange(len(index))
        number = caption_numbers(owner)
        by_id = np.argsort(np.argsort(benchmark.captions.gallery, kind="stable"))
        like = f"images {words}" if words else "images as given"
        captions += [
            IdOrder(f"grouped by image, {like}", np.lexsort((number, place[owner]))),
            IdOrder(f"grouped by image and sorted by id, {like}", np.lexsort((by_id, place[owner]))),
            IdOrder(
                f"with the first of every image, then the second, …, {like}",
                np.lexsort((place[owner], number)),
            ),
        ]
    return distinct(images), distinct(captions)


def side_orders(ids: Ids, paths: Sequence[str] | None = None) -> Iterator[IdOrder]:
    """Yield the orders of one side that follow from its ids and files alone."""
    texts = ids.gallery.astype(str)
    yield IdOrder("in the benchmark's own order", np.arange(ids.size))
    if ids.gallery.dtype.kind == "i":
        yield IdOrder("sorted by id as numbers", np.argsort(ids.gallery, kind="stable"))
    yield IdOrder("sorted by id as text", np.argsort(texts, kind="stable"))
    if ids.gallery.dtype.kind != "i":
        yield IdOrder(
            "sorted by id, numbers in it as numbers",
            np.array(sorted(range(ids.size), key=lambda k: natural(str(texts[k])))),
        )
    files = ids.files or paths
    if files is not None:
        yield IdOrder("sorted by file name", np.array(sorted(range(ids.size), key=lambda k: files[k])))


def natural(text: str) -> list[tuple[int, str]]:
    """Return the key that sorts 2.jpg before 10.jpg.

    >>> sorted(["10.jpg", "2.jpg", "a.jpg"], key=natural)
    ['2.jpg', '10.jpg', 'a.jpg']
    """
    parts = re.split(r"([0-9]+)", text)
    return [(int(part), "") if part.isdigit() else (1 << 63, part) for part in parts if part]


def caption_numbers(owner: np.ndarray) -> np.ndarray:
    """Return, for each caption, how many captions of its image come before it.

    >>> caption_numbers(np.array([0, 1, 0, 0, 1])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(owner, kind="stable")
    begin = np.searchsorted(owner[order], owner[order])
    numbers = np.empty(len(owner), np.int64)
    numbers[order] = np.arange(len(owner)) - begin
    return numbers


def distinct(orders: list[IdOrder]) -> list[IdOrder]:
    """Return orders that differ, the first of equal ones."""
    kept: dict[bytes, IdOrder] = {}
    for order in orders:
        kept.setdefault(np.asarray(order.row, np.int64).tobytes(), order)
    return list(kept.values())


def poisson_tail(count: float, mean: float) -> float:
    """Return an upper bound of the chance of `count` or more where `mean` are expected (Chernoff).

    >>> poisson_tail(1, 2), round(poisson_tail(10, 1), 9)
    (1.0, 8.1e-07)
    """
    if count <= mean:
        return 1.0
    return exp(count - mean - count * float(np.log(count / mean))) if mean > 0 else exp(-count)
