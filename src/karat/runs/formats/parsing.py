"""Reading what others wrote: whatever a parser says of a broken file becomes one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from karat.validation import InputError, KaratError

MOST_BYTES = 64 << 30
BOMB_BYTES = 2 << 30
BOMB_RATIO = 1000


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


def check_declared(path: Path | str, declared: int, stored: int) -> None:
    """Raise where a file would unpack to more than memory or sense allows, before it is unpacked.

    >>> check_declared("scores.npz", 5 << 30, 1 << 20)
    Traceback (most recent call last):
    ...
    karat.validation.InputError: scores.npz: would unpack 1,048,576 bytes to 5,368,709,120; save it as npy.
    """
    bomb = declared > BOMB_BYTES and declared > BOMB_RATIO * max(stored, 1)
    if declared > MOST_BYTES or bomb:
        raise InputError(f"would unpack {stored:,} bytes to {declared:,}", where=path, fix="save it as npy")
