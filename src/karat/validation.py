"""The border: error classes that say what, where and how to mend it, and the checks that raise them.

Code that loads something calls the checks here; code inside trusts its inputs.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


class KaratError(Exception):
    """An error with a sentence for the person who can mend it.

    Parameters
    ----------
    what
        What is wrong, naming the value.
    where
        The file, table or argument it was found in.
    fix
        How to mend it.

    Examples
    --------
    >>> print(KaratError("row 3 is NaN", where="sims.npy", fix="replace it by a number"))
    sims.npy: row 3 is NaN; replace it by a number.
    """

    def __init__(self, what: str, *, where: str | Path | None = None, fix: str | None = None) -> None:
        self.what = what
        self.where = None if where is None else str(where)
        self.fix = fix
        sentence = what if self.where is None else f"{self.where}: {what}"
        sentence = sentence if fix is None else f"{sentence}; {fix}"
        super().__init__(sentence if sentence.endswith(("?", ".")) else f"{sentence}.")


class InputError(KaratError, ValueError):
    """What the user gave cannot be used as it is."""


class UnknownNameError(InputError, KeyError):
    """A name that no registry, truth or column answers to."""

    def __str__(self) -> str:
        return str(self.args[0])


class MissingDataError(KaratError, FileNotFoundError):
    """A file or package that holds data is not there."""

    def __str__(self) -> str:
        return str(self.args[0])


def unknown_name(kind: str, name: str, known: Iterable[str], owner: str | None = None) -> UnknownNameError:
    """Return the error for an unknown `name`, with the nearest known ones.

    >>> print(unknown_name("truth", "ecv", ["cxc", "eccv"], owner="coco"))
    coco has no truth 'ecv'; did you mean eccv?
    """
    known = list(known)
    near = difflib.get_close_matches(name.lower(), [k.lower() for k in known], n=3)
    likely = [k for k in known if k.lower() in near]
    fix = f"did you mean {' or '.join(likely)}?" if likely else f"known: {', '.join(known)}"
    what = f"unknown {kind} {name!r}" if owner is None else f"{owner} has no {kind} {name!r}"
    return UnknownNameError(what, fix=fix)


def plural(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> plural(1, "image"), plural(5000, "image")
    ('1 image', '5,000 images')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def check_choice(value: str, choices: Sequence[str], argument: str) -> str:
    """Return `value` if it is one of `choices` ("left-out" and "left_out" are the same)."""
    normal = str(value).replace("-", "_").lower()
    if normal not in choices:
        raise InputError(f"{argument} is {value!r}", fix=f"choose one of {', '.join(choices)}")
    return normal


def check_unique_ids(ids: np.ndarray, kind: str, where: str | Path | None = None) -> None:
    """Raise when an id stands twice in `ids`."""
    ordered = np.sort(ids)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(again):
        rows = np.flatnonzero(ids == again[0])
        raise InputError(
            f"{kind} id {again[0]} stands {len(rows)} times (rows {rows[0]} and {rows[1]})",
            where=where,
            fix=f"give each {kind} once",
        )


def check_table(array: Any, where: str | Path | None = None) -> np.ndarray:
    """Return a two-dimensional numeric array, or raise; nothing is copied."""
    array = np.asanyarray(array)
    if array.dtype.kind not in "fiu":
        raise InputError(f"holds {array.dtype}, not numbers", where=where, fix="save a float32 array")
    if array.ndim != 2:
        raise InputError(
            f"has {plural(array.ndim, 'dimension')} (shape {array.shape})", where=where, fix="a table has two"
        )
    if 0 in array.shape:
        raise InputError(f"is empty (shape {array.shape})", where=where, fix="check how it was written")
    return array


@contextmanager
def parsing(path: Path, what: str, fix: str) -> Iterator[None]:
    """Turn any failure of a parser into the sentence that `path` is not what it should be.

    Parsers of other packages raise a dozen kinds of errors on broken bytes, polars even panics
    that are no `Exception`; all of them mean the same to the person who holds the file.
    """
    try:
        yield
    except (KaratError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except MemoryError:
        raise InputError(
            "is too large for this machine's memory", where=path, fix="save a smaller run"
        ) from None
    except PermissionError:
        raise InputError("may not be read", where=path, fix="change its permissions") from None
    except BaseException as error:
        if isinstance(error, ValueError) and "Python objects" in str(error):
            raise holds_objects(path) from None
        raise InputError(what, where=path, fix=fix) from None


def holds_objects(path: Path | str) -> InputError:
    """Return the error for a file that only pickle could read."""
    return InputError(
        "holds Python objects, which are never executed", where=path, fix="save a plain float32 array"
    )


def check_text(path: Path) -> None:
    """Raise when a file starts like no text does, before all of it is read."""
    with path.open("rb") as handle:
        if b"\0" in handle.read(4096):
            raise InputError("is not text", where=path, fix="save it as text in UTF-8")


def check_extension(path: Path | None, known: Iterable[str]) -> None:
    """Raise when a file's extension is none of those that say how it is written."""
    if path is not None and path.suffix not in (known := tuple(known)):
        raise InputError(
            f"has the extension {path.suffix!r}", where=path, fix=f"use one of {', '.join(known)}"
        )


def check_writable(path: Path | None) -> None:
    """Raise before the work starts when a result could not be written."""
    if path is None:
        return
    if path.is_dir():
        raise InputError("is a folder", where=path, fix="give the name of a file")
    if not path.resolve().parent.is_dir():
        raise InputError(f"there is no folder {path.parent}", where=path, fix="create it first")


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file, or raise a sentence that says why it cannot be written."""
    check_writable(path)
    try:
        write(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written ({reason})", where=path, fix="choose another place") from None


def not_finite(
    where: str | Path | None, row: int, column: int, value: float, dtype: np.dtype | None = None
) -> InputError:
    """Return the error for the first NaN or infinity of a score or embedding table."""
    fix = "scores must be finite numbers, since NaN and infinity have no place in a ranking"
    if dtype == np.float16 and np.isinf(value):
        fix = "float16 holds numbers up to 65,504 only: save float32"
    return InputError(f"row {row}, column {column} is {value}", where=where, fix=fix)
