"""Conversion of runs from one file format to another, in bounded memory.

Tables stay unread or go through block by block; ranked lists are the first items of a run, or are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import (
    check_choice,
    check_folder,
    check_unique_ids,
    check_writable,
    fill_folder,
    is_empty,
    replacing_all,
    scratch_file,
    write_errors,
    write_file,
)
from karat.benchmarks import Benchmark, as_id_array, direction_in, in_order, letters_of
from karat.errors import InputError
from karat.runs.compute import Compute
from karat.runs.embeddings import EmbeddingRun, Similarity
from karat.runs.files import (
    Memory,
    as_table_run,
    gather,
    paths_among,
    stated,
    table_shape,
    with_directions,
)
from karat.runs.fingerprint import Fingerprint, made_with_beside, write_made_with
from karat.runs.formats import (
    FOLDER,
    WRITERS,
    Blocks,
    Content,
    FormatWriter,
    by_direction,
    name_of,
    plain,
    rows_per_block,
    write_npy,
)
from karat.runs.id_files import Order, write_ids
from karat.runs.loading import Loading
from karat.runs.memory import check_list_memory
from karat.runs.rankings import FORM, RankingsRun
from karat.runs.run import SIDES
from karat.runs.table import TableRun

CONTENT_KINDS = ("scores", "embeddings", "lists")


def convert(
    *sources: Any,
    target: Path,
    benchmark: Benchmark | None = None,
    kind: str | None = None,
    top: int | None = None,
    direction: str | None = None,
    similarity: Similarity = "dot",
    ids: Order | None = None,
    transpose: bool = False,
    made_with: Fingerprint | None = None,
    memory: Memory = None,
) -> list[Path]:
    """Write a run in another format and return the files written.

    Score tables go through block by block. Embeddings become scores where the target holds one
    table, and both become ranked lists with `top`; ranked lists become nothing else.

    Parameters
    ----------
    *sources, ids, similarity, transpose
        See `karat.load_run`. The target says all of it itself: tables are images by captions, with the ids
        of rows and columns in the file or beside it; cosines of embeddings are noted beside them.
    target
        Its extension is the format; a name without one is a folder as clip-retrieval writes it.
    benchmark
        Checks the run against it, and names rows and columns that have no ids.
    kind
        "scores", "embeddings" or "lists"; by default what the source holds and the target takes.
        Embeddings in a format of one table make two files, NAME.images and NAME.captions.
    top
        How many items of each query a ranked list keeps.
    direction
        The one direction that ranked lists keep, or the direction of lists that do not name one.
    memory
        How much memory the run may take, as `karat.load_run` takes it.
    made_with
        What the run was made with, kept in the file or beside it; by default what the sources say.
    """
    target = Path(target)
    writer = writer_of(target)
    loading, compute = Loading(None, ids, similarity, transpose), Compute(memory=memory)
    if kind is not None:
        kind = check_choice(kind, CONTENT_KINDS, "kind")
    if direction is not None:
        letters_of(direction)
    # One table of embeddings is a run of one collection.
    apart = benchmark is None or not benchmark.one_collection
    if apart and (have := kind_of_tables(sources)) is not None:
        target_kind(have, writer, kind, top, direction, target)
    paths = paths_among(sources)
    check_list_memory(memory, paths, next(map(name_of, paths), "run"))
    content = gather(sources, benchmark, loading.ids)
    loading = stated(loading, content)
    kind = target_kind(content.kind, writer, kind, top, direction, target)
    made_with = made_with or content.made_with
    if made_with is not None and content.kind == "embeddings" != kind:
        made_with = made_with.with_facts({"scores.similarity": loading.similarity})
    with scratch_file(target) as scratch:
        if content.lists is not None:
            output = cut_lists(content, benchmark, top, direction)
        else:
            run, output = checked_tables(content, kind, scratch, benchmark, loading, compute)
            if kind == "lists":
                output = first_items(run, int(top or 0), direction)
        output = replace(output, made_with=made_with)
        if kind in writer.holds:
            return save({target: output}, writer)
        return save(
            {target.with_suffix(f".{side}{target.suffix}"): part for side, part in sides(output)}, writer
        )


def writer_of(target: Path) -> FormatWriter:
    """Return what writes the target, or raise before anything is read."""
    name = target.suffix or FOLDER
    if name not in WRITERS:
        raise InputError(
            f"has the extension {target.suffix!r}",
            where=target,
            fix=f"karat writes {', '.join(WRITERS)} here",
        )
    if name != FOLDER:
        check_writable(target)
    elif target.is_file() or (target.is_dir() and not is_empty(target)):
        raise InputError("already exists", where=target, fix="name a new folder")
    elif not target.resolve().parent.is_dir():
        raise InputError(f"there is no folder {target.parent}", where=target, fix="create it first")
    else:
        check_folder(target)
    return WRITERS[name]


def kind_of_tables(sources: Sequence[Any]) -> str | None:
    """Return what one or two tables in files are, by their heads alone; None for anything else."""
    paths = [Path(source) for source in sources if isinstance(source, str | Path)]
    if len(paths) < len(sources) or not all(map(table_shape, paths)):
        return None
    return {1: "scores", 2: "embeddings"}.get(len(paths))


def check_kind(target: Path, have: str, top: int | None = None) -> None:
    """Raise where a target does not take scores, or lists of the first `top`, before they are computed."""
    target_kind(have, writer_of(target), None, top, None, target)


def target_kind(
    have: str, writer: FormatWriter, kind: str | None, top: int | None, direction: str | None, target: Path
) -> str:
    """Return what is to be written, or raise where it cannot come from what there is."""
    wanted = kind or default_kind(have, writer, top)
    takes = (*writer.holds, "embeddings") if "vectors" in writer.holds else writer.holds
    reasons = [
        (
            have == "lists" and (wanted != "lists" or "lists" not in writer.holds),
            "ranked lists have no scores of the other pairs",
            "write lists again, as json, csv, tsv, parquet or trec",
        ),
        (
            have == "scores" and wanted == "embeddings",
            "scores cannot be converted to embeddings",
            "choose scores",
        ),
        (wanted not in takes, f"takes no {wanted}", f"it takes {' or '.join(writer.holds)}"),
        (wanted == "lists" != have and top is None, "the lists have no length", "give --top K"),
        (
            wanted == "lists" != have and direction is None and writer.one_direction,
            "holds one direction",
            "choose --direction, such as i2t, t2i or q2d",
        ),
        (wanted != "lists" and top is not None, "only lists are cut", "leave out --top"),
        (wanted != "lists" and direction is not None, "a table has both directions", "leave out --direction"),
    ]
    for wrong, what, fix in reasons:
        if wrong:
            raise InputError(what, where=target, fix=fix)
    if top is not None and top < 1:
        raise InputError(f"the first {top} items were requested", fix="give 1 or more")
    return wanted


def default_kind(have: str, writer: FormatWriter, top: int | None) -> str:
    """Return what is written of what there is, where nobody says."""
    if top is not None:
        return "lists"
    if have in writer.holds:
        return have
    return "scores" if have == "embeddings" and "scores" in writer.holds else "lists"


def checked_tables(
    content: Content,
    kind: str,
    scratch: Path,
    benchmark: Benchmark | None,
    loading: Loading,
    compute: Compute,
) -> tuple[TableRun, Content]:
    """Return a run of the tables, checked, and the tables to write, as far as possible not read yet."""
    if content.kind == "scores" and loading.transpose:
        turned = map_table(content.tables[0], scratch, content.where).T
        content, loading = replace(content, tables=(turned,), facts={}), replace(loading, transpose=False)
    read = content
    if content.kind == "scores":
        table = content.tables[0]
        # Shape and ids can be checked without the numbers; the first k of a query need them at any place.
        numbers = map_table(table, scratch, content.where) if kind == "lists" else stand_in(table)
        read = replace(content, tables=(numbers,))
    run = as_table_run(read, benchmark, "run", loading, compute)
    ids = run.ids
    if benchmark is not None:
        run = run.align(benchmark)
        ids = dict(zip(SIDES, (known.gallery for known in benchmark.ids))) | ids
    if kind == "scores" and isinstance(run, EmbeddingRun):
        return run, Content(tables=(products(run, content.tables),), ids=ids, where=content.where)
    cosine = kind == "embeddings" and loading.similarity == "cosine"
    return run, replace(content, ids=ids, facts={"similarity": "cosine"} if cosine else {})


def sides(content: Content) -> Iterator[tuple[str, Content]]:
    """Yield each of two embedding tables separately."""
    for side, table in zip(SIDES, content.tables):
        ids = {side: content.ids[side]} if side in content.ids else {}
        yield side, replace(content, tables=(table,), ids=ids, vectors=True, rows=content.ids.get(side))


def save(contents: Mapping[Path, Content], writer: FormatWriter) -> list[Path]:
    """Write contents, and beside them what has no place in them, all or none; return the files."""
    written: dict[Path, Callable[[Path], object]] = {}
    for target, content in contents.items():
        beside = target.with_suffix(".ids.json")
        if content.kind != "lists" and not content.ids and beside.exists():
            raise InputError(
                "is next to the target and would name its rows", where=beside, fix="move it away first"
            )
        facts_beside = made_with_beside(target)
        if content.made_with is None and not writer.keeps_made_with and facts_beside.exists():
            raise InputError(
                "is next to the target and would say what it was made with",
                where=facts_beside,
                fix="move it away first",
            )
        written[target] = partial(writer.write, content)
        ids = {} if content.kind in writer.keeps_ids else content.ids
        if ids or content.facts:
            written[beside] = partial(write_ids, ids, facts=content.facts)
        if content.made_with is not None and not writer.keeps_made_with:
            written[facts_beside] = partial(write_made_with, content.made_with)
    if not target.suffix:
        fill_folder(target, written.pop(target))
        for path, write in written.items():
            write_file(path, write)
        return [target, *written]
    with replacing_all(*written) as drafts:
        for write, draft in zip(written.values(), drafts):
            write(draft)
    return list(written)


def first_items(run: TableRun, k: int, direction: Any = None) -> Content:
    """Return the first `k` items of every query with their scores, in one direction or both."""
    if run.benchmark is not None:
        # An aligned run answers in the benchmark's order, whatever the table's is.
        ids = dict(zip(SIDES, (known.gallery for known in run.benchmark.ids)))
    else:
        ids = {kind: as_id_array(listed, run.ids_where or run.where) for kind, listed in run.ids.items()}
        for kind in SIDES:
            if kind not in ids:
                raise InputError(
                    f"has no ids of {kind}, which ranked lists need",
                    where=run.where,
                    fix="give a benchmark (-b NAME), or their ids (--ids FILE)",
                )
            check_unique_ids(ids[kind], kind[:-1], run.ids_where or run.where)
    lists: dict[str, dict[Any, Any]] = {}
    scores: dict[str, dict[Any, Any]] = {}
    for way in run.directions if direction is None else [direction_in(run.directions, direction)]:
        queries, items = in_order(way, ids["images"], ids["captions"])
        top = run.top(way, k)
        spans = list(zip(queries.tolist(), top.ptr[:-1].tolist(), top.ptr[1:].tolist()))
        listed = items[top.item]
        lists[way] = {query: listed[begin:end] for query, begin, end in spans}
        scores[way] = {query: top.score[begin:end] for query, begin, end in spans}
    return Content(lists=lists, scores=scores)


def cut_lists(
    content: Content, benchmark: Benchmark | None, top: int | None, direction: str | None
) -> Content:
    """Return ranked lists checked, cut to `top` items and to one direction."""
    lists: Mapping[Any, Any] = content.lists or {}
    scores, where = content.scores, content.where
    if not lists:
        raise InputError("holds no ranking", where=where, fix=FORM)
    if "" in by_direction(lists) and (direction is not None or benchmark is not None):
        lists = {direction: lists} if direction is not None else with_directions(lists, benchmark, where)
        scores = None if scores is None else {next(iter(lists)): scores}
    if benchmark is not None:
        RankingsRun(lists, "run", where).align(benchmark)
    parts = by_direction(lists)
    if direction is not None and direction not in parts:
        raise InputError(f"has no {direction} rankings", where=where, fix=f"it has {', '.join(parts)}")
    parts = parts if direction is None else {direction: parts[direction]}
    cut = {way: cut_part(part, top, where) for way, part in parts.items()}
    known = None if scores is None else by_direction(scores)
    values = None if known is None else {way: cut_part(known[way], top, where, values=True) for way in parts}
    return Content(lists=cut.get("", cut), scores=None if values is None else values.get("", values))


def cut_part(lists: Any, top: int | None, where: str | None, values: bool = False) -> dict[Any, list[Any]]:
    """Return the heads of the lists of one direction, each a plain list."""
    if not isinstance(lists, Mapping) or not lists:
        raise InputError("is not a dictionary of ranked lists", where=where, fix=FORM)
    cut = {}
    for query, listed in lists.items():
        if not isinstance(listed, list | tuple | np.ndarray):
            raise InputError(f"query {query} has no list of ids", where=where, fix=FORM)
        cut[query] = plain(listed)[:top]
        if not values:
            as_id_array(cut[query], where)
    return cut


def stand_in(table: Any) -> np.ndarray:
    """Return an array of a table's shape and type that takes no memory."""
    return np.broadcast_to(np.zeros((), table.dtype), table.shape)


def map_table(table: Any, scratch: Path, where: str | None) -> Any:
    """Return a table whose rows and columns can be indexed; one that cannot is unpacked to a file."""
    if not isinstance(table, Blocks):
        return table
    with write_errors(scratch):
        write_npy(Content(tables=(table,), where=where), scratch)
    return np.load(scratch, mmap_mode="r", allow_pickle=False)


def products(run: EmbeddingRun, tables: Sequence[Any]) -> Blocks:
    """Return the scores of embeddings, made in blocks.

    Summed in double precision and then rounded, so that no two scores change their order.
    """
    run.use(np.float64)
    single = all(np.result_type(table.dtype, np.float16).itemsize <= 4 for table in tables)
    dtype = np.float32 if single else np.float64
    step = rows_per_block(run.shape, 8)

    def rows() -> Iterator[np.ndarray]:
        for begin in range(0, run.shape[0], step):
            # What overflows is found and named where it is written.
            with np.errstate(over="ignore"):
                block = run.block(begin, begin + step).astype(dtype)
            yield block

    return Blocks(run.shape, dtype, rows)
