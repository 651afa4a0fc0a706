"""From one file format of runs to another, in bounded memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from karat.benchmarks import DIRECTIONS, Benchmark
from karat.runs.embeddings import EmbeddingRun, Similarity
from karat.runs.files import gather
from karat.runs.formats import WRITERS, Content, Writer
from karat.runs.formats.content import FOLDER
from karat.runs.ids_file import check_lengths, write_ids
from karat.runs.lazy import map_table, products, stand_in
from karat.runs.listing import cut_lists, first_items
from karat.runs.matrix import MatrixRun
from karat.runs.table import TableRun
from karat.validation import InputError, KaratError, check_choice, check_writable, write_file

KINDS = ("scores", "embeddings", "lists")


def convert(
    *sources: Any,
    target: Path,
    benchmark: Benchmark | None = None,
    kind: str | None = None,
    top: int | None = None,
    direction: str | None = None,
    similarity: Similarity = "dot",
    ids: Mapping[str, Sequence[Any]] | str | Path | None = None,
) -> list[Path]:
    """Write a run in another format and return the files written.

    Score tables go through block by block. Embeddings become scores where the target holds one
    table, and both become ranked lists with `top`; ranked lists become nothing else.

    Parameters
    ----------
    *sources, ids, similarity
        See `karat.load_run`.
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
        The one direction that ranked lists keep, or, where they name none, theirs.
    """
    target = Path(target)
    writer = writer_of(target)
    if kind is not None:
        kind = check_choice(kind, KINDS, "kind")
    if direction is not None:
        direction = check_choice(direction, DIRECTIONS, "direction")
    content, where, ids_where = gather(sources, ids)
    wanted = wanted_kind(content.kind, writer, kind, top, direction, target)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.resolve().parent) as scratch:
        if content.lists is not None:
            made = cut_lists(content, benchmark, top, direction, where)
        else:
            run, made = make(content, wanted, Path(scratch), benchmark, similarity, where, ids_where)
            if wanted == "lists":
                made = first_items(run, int(top or 0), direction)
        if wanted in writer.holds:
            return save(made, writer, target, Path(scratch))
        return [
            path
            for side, part in sides(made)
            for path in save(part, writer, target.with_suffix(f".{side}{target.suffix}"), Path(scratch))
        ]


def writer_of(target: Path) -> Writer:
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
    elif target.is_file() or (target.is_dir() and any(target.iterdir())):
        raise InputError("is there already", where=target, fix="name a new folder")
    elif not target.resolve().parent.is_dir():
        raise InputError(f"there is no folder {target.parent}", where=target, fix="create it first")
    return WRITERS[name]


def wanted_kind(
    have: str, writer: Writer, asked: str | None, top: int | None, direction: str | None, target: Path
) -> str:
    """Return what is to be written, or raise where it cannot come from what there is."""
    wanted = asked or ("lists" if top is not None or have not in writer.holds else have)
    if asked is None and top is None and have == "embeddings" and have not in writer.holds:
        wanted = "scores" if "scores" in writer.holds else "lists"
    takes = (*writer.holds, "embeddings") if "vectors" in writer.holds else writer.holds
    reasons = [
        (
            have == "lists" and (wanted != "lists" or "lists" not in writer.holds),
            "ranked lists hold no scores of the other pairs",
            "write lists again, as json, csv, tsv, parquet or trec",
        ),
        (have == "scores" and wanted == "embeddings", "scores do not tell embeddings", "choose scores"),
        (wanted not in takes, f"takes no {wanted}", f"it takes {' or '.join(writer.holds)}"),
        (wanted == "lists" != have and top is None, "the lists have no length", "give --top K"),
        (
            wanted == "lists" != have and direction is None and writer.one_direction,
            "holds one direction",
            "choose --direction i2t or t2i",
        ),
        (wanted != "lists" and top is not None, "only lists are cut", "leave out --top"),
        (wanted != "lists" and direction is not None, "a table has both directions", "leave out --direction"),
    ]
    for wrong, what, fix in reasons:
        if wrong:
            raise InputError(what, where=target, fix=fix)
    if top is not None and top < 1:
        raise InputError(f"the first {top} items were asked for", fix="ask for 1 or more")
    return wanted


def make(
    content: Content,
    wanted: str,
    scratch: Path,
    benchmark: Benchmark | None,
    similarity: Similarity,
    where: str | None,
    ids_where: str | None,
) -> tuple[TableRun, Content]:
    """Return a run of the tables, checked, and the tables to write, as far as possible not read yet."""
    run: TableRun
    if content.kind == "scores":
        table = content.tables[0]
        # Shape and ids can be checked without the numbers; the first k of a query need them at any place.
        numbers = map_table(table, scratch) if wanted == "lists" else stand_in(table)
        run = MatrixRun(numbers, "run", content.ids, where)
    else:
        images, captions = content.tables
        run = EmbeddingRun(images, captions, "run", similarity, content.ids, where)
    run.ids_where = ids_where
    check_lengths(run, ids_where or where)
    ids = content.ids
    if benchmark is not None:
        run = run.align(benchmark)
        ids = {"images": benchmark.images.gallery, "captions": benchmark.captions.gallery} | ids
    if wanted == "scores" and isinstance(run, EmbeddingRun):
        return run, Content(tables=(products(run, content.tables),), ids=ids, where=where)
    return run, replace(content, ids=ids, where=where)


def sides(content: Content) -> Iterator[tuple[str, Content]]:
    """Yield each of two embedding tables by itself."""
    for side, table in zip(("images", "captions"), content.tables):
        ids = {side: content.ids[side]} if side in content.ids else {}
        yield side, replace(content, tables=(table,), ids=ids, vectors=True, rows=content.ids.get(side))


def save(content: Content, writer: Writer, target: Path, scratch: Path) -> list[Path]:
    """Write a content, first under another name, so that a failure leaves no half of a file."""
    part = scratch / target.name
    beside = target.with_suffix(".ids.json")
    if content.kind != "lists" and not content.ids and beside.exists():
        raise InputError(
            "stands beside the target and would name its rows", where=beside, fix="move it away first"
        )
    try:
        write_file(part, lambda path: writer.write(content, path))
    except KaratError as error:
        # The person who reads this knows the target, not our scratch folder.
        error.args = (str(error).replace(str(part), str(target)), *error.args[1:])
        raise
    if target.is_dir():
        target.rmdir()
    os.replace(part, target)
    written = [target]
    if content.ids and content.kind not in writer.keeps_ids:
        write_file(beside, lambda path: write_ids(content.ids, path))
        written.append(beside)
    return written
