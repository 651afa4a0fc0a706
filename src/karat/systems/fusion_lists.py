"""Ranked lists kept as indices and shown as ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from karat.benchmarks import Ids
from karat.runs.rankings import Lists


class IdLists(Mapping[Any, np.ndarray]):
    """Ranked lists by query id, each turned into item ids when it is asked for.

    Queries without a list are left out.

    >>> lists = Lists(np.array([0, 2, 2]), np.array([1, 0]), 2)
    >>> {query: listed.tolist() for query, listed in IdLists(Ids(["a", "b"]), Ids([7, 8]), lists).items()}
    {'a': [8, 7]}
    """

    def __init__(self, queries: Ids, items: Ids, lists: Lists) -> None:
        self.queries, self.items_, self.lists = queries, items, lists
        listed = np.flatnonzero(np.diff(lists.ptr))
        self.row = dict(zip(queries.values[listed].tolist(), listed.tolist()))

    def __getitem__(self, query: Any) -> np.ndarray:
        row = self.row[query]
        return self.items_.values[self.lists.item[self.lists.ptr[row] : self.lists.ptr[row + 1]]]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.row)

    def __len__(self) -> int:
        return len(self.row)
