"""What a run says about all items of some queries, whatever the run is kept in."""

from __future__ import annotations

from copy import copy

import numpy as np

from karat.benchmarks import Direction
from karat.runs import EmbeddingRun, Run
from karat.runs.table import TableRun
from karat.systems.fusion_methods import Ballot


def average_ranks(scores: np.ndarray) -> np.ndarray:
    """Return the place of every item from 0, best first; equal scores share the mean of their places.

    >>> average_ranks(np.array([[0.5, 0.9, 0.5, 0.1]]))
    array([[1.5, 0. , 1.5, 3. ]])
    """
    n_items = scores.shape[1]
    order = np.argsort(-scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1)
    place = np.arange(n_items)
    starts = np.ones(scores.shape, bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    ends = np.ones(scores.shape, bool)
    ends[:, :-1] = starts[:, 1:]
    # From behind: the nearest end at or after each place.
    last = np.minimum.accumulate(np.where(ends, place, n_items - 1)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(scores.shape)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=1)
    return ranks


def ready(run: Run) -> Run:
    """Return a run whose scores do not depend on how queries are grouped into blocks."""
    if isinstance(run, EmbeddingRun):
        run = copy(run)
        run.use(np.float64)
    return run


def ballot(run: Run, direction: Direction, queries: np.ndarray, n_items: int) -> Ballot:
    """Return what an aligned run says about all items of some queries."""
    if isinstance(run, TableRun):
        query_of, item_of = run.maps(direction)
        scores = run.query_scores(direction, query_of[queries])[:, item_of].astype(np.float64)
        return Ballot(average_ranks(scores), scores, np.ones(scores.shape, bool))
    top = run.top(direction, n_items, queries)
    row = np.repeat(np.arange(len(queries)), np.diff(top.ptr))
    scores = np.full((len(queries), n_items), -np.inf)
    scores[row, top.item] = top.score
    return Ballot(average_ranks(scores), scores, np.isfinite(scores))
