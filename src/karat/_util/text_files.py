"""Text, tab-separated and json files, read with errors that name the file, the row and the key.

Files are read by hand instead of by a csv reader: captions hold stray quotation marks, which a csv
reader takes for the start of a cell that never ends.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

from karat._util.checks import check_text
from karat._util.text import plural
from karat.errors import InputError, MissingDataError

COMPLETE = "give the complete file"


Kind = tuple[tuple[type, ...], str]
"""What a value in a json file may be, and its name for messages."""


ID: Kind = ((int, str), "a whole number or text")


TEXT: Kind = ((str,), "text")


NUMBER: Kind = ((int, float), "a number")


LIST: Kind = ((list,), "a list")


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8; a byte-order mark is dropped."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "there is no such file"
        raise MissingDataError(what, where=path, fix="give the path of the file")
    try:
        check_text(path)
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", where=path, fix=COMPLETE) from None
    except UnicodeDecodeError as error:
        row = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"row {row} is not text in UTF-8", where=path, fix="save it as UTF-8") from None


def read_rows(path: Path, width: int | None = None) -> list[list[str]]:
    """Return the cells of a tab-separated file; every row has `width` of them, or as many as the first."""
    # Not splitlines(): a caption may hold a form feed or a Unicode line separator.
    lines = read_text(path).rstrip("\r\n").split("\n")
    if lines == [""]:
        raise InputError("is empty", where=path, fix=COMPLETE)
    rows = [line.removesuffix("\r").split("\t") for line in lines]
    width = width or len(rows[0])
    for number, cells in enumerate(rows, start=1):
        if len(cells) != width or not cells[0]:
            what = plural(len(cells), "column") if len(cells) != width else "nothing in its first column"
            fix = f"a row has {width}, separated by tabs"
            raise InputError(f"row {number} holds {what}", where=path, fix=fix)
    return rows


def read_table(path: Path, columns: Sequence[str]) -> list[list[str]]:
    """Return the named columns of a tab-separated file whose first row (row 1) names them."""
    header, *rows = read_rows(path)
    missing = [column for column in columns if column not in header]
    if missing:
        fix = f"its first row names {', '.join(columns)}"
        raise InputError(f"has no column {missing[0]!r}", where=path, fix=fix)
    if not rows:
        raise InputError("has no rows below its header", where=path, fix=COMPLETE)
    return [[cells[header.index(column)] for cells in rows] for column in columns]


class Record:
    """An object of a json file that knows its place, so that messages can name it.

    >>> one = Record({"id": 3, "boxes": [{"x": "wide"}]}, "images[0]", "some.json")
    >>> one.get("id", ID)
    3
    >>> one.records("boxes")[0].get("x", NUMBER)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: some.json: images[0].boxes[0] has the 'x' 'wide'; give a number.
    """

    __slots__ = ("fields", "place", "where")

    def __init__(self, fields: Any, place: str, where: str | Path) -> None:
        self.fields, self.place, self.where = fields, place, where
        if not isinstance(fields, dict):
            raise self.wrong("is not a json object", "write {…} with named keys")

    def __contains__(self, key: str) -> bool:
        return key in self.fields

    def wrong(self, what: str, fix: str) -> InputError:
        """Return an error about this object."""
        return InputError(f"{self.place} {what}".strip(), where=self.where, fix=fix)

    def get(self, key: str, kind: Kind) -> Any:
        """Return the value of `key`, which must be there and of that kind."""
        types, wanted = kind
        if key not in self.fields:
            raise self.wrong(f"has no key {key!r}", f"give {wanted} there")
        value = self.fields[key]
        # True and false are whole numbers to Python, but no ids.
        if not isinstance(value, types) or isinstance(value, bool):
            raise self.wrong(f"has the {key!r} {reprlib.repr(value)}", f"give {wanted}")
        return value

    def records(self, key: str) -> list[Record]:
        """Return the objects listed under `key`."""
        inner = f"{self.place}.{key}" if self.place else key
        return [Record(entry, f"{inner}[{n}]", self.where) for n, entry in enumerate(self.get(key, LIST))]


def read_json(path: Path) -> Record:
    """Return the object that a json file holds."""
    text = read_text(path)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        # Besides wrong syntax: numbers of thousands of digits, and brackets nested thousands deep.
        raise InputError(f"is not json ({str(error).splitlines()[0]})", where=path, fix=COMPLETE) from None
    return Record(content, "", path)


def check_once(keys: Iterable[Hashable], kind: str, place: Callable[[int], str], where: str | Path) -> None:
    """Raise when a key is a duplicate, naming both places."""
    seen: dict[Hashable, int] = {}
    for at, key in enumerate(keys):
        first = seen.setdefault(key, at)
        if first != at:
            what = f"{place(at)} repeats the {kind} {key} of {place(first)}"
            raise InputError(what, where=where, fix="remove one of them")
