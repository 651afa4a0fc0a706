"""Files of ids: which image each row of a table is, and which caption each column.

The file beside a table, ``NAME.ids.json``, may also say that the table is transposed, and how its embeddings
are compared: facts that belong to the file and not to the command that reads it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import parsing, plural, read_text
from karat.errors import InputError, MissingDataError
from karat.runs.formats import plain
from karat.runs.run import SIDES
from karat.runs.table import SIMILARITIES, TableRun

UNNAMED = "unnamed"
"""The key of a list that does not say which side it is, until it is compared with a table."""
FACTS = ("transposed", "similarity")
"""What the file beside a table may say besides ids."""
COLUMNS = {
    "images": ("image_id", "image_ids", "images", "image", "filename", "file_name", "cocoid", "imgid"),
    "captions": ("caption_id", "caption_ids", "captions", "sentid"),
}
"""The columns of a table that hold ids, by what they are called; a column "caption" holds texts."""
ID_FORMS = (
    'a list of ids, one per line, as json or npy; {"images": […], "captions": […]} as json; '
    "or a csv or tsv file with the columns image_id, caption_id"
)
"""What an ids file may hold, for messages."""
TURN = 'write {"transposed": true} into NAME.ids.json beside it, or pass transpose=True in Python'
"""What to do with a table whose sides are the other way round."""
Order = Mapping[str, Sequence[Any]] | str | Path | Sequence[str | Path]
"""The order of rows and columns: the ids themselves, a file of them, or a file for each side."""


def read_order(order: Order) -> tuple[dict[str, Any], str | None]:
    """Return the ids of rows and columns, and the files that they come from."""
    if isinstance(order, Mapping):
        return dict(order), None
    paths = [Path(path) for path in ([order] if isinstance(order, str | Path) else order)]
    ids: dict[str, Any] = {}
    for path in paths:
        for kind, listed in read_ids(path).items():
            key = f"{kind} {len(ids)}" if kind == UNNAMED else kind
            if key in ids:
                raise InputError(f"names the {kind} again", where=path, fix="give each side one list")
            ids[key] = listed
    return ids, " and ".join(map(str, paths))


def check_order(order: Order) -> None:
    """Raise where a file of an order does not exist, before anything is read."""
    if not isinstance(order, Mapping):
        for path in [order] if isinstance(order, str | Path) else order:
            check_ids_file(Path(path))


def check_ids_file(path: Path) -> None:
    """Raise where a file of ids does not exist."""
    if not path.is_file():
        raise MissingDataError("there is no such ids file", where=path)


def read_ids(path: Path) -> dict[str, Any]:
    """Return the ids in a file by side; a plain list, which names no side, as ``UNNAMED``."""
    check_ids_file(path)
    if path.suffix == ".npy":
        with parsing(path, "is not a complete npy file", "save a plain array of ids"):
            return {UNNAMED: np.load(path, allow_pickle=False).tolist()}
    text = read_text(path)
    if path.suffix == ".json":
        return from_json(text, path)
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines:
        raise InputError("is empty", where=path, fix=f"give {ID_FORMS}")
    sign = "\t" if "\t" in lines[0] else ","
    head = [cell.strip('" ').lower() for cell in lines[0].split(sign)]
    named = {kind: at for kind, names in COLUMNS.items() for at, name in enumerate(head) if name in names}
    return from_table(text, sign, named, path) if named else {UNNAMED: lines}


def from_json(text: str, path: Path) -> dict[str, Any]:
    """Return the ids in a json file: a list, or a dictionary of the two."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"is not json ({error})", where=path, fix=f"give {ID_FORMS}") from None
    if isinstance(content, list):
        return {UNNAMED: content}
    good = isinstance(content, dict) and content.keys() <= {*SIDES, *FACTS}
    ids = {side: content[side] for side in SIDES if side in content} if good else {}
    if not good or not all(isinstance(listed, list) for listed in ids.values()):
        raise InputError("is not an ids file", where=path, fix=f"give {ID_FORMS}")
    check_facts(content, path)
    return ids


def check_facts(content: Mapping[str, Any], path: Path) -> None:
    """Raise where what is said of a table is not one of the things that can be said."""
    for name, valid in {"transposed": (True, False), "similarity": SIMILARITIES}.items():
        value = content.get(name, valid[0])
        if type(value) is not type(valid[0]) or value not in valid:
            raise InputError(
                f"{name} is {json.dumps(value)}",
                where=path,
                fix=f"write {' or '.join(map(json.dumps, valid))}",
            )


def from_table(text: str, sign: str, columns: Mapping[str, int], path: Path) -> dict[str, Any]:
    """Return the ids in the columns of a table; where a row is a caption, an image counts at its first."""
    stream = io.StringIO(text, newline="")
    rows: Iterable[list[str]] = csv.reader(stream) if sign == "," else (line.split(sign) for line in stream)
    ids: dict[str, list[str]] = {kind: [] for kind in columns}
    for number, cells in enumerate(rows, start=1):
        if number == 1 or not any(cell.strip() for cell in cells):
            continue
        for kind, at in columns.items():
            if at >= len(cells) or not cells[at].strip():
                raise InputError(f"row {number} has no {kind[:-1]} id", where=path, fix="fill in every row")
            ids[kind].append(cells[at].strip())
    if "captions" in ids and "images" in ids:
        ids["images"] = list(dict.fromkeys(ids["images"]))
    return ids


def facts_beside(paths: Iterable[Path]) -> dict[str, Any]:
    """Return what the files beside tables say of them besides ids."""
    facts: dict[str, Any] = {}
    for path in paths:
        beside = path.with_suffix(".ids.json")
        if beside.is_file():
            read_ids(beside)
            content = json.loads(read_text(beside))
            facts |= (
                {name: content[name] for name in FACTS if name in content}
                if isinstance(content, dict)
                else {}
            )
    return facts


def ids_beside(path: Path) -> dict[str, Any]:
    """Return the ids in ``NAME.ids.json`` beside a table ``NAME.npy``; nothing when there is none."""
    beside = path.with_suffix(".ids.json")
    return read_ids(beside) if beside.is_file() else {}


def write_ids(ids: dict[str, Any], path: Path, facts: Mapping[str, Any] | None = None) -> None:
    """Write an ids file, as it is kept beside a table, with what else is to be said of the table."""
    listed = {kind: plain(one) for kind, one in ids.items()}
    path.write_text(json.dumps({**(facts or {}), **listed}), encoding="utf-8")


def check_lengths(run: TableRun, where: str | None) -> None:
    """Raise where there is not one id for each row or column; a plain list is of the side of its length."""
    run.ids = name_sides(run.ids, dict(zip(SIDES, run.images_by_captions)), where)


def name_sides(ids: Mapping[str, Any], sizes: Mapping[str, int], where: str | None) -> dict[str, Any]:
    """Return ids by side, one for each row; a plain list is of the side of its length."""
    named = {side_of(key, listed, sizes, where): listed for key, listed in ids.items()}
    for kind, size in sizes.items():
        if kind in named and len(named[kind]) != size:
            raise InputError(
                f"names {plural(len(named[kind]), f'{kind[:-1]} id')} for a table of {size:,} {kind}",
                where=where,
                fix="list an id for each, in the table's order",
            )
    return named


def side_of(key: str, listed: Sequence[Any], sizes: Mapping[str, int], where: str | None) -> str:
    """Return "images" or "captions" for a list of ids: what it is called, else the side of its length."""
    if not key.startswith(UNNAMED):
        return key
    fitting = [kind for kind, size in sizes.items() if size == len(listed)]
    if len(fitting) == 1:
        return fitting[0]
    sides = " and ".join(f"{size:,} {kind}" for kind, size in sizes.items())
    raise InputError(
        f"lists {plural(len(listed), 'id')}, but the table has {sides}",
        where=where,
        fix="say which they are, by a first line image_id or caption_id"
        if fitting
        else "list an id for each, in the table's order",
    )
