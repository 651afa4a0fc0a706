"""Checks of user input; code inside trusts its inputs."""

from __future__ import annotations

import codecs
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from karat._util.text import plural
from karat.errors import InputError, KaratError

# Late: every command checks extensions, and the help need not wait for numpy.
if TYPE_CHECKING:
    import numpy as np


PORT = 8786
"""Of a Dask scheduler, where an address names none."""
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""How text in UTF-16 begins, as Windows programs save it."""


def check_choice(value: str, choices: Sequence[str], argument: str) -> str:
    """Return `value` if it is one of `choices` ("left-out" and "left_out" are the same)."""
    normal = str(value).replace("-", "_").lower()
    if normal not in choices:
        raise InputError(f"{argument} is {value!r}", fix=f"choose one of {', '.join(choices)}")
    return normal


def check_unique_ids(ids: np.ndarray, kind: str, where: str | Path | None = None) -> None:
    """Raise when `ids` has a duplicate."""
    import numpy as np

    ordered = np.sort(ids)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(again):
        rows = np.flatnonzero(ids == again[0])
        raise InputError(
            f"duplicate {kind} id {again[0]}, {len(rows)} times (rows {rows[0]} and {rows[1]})",
            where=where,
            fix=f"give each {kind} once",
        )


def check_table(array: Any, where: str | Path | None = None) -> np.ndarray:
    """Return a two-dimensional numeric array, or raise; nothing is copied."""
    import numpy as np

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
    """Turn any failure of a parser into one error: `path` is not what it should be.

    Parsers of other packages raise a dozen kinds of errors on broken bytes, polars even panics
    that are not an `Exception`; all of them mean the same to the user.
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
        raise InputError("cannot be read", where=path, fix="change its permissions") from None
    except UnicodeDecodeError as error:
        raise not_utf8(path, error) from None
    except BaseException as error:
        if isinstance(error, ValueError) and "Python objects" in str(error):
            raise holds_objects(path) from None
        if "utf-8" in str(error).lower():
            check_utf8(path)
        raise InputError(what, where=path, fix=fix) from None


def holds_objects(path: Path | str) -> InputError:
    """Return the error for a file that only pickle could read."""
    return InputError(
        "holds Python objects, which are never executed", where=path, fix="save a plain float32 array"
    )


def check_text(path: Path) -> None:
    """Raise when a file does not start like text, before all of it is read."""
    with path.open("rb") as handle:
        head = handle.read(4096)
    if b"\0" in head and not head.startswith(UTF_16):
        raise InputError("is not text", where=path, fix="save it as text in UTF-8")


def check_utf8(path: Path) -> None:
    """Raise when a file is not text in UTF-8."""
    try:
        path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(path, error) from None


def not_utf8(path: Path, error: UnicodeDecodeError) -> InputError:
    """Return the error for a file in another encoding, with the command that converts it.

    >>> try:
    ...     "a café".encode("latin-1").decode()
    ... except UnicodeDecodeError as error:
    ...     print(not_utf8(Path("my captions.txt"), error))
    my captions.txt: line 1 is not UTF-8 but probably Latin-1 (it would read 'a café'); convert it with
    `iconv -f LATIN1 -t UTF-8 'my captions.txt' > 'my captions.utf8.txt'`.
    """
    data = error.object
    begin = data.rfind(b"\n", 0, error.start) + 1
    line = data.count(b"\n", 0, error.start) + 1
    name, codec, iconv = likely_encoding(bytes(data))
    around = data[max(begin, error.start - 20) : error.start + 20].splitlines()[0]
    shown = "" if name == "UTF-16" else f" (it would read {around.decode(codec, 'replace').strip()!r})"
    packed, plain = path.suffix == ".gz", path.with_suffix("") if path.suffix == ".gz" else path
    target = shlex.quote(str(plain.with_name(f"{plain.stem}.utf8{plain.suffix}")))
    source = shlex.quote(str(path))
    convert = f"iconv -f {iconv} -t UTF-8 {'' if packed else f'{source} '}> {target}"
    convert = f"gunzip -c {source} | {convert}" if packed else convert
    return InputError(
        f"line {line} is not UTF-8 but probably {name}{shown}", where=path, fix=f"convert it with `{convert}`"
    )


def likely_encoding(data: bytes) -> tuple[str, str, str]:
    """Return what bytes that are not UTF-8 are likely encoded in: its name, and as Python and iconv call it.

    Windows-1252 is Latin-1 with letters and quotation marks where Latin-1 has control characters.

    >>> [likely_encoding(data)[0] for data in (b"caf\\xe9", b"\\x93caf\\xe9\\x94", b"\\xff\\xfea\\0")]
    ['Latin-1', 'Windows-1252', 'UTF-16']
    """
    if data.startswith(UTF_16):
        return "UTF-16", "utf-16", "UTF-16"
    if any(0x80 <= byte < 0xA0 for byte in set(data)):
        return "Windows-1252", "cp1252", "CP1252"
    return "Latin-1", "latin-1", "LATIN1"


def check_extension(path: Path | None, known: Iterable[str]) -> None:
    """Raise when a file's extension is not a known format."""
    if path is not None and path.suffix not in (known := tuple(known)):
        raise InputError(
            f"has the extension {path.suffix!r}", where=path, fix=f"use one of {', '.join(known)}"
        )


def not_finite(
    where: str | Path | None, row: int, column: int, value: float, dtype: np.dtype | None = None
) -> InputError:
    """Return the error for the first NaN or infinity of a score or embedding table."""
    import numpy as np

    fix = "scores must be finite numbers, since NaN and infinity have no place in a ranking"
    if dtype == np.float16 and np.isinf(value):
        fix = "float16 holds numbers up to 65,504 only: save float32"
    return InputError(f"row {row}, column {column} is {value}", where=where, fix=fix)


def split_address(address: str) -> tuple[str, str, int]:
    """Return the protocol, the host and the port of an address.

    >>> split_address("tls://head"), split_address("localhost:9000")
    (('tls', 'head', 8786), ('tcp', 'localhost', 9000))
    """
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        scheme, host, port = parts.scheme, parts.hostname, parts.port or PORT
    except ValueError:
        scheme, host, port = "", None, PORT
    if scheme not in ("tcp", "tls") or not host:
        raise InputError(
            f"{address!r} is not the address of a scheduler",
            fix="write tls://host:8786, or tcp://127.0.0.1:8786 on this machine",
        )
    return scheme, host, port
