"""The folder that the package `clip-retrieval` writes: img_emb/, text_emb/ and metadata/."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_table, parsing, plural
from karat.errors import InputError, MissingDataError
from karat.runs.formats.blocks import Blocks, blocks
from karat.runs.formats.content import FOLDER, Content, FormatWriter, plain, register
from karat.runs.formats.long_table import as_column
from karat.runs.formats.npy import map_npy, write_array
from karat.runs.formats.parquet import BROKEN, check_id_column

PARTS = {"images": "img_emb", "captions": "text_emb"}
IDS = {"images": "image_id", "captions": "caption_id"}
FIX = "a folder of clip-retrieval holds img_emb/*.npy, text_emb/*.npy and metadata/*.parquet"


def read_folder(path: Path) -> Content:
    """Read two embedding tables; ids are columns of the metadata, else the order of rows."""
    tables = {kind: joined(path, part) for kind, part in PARTS.items()}
    ids = {}
    for kind, column in IDS.items():
        listed = read_column(path, column)
        if listed is not None:
            ids[kind] = listed
    if "images" in ids:
        tables["images"], ids["images"] = one_row_each(tables["images"], ids["images"], f"{path}, image_id")
    return Content(tables=tuple(tables.values()), ids=ids)


def shards(path: Path, part: str, ending: str) -> list[Path]:
    """Return the numbered files of a part in the order of their numbers; a gap is an error."""
    files = {}
    for file in (path / part).glob(f"*{ending}"):
        digits = re.findall(r"[0-9]+", file.stem)
        if not digits or int(digits[-1]) in files:
            raise InputError("has no unique number", where=file, fix=f"name it {part}_0{ending} and so on")
        files[int(digits[-1])] = file
    numbers = sorted(files)
    for before, after in itertools.pairwise(numbers):
        if after != before + 1:
            raise InputError(f"number {before + 1} is missing", where=path / part, fix="add the file")
    return [files[number] for number in numbers]


def joined(path: Path, part: str) -> Any:
    """Return the shards of a table as one, mapped or joined block by block."""
    files = shards(path, part, ".npy")
    if not files:
        raise MissingDataError(f"there is no such file as {part}/*.npy", where=path, fix=FIX)
    tables = [check_table(map_npy(file), file) for file in files]
    for table, file in zip(tables, files):
        if table.shape[1] != tables[0].shape[1]:
            raise InputError(
                f"has {table.shape[1]} columns, but {files[0].name} has {tables[0].shape[1]}",
                where=file,
                fix="give shards of one model",
            )
    if len(tables) == 1:
        return tables[0]

    def rows() -> Iterator[np.ndarray]:
        for table in tables:
            yield from blocks(table)

    shape = (sum(len(table) for table in tables), tables[0].shape[1])
    return Blocks(shape, np.result_type(*tables), rows)


def read_column(path: Path, column: str) -> list[Any] | None:
    """Return a column of the metadata, None where there is none."""
    import polars as pl

    listed: list[Any] = []
    files = shards(path, "metadata", ".parquet")
    for file in files:
        with parsing(file, *BROKEN):
            if column not in pl.scan_parquet(file, glob=False).collect_schema():
                return None
            # The sides differ in length: the shorter one is filled up.
            ids = pl.read_parquet(file, columns=[column], glob=False)[column]
            listed += check_id_column(ids.drop_nulls(), file)
    return listed if files else None


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
        return (table if len(rows) == len(ids) else np.asarray(table)[rows]), list(first)
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


register(FOLDER, read_folder, FormatWriter(write_folder, ("embeddings",), keeps_ids=("embeddings",)))
