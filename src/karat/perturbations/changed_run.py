"""The run on changed queries: which changed caption each of its rows is, by id or in the order of a file."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_unique_ids, plural
from karat.benchmarks import Benchmark, Direction, as_id_array
from karat.captions import REPAIR, PerturbedQuery, check_queries, read_queries
from karat.errors import InputError
from karat.perturbations.perturbation import PERTURBATIONS
from karat.perturbations.perturbed_captions import PerturbedCaptions
from karat.runs import EmbeddingRun, Loading, MatrixRun, RankingsRun, Run, TableRun, read_run

CAPTIONS_ASK: Direction = "t2i"
"""What is changed are captions: they are the queries, and images are ranked."""
SAME = 1e-5
"""Up to this share of the largest score, two scores are the same: an encoder computes a text in a batch of
others a little differently."""
OTHER_IMAGES = 0.01
"""Image vectors that differ by more than this share of their length are of another model."""


@dataclass(frozen=True, eq=False)
class ChangedQueries:
    """Changed captions of one kind.

    Parameters
    ----------
    kind
        What was changed, as the log of changes says; several kinds are joined by "+".
    control
        Whether every one of them keeps the meaning.
    listed
        The captions of the file, in its order, as indices of the benchmark.
    changed
        Those of them whose text has changed, sorted.
    where
        The file, for messages.
    """

    kind: str
    control: bool
    listed: np.ndarray
    changed: np.ndarray
    where: str | None = None


def changed_queries(source: Any, benchmark: Benchmark) -> ChangedQueries:
    """Return the changed captions of a file, of what `perturb` returned, or of a list."""
    where = str(source) if isinstance(source, str | Path) else None
    queries: Sequence[PerturbedQuery]
    if isinstance(source, str | Path):
        queries = read_queries(source, benchmark)
    else:
        own = isinstance(source, PerturbedCaptions)
        queries = (*source.queries, *source.unchanged) if own else tuple(source)
        check_queries(queries, benchmark)
    kinds = sorted({each.kind for query in queries for each in query.changes} - {REPAIR})
    listed = benchmark.captions.find([query.caption for query in queries]) if queries else np.zeros(0, int)
    changed = listed[[query.old != query.new for query in queries]] if queries else listed
    if not len(changed):
        raise InputError("no query differs from its caption", where=where, fix="write it with karat perturb")
    control = bool(kinds) and all(
        kind in PERTURBATIONS and PERTURBATIONS[kind].keeps_meaning for kind in kinds
    )
    return ChangedQueries("+".join(kinds) or "changed", control, listed, np.sort(changed), where)


@dataclass(frozen=True, eq=False)
class ChangedRun:
    """A run that answers for some captions of a benchmark.

    Parameters
    ----------
    run
        Only these captions may be asked for.
    captions
        Their indices, sorted.
    """

    run: Run
    captions: np.ndarray

    def of(self, benchmark: Benchmark) -> Run:
        """Return the run as one of the benchmark with truths for other queries."""
        run = copy(self.run)
        run.benchmark = benchmark
        return run


def changed_run(
    source: Any, before: Run, benchmark: Benchmark, queries: ChangedQueries, loading: Loading
) -> ChangedRun:
    """Return the run on changed queries, matched to the benchmark.

    Parameters
    ----------
    source
        A run or what `karat.load_run` takes, over all captions or over those of the file. Where `before` is
        embeddings, one table of the queries' vectors is enough.
    before
        The run on the captions as they were, matched to the benchmark.
    benchmark, queries
        What was asked.
    loading
        How files and arrays are read; name and ids are those of the run before.
    """
    run = source if isinstance(source, Run) else _read(source, before, benchmark, queries, loading)
    if isinstance(run, RankingsRun):
        return _ranked(run, benchmark, queries)
    assert isinstance(run, TableRun)
    run = copy(run)
    if isinstance(before, TableRun):
        run.ids = {**{kind: ids for kind, ids in before.ids.items() if kind == "images"}, **run.ids}
    if isinstance(run, EmbeddingRun) and isinstance(before, EmbeddingRun):
        _check_images(run, before, benchmark)
    sizes = run.shape if run.rows == "images" else run.shape[::-1]
    _check_shape(run, sizes, benchmark, queries)
    if "captions" in run.ids:
        captions = _by_ids(run, benchmark, queries)
        return _matched(run, benchmark, captions)
    gallery = np.arange(benchmark.captions.size)
    if isinstance(before, TableRun) and "captions" in before.ids:
        gallery = benchmark.captions.index(before.ids["captions"])
    orders = [order for order in (queries.listed, gallery) if len(order) == sizes[1]]
    if len(orders) == 2 and not np.array_equal(orders[0], orders[1]):
        orders = _fitting(run, before, benchmark, queries, orders)
    return _matched(run, benchmark, orders[0])


def _read(source: Any, before: Run, benchmark: Benchmark, queries: ChangedQueries, loading: Loading) -> Run:
    sources = source if isinstance(source, tuple) else (source,)
    run = read_run(sources, benchmark, None, replace(loading, name=None, ids=None))
    if isinstance(before, EmbeddingRun) and isinstance(run, MatrixRun):
        rows, width = run.images_by_captions
        vectors = width == before.images.shape[1] and rows != benchmark.images.size
        if vectors and rows not in (len(queries.listed), benchmark.captions.size):
            raise InputError(
                f"has {plural(rows, 'vector')} for {len(queries.listed):,} queries",
                where=run.where,
                fix=f"encode every query of {queries.where or 'the changed queries'}, in that order",
            )
        if vectors or (width, rows) == (before.images.shape[1], len(queries.listed)):
            ids = next((ids for ids in run.ids.values() if len(ids) == rows), None)
            named = {} if ids is None else {"captions": ids}
            table = run.scores if run.rows == "images" else run.scores.T
            # The vectors of the images are scaled already where the similarity says so.
            run = EmbeddingRun(before.images, table, run.name, loading.similarity, named, run.where)
    return run


def _ranked(run: RankingsRun, benchmark: Benchmark, queries: ChangedQueries) -> ChangedRun:
    run = run.align(benchmark)
    check_captions_ask(run)
    answered = np.flatnonzero(np.diff(run.lists[CAPTIONS_ASK].ptr))
    _check_answered(run, benchmark, queries, answered)
    return ChangedRun(run, answered)


def check_captions_ask(run: Run) -> None:
    """Raise where a run does not rank images for captions."""
    if CAPTIONS_ASK not in run.directions:
        what = f"has no {CAPTIONS_ASK} rankings"
        raise InputError(what, where=run.where or run.name, fix="rank images for captions")


def _check_answered(run: Run, benchmark: Benchmark, queries: ChangedQueries, answered: np.ndarray) -> None:
    missing = np.setdiff1d(queries.changed, answered)
    if len(missing):
        raise InputError(
            f"lacks {plural(len(missing), 'changed caption')}, first {benchmark.captions[missing[0]]}",
            where=run.where or run.name,
            fix=f"score every query of {queries.where or 'the changed queries'}",
        )


def _check_shape(
    run: TableRun, sizes: tuple[int, int], benchmark: Benchmark, queries: ChangedQueries
) -> None:
    images, captions = benchmark.images.size, benchmark.captions.size
    count = len(queries.listed)
    fits = sizes[1] in (count, captions) or "captions" in run.ids
    if sizes[0] == images and fits:
        return
    what = f"has scores of {sizes[0]:,} images and {sizes[1]:,} queries"
    if sizes[1] == images and sizes[0] in (count, captions):
        fix = "it is transposed: karat convert --transpose turns it, transpose=True in Python"
    elif sizes[0] != images:
        what += f", but {benchmark.name} has {images:,} images"
        fix = "score the changed queries with all images of the benchmark, in the order of the run before"
    else:
        fix = (
            f"give a row for each of the {count:,} queries of {queries.where or 'the changed queries'}, in "
            f"that order, or for each of the {captions:,} captions of {benchmark.name}"
        )
    raise InputError(what, where=run.where or run.name, fix=fix)


def _by_ids(run: TableRun, benchmark: Benchmark, queries: ChangedQueries) -> np.ndarray:
    where = run.ids_where or run.where
    ids = as_id_array(run.ids["captions"], where)
    check_unique_ids(ids, "caption", where)
    captions = benchmark.captions.index(ids, where)
    outside = np.flatnonzero(captions >= benchmark.captions.size)
    if len(outside):
        raise InputError(f"caption {ids[outside[0]]} is outside the gallery", where=where, fix="leave it out")
    _check_answered(run, benchmark, queries, captions)
    return captions


def _check_images(run: EmbeddingRun, before: EmbeddingRun, benchmark: Benchmark) -> None:
    if run.images.shape != before.images.shape:
        return
    ours, theirs = (
        each.images
        if "images" not in each.ids
        else each.images[benchmark.images.arrangement(each.ids["images"])]
        for each in (run, before)
    )
    apart = np.linalg.norm(ours - theirs, axis=1) > OTHER_IMAGES * np.linalg.norm(theirs, axis=1)
    if apart.any():
        raise InputError(
            f"its image vectors are not those of {before.where or before.name}: image "
            f"{benchmark.images[int(np.argmax(apart))]} is the first that differs",
            where=run.where or run.name,
            fix="encode the images and both kinds of queries with the same model, images in the same order",
        )


def _fitting(
    run: TableRun, before: Run, benchmark: Benchmark, queries: ChangedQueries, orders: list[np.ndarray]
) -> list[np.ndarray]:
    """Return the one of two orders by which captions that were not changed score as before."""
    rest = np.setdiff1d(queries.listed, queries.changed)
    owner = benchmark.caption_image
    image = np.zeros(len(rest), np.int64) if owner is None else np.maximum(owner[rest], 0)
    fitting = []
    if len(rest) and isinstance(before, TableRun):
        known = before.pairs(CAPTIONS_ASK, rest, image)
        for order in orders:
            scores = _matched(run, benchmark, order).run.pairs(CAPTIONS_ASK, rest, image)  # type: ignore[attr-defined]
            if np.mean(np.abs(scores - known) <= 100 * SAME * np.abs(known).max()) > 0.9:
                fitting.append(order)
    if len(fitting) != 1:
        raise InputError(
            "does not say whether its rows are in the order of the queries or of the benchmark",
            where=run.where or run.name,
            fix="name the captions, in an ids file beside it (NAME.ids.json) or in the file itself",
        )
    return fitting


def _matched(run: TableRun, benchmark: Benchmark, captions: np.ndarray) -> ChangedRun:
    """Return a table whose rows of queries are given captions of the benchmark."""
    matched = copy(run)
    images = None
    if "images" in run.ids:
        images = benchmark.images.arrangement(run.ids["images"], run.ids_where or run.where)
    # Captions that the table does not have are not asked for.
    row = np.zeros(benchmark.captions.size, np.int64)
    row[captions] = np.arange(len(captions))
    matched.row_of, matched.column_of = (images, row) if run.rows == "images" else (row, images)
    matched.benchmark = benchmark
    return ChangedRun(matched, np.sort(captions))
