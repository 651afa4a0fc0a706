"""A folder of safetensors files, a few thousand rows each, and an index: what `karat encode` writes.

``images-00000.safetensors`` and so on, ``captions-00000.safetensors`` and so on have one tensor each,
``vectors``. ``index.json`` has the ids, the counts, the width, the rows per file, and what the run was made
with; it is written last. Until then ``unfinished.json`` says what is being encoded, so that the work can be
continued, and by nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import (
    MOST_HEAD,
    check_folder,
    check_own_work,
    check_written,
    is_empty,
    parsing,
    read_description,
    read_head,
    write_file,
)
from karat.errors import InputError, MissingDataError
from karat.runs.fingerprint import Fingerprint
from karat.runs.formats.content import READERS, RECOGNISERS, SHARDS, Content, plain
from karat.runs.formats.safetensors import BROKEN, read_header, safetensors_shards
from karat.runs.run import SIDES
from karat.runs.vectors import Shards

FORMAT, VERSION = "karat-run", 1
INDEX, UNFINISHED = "index.json", "unfinished.json"
TENSOR, CUT = "vectors", "cut"
FIX = "encode it again with karat encode"


class ShardFolder:
    """A folder that is being filled, and may be filled in several attempts.

    Parameters
    ----------
    folder
        Where it is; it is made if need be.
    inputs
        A digest of what is encoded: ids, captions and pictures.
    made_with
        What it is encoded with.
    rows
        How many rows a file has at most.
    """

    def __init__(self, folder: Path, inputs: str, made_with: Fingerprint, rows: int) -> None:
        self.folder, self.made_with, self.rows = folder, made_with, rows
        self.width: int | None = None
        check_target(folder)
        head = {"format": FORMAT, "version": VERSION, "inputs": inputs, "rows": rows}
        head["made_with"] = dict(made_with.facts)
        if (folder / UNFINISHED).is_file():
            check_own_work(folder / UNFINISHED)
            check_same(folder, head)
            for draft in folder.glob(".*.part*"):
                draft.unlink()
        else:
            write_json(folder / UNFINISHED, head)

    def parts(self, side: str, count: int) -> Iterator[tuple[Path, slice]]:
        """Yield the file of each part of a side, and its rows."""
        for number, begin in enumerate(range(0, count, self.rows)):
            path = self.folder / f"{side}-{number:05d}.safetensors"
            yield path, slice(begin, min(begin + self.rows, count))

    def write(self, path: Path, vectors: np.ndarray, cut: Sequence[int] = ()) -> None:
        """Write one file, whole or not at all, with the numbers of the rows that were cut."""
        from safetensors.numpy import save_file

        if self.width not in (None, vectors.shape[1]):
            raise InputError(
                f"rows have {vectors.shape[1]} numbers, but those before have {self.width}",
                where=path,
                fix="use a model whose vectors of pictures and texts have one width",
            )
        self.width = vectors.shape[1]
        texts = {CUT: json.dumps([int(row) for row in cut])}
        write_file(path, lambda draft: save_file({TENSOR: vectors}, draft, texts), parents=True)

    def read(self, path: Path, size: int) -> list[int] | None:
        """Return the numbers of the rows that were cut in a file that is finished; None for any other."""
        if not path.is_file():
            return None
        check_own_work(path)
        with parsing(path, *BROKEN):
            _, header, texts = read_header(path)
            length, self.width = header[TENSOR]["shape"]
            return list(json.loads(texts.get(CUT, "[]"))) if length == size else None

    def finish(self, ids: Mapping[str, Any], made_with: Fingerprint, name: str) -> None:
        """Write the index: the folder is a run from then on."""
        index = {
            "format": FORMAT,
            "version": VERSION,
            "name": name,
            "width": self.width,
            "rows": self.rows,
            "counts": {side: len(ids[side]) for side in SIDES},
            "made_with": dict(made_with.facts),
            "ids": {side: plain(ids[side]) for side in SIDES},
        }
        write_json(self.folder / INDEX, index)
        (self.folder / UNFINISHED).unlink()


def check_target(folder: Path) -> None:
    """Raise before the work starts where a run cannot go into a folder: neither new nor unfinished."""
    unfinished = (folder / UNFINISHED).is_file()
    if folder.is_file() or (folder.exists() and not unfinished and not is_empty(folder)):
        raise InputError("already exists", where=folder, fix="name a new folder")
    if not folder.resolve().parent.is_dir():
        raise InputError(f"there is no folder {folder.parent}", where=folder, fix="create it first")
    check_folder(folder)


def check_same(folder: Path, head: Mapping[str, Any]) -> None:
    """Raise where an unfinished folder was begun with something else."""
    path = folder / UNFINISHED
    with parsing(path, "is not a description of an unfinished run", "delete the folder, or name a new one"):
        begun = read_description(path)
        before, now = Fingerprint(begun["made_with"]), Fingerprint(head["made_with"])
        other = [key for key in ("format", "version", "inputs", "rows") if begun[key] != head[key]]
    fix = "delete the folder, or name a new one"
    if changed := before.differences(now):
        first = changed[0]
        what = f"was begun with another model ({first.name} was {first.first!r} and is {first.second!r})"
        raise InputError(what, where=folder, fix=fix)
    if other:
        what = "other captions or pictures" if other == ["inputs"] else "another version of karat"
        raise InputError(f"was begun with {what}", where=folder, fix=fix)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a description."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_file(path, lambda draft: draft.write_text(text, encoding="utf-8"), parents=True)


def read_shards(path: Path) -> Content:
    """Read two embedding tables, mapped, with their ids and what they were made with."""
    if not (path / INDEX).is_file():
        what = "is not finished" if (path / UNFINISHED).is_file() else f"has no {INDEX}"
        raise MissingDataError(what, where=path, fix="run the same karat encode again, which continues it")
    with parsing(path / INDEX, "is not the index of a run", FIX):
        index = read_head(path / INDEX, FORMAT, VERSION, most=most_of_index(path))
        ids = {side: list(index["ids"][side]) for side in SIDES}
        rows, width = int(index["rows"]), int(index["width"])
        made_with = Fingerprint.from_json(json.dumps(index["made_with"]), path / INDEX)
        shapes = {side: (int(index["counts"][side]), width) for side in SIDES}
    numbers = {"rows": rows, "width": width} | {f"counts.{side}": shapes[side][0] for side in SIDES}
    for name, number in numbers.items():
        if number < 1:
            raise InputError(f"has the {name} {number:,}", where=path / INDEX, fix=FIX)
    tables = tuple(joined(path, side, shapes[side], rows) for side in SIDES)
    return Content(tables=tables, ids=ids, made_with=made_with)


def most_of_index(folder: Path) -> int:
    """Return how many bytes an index may have: as many as the vectors, each of which has one id there."""
    size = 0
    for path in folder.glob("*.safetensors"):
        # Holes would make room for any index.
        check_written(path, FIX)
        size += path.stat().st_size
    return max(MOST_HEAD, size)


def joined(folder: Path, side: str, shape: tuple[int, int], rows: int) -> Shards:
    """Return the files of a side as one table, opened where rows are read."""
    parts = []
    for number, begin in enumerate(range(0, shape[0], rows)):
        path = folder / f"{side}-{number:05d}.safetensors"
        if not path.is_file():
            raise MissingDataError("is missing", where=path, fix=FIX)
        part = safetensors_shards(path).get("")
        expected = (min(rows, shape[0] - begin), shape[1])
        if part is None or part.shape != expected:
            size = "no vectors" if part is None else f"vectors of shape {part.shape}"
            raise InputError(f"has {size}, but the index says {expected}", where=path, fix=FIX)
        parts.append(part)
    return Shards(parts)


READERS.add(SHARDS, read_shards)
RECOGNISERS.add(
    SHARDS, lambda path: path.is_dir() and any((path / name).is_file() for name in (INDEX, UNFINISHED))
)
