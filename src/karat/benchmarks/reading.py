"""What the file sources share: text, tab-separated and json files read with clear errors, and the build.

Files are read by hand instead of by a csv reader: captions hold stray quotation marks, which a csv
reader takes for the start of a cell that never ends.
"""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.ids import Ids, as_id_array
from karat.benchmarks.image_paths import leads_out
from karat.benchmarks.judgments import Judgments
from karat.benchmarks.ratings import Provenance
from karat.benchmarks.truth import Direction, Truth
from karat.validation import InputError, MissingDataError, check_text, check_unique_ids, plural

ORIGINAL = "original"
RECALLS = ("R@1", "R@5", "R@10")
COMPLETE = "give the complete file"
LONGEST_ID = 1000
"""Characters; numpy stores every id as wide as the widest, so one endless id would fill the memory."""

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
    karat.validation.InputError: some.json: images[0].boxes[0] has the 'x' 'wide'; give a number.
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
    """Raise when a key stands twice, naming both places."""
    seen: dict[Hashable, int] = {}
    for at, key in enumerate(keys):
        first = seen.setdefault(key, at)
        if first != at:
            what = f"{place(at)} repeats the {kind} {key} of {place(first)}"
            raise InputError(what, where=where, fix="remove one of them")


def find_images(folder: Path | None, names: Sequence[str]) -> list[str] | None:
    """Return where the image files are; None when no folder is given."""
    if folder is None:
        return None
    if not folder.is_dir():
        raise MissingDataError("there is no such folder", where=folder, fix="give the folder of the images")
    for name in names:
        if leads_out(name):
            raise InputError(
                f"image {name!r} leads out of its folder", where=folder, fix="give plain file names"
            )
    paths = [os.path.join(folder, name) for name in names]
    absent = [name for name, path in zip(names, paths) if not os.path.isfile(path)]
    if absent:
        what = f"has no image {absent[0]} ({len(absent):,} of {len(names):,} are missing)"
        raise MissingDataError(what, where=folder, fix="unpack the images there")
    return paths


def build(
    name: str,
    images: Sequence[Any],
    captions: Sequence[Any],
    image_of: Sequence[Any],
    texts: Sequence[str],
    *,
    where: str | Path,
    about: str,
    image_paths: Sequence[str] | None = None,
) -> Benchmark:
    """Return a benchmark with the truth "original": each caption belongs to its own image.

    Parameters
    ----------
    name, about
        The benchmark's.
    images, captions
        Ids in order. An image without a caption is ranked but never asks.
    image_of, texts
        For each caption, the id of its image and its text.
    where
        The file they came from, for messages.
    image_paths
        In the order of `images`.
    """
    for kind, ids in (("image", images), ("caption", captions)):
        if not len(ids):
            raise InputError(f"holds no {kind}", where=where, fix=COMPLETE)
        if max(len(str(one)) for one in ids) > LONGEST_ID:
            what = f"has {kind} ids of over {LONGEST_ID:,} characters"
            raise InputError(what, where=where, fix="shorten them")
        check_unique_ids(as_id_array(ids), kind, where)
    image_ids, caption_ids = Ids(images, kind="image"), Ids(captions, kind="caption")
    caption_image = image_ids.index(image_of, where)
    own = Judgments(caption_image, np.arange(len(captions)), sources=[Provenance(ORIGINAL)])
    asked: dict[Direction, np.ndarray] = {"i2t": np.unique(caption_image), "t2i": np.arange(len(captions))}
    truth = Truth(ORIGINAL, own, asked, about="each caption belongs to the image it was written for")
    return Benchmark(
        name, image_ids, caption_ids, {ORIGINAL: truth}, caption_image,
        defaults={ORIGINAL: (*RECALLS, "MedR")}, about=about, texts=list(texts), image_paths=image_paths,
    )  # fmt: skip
