"""Requests: what the parts of a command ask of every run, put together for its one pass over the scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from karat.benchmarks import Direction, JudgedItems
from karat.runs import PassOptions, Run, Top, TopRequest, pairs_to_place
from karat.scores.evaluation.shared_pairs import SharedPairs


@dataclass(frozen=True, eq=False)
class ScanAnswers:
    """What a run's pass gave: the place of every pair, and every list, under the request for it."""

    placed: Mapping[JudgedItems, JudgedItems]
    tops: Mapping[TopRequest, Top]


class ScanRequests:
    """Pairs to place and first items to list; those with the same gallery are asked for once.

    Parameters
    ----------
    pairs
        As `pairs_of` returns them.
    tops
        With their queries, sorted.
    """

    def __init__(self, pairs: Sequence[JudgedItems] = (), tops: Sequence[TopRequest] = ()) -> None:
        self._pairs = SharedPairs(pairs)
        self._groups: list[tuple[TopRequest, list[TopRequest]]] = []
        groups: dict[tuple[Direction, bytes], list[TopRequest]] = {}
        for request in tops:
            key = (request.direction, b"" if request.gallery is None else request.gallery.tobytes())
            groups.setdefault(key, []).append(request)
        for group in groups.values():
            queries = np.unique(np.concatenate([queries_of(request) for request in group]))
            deepest = max(request.k for request in group)
            self._groups.append((replace(group[0], k=deepest, queries=queries), group))

    @property
    def pairs(self) -> list[JudgedItems]:
        """What a run has to place."""
        return self._pairs.distinct

    @property
    def tops(self) -> list[TopRequest]:
        """What a run has to list."""
        return [request for request, _ in self._groups]

    def answers(self, placed: Iterable[JudgedItems], tops: Mapping[TopRequest, Top]) -> ScanAnswers:
        """Return what a run's answers say to each request; both may lack a direction."""
        own = {
            request: tops[asked].of(np.searchsorted(queries_of(asked), queries_of(request))).cut(request.k)
            for asked, group in self._groups
            if asked in tops
            for request in group
        }
        return ScanAnswers(self._pairs.spread(list(placed)), own)

    def of_run(self, run: Run, threads: int | None = None, options: PassOptions | None = None) -> ScanAnswers:
        """Return the answers of one run, from a pass of its own."""
        pairs = [items for items in self.pairs if items.direction in run.directions]
        tops = [request for request in self.tops if request.direction in run.directions]
        scanned = run.scan(pairs, threads, tops=tops, options=options)
        return self.answers(scanned.placed, dict(zip(tops, scanned.tops)))


def pairs_of(
    direction: Direction, query: np.ndarray, item: np.ndarray, gallery: np.ndarray | None = None
) -> JudgedItems:
    """Return pairs to place, sorted by query, all of them inside their gallery."""
    pairs = pairs_to_place(direction, query, item, gallery)
    return replace(pairs, outside=np.zeros(len(item), bool))


def queries_of(request: TopRequest) -> np.ndarray:
    """Return the queries of a request, which names them."""
    assert request.queries is not None
    return request.queries
