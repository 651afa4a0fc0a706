"""Run lists: the first items of runs, and where given pairs come out, from one pass over each run's scores.

What is known before the pass is asked in it: the lists, as deep as anything needs them, and the places of
pairs that do not depend on the lists. From a list follow the places of what is in it, and every shorter list.
Left over are pairs that only other runs list. A measure with a cut-off does not look at them; whoever does
asks for a second pass, which cannot be avoided: the pairs are known when all lists are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from karat._util import track
from karat.benchmarks import Direction, JudgedItems
from karat.estimation.relevance import KEY_BASE
from karat.runs import PassOptions, Run, TableRun, Top, TopRequest, pairs_to_place

UNKNOWN = -1
"""The number of higher scores of a pair whose place is not known."""


@dataclass(eq=False)
class RunLists:
    """What is asked of several runs about some queries, and what their passes gave; `scan_runs` fills it.

    Parameters
    ----------
    runs
        Aligned with one benchmark.
    direction, queries
        Which queries, sorted.
    depth, list_depth
        How many first items of each run are wanted, and how deep lists go: at least so many.
    whole_ties
        Whether lists have all that tie with the last.
    keys
        Pairs that are placed by every run, sorted, each once.
    exact
        Whether the places of all wanted pairs are needed: then a run also places what the lists of
        earlier ones have, which saves the second pass of the last.
    threads, passing
        How passes over the scores are made.
    tops
        Per run, its lists.
    places
        Per run, pairs with their numbers of higher, equal and earlier items.
    wanted
        All pairs that a second pass places, of which `keys` and the lists are a part.
    group
        Those that one pass serves together.
    """

    runs: Sequence[Run]
    direction: Direction
    queries: np.ndarray
    depth: int
    list_depth: int
    whole_ties: bool
    keys: np.ndarray
    exact: bool = True
    threads: int | None = None
    passing: PassOptions = field(default_factory=PassOptions)
    tops: dict[str, Top] = field(default_factory=dict)
    places: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    wanted: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    group: Sequence[RunLists] = ()

    def request(self) -> TopRequest:
        """Return the lists as a pass is asked for them."""
        return TopRequest(self.direction, self.list_depth, self.queries, whole_ties=self.whole_ties)

    def items(self, keys: np.ndarray) -> JudgedItems:
        """Return pairs as a pass is asked for their places."""
        return pairs_to_place(self.direction, keys // KEY_BASE, keys % KEY_BASE)

    def listed(self, run: str, depth: int) -> Top:
        """Return the first `depth` items of each query, as far as lists go."""
        return self.tops[run].cut(depth, self.whole_ties)

    def listed_keys(self, run: str, depth: int) -> np.ndarray:
        """Return the pairs of these lists."""
        top = self.listed(run, depth)
        return np.repeat(self.queries, np.diff(top.ptr)).astype(np.int64) * KEY_BASE + top.item

    def fingerprints(self, depth: int) -> dict[str, str]:
        """Return per run a fingerprint of which items are the first `depth` of each query."""
        return {
            run: sha256(np.sort(self.listed_keys(run, depth)).tobytes()).hexdigest()[:16] for run in self.tops
        }

    def add(self, run: str, keys: np.ndarray, columns: np.ndarray) -> None:
        """Remember the places of pairs: how many items score higher, the same, and of these come earlier."""
        known, before = self.places.get(run, (np.zeros(0, np.int64), np.zeros((3, 0), np.int64)))
        together, first = np.unique(np.r_[known, keys], return_index=True)
        self.places[run] = together, np.concatenate([before, columns], axis=1)[:, first]

    def place(self, run: str, keys: np.ndarray) -> np.ndarray:
        """Return the three numbers of pairs; UNKNOWN for what is neither listed nor placed."""
        known, columns = self.places.get(run, (np.zeros(0, np.int64), np.zeros((3, 0), np.int64)))
        out = np.full((3, len(keys)), UNKNOWN)
        if len(known):
            at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            found = known[at] == keys
            out[:, found] = columns[:, at[found]]
        return out

    def missing(self, run: str) -> np.ndarray:
        """Return the wanted pairs whose place in a run is not known."""
        return self.wanted[self.place(run, self.wanted)[0] == UNKNOWN]

    def complete(self) -> None:
        """Find the places of all wanted pairs of the group, in one more pass of the runs that lack some."""
        for run in track(self.runs, lambda run: f"reading the scores of {run.name} again"):
            parts = [(lists, keys) for lists in self.group if len(keys := lists.missing(run.name))]
            if isinstance(run, TableRun) and parts:
                items = [lists.items(keys) for lists, keys in parts]
                placed = run.scan(items, self.threads, options=self.passing).placed
                for (lists, keys), one in zip(parts, placed, strict=True):
                    lists.add(run.name, keys, np.stack([one.above, one.tied, one.earlier]))


def scan_runs(group: Sequence[RunLists]) -> None:
    """Fill in what one pass over each run gives for all requests, which are of the same runs.

    Runs that are ranked lists have no scores to pass over: their places are looked up when they are needed.
    """
    for one in group:
        one.group = group
    for run in track(group[0].runs, lambda run: f"reading the scores of {run.name}"):
        deep = [one for one in group if one.list_depth]
        asked = []
        if isinstance(run, TableRun):
            asked = [(one, keys) for one in group if len(keys := known_keys(one))]
        if not deep and not asked:
            continue
        scanned = run.scan(
            [one.items(keys) for one, keys in asked],
            group[0].threads,
            tops=[one.request() for one in deep],
            options=group[0].passing,
        )
        for one, top in zip(deep, scanned.tops, strict=True):
            one.tops[run.name] = top
            if isinstance(run, TableRun):
                one.add(run.name, one.listed_keys(run.name, one.list_depth), places_in(top))
        for (one, keys), placed in zip(asked, scanned.placed, strict=True):
            one.add(run.name, keys, np.stack([placed.above, placed.tied, placed.earlier]))


def known_keys(lists: RunLists) -> np.ndarray:
    """Return the pairs that the next run places in its first pass."""
    if not lists.exact:
        return lists.keys
    return np.unique(
        np.concatenate([lists.keys, *(lists.listed_keys(run, lists.depth) for run in lists.tops)])
    )


def places_in(top: Top) -> np.ndarray:
    """Return of each listed item how many score higher, how many others the same, and how many come earlier.

    Equals that the list does not have any more are not counted; lists with whole ties have all.

    >>> top = Top(np.array([0, 3]), np.array([7, 1, 4]), np.array([0.9, 0.5, 0.5]))
    >>> places_in(top).tolist()
    [[0, 1, 1], [0, 1, 1], [0, 0, 1]]
    """
    rows = np.arange(len(top.item))
    query = np.repeat(np.arange(len(top.ptr) - 1), np.diff(top.ptr))
    begins = np.ones(len(rows), bool)
    begins[1:] = (np.diff(query) != 0) | (np.diff(top.score) != 0)
    number = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)[number] if len(rows) else rows
    size = np.bincount(number)[number] if len(rows) else rows
    return np.stack([first - top.ptr[query], size - 1, rows - first])
