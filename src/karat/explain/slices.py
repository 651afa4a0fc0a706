"""Slices: the queries on which a run is weak, or weaker than another, corrected for the search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, plural
from karat.benchmarks import Benchmark, Direction, as_benchmark
from karat.errors import InputError
from karat.explain.slice_columns import SliceTable, slice_table
from karat.explain.slice_report import SliceReport
from karat.explain.slice_search import SliceSearch
from karat.measures import MEAN, Named, parse_measure
from karat.runs import EmbeddingRun, load_runs
from karat.scores import Column, Scorecard, evaluate
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
        A run or what `karat.load_run` takes, or a Scorecard with one run.
    benchmark
        A benchmark, its name or its folder; that of the scorecard by default.
    measure
        One whose aggregate is a mean.
    against
        Another run or scorecard: where is the first weaker than this one?
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
    check_level(level)
    check_count("deals", deals, usual=1000)
    check_seed(seed)
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise InputError(f"most is {most!r}", fix="give a whole number from 1 on")
    if adjust is None:
        adjust = DIFFICULTY if against is None else ()
    held = (adjust,) if isinstance(adjust, str) else tuple(adjust)
    named = check_measure(measure)
    own = scored(run, benchmark, named, truth, towards)
    other = None if against is None else scored(against, own.benchmark, named, own.truth, towards)
    values, query, cluster = paired(own, other)
    if isinstance(slices, SliceTable):
        table = aligned(slices, query, towards)
    else:
        table = slice_table(
            own.benchmark, towards, truth=own.truth, kinds=with_held(kinds, held), own=slices,
            min_support=min_support, embeddings=own.embeddings, seed=seed,
        )  # fmt: skip
        table = aligned(table, query, towards)
    if adjust is DIFFICULTY:
        held = tuple(name for name in held if name in table.kinds)
    for name in held:
        if name not in table.kinds:
            raise InputError(f"there are no slices of kind {name!r} to hold constant", fix=known_kinds(table))
    search = SliceSearch(table, own.sign * values, cluster, held, level, deals, seed)
    found = search.select(most)
    mean = own.values[own.at(query)]
    reference = None if other is None else other.values[other.at(query)]
    return SliceReport(
        tuple(search.describe(place, names, own.sign, mean, reference) for place, names in found),
        own.run,
        None if other is None else other.run,
        own.benchmark.name,
        own.truth,
        towards,
        named,
        len(query),
        search.noise.clusters,
        float(mean.mean()),
        None if reference is None else float(reference.mean()),
        len(search.candidates),
        held,
        level,
        search.critical,
        table,
        (*table.notes, *search.notes),
    )


@dataclass(frozen=True, eq=False)
class QueryValues:
    """The values of one run per query."""

    run: str
    benchmark: Benchmark
    truth: str
    query: np.ndarray
    values: np.ndarray
    cluster: np.ndarray
    sign: int
    embeddings: np.ndarray | None = None

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


def scored(
    run: Any,
    benchmark: Benchmark | str | Path | None,
    measure: Named,
    truth: str | None,
    direction: Direction,
) -> QueryValues:
    """Return the values of a run per query: evaluated here, or of a scorecard."""
    embeddings = None
    if isinstance(run, Scorecard):
        card = run
    elif benchmark is None:
        raise InputError("a run without a benchmark has no queries", fix="give its benchmark, or a scorecard")
    else:
        benchmark = as_benchmark(benchmark)
        runs = load_runs(run, benchmark)
        truth = truth or next(iter(benchmark.truths))
        card = evaluate(runs, benchmark, [measure], truth=truth, direction=direction)
        if isinstance(runs[0], EmbeddingRun):
            embeddings = runs[0].captions if direction == "t2i" else runs[0].images
    if len(card.runs) != 1:
        raise InputError(f"{len(card.runs)} runs were given", fix="give one, and another as `against`")
    if truth is None:
        truth = card.columns[0].truth
    column: Column = card.column(str(measure), truth=truth, direction=direction)
    if column.values is None or column.query is None or column.cluster is None:
        raise InputError(f"{measure} has no values per query", fix=column.note or "choose another measure")
    known = ~np.isnan(column.values)
    sign = -1 if measure.better == "low" else 1
    return QueryValues(
        column.run, card.benchmark, truth, column.query[known], column.values[known], column.cluster[known],
        sign, embeddings,
    )  # fmt: skip


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
