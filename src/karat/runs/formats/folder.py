"""Folders of numbered files, each a part of a table: clip-retrieval's, WebDataset's, your own.

The files of a side are in a folder of their own, ``img_emb/img_emb_0.npy``, or named after it,
``images-00000.safetensors``; or each file holds both sides; or all are of one side, and another folder holds
the other.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from karat._util import check_parquet, parsing, plural
from karat.errors import InputError, KaratError, MissingDataError
from karat.runs.fingerprint import read_made_with, write_made_with
from karat.runs.formats.content import (
    FOLDER,
    SHARD_READERS,
    Content,
    FormatWriter,
    joined,
    plain,
    register,
    shape_of,
    side_named,
)
from karat.runs.formats.long_table import as_column
from karat.runs.formats.npy import write_array
from karat.runs.formats.parquet import BROKEN, check_id_column
from karat.runs.vectors import ChosenRows, Shard, as_vectors

PARTS = {"images": "img_emb", "captions": "text_emb"}
IDS = {"images": "image_id", "captions": "caption_id"}
FACTS = "made_with.json"
"""What the embeddings were made with."""
FIX = (
    "a folder holds img_emb/*.npy and text_emb/*.npy as clip-retrieval writes them, or numbered files "
    "images-00000 and captions-00000, or the numbered files of one side"
)
MOST_SHOWN = 5


def read_folder(path: Path) -> Content:
    """Read the tables of one side or of both; ids are in the files or in the metadata."""
    files = list_files(path)
    content = joined(open_shards(files))
    made_with = read_made_with(path / FACTS)
    ids = dict(content.ids)
    tables = list(content.tables)
    if len(tables) == 1:
        rows = next((ids[side] for side in files if side in ids), content.rows)
        return Content(tables=tuple(tables), vectors=True, rows=rows, made_with=made_with)
    for kind, column in IDS.items():
        listed = read_column(path, column)
        if listed is not None:
            ids[kind] = listed
        if listed is not None and kind == "images":
            tables[0], ids[kind] = one_row_each(tables[0], listed, f"{path}, {column}")
    return Content(tables=tuple(tables), ids=ids, made_with=made_with)


def folder_shape(path: Path) -> tuple[int, ...]:
    """Return the shape of the table of one side; () where there are two."""
    return () if len(list_files(path)) > 1 else shape_of(read_folder(path))


def list_files(path: Path) -> dict[str, list[Path]]:
    """Return the files of each side in their order, those that name no side under ""."""
    groups: dict[str, list[Path]] = {}
    for folder in sorted(path.iterdir()):
        side = side_named(folder.name) if folder.is_dir() else None
        if side in groups:
            raise InputError(f"{folder.name} holds {side} again", where=path, fix="move one folder away")
        if side is not None:
            groups[side] = numbered(shard_files(folder.iterdir()), folder)
    if not groups:
        for file in shard_files(path.iterdir()):
            groups.setdefault(side_named(re.split(r"[-_.]?[0-9]", file.stem)[0]) or "", []).append(file)
        # Files without a number are something else, not parts of a table.
        if any(map(is_numbered, itertools.chain(*groups.values()))):
            groups = {side: numbered(listed, path) for side, listed in groups.items()}
            if "" in groups and len(groups) > 1:
                raise InputError(f"{groups[''][0].name} is of neither side", where=path, fix="move it away")
            return groups
        groups = {}
    for side, part in PARTS.items():
        if not groups.get(side):
            raise MissingDataError(f"there is no such file as {part}/*.npy", where=path, fix=FIX)
    return groups


def shard_files(files: Iterable[Path]) -> list[Path]:
    """Return the files that hold vectors; Parquet files beside others describe these."""
    kinds: dict[str, list[Path]] = {}
    for file in sorted(files):
        # Hidden files are those of a system or of an editor, such as ._img_emb_0.npy of macOS.
        if file.suffix in SHARD_READERS and not file.name.startswith(".") and file.is_file():
            kinds.setdefault(file.suffix, []).append(file)
    if len(kinds) > 1:
        kinds.pop(".parquet", None)
    if len(kinds) > 1:
        first = next(iter(kinds.values()))[0]
        raise InputError(f"holds {' and '.join(kinds)} files", where=first.parent, fix="keep one kind")
    return next(iter(kinds.values()), [])


NUMBER = re.compile(r"([0-9]+)(?=(?:-of-([0-9]+))?[^0-9]*$)")
"""The number of a file in its name without extension, and of how many it is one."""


def is_numbered(file: Path) -> bool:
    """Whether the name of a file has a number."""
    return NUMBER.search(file.stem) is not None


def numbered(listed: Sequence[Path], where: Path) -> list[Path]:
    """Return files in the order of their numbers, as in ``_0`` or ``-00000-of-00010``; a gap is an error.

    >>> numbered([Path("b_10.npy"), Path("b_9.npy"), Path("b_12.npy")], Path("b"))
    Traceback (most recent call last):
    ...
    karat.errors.InputError: b: number 0 is missing: the first is 9; add the files, or number them from 0.
    """
    files: dict[int, Path] = {}
    total = 0
    for file in listed:
        match = NUMBER.search(file.stem)
        if match is None:
            fix = f"move it away, or name it {where.resolve().name}_0{file.suffix} and so on"
            raise InputError("has no number in its name, unlike the parts of a table", where=file, fix=fix)
        if (other := files.get(int(match[1]))) is not None:
            what = f"has the number {int(match[1])}, and so has {other.name}"
            raise InputError(what, where=file, fix="move one of them away, or number them")
        files[int(match[1])] = file
        total = max(total, int(match[2] or 0))
    numbers = sorted(files)
    if len(numbers) > 1 and numbers[0] > 1:
        raise InputError(
            f"number 0 is missing: the first is {numbers[0]}",
            where=where,
            fix="add the files, or number them from 0",
        )
    missing = next((b + 1 for b, a in itertools.pairwise(numbers) if a != b + 1), None)
    if missing is None and total > len(files):
        missing = numbers[-1] + 1
    if missing is not None:
        before = files[missing - 1]
        stem = NUMBER.sub(lambda match: f"{missing:0{len(match[1])}d}", before.stem, count=1)
        raise InputError(
            f"number {missing} is missing", where=where, fix=f"add the file {stem}{before.suffix}"
        )
    return [files[number] for number in numbers]


def open_shards(files: dict[str, list[Path]]) -> dict[str, list[Shard]]:
    """Return the shards of each side by their headers; all that cannot be read are named together."""
    shards: dict[str, list[Shard]] = {}
    problems = []
    for side, listed in files.items():
        for file in listed:
            try:
                tables = tables_in(file, side, shards)
            except KaratError as error:
                problems.append(error)
                continue
            for name, table in tables.items():
                shards.setdefault(name, []).append(table)
    if problems:
        raise all_together(problems, next(iter(files.values()))[0].parent)
    return shards


def tables_in(file: Path, side: str, before: Collection[str]) -> Mapping[str, Shard]:
    """Return the tables of a file by side, or raise where it does not have what those before it have.

    Files that name no side all hold the table of one, or all say which.
    """
    tables = SHARD_READERS[file.suffix](file)
    what = "does not name its sides as those before it do"
    if side:
        own = tables.get(side) or tables.get("")
        tables = {} if own is None else {side: own}
        what = f"has no table of {side}"
    if not tables or (before and not side and ("" in tables) != ("" in before)):
        raise InputError(what, where=file, fix="give files of one kind")
    return tables


def all_together(problems: Sequence[KaratError], where: Path) -> KaratError:
    """Return the errors of several files of a folder as one."""
    if len(problems) == 1:
        return problems[0]
    shown = "; ".join(f"{Path(error.where or '').name} {error.what}" for error in problems[:MOST_SHOWN])
    more = f"; and {len(problems) - MOST_SHOWN:,} more" if len(problems) > MOST_SHOWN else ""
    # One remedy, where it is the same for all.
    fixes = {error.fix for error in problems}
    fix = fixes.pop() if len(fixes) == 1 else "write them again"
    return InputError(f"{len(problems):,} files cannot be used: {shown}{more}", where=where, fix=fix)


def read_column(path: Path, column: str) -> list[Any] | None:
    """Return a column of the metadata, None where there is none."""
    import polars as pl

    listed: list[Any] = []
    files = numbered(shard_files((path / "metadata").glob("*.parquet")), path / "metadata")
    having: list[Path] = []
    for file in files:
        with parsing(file, *BROKEN):
            check_parquet(file)
            if column in pl.scan_parquet(file, glob=False).collect_schema():
                having.append(file)
    # Without the ids of some rows those of the others would be dropped, and rows read in another order.
    if having and len(having) < len(files):
        lacking = next(file for file in files if file not in having)
        raise InputError(
            f"has no column {column!r}, unlike {having[0].name}",
            where=lacking,
            fix="give it to all or to none",
        )
    for file in having:
        with parsing(file, *BROKEN):
            # The sides differ in length: the shorter one is filled up.
            ids = pl.read_parquet(file, columns=[column], glob=False)[column]
            listed += check_id_column(ids.drop_nulls(), file)
    return listed if having else None


def one_row_each(table: Any, ids: list[Any], where: str) -> tuple[Any, list[Any]]:
    """Return a table and ids of the same length, each id once.

    A row of the metadata is a pair: an image with five captions occurs five times, and, where
    both sides were embedded together, so does its embedding. The first row of each is kept.
    """
    first: dict[Any, int] = {}
    for row, key in enumerate(ids):
        first.setdefault(key, row)
    if table.shape[0] == len(ids):
        rows = list(first.values())
        return (table if len(rows) == len(ids) else ChosenRows(as_vectors(table), rows)), list(first)
    if table.shape[0] != len(first):
        raise InputError(
            f"names {plural(len(first), 'id')} for {plural(table.shape[0], 'row')}",
            where=where,
            fix="give an id for each row",
        )
    return table, list(first)


def write_folder(content: Content, path: Path) -> None:
    """Write each side as one shard, and the ids."""
    import polars as pl

    for part, table in zip(PARTS.values(), content.tables):
        (path / part).mkdir(parents=True)
        with (path / part / f"{part}_0.npy").open("wb") as handle:
            write_array(handle, table, content.where or path)
    if content.ids:
        (path / "metadata").mkdir()
        longest = max(len(ids) for ids in content.ids.values())
        columns = {
            IDS[kind]: as_column(plain(ids)).extend_constant(None, longest - len(ids))
            for kind, ids in content.ids.items()
        }
        pl.DataFrame(columns).write_parquet(path / "metadata" / "metadata_0.parquet")
    if content.made_with is not None:
        write_made_with(content.made_with, path / FACTS)


register(
    FOLDER,
    read_folder,
    FormatWriter(write_folder, ("embeddings",), keeps_ids=("embeddings",), keeps_made_with=True),
    shape=folder_shape,
)
