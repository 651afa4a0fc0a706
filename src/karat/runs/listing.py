"""Ranked lists as data: the first items of a run, and shorter ones from longer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark
from karat.benchmarks.ids import as_id_array
from karat.runs.files import with_directions
from karat.runs.formats import Content
from karat.runs.formats.content import by_direction
from karat.runs.formats.json import plain
from karat.runs.rankings import FORM, RankingsRun
from karat.runs.table import TableRun
from karat.validation import InputError, check_unique_ids


def first_items(run: TableRun, k: int, direction: Any = None) -> Content:
    """Return the first `k` items of every query with their scores, in one direction or both."""
    if run.benchmark is not None:
        # An aligned run answers in the benchmark's order, whatever the table's is.
        ids = {"images": run.benchmark.images.gallery, "captions": run.benchmark.captions.gallery}
    else:
        ids = {kind: as_id_array(listed, run.ids_where or run.where) for kind, listed in run.ids.items()}
        for kind in ("images", "captions"):
            if kind not in ids:
                raise InputError(
                    f"has no ids of {kind}, which ranked lists need",
                    where=run.where,
                    fix="give --benchmark NAME or --ids FILE",
                )
            check_unique_ids(ids[kind], kind[:-1], run.ids_where or run.where)
    lists: dict[str, dict[Any, Any]] = {}
    scores: dict[str, dict[Any, Any]] = {}
    for one in DIRECTIONS if direction is None else (direction,):
        sides = ("images", "captions") if one == "i2t" else ("captions", "images")
        queries, items = (ids[side] for side in sides)
        top = run.top(one, k)
        spans = list(zip(queries.tolist(), top.ptr[:-1].tolist(), top.ptr[1:].tolist()))
        listed = items[top.item]
        lists[one] = {query: listed[begin:end] for query, begin, end in spans}
        scores[one] = {query: top.score[begin:end] for query, begin, end in spans}
    return Content(lists=lists, scores=scores)


def cut_lists(
    content: Content, benchmark: Benchmark | None, top: int | None, direction: str | None, where: str | None
) -> Content:
    """Return ranked lists checked, cut to `top` items and to one direction."""
    lists: Mapping[Any, Any] = content.lists or {}
    scores = content.scores
    if not lists:
        raise InputError("holds no ranking", where=where, fix=FORM)
    if "" in by_direction(lists) and (direction is not None or benchmark is not None):
        found = {direction: lists} if direction is not None else with_directions(lists, benchmark, where)
        scores = None if scores is None else {next(iter(found)): scores}
        lists = found
    if benchmark is not None:
        RankingsRun(lists, "run", where).align(benchmark)
    parts = by_direction(lists)
    if direction is not None and direction not in parts:
        raise InputError(f"has no {direction} rankings", where=where, fix=f"it has {', '.join(parts)}")
    kept = parts if direction is None else {direction: parts[direction]}
    cut = {one: cut_part(found, top, where) for one, found in kept.items()}
    known = None if scores is None else by_direction(scores)
    values = None if known is None else {one: cut_part(known[one], top, where, values=True) for one in kept}
    return Content(lists=cut.get("", cut), scores=None if values is None else values.get("", values))


def cut_part(lists: Any, top: int | None, where: str | None, values: bool = False) -> dict[Any, list[Any]]:
    """Return the heads of the lists of one direction, each a plain list."""
    if not isinstance(lists, Mapping) or not lists:
        raise InputError("holds no dictionary of ranked lists", where=where, fix=FORM)
    cut = {}
    for query, listed in lists.items():
        if not isinstance(listed, list | tuple | np.ndarray):
            raise InputError(f"query {query} has no list of ids", where=where, fix=FORM)
        cut[query] = plain(listed)[:top]
        if not values:
            as_id_array(cut[query], where)
    return cut
