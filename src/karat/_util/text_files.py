"""Text, tab-separated and json files, read with errors that name the file, the row and the key.

Files are read by hand instead of by a csv reader: captions hold stray quotation marks, which a csv
reader takes for the start of a cell that never ends.
"""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import reprlib
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from karat._util.checks import not_utf8
from karat._util.text import plural
from karat.errors import InputError, MissingDataError

COMPLETE = "give the complete file"


Kind = tuple[tuple[type, ...], str]
"""What a value in a json file may be, and its name for messages."""


ID: Kind = ((int, str), "a whole number or text")


TEXT: Kind = ((str,), "text")


NUMBER: Kind = ((int, float), "a number")


LIST: Kind = ((list,), "a list")


GZIP = b"\x1f\x8b"
"""The first bytes of a file that gzip compressed."""
MOST_UNPACKED, SLACK = 200, 64 << 20
"""How many times as large a text is unpacked at most, beyond some megabytes: usual is ten times."""


HOLLOW = 1 << 30
"""From how many bytes on it is looked at whether a file has any: less is read in seconds."""


MOST_HEAD = 64 << 20
"""Bytes of a json file that says what the files beside it are."""


def check_file(path: Path) -> None:
    """Raise unless there is such a file; it is not read."""
    check_plain(path)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "there is no such file"
        raise MissingDataError(what, where=path, fix="give the path of the file")
    check_written(path, COMPLETE)


def check_plain(path: Path) -> None:
    """Raise for what is there and is neither a file nor a folder; reading a pipe could wait for ever."""
    if path.exists() and not path.is_file() and not path.is_dir():
        what = "is not a plain file but a pipe, a socket or a device"
        raise InputError(what, where=path, fix="save what comes from it as a file")


def check_written(path: Path, fix: str) -> None:
    """Raise for a large file that is nearly all holes; folders, and what is not there, pass."""
    if path.is_file() and is_hollow(path):
        what = f"has {path.stat().st_size:,} bytes, of which nearly none were written"
        raise InputError(what, where=path, fix=fix)


def is_hollow(path: Path) -> bool:
    """Whether a large file is nearly all holes: it comes in a small archive, and takes hours to read."""
    about = path.stat()
    blocks = getattr(about, "st_blocks", None)
    if about.st_size < HOLLOW or blocks is None:
        return False
    if blocks:
        return bool(512 * blocks < about.st_size / 64)
    # Some file systems count no blocks at all.
    with path.open("rb") as file:
        try:
            os.lseek(file.fileno(), 0, os.SEEK_DATA)
        except (OSError, AttributeError) as error:
            return getattr(error, "errno", None) == errno.ENXIO
    return False


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, decompressed where gzip made it; a byte-order mark is dropped."""
    check_file(path)
    try:
        with path.open("rb") as handle:
            # Gigabytes that are not text show it at their beginning.
            data = handle.read(4096)
            if data.startswith(GZIP) or b"\0" not in data:
                handle.seek(0)
                data = handle.read()
        if data.startswith(GZIP):
            with gzip.open(path) as handle:
                data = b"".join(unpacked(handle, path, 1 << 20))
        if b"\0" in data[:4096]:
            raise InputError("is not text", where=path, fix="save it as text in UTF-8")
        return data.decode("utf-8-sig")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError("is not a complete gzip file", where=path, fix="compress it again") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", where=path, fix=COMPLETE) from None
    except UnicodeDecodeError as error:
        raise not_utf8(path, error) from None


def unpacked(handle: io.BufferedIOBase, path: Path, size: int) -> Iterator[bytes]:
    """Yield blocks of an open file; raise where gzip makes gigabytes of a few bytes."""
    room, total = MOST_UNPACKED * path.stat().st_size + SLACK, 0
    while data := handle.read(size):
        total += len(data)
        if total > room:
            what = f"unpacks to more than {MOST_UNPACKED} times its size, which no text does"
            raise InputError(what, where=path, fix="unpack it yourself, if you trust it")
        yield data


def text_blocks(path: Path, size: int = 1 << 20) -> Iterator[str]:
    """Yield the text of a file as `read_text` reads it, in blocks of whole lines: never all at once.

    Parameters
    ----------
    path
        The file.
    size
        About how many bytes a block has; a longer line is a block of its own.
    """
    check_file(path)
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == GZIP
        with gzip.open(path) if packed else path.open("rb") as handle:
            begun: list[bytes] = []
            coding = "utf-8-sig"
            for data in unpacked(handle, path, size):
                if coding == "utf-8-sig" and not begun and b"\0" in data[:4096]:
                    raise InputError("is not text", where=path, fix="save it as text in UTF-8")
                whole, end, rest = data.rpartition(b"\n")
                if end:
                    yield b"".join([*begun, whole, end]).decode(coding)
                    begun, coding = [], "utf-8"
                begun.append(rest)
            yield b"".join(begun).decode(coding)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError("is not a complete gzip file", where=path, fix="compress it again") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", where=path, fix=COMPLETE) from None
    except UnicodeDecodeError:
        # What names the line and the encoding looks at the whole.
        read_text(path)
        raise


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file without what ends them; empty lines at its end are left out."""
    # Not splitlines(): a caption may hold a form feed or a Unicode line separator.
    text = read_text(path).rstrip("\r\n")
    return [line.removesuffix("\r") for line in text.split("\n")] if text else []


def first_text(path: Path, size: int = 1 << 16) -> str:
    """Return how a file of text begins, enough to recognise what it holds; gzip is decompressed.

    What is not UTF-8 is replaced.
    """
    try:
        with path.open("rb") as handle:
            packed = handle.read(2) == GZIP
        with gzip.open(path) if packed else path.open("rb") as handle:
            return handle.read(size).decode("utf-8-sig", errors="replace")
    except (EOFError, OSError, zlib.error):
        raise InputError("cannot be read", where=path, fix=COMPLETE) from None


def read_rows(path: Path, width: int | None = None) -> list[list[str]]:
    """Return the cells of a tab-separated file; every row has `width` of them, or as many as the first."""
    rows = [line.split("\t") for line in read_lines(path)]
    if not rows:
        raise InputError("is empty", where=path, fix=COMPLETE)
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


def read_json_value(path: Path) -> Any:
    """Return what a json file holds."""
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        # Besides wrong syntax: numbers of thousands of digits, and brackets nested thousands deep.
        raise InputError(f"is not json ({str(error).splitlines()[0]})", where=path, fix=COMPLETE) from None


def read_description(path: Path, most: int = MOST_HEAD) -> Any:
    """Return what a json file holds that describes the files beside it, or raise before it is read if large.

    For use inside `parsing`, which says what a file should be that is not json.
    """
    size = path.stat().st_size
    if size > most:
        what = f"has {size:,} bytes, and what describes the files beside it has at most {most:,}"
        raise InputError(what, where=path, fix=COMPLETE)
    return json.loads(path.read_text(encoding="utf-8"))


def read_head(path: Path, form: str, version: int, fix: str | None = None, most: int = MOST_HEAD) -> Any:
    """Return a json file of a format and a version, or raise where it states others.

    For use inside `parsing`, which says what a file should be that is not such json; of at most `most` bytes.
    """
    head = read_description(path, most)
    if (head["format"], head["version"]) != (form, version):
        raise InputError(
            f"has format {head['format']!r}, version {head['version']!r}",
            where=path,
            fix=fix or f"this version of karat reads {form} {version}",
        )
    return head


def read_json(path: Path) -> Record:
    """Return the object that a json file holds."""
    return Record(read_json_value(path), "", path)


def read_json_list(path: Path) -> list[Any]:
    """Return the list that a json file holds."""
    content = read_json_value(path)
    if not isinstance(content, list):
        raise InputError("is not a json list", where=path, fix="write […]")
    return content


def read_json_lines(path: Path) -> list[Record]:
    """Return the objects of a file with one json object per line; empty lines are skipped."""
    records = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            content = json.loads(line)
        except (ValueError, RecursionError):
            content = None
        records.append(Record(content, f"row {number}", path))
    return records


def check_once(keys: Iterable[Hashable], kind: str, place: Callable[[int], str], where: str | Path) -> None:
    """Raise when a key is a duplicate, naming both places."""
    seen: dict[Hashable, int] = {}
    for at, key in enumerate(keys):
        first = seen.setdefault(key, at)
        if first != at:
            what = f"{place(at)} repeats the {kind} {key} of {place(first)}"
            raise InputError(what, where=where, fix="remove one of them")
