"""Reading the bytes of a file that came from elsewhere, and writing one whole or not at all."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from karat._util import check_writable, replacing, write_errors
from karat.errors import InputError, MissingDataError
from karat.judging.exchange import archives

MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""How files in encodings other than UTF-8 start; the longer marks first, since one begins like another."""
MISREAD = codecs.BOM_UTF8.decode("cp1252").encode()
"""The mark of UTF-8 after some program took it for Windows-1252."""
SAVE = "save it as UTF-8"


def read_text_bytes(path: Path) -> bytes:
    """Return the bytes of a text file in UTF-8, unpacked and without a mark at the start.

    A file that is no plain file, a link that leads out of its folder, too many bytes, another encoding and
    NUL characters are refused, with the line where there is one.
    """
    data = archives.unpack(read_plain(path), path)
    for mark, name in MARKS.items():
        if data.startswith(mark):
            raise InputError(f"is written in {name}", where=path, fix=SAVE)
    if data.startswith(MISREAD):
        raise InputError(
            "line 1 starts with ï»¿: UTF-8 was read as Windows-1252 and saved again", where=path, fix=SAVE
        )
    data = data.removeprefix(codecs.BOM_UTF8)
    nul = data.find(b"\0")
    if nul >= 0:
        raise InputError(f"line {line_at(data, nul)} has a NUL character", where=path, fix=SAVE)
    check_utf8(data, path)
    return data


def read_plain(path: Path) -> bytes:
    """Return the bytes of a regular file of bounded size."""
    check_link(path)
    try:
        # Not blocking: opening a named pipe would wait for a writer for ever.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise MissingDataError("there is no such file", where=path, fix="check the name") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path, fix="check the file") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InputError("is not a regular file", where=path, fix="give the name of a file")
    with os.fdopen(handle, "rb") as stream:
        # One byte more than allowed, since a file may grow while it is read.
        data = stream.read(archives.LARGEST + 1)
    if len(data) > archives.LARGEST:
        raise archives.too_large(path)
    return data


def check_link(path: Path) -> None:
    """Raise on a symbolic link that leads out of its folder: a shared folder must not name private files."""
    if not path.is_symlink():
        return
    target = Path(os.path.realpath(path))
    home = Path(os.path.realpath(path.parent))
    if not target.is_relative_to(home):
        raise InputError("is a link out of its folder", where=path, fix=f"if you trust it, give {target}")


def check_utf8(data: bytes, where: Path) -> None:
    """Raise on the first byte that is no UTF-8, naming its line."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    for start in range(0, max(len(data), 1), archives.BLOCK):
        stop = start + archives.BLOCK
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(view[start:stop], final=stop >= len(data))
        except UnicodeDecodeError as error:
            at = start - pending + error.start
            raise InputError(
                f"line {line_at(data, at)} is not UTF-8 (byte 0x{data[at]:02x})", where=where, fix=SAVE
            ) from None


def line_at(data: bytes, at: int) -> int:
    """Return the number of the line that a byte stands in, from 1.

    >>> line_at(b"a\\nb\\nc", 2)
    2
    """
    return data.count(b"\n", 0, at) + 1


@contextmanager
def writing(path: Path) -> Iterator[TextIO]:
    """Open a text file for writing that appears under its name only when all of it is written."""
    with (
        write_errors(path),
        replacing(path) as draft,
        draft.open("w", encoding="utf-8", newline="") as stream,
    ):
        yield stream


def beside(path: Path, suffix: str) -> Path:
    """Return the place of a second file beside one; raise when it would be the same.

    >>> beside(Path("batch.csv"), ".html").name
    'batch.html'
    """
    second = path.with_suffix(suffix)
    if second == path:
        raise InputError(f"a second file ends in {suffix}", where=path, fix="give the first another ending")
    check_writable(second)
    return second


def write_text(path: Path, text: str) -> None:
    """Write a text whole or not at all."""
    with writing(path) as stream:
        stream.write(text)
