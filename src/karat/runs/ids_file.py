"""The ids of a table's rows and columns: the file beside it, and whether there are as many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from karat.runs.formats.json import plain, read_dictionary
from karat.runs.table import TableRun
from karat.validation import InputError, MissingDataError, plural


def read_ids(path: Path) -> dict[str, Any]:
    """Read an ids file: ``{"images": [...], "captions": [...]}``, either may be absent."""
    if not path.is_file():
        raise MissingDataError("there is no such ids file", where=path)
    ids = read_dictionary(path)
    kinds = ("images", "captions")
    if not ids.keys() <= set(kinds) or not all(isinstance(listed, list) for listed in ids.values()):
        raise InputError(
            "is not an ids file",
            where=path,
            fix='write {"images": [ids of rows], "captions": [ids of columns]}',
        )
    return ids


def ids_beside(path: Path) -> dict[str, Any]:
    """Return the ids in ``NAME.ids.json`` beside a table ``NAME.npy``; nothing when there is none."""
    beside = path.with_suffix(".ids.json")
    return read_ids(beside) if beside.is_file() else {}


def write_ids(ids: dict[str, Any], path: Path) -> None:
    """Write an ids file, as it stands beside a table."""
    path.write_text(json.dumps({kind: plain(listed) for kind, listed in ids.items()}), encoding="utf-8")


def check_lengths(run: TableRun, where: str | None) -> None:
    """Raise where there is not one id for each row or column."""
    shape = run.shape if run.rows == "images" else run.shape[::-1]
    for kind, size in zip(("images", "captions"), shape):
        if kind in run.ids and len(run.ids[kind]) != size:
            raise InputError(
                f"names {plural(len(run.ids[kind]), f'{kind[:-1]} id')} for a table of {size:,} {kind}",
                where=where,
                fix="list an id for each, in the table's order",
            )
