"""Slices: the queries on which a run is weak, or weaker than another, corrected for the search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, plural
from karat.benchmarks import Benchmark, Direction, as_benchmark
from karat.errors import InputError
from karat.explain.slice_columns import SliceTable, check_support, slice_table
from karat.explain.slice_kinds import SLICE_KINDS
from karat.explain.slice_report import SliceReport
from karat.explain.slice_search import SliceSearch
from karat.measures import MEAN, Named, parse_measure
from karat.runs import EmbeddingRun, Run, load_runs
from karat.scores import Column, Scorecard, check_chance, check_options, score_runs
from karat.stats import check_count, check_level, check_seed

DIFFICULTY = ("rivals", "rarity")
"""What is held constant by default."""

FEWEST_CLUSTERS = 20
"""With fewer images, dealing out values says next to nothing."""


def find_slices(
    run: Any,
    benchmark: Benchmark | str | Path | None = None,
    measure: str | Named = "R@1",
    *,
    against: Any = None,
    truth: str | None = None,
    direction: str = "t2i",
    kinds: Iterable[str] | str | None = None,
    slices: SliceTable | Mapping[str, Any] | None = None,
    adjust: Iterable[str] | str | None = None,
    min_support: int | None = None,
    most: int = 10,
    level: float = 0.95,
    deals: int = 1000,
    seed: int = 0,
) -> SliceReport:
    """Find the slices of the queries on which a run is weak, or weaker than another run.

    The statistic of a slice is the difference of the mean value inside and outside over its standard error
    under chance, with the captions of an image correlated. All slices are searched at once: intervals and
    p-values hold for the worst of them (max-T, Westfall and Young 1993). What is reported is chosen step by
    step, the strongest slice first, then the strongest once that is known; conjunctions only where they
    add to their two parts.

    Parameters
    ----------
    run
        A run or what `karat.load_run` takes, a Scorecard with one run, or `QueryValues` of arrays.
    benchmark
        A benchmark, its name or its folder; that of the scorecard by default.
    measure
        One whose aggregate is a mean.
    against
        Another of these: where is the first weaker than this one?
    truth
        One of the benchmark's; the first by default.
    direction
        "t2i", where a query is its caption, or "i2t", where it is all captions of the image.
    kinds
        The kinds of slices, of `SLICE_KINDS`; all by default.
    slices
        A `SliceTable` that was made before, or further slices as booleans per query, by name.
    adjust
        Kinds that are held constant, such as "positives": how much worse are these queries than others with
        as many positives? By default "rivals" and "rarity" for one run, since queries that fit many images
        fail by labels that know one of them, whatever the run; nothing where it is compared with another.
    min_support
        The fewest queries inside and outside of a slice; by default 10, or one in a thousand.
    most
        How many slices are reported.
    level
        How often all intervals should hold together.
    deals, seed
        How often values are dealt out anew, and the seed.

    Examples
    --------
    >>> from karat.world import make_world, simulate
    >>> world = make_world(images=200, captions=5, seed=3)
    >>> blind, seer = (simulate(world, 5, blind=b, name=n) for b, n in (("colour", "blind"), ((), "seer")))
    >>> report = find_slices(blind, world.benchmark(), against=seer, truth="complete", deals=200)
    >>> [(each.name, each.n, round(each.difference, 2)) for each in report.slices]
    [('colour: any', 451, -0.38)]
    """
    towards: Direction = "t2i" if check_choice(direction, ("t2i", "i2t"), "direction") == "t2i" else "i2t"
    named = check_measure(measure)
    chosen = SliceChoices(kinds, slices, adjust, min_support, most, level, deals, seed)
    scorer = None
    if isinstance(run, QueryValues | Scorecard):
        own = run if isinstance(run, QueryValues) else values_of_card(run, named, truth, towards)
    elif benchmark is None:
        raise InputError("a run without a benchmark has no queries", fix="give its benchmark, or a scorecard")
    else:
        scorer = RunScorer(benchmark, named, truth, towards)
        own = scorer.values(run)
    if against is None or isinstance(against, QueryValues):
        return search_slices(own, against, named, towards, chosen)
    if isinstance(against, Scorecard):
        other = values_of_card(against, named, own.truth, towards)
    else:
        scorer = scorer or RunScorer(own.needed_benchmark, named, own.truth, towards)
        other = scorer.values(against)
    return search_slices(own, other, named, towards, chosen)


@dataclass(frozen=True, eq=False)
class SliceChoices:
    """What is chosen about a search for slices, as `find_slices` takes it."""

    kinds: Iterable[str] | str | None = None
    slices: SliceTable | Mapping[str, Any] | None = None
    adjust: Iterable[str] | str | None = None
    min_support: int | None = None
    most: int = 10
    level: float = 0.95
    deals: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_level(self.level)
        check_count("deals", self.deals, usual=1000)
        check_seed(self.seed)
        if isinstance(self.most, bool) or not isinstance(self.most, int | np.integer) or self.most < 1:
            raise InputError(f"most is {self.most!r}", fix="give a whole number from 1 on")
        check_support(self.min_support, 0)
        for name in with_held(self.kinds, ()) or ():
            SLICE_KINDS[name]

    def table(self, own: QueryValues, direction: Direction, held: Sequence[str]) -> SliceTable:
        """Return the slices of the queries of some values."""
        if isinstance(self.slices, SliceTable):
            return self.slices
        return slice_table(
            own.needed_benchmark, direction, truth=own.truth, kinds=with_held(self.kinds, held),
            own=self.slices, min_support=self.min_support, embeddings=own.embeddings, seed=self.seed,
        )  # fmt: skip


def search_slices(
    own: QueryValues, other: QueryValues | None, measure: Named, direction: Direction, chosen: SliceChoices
) -> SliceReport:
    """Search the slices of queries whose values are known; see `find_slices`."""
    adjust = chosen.adjust
    if adjust is None:
        adjust = DIFFICULTY if other is None else ()
    held = (adjust,) if isinstance(adjust, str) else tuple(adjust)
    values, query, cluster = paired(own, other)
    table = aligned(chosen.table(own, direction, held), query, direction)
    if adjust is DIFFICULTY:
        held = tuple(name for name in held if name in table.kinds)
    for name in held:
        if name not in table.kinds:
            raise InputError(f"there are no slices of kind {name!r} to hold constant", fix=known_kinds(table))
    sign = -1 if measure.better == "low" else 1
    search = SliceSearch(table, sign * values, cluster, held, chosen.level, chosen.deals, chosen.seed)
    found = search.select(chosen.most)
    mean = own.values[own.at(query)]
    reference = None if other is None else other.values[other.at(query)]
    return SliceReport(
        tuple(search.describe(place, names, sign, mean, reference) for place, names in found),
        own.run,
        None if other is None else other.run,
        "" if own.benchmark is None else own.benchmark.name,
        own.truth,
        direction,
        measure,
        len(query),
        search.noise.clusters,
        float(mean.mean()),
        None if reference is None else float(reference.mean()),
        len(search.candidates),
        held,
        chosen.level,
        search.critical,
        table,
        (*table.notes, *search.notes),
    )


@dataclass(frozen=True, eq=False)
class QueryValues:
    """Values per query, of a run or of anything else: all that a search for slices needs beside the slices.

    Parameters
    ----------
    values
        One per query.
    query
        The index of each query in its benchmark, or in the table of slices; by default 0, 1, 2, …
    cluster
        Per query, the number of what it belongs to, such as its image; by default each by itself.
    run, truth
        Whose values they are and by which labels, as reports name them.
    benchmark
        With the texts of the queries, for slices that are read from them; None where slices are given.
    embeddings
        Per query of the benchmark, for clusters.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> short = rng.random(400) < 0.3
    >>> values = QueryValues((rng.random(400) < np.where(short, 0.2, 0.7)).astype(float))
    >>> table = SliceTable.of({"short": short, "even": np.arange(400) % 2 == 0})
    >>> report = find_slices(values, slices=table, adjust=(), deals=99)
    >>> [(each.name, each.n, round(each.difference, 2)) for each in report.slices]
    [('short', 105, -0.54)]
    """

    values: np.ndarray
    query: np.ndarray = None  # type: ignore[assignment]
    cluster: np.ndarray = None  # type: ignore[assignment]
    run: str = "run"
    truth: str = "values"
    benchmark: Benchmark | None = None
    embeddings: np.ndarray | None = None

    def __post_init__(self) -> None:
        values = np.asarray(self.values, np.float64)
        object.__setattr__(self, "values", values)
        for name in ("query", "cluster"):
            column = getattr(self, name)
            column = np.arange(len(values)) if column is None else np.asarray(column)
            if values.ndim != 1 or column.shape != values.shape:
                raise InputError(
                    f"values has shape {values.shape} and {name} {column.shape}",
                    fix="give one for each query",
                )
            object.__setattr__(self, name, column)

    @classmethod
    def of(
        cls, column: Column, benchmark: Benchmark | None = None, embeddings: np.ndarray | None = None
    ) -> QueryValues:
        """Return the values of a column that are known."""
        if column.values is None or column.query is None or column.cluster is None:
            raise InputError(
                f"{column.measure} has no values per query", fix=column.note or "choose another measure"
            )
        known = ~np.isnan(column.values)
        return cls(
            column.values[known], column.query[known], column.cluster[known], column.run, column.truth,
            benchmark, embeddings,
        )  # fmt: skip

    @property
    def needed_benchmark(self) -> Benchmark:
        """The benchmark, or raise."""
        if self.benchmark is None:
            raise InputError(
                "values without a benchmark have no texts to read", fix="give a SliceTable as slices"
            )
        return self.benchmark

    def at(self, query: np.ndarray) -> np.ndarray:
        """Return the places of queries, which must be there."""
        order = np.argsort(self.query, kind="stable")
        return order[np.searchsorted(self.query[order], query)]


def check_measure(measure: str | Named) -> Named:
    """Return a measure whose aggregate is a mean, or raise."""
    named = parse_measure(measure) if isinstance(measure, str) else measure
    if getattr(named, "aggregate", None) is not MEAN:
        raise InputError(
            f"{named} is not a mean over queries", fix="choose one that is, such as R@1, MRR@10 or MeanR"
        )
    return named


class RunScorer:
    """Scores single runs by one measure in one direction; choices are checked once, before any is read."""

    def __init__(
        self, benchmark: Benchmark | str | Path, measure: Named, truth: str | None, direction: Direction
    ) -> None:
        bench = as_benchmark(benchmark)
        self.measure, self.truth, self.direction = measure, truth or next(iter(bench.truths)), direction
        self.options = check_options(bench, [measure], truth=self.truth, direction=direction)

    def values(self, source: Any) -> QueryValues:
        """Return the values of a run per query, from one pass over its scores."""
        runs = load_runs(source, self.options.benchmark)
        if len(runs) != 1:
            raise InputError(f"{len(runs)} runs were given", fix="give one, and another as `against`")
        options = replace(self.options, benchmark=runs[0].benchmark or self.options.benchmark)
        card = score_runs(runs, options)
        check_chance(card, runs)
        return values_of_card(
            card, self.measure, self.truth, self.direction, query_vectors(runs[0], self.direction)
        )


def query_vectors(run: Run, direction: Direction) -> np.ndarray | None:
    """Return the embeddings of a run's queries, None where it has none."""
    if not isinstance(run, EmbeddingRun):
        return None
    return run.captions if direction == "t2i" else run.images


def values_of_card(
    card: Scorecard,
    measure: Named,
    truth: str | None,
    direction: Direction,
    embeddings: np.ndarray | None = None,
) -> QueryValues:
    """Return the values of a scorecard with one run."""
    if len(card.runs) != 1:
        raise InputError(f"{len(card.runs)} runs were given", fix="give one, and another as `against`")
    if truth is None:
        truth = card.columns[0].truth
    return QueryValues.of(
        card.column(str(measure), truth=truth, direction=direction), card.benchmark, embeddings
    )


def paired(own: QueryValues, other: QueryValues | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the values that are searched, with their queries and clusters: of one run, or the gap of two."""
    if len(np.unique(own.query)) != len(own.query):
        raise InputError(
            f"truth {own.truth!r} scores a query in several folds", fix="choose a truth without repeats"
        )
    query, values = own.query, own.values
    if other is not None:
        query = np.intersect1d(own.query, other.query)
        if not len(query):
            raise InputError("the two runs have no query in common", fix="give runs of the same benchmark")
        values = own.values[own.at(query)] - other.values[other.at(query)]
    if not np.isfinite(values).all():
        raise InputError(
            "some queries have an infinite value", fix="choose a measure that is finite, such as R@1"
        )
    cluster = np.unique(own.cluster[own.at(query)], return_inverse=True)[1]
    count = int(cluster.max(initial=-1)) + 1
    if count < FEWEST_CLUSTERS:
        raise InputError(
            f"{plural(count, 'image')} with scored queries are too few to search for slices",
            fix=f"give queries of {FEWEST_CLUSTERS} images or more",
        )
    return values, query, cluster


def aligned(table: SliceTable, query: np.ndarray, direction: Direction) -> SliceTable:
    """Return the table's rows of these queries."""
    if table.direction != direction:
        raise InputError(f"the slices are of direction {table.direction}", fix=f"make them for {direction}")
    if np.array_equal(table.queries, query):
        return table
    order = np.argsort(table.queries, kind="stable")
    at = np.minimum(np.searchsorted(table.queries[order], query), len(order) - 1)
    if not np.array_equal(table.queries[order][at], query):
        raise InputError("the slices lack some of the queries", fix="make them for the same truth")
    return table.restricted(order[at])


def with_held(kinds: Iterable[str] | str | None, held: Sequence[str]) -> list[str] | None:
    """Return the kinds with those that are held constant."""
    if kinds is None:
        return None
    return list(dict.fromkeys([*([kinds] if isinstance(kinds, str) else kinds), *held]))


def known_kinds(table: SliceTable) -> str:
    """Return which kinds a table has, for a message."""
    return f"choose among {', '.join(dict.fromkeys(table.kinds))}"
