"""The heads of Parquet files and of their pages, looked at before a library decodes them.

A wrong count makes the library ask for exabytes, which ends the process without an error. What is written
here is as much of Thrift's compact protocol as Parquet's own heads use.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

MAGIC = b"PAR1"
DEEPEST = 16
"""How deeply heads are nested at most."""
MOST_EMPTY = 100_000
"""How many heads of pages that are not there, or count nothing, a column has at most."""
COUNTS = {5: (1,), 7: (1,), 8: (1, 2, 3, 5, 6)}
"""By the number of a page's own head: the numbers of its fields that count something."""


def check_parquet(path: Path) -> None:
    """Raise ValueError where a page of a Parquet file counts what it cannot hold; for use in `parsing`."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        size = len(data)
        begin = size - 8 - int.from_bytes(data[size - 8 : size - 4], "little")
        if size < 12 or data[size - 4 :] != MAGIC or not 4 <= begin <= size - 8:
            raise ValueError("no footer")
        footer, _ = read_struct(data[begin : size - 8], 0)
        for group in footer.get(4, []):
            for chunk in group.get(1, []):
                # The columns of a file may lie in others.
                if 1 not in chunk and 3 in chunk:
                    check_chunk(data, chunk[3])


def check_chunk(data: mmap.mmap, about: dict[int, Any]) -> None:
    """Raise where the pages of a column count more values than it has, or fewer than none."""
    left, empty = about.get(5, 0), 0
    begins = [at for at in (about.get(9, 0), about.get(11, 0)) if at > 0]
    place = min(begins, default=0)
    while left > 0:
        if not 4 <= place < len(data):
            raise ValueError("a page is missing")
        head, length = page_head(data, place)
        for number, fields in COUNTS.items():
            own = head.get(number, {})
            counts = [own.get(field, 0) for field in fields]
            if min([head[2], head[3], *counts]) < 0 or (number != 7 and counts[0] > left):
                raise ValueError("a page counts what it cannot hold")
            left -= counts[0] if number != 7 else 0
            empty += not counts[0]
        if empty > MOST_EMPTY:
            raise ValueError("most pages are empty")
        place += length + head[3]


def page_head(data: mmap.mmap, place: int) -> tuple[dict[int, Any], int]:
    """Return the head of a page, and how many bytes it has; one with long statistics is read again."""
    for size in (1 << 8, 1 << 12, 1 << 24):
        try:
            return read_struct(data[place : place + size], 0)
        except IndexError:
            continue
    raise ValueError("a page has no head")


def read_struct(data: bytes, at: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Return the fields of a structure by their numbers, and where it ends."""
    fields: dict[int, Any] = {}
    number = 0
    while (head := data[at]) != 0:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = read_whole(data, at)
        fields[number], at = read_value(data, at, head & 15, depth)
    return fields, at + 1


def read_value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """Return a value of a kind, and where it ends."""
    if depth > DEEPEST:
        raise ValueError("heads are nested too deeply")
    if kind in (1, 2):
        return kind == 1, at
    if kind == 3:
        return data[at], at + 1
    if kind in (4, 5, 6):
        return read_whole(data, at)
    if kind == 7:
        return None, at + 8
    if kind == 8:
        size, at = read_length(data, at)
        return None, at + size
    if kind in (9, 10):
        return read_list(data, at, depth)
    if kind == 12:
        return read_struct(data, at, depth + 1)
    raise ValueError(f"a value of the kind {kind}")


def read_list(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    """Return the values of a list, and where it ends."""
    size, kind = data[at] >> 4, data[at] & 15
    at += 1
    if size == 15:
        size, at = read_length(data, at)
    values = []
    for _ in range(size):
        # Truths have a byte each here.
        value, at = (data[at], at + 1) if kind in (1, 2) else read_value(data, at, kind, depth + 1)
        values.append(value)
    return values, at


def read_length(data: bytes, at: int) -> tuple[int, int]:
    """Return a whole number of seven bits a byte, and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a number without an end")


def read_whole(data: bytes, at: int) -> tuple[int, int]:
    """Return a signed whole number, and where it ends.

    >>> read_whole(bytes([0x11]), 0), read_whole(bytes([0x80, 0x01]), 0)
    ((-9, 1), (64, 2))
    """
    value, at = read_length(data, at)
    return (value >> 1) ^ -(value & 1), at
