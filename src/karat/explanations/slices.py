"""Slices: the queries on which a run is weak, or weaker than another, corrected for the search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, word_for
from karat.benchmarks import KINDS, Benchmark, Direction, Side, as_benchmark
from karat.errors import InputError
from karat.explanations.max_t import MaxT, check_whole
from karat.explanations.query_values import QueryValues, RunScorer, check_measure, values_of_card
from karat.explanations.slice_columns import SliceTable, check_support, has_words, slice_table
from karat.explanations.slice_kinds import SLICE_KINDS
from karat.explanations.slice_report import SliceReport
from karat.explanations.slice_search import SliceSearch
from karat.measures import Named
from karat.scores import Scorecard

DIFFICULTY = ("rivals", "rarity")
"""What is held constant by default."""

FEWEST_CLUSTERS = 20
"""With fewer images, dealing out values says next to nothing."""


def search_slices(
    values: Any,
    slices: SliceTable | Mapping[str, Any],
    *,
    against: Any = None,
    clusters: Any = None,
    better: str = "high",
    adjust: Iterable[str] | str = (),
    min_support: int | None = None,
    most: int = 10,
    level: float = 0.95,
    deals: int = 1000,
    seed: int = 0,
) -> SliceReport:
    """Search slices of queries for those where values are worse than elsewhere, on plain arrays.

    The difference of the mean inside and outside of each slice, with an interval and a p-value that hold for
    all of them together; see `find_slices`, which reads the values of a run and the slices of its queries.

    Parameters
    ----------
    values
        One per query, of any kind; queries that are NaN are left out.
    slices
        Booleans per query by name, or a `SliceTable` of the same queries.
    against
        Other values of the same queries: where are the first ones worse than these?
    clusters
        Per query, what it belongs to, such as its image; queries of one cluster are not independent. Each is
        its own by default.
    better
        Whether "high" or "low" values are good.
    adjust
        Names or kinds of slices that are held constant.
    min_support
        The fewest queries inside and outside of a slice, where slices are given by name; by default 10, or
        one in a thousand.
    most
        How many slices are reported; `SliceReport.slice` describes any other.
    level, deals, seed
        How often all intervals should hold together, how often values are dealt out, and the seed.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> short, odd = rng.random(400) < 0.3, np.arange(400) % 2 == 1
    >>> hits = (rng.random(400) < np.where(short, 0.2, 0.7)).astype(float)
    >>> report = search_slices(hits, {"short": short, "odd": odd}, clusters=np.arange(400) // 2, deals=199)
    >>> [(each.name, each.n, round(each.difference, 2), each.p) for each in report.slices]
    [('short', 105, -0.54, 0.005)]
    >>> odd = report.slice("odd")
    >>> round(odd.low, 2), round(odd.high, 2), odd.verdict
    (-0.05, 0.18, 'not shown to differ')
    """
    check_whole("most", most)
    better = check_choice(better, ("high", "low"), "better")
    correction = MaxT(level, deals, seed)
    own, other, cluster, known = paired_columns(values, against, clusters)
    check_searched(own, other, cluster)
    table = slices if isinstance(slices, SliceTable) else SliceTable.of(slices, min_support=min_support)
    if len(table.queries) != len(known):
        raise InputError(
            f"slices have {len(table.queries):,} queries, values {len(known):,}",
            fix="give one value and one boolean per query",
        )
    table = table if known.all() else table.restricted(np.flatnonzero(known))
    held = (adjust,) if isinstance(adjust, str) else tuple(adjust)
    constant = np.zeros(len(table), bool)
    for name in held:
        if name in table.kinds:
            constant |= np.array(table.kinds) == name
        else:
            constant[table.place(name)] = True
    search = SliceSearch(table, own, other, cluster, constant, better, correction)
    return SliceReport(
        tuple(search.describe(*found) for found in search.select(most)),
        len(own),
        search.noise.clusters,
        float(own.mean()),
        None if other is None else float(other.mean()),
        len(search.candidates),
        held,
        level,
        search,
        (*table.notes, *search.notes),
        against=None if other is None else "the others",
    )


def find_slices(
    run: Any,
    benchmark: Benchmark | str | Path | None = None,
    measure: str | Named = "R@1",
    *,
    against: Any = None,
    truth: str | None = None,
    direction: str | None = None,
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
        A run or what `karat.load_run` takes, or a Scorecard with one run. `search_slices` takes arrays.
    benchmark
        A benchmark, its name or its folder; that of the scorecard by default.
    measure
        One whose aggregate is a mean.
    against
        Another of these: where is the first weaker than this one?
    truth
        One of the benchmark's; the first by default.
    direction
        "t2i", where a query is its caption, "i2t", where it is all captions of the image, or another of the
        benchmark. By default the last one that the truth has.
    kinds
        The kinds of slices, of `SLICE_KINDS`; by default all, and without captions those that need no words.
    slices
        A `SliceTable` that was made before, or further slices as booleans per query, by name.
    adjust
        Kinds that are held constant, such as "positives": how much worse are these queries than others with
        as many positives? By default "rivals" and "rarity" for one run, since queries that fit many images
        fail by labels that know one of them, whatever the run; nothing where it is compared with another, or
        has no words.
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
    named = check_measure(measure)
    chosen = SliceChoices(kinds, slices, adjust, min_support, most, level, deals, seed)
    scorer = None
    if isinstance(run, Scorecard):
        labels = truth or run.columns[0].truth
        towards = which_direction(run.benchmark, labels, direction)
        own = values_of_card(run, named, labels, towards)
    elif benchmark is None:
        raise InputError("a run without a benchmark has no queries", fix="give its benchmark, or a scorecard")
    else:
        bench = as_benchmark(benchmark)
        labels = truth or next(iter(bench.truths))
        towards = which_direction(bench, labels, direction)
        scorer = RunScorer(bench, named, labels, towards)
        own = scorer.values(run)
    if against is None:
        other = None
    elif isinstance(against, Scorecard):
        other = values_of_card(against, named, own.truth, towards)
    else:
        scorer = scorer or RunScorer(own.benchmark, named, own.truth, towards)
        other = scorer.values(against)
    return slices_of_values(own, other, chosen)


def which_direction(benchmark: Benchmark, truth: str, direction: str | None) -> Direction:
    """Return the direction that was asked for, or the last one that a truth has."""
    return benchmark.truth(truth).directions[-1] if direction is None else benchmark.direction(direction)


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
        MaxT(self.level, self.deals, self.seed)
        check_whole("most", self.most)
        check_support(self.min_support, 0)
        for name in with_held(self.kinds, ()) or ():
            SLICE_KINDS[name]

    def table(self, own: QueryValues, held: Sequence[str]) -> SliceTable:
        """Return the slices of the queries of some values."""
        if isinstance(self.slices, SliceTable):
            return self.slices
        return slice_table(
            own.benchmark, own.direction, truth=own.truth, kinds=with_held(self.kinds, held),
            own=self.slices, min_support=self.min_support, embeddings=own.embeddings, seed=self.seed,
        )  # fmt: skip

    def held(self, compared: bool, words: bool) -> tuple[str, ...]:
        """Return the kinds that are held constant, of one run or of two that are compared."""
        if self.adjust is None:
            return () if compared or not words else DIFFICULTY
        return (self.adjust,) if isinstance(self.adjust, str) else tuple(self.adjust)

    def known_held(self, table: SliceTable, held: Sequence[str]) -> tuple[str, ...]:
        """Return those that a table has; raise where it lacks one that was asked for."""
        unknown = [name for name in held if name not in table.kinds]
        if unknown and self.adjust is not None:
            raise InputError(
                f"there are no slices of kind {unknown[0]!r} to hold constant", fix=known_kinds(table)
            )
        return tuple(name for name in held if name not in unknown)


def slices_of_values(own: QueryValues, other: QueryValues | None, chosen: SliceChoices) -> SliceReport:
    """Search the slices of queries whose values are known; see `find_slices`."""
    query = own.query
    if other is not None:
        query = np.intersect1d(own.query, other.query)
        if not len(query):
            raise InputError("the two runs have no query in common", fix="give runs of the same benchmark")
    values, cluster = own.values[own.at(query)], own.cluster[own.at(query)]
    reference = None if other is None else other.values[other.at(query)]
    # Before the texts of the queries are read.
    check_searched(values, reference, cluster, own.group)
    held = chosen.held(other is not None, has_words(own.benchmark))
    table = aligned(chosen.table(own, held), query, own.direction)
    report = search_slices(
        values, table, against=reference, clusters=cluster, better=own.measure.better,
        adjust=chosen.known_held(table, held), most=chosen.most, level=chosen.level, deals=chosen.deals,
        seed=chosen.seed,
    )  # fmt: skip
    return replace(
        report, run=own.run, against=None if other is None else other.run, benchmark=own.benchmark.name,
        truth=own.truth, direction=own.direction, measure=own.measure, unit=(own.group.one, own.group.many),
    )  # fmt: skip


def paired_columns(
    values: Any, against: Any, clusters: Any
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray, np.ndarray]:
    """Return the values of queries that have them, with the others and the numbers of their clusters, and
    which queries these are."""
    own = np.asarray(values, np.float64)
    other = None if against is None else np.asarray(against, np.float64)
    label = np.arange(own.size) if clusters is None else np.asarray(clusters)
    for name, column in (("against", other), ("clusters", label)):
        if own.ndim != 1 or (column is not None and column.shape != own.shape):
            shape = None if column is None else column.shape
            raise InputError(f"values has shape {own.shape} and {name} {shape}", fix="give one per query")
    known = ~np.isnan(own) if other is None else ~np.isnan(own) & ~np.isnan(other)
    cluster = np.unique(label[known], return_inverse=True)[1]
    return own[known], None if other is None else other[known], cluster, known


def check_searched(
    values: np.ndarray, reference: np.ndarray | None, cluster: np.ndarray, group: Side = KINDS["i"]
) -> None:
    """Raise where values are infinite, or of too few clusters."""
    if not np.isfinite(values if reference is None else values - reference).all():
        raise InputError(
            "some queries have an infinite value", fix="choose a measure that is finite, such as R@1"
        )
    count = len(np.unique(cluster))
    if count < FEWEST_CLUSTERS:
        each = group.many == "queries"
        scored = f"{count:,} {word_for(count, group.one, group.many)}{'' if each else ' with scored queries'}"
        raise InputError(
            f"{scored} are too few to search for slices",
            fix=f"give {'' if each else 'queries of '}{FEWEST_CLUSTERS} {group.many} or more",
        )


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
