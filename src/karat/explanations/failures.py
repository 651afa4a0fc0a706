"""Failures of a run: queries for which a wrong item comes before a relevant one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from karat._util import check_choice
from karat.benchmarks import Benchmark, Direction, JudgedItems, Truth, asks_first, in_order
from karat.errors import InputError
from karat.runs import Run, Top, TopRequest, with_whole_ties
from karat.scores.evaluation import ScanAnswers, ScanRequests, pairs_of

FAILURE_TIES = ("pessimistic", "optimistic", "stable")
"""How equal scores are ordered: those of `karat.measures.TIE_POLICIES` that name one item for every place, in
the order of the benchmark."""
MOST_SCORES = 1 << 22
"""Items whose scores are looked at together, should all of them be equal."""
MOST_LISTED = 1 << 24
"""First items that a pass lists for one question at most."""


@dataclass(frozen=True, eq=False)
class RunFailures:
    """Failures of one run under one truth in one direction; `find_failures` makes them.

    A query fails at rank k when the item at place k is not relevant although a relevant one is still to come.
    At rank 1 this is the paper's failure: the first item is wrong.

    Parameters
    ----------
    run, truth, direction
        What failed, by name.
    ranks
        Those that were looked at.
    query, rank
        Per failure, the index of its query, and the place of the wrong item; sorted by query, then rank.
    ground, retrieved
        Per failure, the items: what should have come, and what came.
    ground_image, retrieved_image
        The items of the first side that these are or belong to: an image is its own, that of a caption is the
        one that it was written for (−1: unknown).
    ground_rank
        The place of the ground truth; 0 where a list does not have it.
    n_queries
        How many queries were ranked: covered by the truth, answered by the run, with a relevant item in the
        gallery.
    missing
        How many queries of the truth were left out: without a list, or without a relevant item in the
        gallery.
    """

    run: str
    truth: str
    direction: Direction
    ranks: tuple[int, ...]
    query: np.ndarray
    rank: np.ndarray
    ground: np.ndarray
    retrieved: np.ndarray
    ground_image: np.ndarray
    retrieved_image: np.ndarray
    ground_rank: np.ndarray
    n_queries: int
    missing: int = 0

    def __len__(self) -> int:
        return len(self.query)

    def __repr__(self) -> str:
        return (
            f"RunFailures({self.run!r} on {self.truth} {self.direction}: {len(self):,} at rank "
            f"{', '.join(map(str, self.ranks))} of {self.n_queries:,} queries)"
        )

    def at(self, rank: int) -> np.ndarray:
        """Return which failures are at a rank, as numbers."""
        return np.flatnonzero(self.rank == rank)


def check_ranks(ranks: Iterable[int] | int) -> tuple[int, ...]:
    """Return ranks in order, each once, or raise."""
    listed = [ranks] if isinstance(ranks, int | np.integer) else list(ranks)
    for rank in listed:
        if isinstance(rank, bool) or not isinstance(rank, int | np.integer) or rank < 1:
            raise InputError(f"rank is {rank!r}", fix="give whole numbers from 1")
    if not listed:
        raise InputError("no rank was given", fix="give 1, or several such as 1, 2, 5")
    return tuple(sorted({int(rank) for rank in listed}))


def find_failures(
    run: Run,
    benchmark: Benchmark,
    truth: str | Truth,
    direction: Direction,
    *,
    rank: Iterable[int] | int = 1,
    ties: str = "pessimistic",
) -> RunFailures:
    """Return the failures of a run that is matched to its benchmark.

    The ground truth of a query is its *original* positive: the image that a caption was written for, or the
    first caption of an image. Where the truth does not list it, it is the first relevant item in the
    benchmark's order.

    Parameters
    ----------
    run
        Matched to the benchmark, as `karat.load_run` returns it.
    benchmark
        With the truth.
    truth
        Its name, or a truth over the same ids.
    direction
        One of the benchmark.
    rank
        One or several: at which places wrong items are looked for.
    ties
        Of equal scores: the wrong item comes first ("pessimistic", as in scores by default), the relevant
        one ("optimistic"), or the order of the benchmark or the list decides ("stable"). Wrong items among
        themselves are in the order of the benchmark or the list.

    Returns
    -------
    RunFailures

    Examples
    --------
    >>> import karat
    >>> from karat.benchmarks import build
    >>> texts = ["a dog", "a cat", "a bus"]
    >>> tiny = build("tiny", ["x", "y", "z"], [0, 1, 2], ["x", "y", "z"], texts, where="", about="")
    >>> scores = np.array([[0.9, 0.8, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.9]])
    >>> failures = find_failures(karat.load_run(scores, tiny), tiny, "original", "t2i")
    >>> failures.query.tolist(), failures.retrieved.tolist(), failures.ground_rank.tolist()
    ([1], [0], [2])
    """
    policy = check_choice(ties, FAILURE_TIES, "ties")
    direction = benchmark.direction(direction)
    question = FailureQuestion(benchmark, truth, direction, check_ranks(rank))
    check_direction(run, direction)
    return question.failures(run, ScanRequests(question.pairs, question.tops).of_run(run), policy)


def check_direction(run: Run, direction: Direction) -> None:
    """Raise where a run has no rankings of a direction."""
    if direction not in run.directions:
        raise InputError(
            f"run {run.name!r} has no {direction} rankings", fix=f"choose {' or '.join(run.directions)}"
        )


class FailureQuestion:
    """What has to be asked of a run to find its failures under one truth in one direction.

    Parameters
    ----------
    benchmark, truth, direction, ranks
        As `find_failures` takes them.
    """

    def __init__(
        self, benchmark: Benchmark, truth: str | Truth, direction: Direction, ranks: tuple[int, ...]
    ) -> None:
        self.benchmark, self.direction, self.ranks = benchmark, direction, ranks
        self.truth = benchmark.truth(truth) if isinstance(truth, str) else truth
        folds = [
            FoldQuestion.of(benchmark, self.truth, judged, ranks[-1])
            for judged in self.truth.judged_by_fold(direction, benchmark.items(direction).size)
        ]
        self.folds = [fold for fold in folds if len(fold.kept)]

    @property
    def pairs(self) -> list[JudgedItems]:
        """The ground truth of every query, to place."""
        return [fold.pairs for fold in self.folds]

    @property
    def tops(self) -> list[TopRequest]:
        """The first items of every query."""
        return [fold.request for fold in self.folds if fold.listed]

    def failures(self, run: Run, answers: ScanAnswers, policy: str) -> RunFailures:
        """Return the failures of a run, by its answers to `pairs` and `tops`."""
        parts = [part for fold in self.folds for part in failing_parts(run, fold, answers, self, policy)]
        names = ("query", "rank", "ground", "retrieved", "ground_rank")
        columns = {
            name: np.concatenate([part[name] for part in parts]) if parts else np.zeros(0, np.int64)
            for name in names
        }
        order = np.lexsort((columns["rank"], columns["query"]))
        columns = {name: column[order] for name, column in columns.items()}
        ranked = sum(int(part["n_queries"][0]) for part in parts)
        covered = len(self.truth.queries.get(self.direction, ()))
        images = {
            f"{side}_image": image_of(self.benchmark, self.direction, columns[side])
            for side in ("ground", "retrieved")
        }
        return RunFailures(
            run.name, self.truth.name, self.direction, self.ranks,
            **columns, **images, n_queries=ranked, missing=covered - ranked,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class FoldQuestion:
    """The same of one fold.

    Parameters
    ----------
    judged
        What the truth lists in the fold.
    kept, ground
        The numbers of the queries that have a relevant item in the gallery, and that item.
    pairs
        The queries with these items.
    deep
        How many first items are looked at.
    request
        One item more, which tells whether others tie with the last.
    """

    judged: JudgedItems
    kept: np.ndarray
    ground: np.ndarray
    pairs: JudgedItems
    deep: int
    request: TopRequest

    @classmethod
    def of(cls, benchmark: Benchmark, truth: Truth, judged: JudgedItems, deep: int) -> FoldQuestion:
        """Return what is asked about a fold."""
        ground = ground_items(benchmark, truth, judged)
        kept = np.flatnonzero(ground >= 0)
        queries, deep = judged.queries[kept], min(deep, int(judged.size.max(initial=0)))
        where = judged.direction, judged.gallery
        return cls(
            judged, kept, ground[kept], pairs_of(where[0], queries, ground[kept], where[1]), deep,
            TopRequest(where[0], deep + 1, queries, where[1]),
        )  # fmt: skip

    @property
    def listed(self) -> bool:
        """Whether the pass lists the first items: deeper ones are read batch by batch."""
        return len(self.kept) * (self.deep + 1) <= MOST_LISTED

    def top(self, run: Run, answers: ScanAnswers, rows: np.ndarray) -> Top:
        """Return the first items of some queries, with all that tie with the last."""
        queries = self.judged.queries[self.kept[rows]]

        def read(some: np.ndarray) -> Top:
            return run.top(self.judged.direction, self.deep, queries[some], self.judged.gallery, True)

        if not self.listed:
            return read(np.arange(len(queries)))
        return with_whole_ties(answers.tops[self.request].of(rows), self.deep, read)

    def ground_rank(self, answers: ScanAnswers, policy: str) -> np.ndarray:
        """Return the place of each query's ground truth; 0 where a list does not have it."""
        placed = answers.placed[self.pairs]
        behind = {"pessimistic": placed.tied, "optimistic": np.zeros_like(placed.tied)}
        return np.where(placed.above >= 0, placed.above + behind.get(policy, placed.earlier) + 1, 0)


def images_known(benchmark: Benchmark, direction: Direction) -> bool:
    """Return whether images are what is ranked, or known of the captions that are."""
    return not asks_first(direction) or benchmark.caption_image is not None


def image_of(benchmark: Benchmark, direction: Direction, item: np.ndarray) -> np.ndarray:
    """Return the images of items; −1 for a caption whose image is unknown."""
    if not asks_first(direction):
        return item
    if benchmark.caption_image is None:
        return np.full(len(item), -1)
    known = item < len(benchmark.caption_image)
    return np.where(known, np.asarray(benchmark.caption_image)[np.where(known, item, 0)], -1).astype(np.int64)


def failing_parts(
    run: Run, fold: FoldQuestion, answers: ScanAnswers, question: FailureQuestion, policy: str
) -> Iterator[dict[str, np.ndarray]]:
    """Yield the failures of one fold, batch by batch."""
    places = fold.ground_rank(answers, policy)
    step = max(1, MOST_SCORES // max(1, int(fold.judged.size.max(initial=1))))
    for begin in range(0, len(fold.kept), step):
        rows = np.arange(begin, min(begin + step, len(fold.kept)))
        top = fold.top(run, answers, rows)
        part = failing_queries(top, question.truth, fold.judged, fold.kept[rows], question.ranks, policy)
        number = rows[part.pop("number")]
        yield part | {"ground": fold.ground[number], "ground_rank": places[number]}


def failing_queries(
    top: Top, truth: Truth, asked: JudgedItems, kept: np.ndarray, ranks: tuple[int, ...], policy: str
) -> dict[str, np.ndarray]:
    """Return the failures of some queries, given by their number in the fold, from their first items.

    A tie at the last place may hold a relevant item, which the policy puts before or after the others: `top`
    has all of it.
    """
    queries = asked.queries[kept]
    row = np.repeat(np.arange(len(queries)), np.diff(top.ptr))
    if truth.rule is not None:
        relevant = truth.rule.relevant(asked.direction, queries[row], top.item)
        total = truth.rule.positives(asked.direction, queries)
    else:
        width = max(int(asked.item.max(initial=0)), int(top.item.max(initial=0))) + 1
        positive = asked.grade > 0
        known = np.sort(asked.number[positive] * width + asked.item[positive])
        codes = kept[row] * width + top.item
        places = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        relevant = known[places] == codes
        total = np.bincount(asked.number[positive], minlength=len(asked.queries))[kept]
    if policy in ("pessimistic", "optimistic"):
        second = relevant if policy == "pessimistic" else ~relevant
        # Ranked lists may have equal or no scores; their own order is the score then.
        order = np.lexsort((np.arange(len(row)), second, tied_groups(row, top.score), row))
        row, item, relevant = row[order], top.item[order], relevant[order]
    else:
        item = top.item
    place = np.arange(len(row)) - top.ptr[row] + 1
    before = np.cumsum(relevant)
    first = np.r_[0, before][top.ptr[:-1]]
    wrong = ~relevant & np.isin(place, ranks) & (before - first[row] < total[row])
    answered = int((np.diff(top.ptr) > 0).sum())
    return {
        "query": queries[row[wrong]],
        "rank": place[wrong],
        "number": row[wrong],
        "retrieved": item[wrong],
        "n_queries": np.array([answered]),
    }


def tied_groups(row: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Return a number that rises where the row or the score changes: equal scores of a row have the same."""
    new = np.ones(len(row), bool)
    new[1:] = (np.diff(row) != 0) | (np.diff(score) != 0)
    return np.cumsum(new)


def ground_items(benchmark: Benchmark, truth: Truth, asked: JudgedItems) -> np.ndarray:
    """Return, per query, its original positive inside the gallery, else its first positive there, else −1."""
    everything = benchmark.items(asked.direction).size
    original = np.full(len(asked.queries), -1)
    owner = benchmark.caption_image
    if truth.rule is not None:
        if owner is not None:
            original = original_items(benchmark, asked)
            inside = original >= 0
            inside[inside] = truth.rule.relevant(asked.direction, asked.queries[inside], original[inside])
            original[~inside] = -1
        return original
    inside = (asked.grade > 0) & ~asked.outside & (asked.item < everything)
    number, item = asked.number[inside], asked.item[inside]
    if owner is not None and len(number):
        query = asked.queries[number]
        image, caption = in_order(asked.direction, query, item)
        own = np.asarray(owner)[caption] == image
        # Original positives first, then the order of the benchmark.
        order = np.lexsort((item, ~own, number))
        number, item = number[order], item[order]
    found, place = np.unique(number, return_index=True)
    original[found] = item[place]
    return original


def original_items(benchmark: Benchmark, asked: JudgedItems) -> np.ndarray:
    """Return, per query, the image that a caption was written for, or the first caption of an image."""
    owner = np.asarray(benchmark.caption_image)
    if not asks_first(asked.direction):
        return owner[asked.queries].astype(np.int64)
    first = np.full(benchmark.images.size, -1)
    captions = np.flatnonzero(owner >= 0)[::-1]
    first[owner[captions]] = captions
    return first[asked.queries]
