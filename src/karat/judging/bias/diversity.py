"""How different the models of a pool are: do they suggest the same items, in the same order?

The labels of a pool are the pairs that its models suggest. Models that agree suggest the same pairs, and what
all of them miss stays unjudged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from karat._util import MISSING, Layout, track
from karat.benchmarks import Benchmark, Direction, JudgedItems, direction_title
from karat.errors import InputError
from karat.forms import key_of, split_key
from karat.runs import Run, Top, pairs_to_place

NEAR = 3
"""ECCV Caption §3.1 asks whether another model's first item is among the first three."""


@dataclass(frozen=True, eq=False)
class Diversity:
    """How similarly models rank, for every two of them, as means over the queries, [models, models].

    Parameters
    ----------
    direction, systems, depth, queries
        The direction, the names of the models, how many items of each list were compared, and over how many
        queries.
    tau
        Kendall's tau of the lists, in [−1, 1]; see `compare_systems`.
    tau_common
        Kendall's tau over the items that both lists have; NaN where no query has two such items.
    overlap
        The share of items that two lists have in common.
    first_rank, first_median
        The mean and the median place that the column's model gives to the row's first item.
    first_near
        How often that place is among the first three.
    beyond
        How often the item lies beyond the end of a truncated ranking. Its place then counts as the one after
        the end, and means are too low.
    """

    direction: Direction
    systems: tuple[str, ...]
    depth: int
    queries: int
    tau: np.ndarray
    tau_common: np.ndarray
    overlap: np.ndarray
    first_rank: np.ndarray
    first_median: np.ndarray
    first_near: np.ndarray
    beyond: np.ndarray

    def __repr__(self) -> str:
        return (
            f"Diversity(the top {self.depth} of {len(self.systems)} models for {self.queries:,} "
            f"{self.direction} queries: mean tau {self.mean_tau:.2f})"
        )

    @property
    def mean_tau(self) -> float:
        """The mean of tau over all pairs of different models."""
        return float(self.tau[np.triu_indices(len(self.systems), 1)].mean())

    def records(self) -> list[dict[str, Any]]:
        """Return a record per ordered pair of different models; None where a value is undefined."""
        names = (
            "tau", "tau_common", "overlap", "first_rank", "first_median", "first_near", "beyond",
        )  # fmt: skip
        out = []
        for a, first in enumerate(self.systems):
            for b, second in enumerate(self.systems):
                if a != b:
                    values = {name: float(getattr(self, name)[a, b]) for name in names}
                    out.append(
                        {"direction": self.direction, "system": first, "other": second, "depth": self.depth}
                        | {name: None if np.isnan(value) else value for name, value in values.items()}
                    )
        return out


def compare_systems(
    runs: Sequence[Run],
    benchmark: Benchmark,
    queries: Mapping[Direction, np.ndarray | None] | None = None,
    depth: int = 25,
    threads: int | None = None,
) -> dict[Direction, Diversity]:
    """Compare the first items of every two models (ECCV Caption, table A.1).

    τ = (agreed pairs − non-agreed pairs) / all pairs, over the union of two lists; an item that a list lacks
    comes after its end, tied with the others that it lacks. `tau_common` compares the order of the common
    items alone; `overlap` is their share.

    Parameters
    ----------
    runs
        Two or more.
    benchmark
        The benchmark of the runs.
    queries
        Per direction, the indices of the queries, or None for all. By default all of the last direction that
        the runs have: all captions, as in the paper's tables.
    depth
        How many items of each list are compared.
    threads
        How many; all by default.

    Examples
    --------
    >>> from karat.world import make_world, simulate
    >>> world = make_world(images=60, captions=2, seed=3)
    >>> runs = [simulate(world, strength=s, seed=k, name=f"s{k}") for k, s in enumerate((3, 4, 5))]
    >>> compare_systems(runs, world.benchmark(), depth=10)["t2i"]
    Diversity(the top 10 of 3 models for 120 t2i queries: mean tau -0.07)
    """
    if len(runs) < 2:
        raise InputError("there is only one model to compare", fix="give two or more")
    if depth < 1:
        raise InputError(f"the depth is {depth}", fix="give a whole number from 1")
    aligned = [run.align(benchmark) for run in runs]
    names = tuple(run.name for run in runs)
    if queries is None:
        queries = {[way for way in benchmark.directions if way in aligned[0].directions][-1]: None}
    chosen = {
        direction: np.arange(benchmark.queries(direction).size) if some is None else np.unique(some)
        for direction, some in queries.items()
    }
    tops = {
        direction: [
            run.top(direction, depth, some)
            for run in track(aligned, lambda run: f"listing the first {depth} of {run.name}")
        ]
        for direction, some in chosen.items()
    }
    firsts = [First(direction, some, tops[direction], benchmark) for direction, some in chosen.items()]
    # One pass over a run places the items of both directions.
    scored = track(aligned, lambda run: f"scoring {run.name}")
    placed = [run.place([first.pairs for first in firsts], threads) for run in scored]
    out = {}
    for number, first in enumerate(firsts):
        size = benchmark.items(first.direction).size
        lists = compare_heads(tops[first.direction], size)
        places = np.stack([first.summary(of_run[number]) for of_run in placed], axis=2)
        out[first.direction] = Diversity(
            first.direction, names, depth, len(chosen[first.direction]), *lists, *places
        )
    return out


def compare_heads(tops: Sequence[Top], size: int) -> np.ndarray:
    """Return tau, tau of common items and overlap of every two models' lists: [3, models, models]."""
    from karat.judging.bias.diversity_kernels import compare_lists

    n, queries = len(tops), len(tops[0].ptr) - 1
    lists = np.full((3, n, n), np.nan)
    lists[:, np.arange(n), np.arange(n)] = 1.0
    for a, b in track(list(combinations(range(n), 2)), "comparing lists of two models"):
        out = np.empty((3, queries))
        compare_lists(tops[a].ptr, tops[a].item, tops[b].ptr, tops[b].item, size, *out)
        known = [row[~np.isnan(row)] for row in out]
        lists[:, a, b] = lists[:, b, a] = [row.mean() if len(row) else np.nan for row in known]
    return lists


class First:
    """The first item of every query and model, placed once however many models rank it first."""

    def __init__(
        self, direction: Direction, queries: np.ndarray, tops: Sequence[Top], benchmark: Benchmark
    ) -> None:
        self.direction, self.size = direction, benchmark.items(direction).size
        filled = [np.diff(top.ptr) > 0 for top in tops]
        keys = [key_of(queries[rows], top.item[top.ptr[:-1][rows]]) for top, rows in zip(tops, filled)]
        pairs = np.unique(np.concatenate(keys))
        self._at = [np.searchsorted(pairs, key) for key in keys]
        self.pairs = pairs_to_place(direction, *split_key(pairs))

    def summary(self, placed: JudgedItems) -> np.ndarray:
        """Return where a run places each model's first items: mean, median, how often near, how often
        beyond its end; [4, models]."""
        unknown = placed.above < 0
        end = placed.depth[placed.number]
        place = np.where(unknown, np.minimum(end + 1, self.size), placed.above + placed.earlier + 1)
        out = np.full((4, len(self._at)), np.nan)
        for number, at in enumerate(self._at):
            if len(at):
                places = place[at]
                out[:, number] = places.mean(), np.median(places), (places <= NEAR).mean(), unknown[at].mean()
        return out


def pair_layout(systems: Sequence[str], values: np.ndarray, form: str, title: str) -> Layout:
    """Return a table of models by models; the row's model is compared with the column's."""
    rows = [
        [
            name,
            *(
                MISSING if a == b or np.isnan(values[a, b]) else f"{values[a, b]:{form}}".replace("-", "−")
                for b in range(len(systems))
            ),
        ]
        for a, name in enumerate(systems)
    ]
    return Layout(["", *systems], rows, title=title)


def diversity_layouts(diversity: Diversity) -> list[Layout]:
    """Return tables A.1a and A.1b, and the share of common items."""
    side = direction_title(diversity.direction)
    at_least = " (at least: some are beyond the known places)" if (diversity.beyond > 0).any() else ""
    return [
        pair_layout(diversity.systems, values, form, title)
        for values, form, title in (
            (diversity.tau, ".2f", f"Kendall's tau of the first {diversity.depth}, {side}"),
            (diversity.overlap, ".0%", f"Share of the first {diversity.depth} in common, {side}"),
            (diversity.first_rank, ".1f",
             f"Mean place of the row's first item in the column's ranking, {side}{at_least}"),
        )
    ]  # fmt: skip
