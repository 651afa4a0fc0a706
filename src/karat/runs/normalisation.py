"""Normalisation of scores after the fact: named steps, recorded in the run, that use more than one query.

Each step lowers the score of items that many queries score high ("hubs"). What an item is lowered by is
computed from queries: those of the test set, which a search that answers one query at a time does not have,
or those of a bank from elsewhere, such as the training set. Adding the same number to all items of a query
changes none of its ranks, so one table serves both directions: a correction per caption ranks the captions of
an image, one per image the images of a caption.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import Param, Registry, natural, parse_params, positive, stage
from karat.benchmarks import DIRECTIONS, Benchmark, Direction, asks_first, direction_in, in_order, letters_of
from karat.errors import InputError, MissingDataError
from karat.runs.embeddings import EmbeddingRun
from karat.runs.files import read_run
from karat.runs.fingerprint import NORMALISED, USES_TEST_SET, Fingerprint
from karat.runs.formats import Blocks, Content, rows_per_block
from karat.runs.loading import Loading
from karat.runs.matrix import MatrixRun
from karat.runs.rankings import RankingsRun
from karat.runs.run import Run
from karat.runs.table import TableRun

SMALLEST = 1e-30
"""Scores nearer to 0 count as 0 where a logarithm is taken."""


class ItemStatistic(ABC):
    """A number per item of the scores that all queries give it, gathered block by block."""

    @abstractmethod
    def add(self, values: np.ndarray, items: slice = slice(None)) -> None:
        """Add the scores of further queries, queries by items, to some items."""

    @property
    @abstractmethod
    def value(self) -> np.ndarray:
        """The numbers."""


class SoftMaximum(ItemStatistic):
    """τ log Σ_q exp(s_q / τ): nearly the highest score that a query gives.

    >>> statistic = SoftMaximum(1, 2, temperature=0.5)
    >>> statistic.add(np.array([[0.0], [1.0]]))
    >>> round(float(statistic.value[0] - 0.5 * np.log(1 + np.exp(2))), 12)
    0.0
    """

    def __init__(self, n_items: int, n_queries: int, temperature: float) -> None:
        self.temperature = temperature
        self.highest = np.full(n_items, -np.inf)
        self.total = np.zeros(n_items)

    def add(self, values: np.ndarray, items: slice = slice(None)) -> None:
        """Add the scores of further queries."""
        values = values / self.temperature
        highest = np.maximum(self.highest[items], values.max(axis=0))
        values -= highest
        before = self.total[items] * np.exp(self.highest[items] - highest)
        self.total[items] = before + np.exp(values, out=values).sum(axis=0)
        self.highest[items] = highest

    @property
    def value(self) -> np.ndarray:
        """The soft maximum of every item."""
        return self.temperature * (self.highest + np.log(self.total))


class NearestMean(ItemStatistic):
    """The mean of the k highest scores that queries give; of all where these are fewer.

    >>> statistic = NearestMean(1, 3, k=2)
    >>> statistic.add(np.array([[0.0], [1.0], [0.5]]))
    >>> statistic.value.tolist()
    [0.75]
    """

    def __init__(self, n_items: int, n_queries: int, k: int) -> None:
        # There are no more neighbours than queries, whatever k is.
        self.highest = np.full((min(k, n_queries), n_items), -np.inf)

    def add(self, values: np.ndarray, items: slice = slice(None)) -> None:
        """Add the scores of further queries."""
        k = len(self.highest)
        both = np.concatenate([self.highest[:, items], values])
        self.highest[:, items] = np.partition(both, len(both) - k, axis=0)[-k:]

    @property
    def value(self) -> np.ndarray:
        """The mean of every item."""
        known = np.isfinite(self.highest)
        return np.where(known, self.highest, 0.0).sum(axis=0) / known.sum(axis=0)


@dataclass(frozen=True)
class ScoreNormalisation:
    """A step: every score is changed by what other queries say about its item.

    Parameters
    ----------
    name, about, formula, paper
        What it is called, a line on what it does, how a score changes, and where it is from.
    statistic
        From the numbers of items and of queries and the parameters to what is gathered about items.
    params
        Its parameters, as data.
    weight
        How often the score itself counts.
    times_score
        Whether the probability is multiplied by the score.
    dynamic
        Whether only queries change whose first item is the first of a query of the bank; these differ per
        direction, so that the result is ranked lists.
    """

    name: str
    about: str
    formula: str
    paper: str
    statistic: Callable[..., ItemStatistic]
    params: tuple[Param, ...]
    weight: float = 1.0
    times_score: bool = False
    dynamic: bool = False


def temperature(default: float) -> Param:
    """Return the parameter of a softmax."""
    return Param("temperature", positive, "in units of the scores; low sees the highest alone", default)


NORMALISATIONS: Registry[ScoreNormalisation] = Registry("normalisation", group="karat.normalisations")
"""By name: the steps."""

for step in (
    ScoreNormalisation(
        "dual-softmax",
        "the score times its share among the scores of all queries for the item",
        "s · exp(s/τ) / Σ_queries exp(s/τ)",
        "Cheng et al. 2021 (CAMoE), arXiv:2109.04290",
        SoftMaximum,
        (temperature(0.01),),
        times_score=True,
    ),
    ScoreNormalisation(
        "inverted-softmax",
        "the share of the score among the scores of all queries for the item",
        "exp(s/τ) / Σ_queries exp(s/τ)",
        "Smith et al. 2017, arXiv:1702.03859",
        SoftMaximum,
        (temperature(0.01),),
    ),
    ScoreNormalisation(
        "querybank",
        "inverted softmax over a bank, for queries whose first item also comes first in the bank",
        "exp(s/τ) / Σ_bank exp(s/τ)",
        "Bogolin et al. 2022 (QB-Norm), arXiv:2112.12777",
        SoftMaximum,
        (temperature(0.05),),
        dynamic=True,
    ),
    ScoreNormalisation(
        "csls",
        "twice the score less the mean of the k highest scores of the item, and of the query",
        "2s − mean of the k highest s of the item − mean of the k highest s of the query",
        "Conneau et al. 2018, arXiv:1710.04087",
        NearestMean,
        (Param("k", natural, "how many neighbours", 10),),
        weight=2.0,
    ),
):
    NORMALISATIONS.add(step.name, step)


@dataclass(frozen=True, eq=False)
class NormalisedScores:
    """The scores of a run after a step, made on demand; `normalise` gives them as a run.

    Parameters
    ----------
    base
        The run as it was.
    step, params
        What is done.
    corrections
        Per direction, what the score of each item is lowered by, in the table's own order.
    firsts
        Per direction, the items that come first for a query of the bank, for dynamic steps.
    made_with
        What the result was made with.
    """

    base: TableRun
    step: ScoreNormalisation
    params: Mapping[str, Any]
    corrections: Mapping[Direction, np.ndarray]
    firsts: Mapping[Direction, np.ndarray]
    made_with: Fingerprint

    @cached_property
    def offset(self) -> float | None:
        """What keeps logarithms of products above 0, where scores may be below 0; None where none is."""
        if not self.step.times_score:
            return None
        lowest = min(float(block.min()) for _, block in query_blocks(self.base, self.base.directions[0]))
        if lowest > 0:
            return None
        if lowest < 0 and len(self.corrections) < len(self.base.directions):
            # Products below 0 rank in reverse in one direction, and the other would have to stay as it was:
            # in general no table has both orders.
            raise InputError(
                f"{self.step.name} of one direction alone needs scores of 0 or more; "
                f"the lowest is {lowest:g}",
                where=self.base.where or self.base.name,
                fix=f"normalise both directions, and score only {next(iter(self.corrections))} of the result",
            )
        most = sum(float(values.max()) for values in self.corrections.values())
        return -(self.params["temperature"] * np.log(SMALLEST) + lowest - most) + 1.0

    @property
    def table(self) -> Blocks:
        """Images by captions, in blocks.

        A probability, or a product with one, is kept as its logarithm times τ, which ranks the same and
        neither overflows nor vanishes; in double precision, since many probabilities are nearly 1.
        """

        def rows() -> Iterator[np.ndarray]:
            for begin, block in query_blocks(self.base, self.base.directions[0]):
                yield self.changed(block, slice(begin, begin + len(block)))

        return Blocks(self.base.images_by_captions, np.float64, rows)

    def changed(self, scores: np.ndarray, images: slice) -> np.ndarray:
        """Return the new scores of some images with all captions."""
        changed = self.step.weight * scores
        if self.step.times_score:
            size = np.maximum(np.abs(scores), SMALLEST)
            changed += self.params["temperature"] * np.log(size)
        for direction, correction in self.corrections.items():
            changed -= correction if asks_first(direction) else correction[images, None]
        if self.offset is not None:
            # Products below 0 rank in reverse, below all others.
            changed = np.where(np.abs(scores) < SMALLEST, 0.0, np.sign(scores) * (changed + self.offset))
        return changed

    def lists(self, top: int | None = None) -> Content:
        """Return ranked lists, with scores, of each direction that has a correction."""
        bench = self.base.benchmark
        if bench is None:
            raise InputError("ranked lists need ids", where=self.base.where, fix="give the benchmark")
        lists: dict[str, dict[Any, Any]] = {}
        scores: dict[str, dict[Any, Any]] = {}
        for way, correction in self.corrections.items():
            query_of, item_of = self.base.maps(way)
            queries, items = bench.queries(way).gallery, bench.items(way).gallery
            lists[way], scores[way] = {}, {}
            for begin, block in query_blocks(self.base, way, query_of):
                normalised = np.isin(block.argmax(axis=1), self.firsts[way])
                values = block - np.where(normalised[:, None], correction, 0.0)
                first = MatrixRun(values[:, item_of]).top(DIRECTIONS[0], top or len(items))
                for row, query in enumerate(queries[begin : begin + len(block)].tolist()):
                    part = slice(first.ptr[row], first.ptr[row + 1])
                    lists[way][query] = items[first.item[part]]
                    scores[way][query] = first.score[part]
        return Content(lists=lists, scores=scores)


def normalise(
    *sources: Any,
    how: str,
    benchmark: Benchmark | None = None,
    bank: Any = None,
    direction: Sequence[str] | str | None = None,
    top: int | None = None,
    loading: Loading | None = None,
    **params: Any,
) -> Run:
    """Return a run whose scores were normalised by a named step, and which says so.

    Parameters
    ----------
    *sources
        A run of scores or embeddings, or what `karat.load_run` takes.
    how
        One of `karat.runs.NORMALISATIONS`: dual-softmax, inverted-softmax, querybank or csls.
    benchmark
        What the run answers; needed for querybank, whose result is ranked lists.
    bank
        Queries that are not of the test set: a run, or what `karat.load_run` takes. For a run of embeddings
        both embedding tables of another split; for a score table the scores of other images with these
        captions (for i2t), or of these images with other captions (for t2i). Without a bank, the test
        set's own queries are used, except by querybank, which needs one. Items are in the run's own order.
    direction
        In which directions of the benchmark ranks change; both by default, or those that the bank has
        queries for.
    top
        How many items of each query ranked lists keep; all by default.
    loading
        How files and arrays are read; the bank's, too, except for ids.
    **params
        Parameters of the step, such as temperature.

    Returns
    -------
    Run
        A score table, or of querybank ranked lists. Its `made_with` has the facts "scores.normalised" and
        "scores.uses_test_set"; evaluations note them.

    Examples
    --------
    The first caption is close to every image; normalised, each image finds its own:

    >>> scores = np.array([[0.8, 0.7, 0.1], [0.8, 0.1, 0.7], [0.9, 0.1, 0.1]])
    >>> run = normalise(scores, how="inverted-softmax", temperature=0.1)
    >>> scores.argmax(axis=1).tolist(), run.top("i2t", 1).item.tolist()
    ([0, 0, 0], [1, 2, 0])
    >>> run.made_with.facts["scores.normalised"]
    'inverted-softmax(temperature=0.1)'
    """
    check_normalisation(how, bank, direction, params)
    run = load_tables(sources, benchmark, loading)
    scores = normalised_scores(run, how, bank=bank, direction=direction, loading=loading, **params)
    result: Run
    if scores.step.dynamic:
        content = scores.lists(top)
        result = RankingsRun(content.lists or {}, run.name, scores=content.scores)
    else:
        result = MatrixRun(np.asarray(scores.table), run.name, run.ids)
    if run.benchmark is not None:
        result = result.align(run.benchmark)
    result.made_with = scores.made_with
    return result


def load_tables(
    sources: Sequence[Any], benchmark: Benchmark | None = None, loading: Loading | None = None
) -> TableRun:
    """Return a run that has a score for every pair, or raise."""
    run = read_run(sources, benchmark, None, loading)
    if not isinstance(run, TableRun):
        raise InputError(
            "ranked lists have no scores of the other pairs, which a normalisation needs",
            where=run.where or run.name, fix="give a score table or embeddings",
        )  # fmt: skip
    if benchmark is not None:
        run = run.align(benchmark)
    return run


def in_double(run: TableRun) -> TableRun:
    """Return a run whose scores do not depend on how queries are grouped into blocks."""
    if isinstance(run, EmbeddingRun):
        run = copy(run)
        run.use(np.float64)
    return run


def normalised_scores(
    run: TableRun,
    how: str,
    *,
    bank: Any = None,
    direction: Sequence[str] | str | None = None,
    loading: Loading | None = None,
    **params: Any,
) -> NormalisedScores:
    """Return what `normalise` makes a run of, its scores not computed yet."""
    step = NORMALISATIONS[how]
    settings, ways = check_normalisation(how, bank, direction, params)
    if len(run.directions) == 1:
        raise InputError(
            "a collection that is searched with its own items cannot be normalised: each item's score with "
            "itself would count",
            where=run.where or run.name,
            fix="leave the scores as they are",
        )
    chosen = [direction_in(run.directions, way) for way in ways] or list(run.directions)
    run = in_double(run)
    if bank is None:
        corrections, shown_bank = item_statistics(run, chosen, step, settings), ""
        firsts: dict[Direction, np.ndarray] = {}
    else:
        banks = bank_of(run, bank, loading or Loading(), chosen)
        if not (having := [way for way in chosen if way in banks]):
            what = f"the bank has no queries of {' or '.join(chosen)}"
            raise InputError(what, fix=f"choose {' or '.join(banks)}")
        corrections, firsts, shown_bank = {}, {}, f", bank={bank_name(bank)}"
        for way in having:
            corrections |= item_statistics(banks[way], [way], step, settings)
            firsts[way] = np.unique(banks[way].top(way, 1).item) if step.dynamic else np.zeros(0, int)
    only = "" if len(corrections) == len(run.directions) else f", direction={next(iter(corrections))}"
    shown = ", ".join(f"{key}={value:g}" for key, value in settings.items())
    made_with = with_step(run.made_with, f"{step.name}({shown}{shown_bank}{only})", bank is None)
    return NormalisedScores(run, step, settings, corrections, firsts, made_with)


def check_normalisation(
    how: str, bank: Any, direction: Sequence[str] | str | None, params: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters of a step and named directions, or raise for what is wrong for any run."""
    step = NORMALISATIONS[how]
    settings = parse_params(step.params, step.name, params)
    ways = [direction] if isinstance(direction, str) else list(direction or ())
    for way in ways:
        letters_of(way)
    if step.dynamic and bank is None:
        raise InputError(
            f"{step.name} needs a bank of queries", fix="give a run of the training set as the bank"
        )
    for source in bank if isinstance(bank, tuple | list) else [bank]:
        if isinstance(source, str | Path) and not Path(source).exists():
            raise MissingDataError("there is no such file", where=source)
    return settings, ways


def item_statistics(
    run: TableRun, directions: Sequence[Direction], step: ScoreNormalisation, settings: Mapping[str, Any]
) -> dict[Direction, np.ndarray]:
    """Return per direction a number for each item, from one pass over the scores of all queries."""
    sizes = {way: in_order(way, *run.images_by_captions) for way in run.directions}
    statistics = {way: step.statistic(*sizes[way][::-1], **settings) for way in directions}
    by_rows = next(filter(run.asks_by_rows, run.directions))
    with stage("looking at the scores of all queries", run.shape[0]) as queries:
        for begin, block in query_blocks(run, by_rows):
            for way, statistic in statistics.items():
                if way == by_rows:
                    statistic.add(block)
                else:
                    statistic.add(block.T, slice(begin, begin + len(block)))
            queries.advance(len(block))
    return {way: statistic.value for way, statistic in statistics.items()}


def with_step(before: Fingerprint | None, step: str, uses_test_set: bool) -> Fingerprint:
    """Return what a run was made with after a further step."""
    before = before or Fingerprint()
    earlier = before.facts.get(NORMALISED)
    used = uses_test_set or bool(before.facts.get(USES_TEST_SET))
    return before.with_facts(
        {NORMALISED: f"{earlier}, then {step}" if earlier else step, USES_TEST_SET: used}
    )


def query_blocks(
    run: TableRun, direction: Direction, rows: np.ndarray | None = None
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield scores of all queries in double precision, queries by items, in blocks; `rows` orders them."""
    n_queries, n_items = in_order(direction, *run.images_by_captions)
    rows = np.arange(n_queries) if rows is None else rows
    step = rows_per_block((n_queries, n_items), 8)
    for begin in range(0, n_queries, step):
        yield begin, run.query_scores(direction, rows[begin : begin + step]).astype(np.float64)


def bank_of(
    run: TableRun, bank: Any, loading: Loading, directions: Sequence[Direction]
) -> dict[Direction, TableRun]:
    """Return per direction a run of the bank's queries and the run's items."""
    sources = bank if isinstance(bank, tuple | list) else (bank,)
    known = load_tables(sources, None, replace(loading, ids=None))
    images, captions = run.images_by_captions
    if isinstance(known, EmbeddingRun) and isinstance(run, EmbeddingRun):
        # Refused here where the widths differ.
        pairs = (known.images, run.captions), (run.images, known.captions)
        crossed = [
            in_double(EmbeddingRun(first, second, "bank", similarity=run.similarity))
            for first, second in pairs
        ]
        return dict(zip(run.directions, crossed))
    other, (one, two) = known.images_by_captions, run.sides
    fits = [other[1] == captions, other[0] == images]
    if all(fits) and not isinstance(known, EmbeddingRun):
        # As many queries as the test set has: the shape does not say of which side they are.
        if len(directions) != 1:
            raise InputError(
                f"the bank has {one.counted(other[0])} by {two.counted(other[1])}, as the run has: "
                f"its queries may be other {one.many} or other {two.many}",
                where=known.where,
                fix=f"say which with the direction: {run.directions[0]} for other {one.many}, "
                f"{run.directions[1]} for other {two.many}",
            )
        fits = [way == directions[0] for way in run.directions]
    if isinstance(known, EmbeddingRun) or sum(fits) != 1:
        raise InputError(
            f"the bank has {one.counted(other[0])} by {two.counted(other[1])}, "
            f"the run {images:,} by {captions:,}",
            where=known.where,
            fix=f"give scores of other {one.many} with these {two.many}, or of these {one.many} with other "
            f"{two.many}; for embeddings, both embedding tables of another split",
        )
    side, way = ("captions", run.directions[0]) if fits[0] else ("images", run.directions[1])
    orders = [list(table.ids[side]) for table in (run, known) if side in table.ids]
    if len(orders) == 2 and orders[0] != orders[1]:
        raise InputError(
            f"the bank has its {side} in another order than the run",
            where=known.where,
            fix="give the same order",
        )
    return {way: known}


def bank_name(bank: Any) -> str:
    """Return what a bank is called in the record."""
    first = bank[0] if isinstance(bank, tuple | list) else bank
    return Path(first).name if isinstance(first, str | Path) else getattr(first, "name", "given")
